"""Strict reading of values from files of other libraries, with type checks."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from arboleda._errors import ModelFormatError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_Kind = TypeVar("_Kind")
_Result = TypeVar("_Result")


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Read a regular file; others, such as pipes, may block or never end.

    Raises
    ------
    ModelFormatError
        If it is not a regular file, such as a folder or a pipe.
    OSError
        If there is no such file, or it cannot be read.
    """
    mode = Path(path).stat().st_mode
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise ModelFormatError(f"{os.fspath(path)} is {what}: pass the path of a model file")
    return Path(path).read_bytes()


def with_error_context(what: str, make: Callable[[], _Result]) -> _Result:
    """Call a function; convert its ValueError to a ModelFormatError that names the source."""
    try:
        return make()
    except ValueError as error:
        raise ModelFormatError(f"{what}: {error}") from error


def read_entry(parent: Any, name: str, kind: type[_Kind]) -> _Kind:
    """Return an entry of an object, checking its type.

    Raises
    ------
    ModelFormatError
        If it is missing, or has another type.
    """
    if not isinstance(parent, dict) or name not in parent:
        raise ModelFormatError(f"it has no {name}")
    value = parent[name]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ModelFormatError(f"{name} must be {kind.__name__}, got {type(value).__name__}")
    return value


def read_float(text: Any, name: str) -> float:
    """Return a finite float from a string or a number."""
    try:
        value = float(text)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFormatError(f"{name} is not a number") from error
    if not np.isfinite(value):
        raise ModelFormatError(f"{name} is not finite")
    return value


def read_integer(text: Any, name: str, least: int = 0) -> int:
    """Return an integer from a string or a number."""
    value = read_float(text, name)
    if value != int(value) or not least <= value < 2**31:
        raise ModelFormatError(f"{name} must be an integer from {least}, got {value:g}")
    return int(value)


def read_floats(parent: Any, name: str, size: int | None = None) -> Floats:
    """Read the numbers of an entry as floats without NaN."""
    array = read_numbers(parent, name, size)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        values = array.astype(np.float64)
    if np.isnan(values).any():
        raise ModelFormatError(f"{name} holds NaN")
    return values


def read_integers(parent: Any, name: str, size: int | None = None) -> Integers:
    """Read the numbers of an entry as integers of at most 32 bits."""
    array = read_numbers(parent, name, size)
    if array.size and array.dtype.kind not in "iu":
        raise ModelFormatError(f"{name} holds a value that is not an integer")
    if array.size and not -(2**31) <= int(array.min()) <= int(array.max()) < 2**31:
        raise ModelFormatError(f"{name} holds a number beyond 32 bits")
    return array.astype(np.int64)


def read_strings(parent: Any, name: str) -> list[str]:
    """Read the strings of an entry."""
    values = read_entry(parent, name, list)
    if not all(isinstance(item, str) for item in values):
        raise ModelFormatError(f"{name} holds a value that is not a string")
    return values


def read_numbers(parent: Any, name: str, size: int | None = None) -> npt.NDArray[Any]:
    """Read the numbers of an entry, without converting their type."""
    value = read_entry(parent, name, object)
    if isinstance(value, list):
        if not {type(item) for item in value} <= {int, float}:
            raise ModelFormatError(f"{name} holds a value that is not a number")
        try:
            value = np.array(value) if value else np.empty(0, dtype=np.int64)
        except OverflowError as error:
            raise ModelFormatError(f"{name} holds a number that is too large") from error
    if not isinstance(value, np.ndarray):
        raise ModelFormatError(f"{name} is not a list of numbers")
    if size is not None and value.size != size:
        raise ModelFormatError(f"{name} must have {size} entries, got {value.size}")
    if value.dtype.kind not in "iuf":
        raise ModelFormatError(f"{name} holds a number that is too large")
    return value
