"""Columns of another library's model, and strict reading of its fields."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import MISSING, Schema
from arboleda._engine.labels import Label, UnreadableLabelError, sort_labels, to_plain_label
from arboleda._utils.errors import ModelFormatError

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


@dataclass(frozen=True)
class Columns:
    """Columns in the order of the model.

    Parameters
    ----------
    names : tuple of str, or None
    labels : tuple
        For each column, None if it is numeric, else the label of each category code.
    """

    names: tuple[str, ...] | None
    labels: tuple[Mapping[int, Label] | None, ...]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.labels)

    @cached_property
    def schema(self) -> Schema:
        """Schema of the columns, as our estimators use it.

        Raises
        ------
        ValueError
            If column names or categories are not unique, or a column has too many categories.
        """
        levels = tuple(
            None if labels is None else sort_labels(labels.values()) for labels in self.labels
        )
        schema = Schema(self.names, levels)
        for j, n_levels in enumerate(schema.n_levels):
            check_category_count(n_levels, schema.describe(j))
        return schema

    @cached_property
    def _codes(self) -> tuple[dict[int, int], ...]:
        """For each column, the mapping of their category codes to ours."""
        return tuple(
            {} if labels is None or ours is None else {k: ours[x] for k, x in labels.items()}
            for labels, ours in zip(self.labels, self.schema.codes, strict=True)
        )

    def encode_categories(self, column: int, codes: Iterable[int]) -> Integers:
        """Convert category codes of the other library to ours, ascending.

        Raises
        ------
        ValueError
            If the column has no such category.
        """
        if not 0 <= column < self.n_columns:
            raise ValueError(f"a node splits on column {column}, but there are {self.n_columns}")
        known = self._codes[column]
        try:
            return np.array(sorted({known[int(code)] for code in codes}), dtype=np.int64)
        except KeyError as error:
            raise ValueError(
                f"a node splits on category {error} of column {self.schema.describe(column)}, "
                f"which has {len(known)} categories"
            ) from error

    def other_categories(self, column: int, codes: Integers) -> Integers:
        """Return our codes of all other categories of a column."""
        return np.setdiff1d(np.arange(len(self._codes[column])), codes)


def check_category_count(n_categories: int, place: str) -> None:
    """Refuse a column with too many categories.

    Raises
    ------
    ValueError
        If there are more categories than a column can have.
    """
    if n_categories > MISSING:
        raise ValueError(
            f"column {place} has {n_categories:,} categories: at most {MISSING:,} are supported"
        )


def as_labels(categories: Any, place: str) -> dict[int, Label]:
    """Return the label of each code, for categories in the order of their codes.

    Raises
    ------
    ValueError
        If a category is missing, or has an unsupported type.
    """
    labels = {}
    try:
        for code, category in enumerate(categories):
            label = to_plain_label(category)
            if label is None:
                raise ValueError(f"column {place} has a missing value as a category")
            labels[code] = label
    except UnreadableLabelError as error:
        raise ValueError(f"the categories of column {place}: {error}") from error
    return labels


def is_present(category: Any) -> bool:
    """Return whether a category is not a missing value, which scikit-learn lists last."""
    return to_plain_label(category) is not None


def read_given_categories(
    categories: Mapping[Any, Sequence[Any]] | None, names: Sequence[str] | None, n_columns: int
) -> dict[int, dict[int, Label]]:
    """Read the argument ``categories``: labels in the order of codes, by column name or index.

    Raises
    ------
    TypeError
        If it is not a mapping of columns to sequences.
    ValueError
        If the model does not have a column, or a label has an unsupported type.
    """
    if categories is None:
        return {}
    if not isinstance(categories, Mapping):
        raise TypeError(
            f"categories must be a mapping of columns to their labels, in the order of their "
            f"codes, got {type(categories).__name__}"
        )
    places = {name: j for j, name in enumerate(names or ())}
    found = {}
    for column, labels in categories.items():
        place = places.get(column, column)
        if type(place) is not int or not 0 <= place < n_columns:
            raise ValueError(f"categories names column {column!r}, which the model does not have")
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise TypeError(f"categories[{column!r}] must be a sequence of labels, got {labels!r}")
        found[place] = as_labels(labels, repr(column))
    return found
