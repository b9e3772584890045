"""Strict reading of another library's file: every value has the type that it should have."""

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
    """Content of a regular file; others may never end, or wait.

    Raises
    ------
    ModelFormatError
        If it is a folder, a pipe or the like.
    OSError
        If there is no such file, or it cannot be read.
    """
    mode = Path(path).stat().st_mode
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise ModelFormatError(f"{os.fspath(path)}: this is {what}, not a model file")
    return Path(path).read_bytes()


def refusing(what: str, make: Callable[[], _Result]) -> _Result:
    """Make something of a file; whatever is wrong with it is a ModelFormatError that names it."""
    try:
        return make()
    except ValueError as error:
        raise ModelFormatError(f"{what}: {error}") from error


def entry(parent: Any, name: str, kind: type[_Kind]) -> _Kind:
    """Entry of an object, of a given type.

    Raises
    ------
    ModelFormatError
        If it is not there, or of another type.
    """
    if not isinstance(parent, dict) or name not in parent:
        raise ModelFormatError(f"it has no {name}")
    value = parent[name]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ModelFormatError(f"{name} is not of the type it should be")
    return value


def number(text: Any, name: str) -> float:
    """Finite number that stands as text, or as itself."""
    try:
        value = float(text)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFormatError(f"{name} is no number") from error
    if not np.isfinite(value):
        raise ModelFormatError(f"{name} is not finite")
    return value


def whole(text: Any, name: str, least: int = 0) -> int:
    """Whole number that stands as text, or as itself."""
    value = number(text, name)
    if value != int(value) or not least <= value < 2**31:
        raise ModelFormatError(f"{name} is {value:g}, which it cannot be")
    return int(value)


def floats(parent: Any, name: str, size: int | None = None) -> Floats:
    """Numbers of an entry, none of them NaN."""
    array = numbers(parent, name, size)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        found = array.astype(np.float64)
    if np.isnan(found).any():
        raise ModelFormatError(f"{name} holds NaN")
    return found


def integers(parent: Any, name: str, size: int | None = None) -> Integers:
    """Whole numbers of an entry, of 32 bits at most."""
    array = numbers(parent, name, size)
    if array.size and array.dtype.kind not in "iu":
        raise ModelFormatError(f"{name} holds what is no whole number")
    if array.size and not -(2**31) <= int(array.min()) <= int(array.max()) < 2**31:
        raise ModelFormatError(f"{name} holds a number beyond 32 bits")
    return array.astype(np.int64)


def texts(parent: Any, name: str) -> list[str]:
    """Texts of an entry."""
    found = entry(parent, name, list)
    if not all(isinstance(item, str) for item in found):
        raise ModelFormatError(f"{name} holds what is no text")
    return found


def numbers(parent: Any, name: str, size: int | None = None) -> npt.NDArray[Any]:
    """Numbers of an entry, of the type that they have."""
    value = entry(parent, name, object)
    if isinstance(value, list):
        if not {type(item) for item in value} <= {int, float}:
            raise ModelFormatError(f"{name} holds what is no number")
        try:
            value = np.array(value) if value else np.empty(0, dtype=np.int64)
        except OverflowError as error:
            raise ModelFormatError(f"{name} holds a number that is too large") from error
    if not isinstance(value, np.ndarray):
        raise ModelFormatError(f"{name} is no list of numbers")
    if size is not None and value.size != size:
        raise ModelFormatError(f"{name} has {value.size} entries, not {size}")
    if value.dtype.kind not in "iuf":
        raise ModelFormatError(f"{name} holds a number that is too large")
    return value
