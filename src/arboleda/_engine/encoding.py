"""Encoding of categorical columns, and conversion of objects, text and labels to numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import MISSING, get_missing_code
from arboleda._engine.labels import (
    Label,
    UnreadableLabelError,
    get_label_kind,
    sort_labels,
    to_plain_label,
)

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """A column of labels: row i has label number ``codes[i]``, negative codes are missing.

    Labels may repeat, be missing values, or occur in no row. `labels_at` returns the labels of some
    numbers; it is only called for labels that occur in some row.
    """

    codes: npt.NDArray[np.integer[Any]]
    labels_at: Callable[[npt.NDArray[np.intp]], Sequence[Any]]

    def present(self) -> npt.NDArray[np.intp]:
        """Return the numbers of the labels that occur in some row, ascending."""
        top = int(self.codes.max(initial=-1))
        if top > 4 * self.codes.size + 1000:
            found = np.unique(self.codes)
            return found[found >= 0].astype(np.intp)
        seen = np.zeros(top + 2, dtype=bool)
        seen[np.maximum(self.codes, -1)] = True
        return np.flatnonzero(seen[:-1])

    def row_of(self, label: int) -> int:
        """Return the first row with a label."""
        return int(np.flatnonzero(self.codes == label)[0])


def encode_object_labels(values: npt.NDArray[Any]) -> LabelColumn:
    """Encode the distinct objects of a 1-D array.

    Raises
    ------
    UnreadableLabelError
        If an object is not hashable.
    """
    rows = values.tolist() if values.dtype.kind != "M" else list(values)
    try:
        number = {label: code for code, label in enumerate(dict.fromkeys(rows))}
    except TypeError as error:
        raise UnreadableLabelError(
            "it has unhashable values such as lists or dicts: convert them to text"
        ) from error
    codes = np.fromiter(map(number.__getitem__, rows), dtype=np.intp, count=len(rows))
    labels = list(number)
    return LabelColumn(codes, lambda wanted: [labels[code] for code in wanted])


def encode_array_labels(values: npt.NDArray[Any]) -> LabelColumn:
    """Encode the distinct values of a 1-D array of numbers, booleans, dates or text."""
    labels, codes = np.unique(values, return_inverse=True)
    return LabelColumn(codes.reshape(-1), lambda wanted: list(labels[wanted]))


def learn_levels(column: LabelColumn, place: str, *, many: bool = False) -> tuple[Label, ...]:
    """Return the sorted labels of a column.

    Parameters
    ----------
    column : LabelColumn
    place : str
        Name of the column, for messages.
    many : bool, default=False
        Whether more levels than the engine supports are allowed.

    Raises
    ------
    ValueError
        If a label is unreadable or there are more levels than the engine supports.
    """
    present = column.present()
    if not many and present.size > 2 * MISSING:  # probably an identifier: its labels are not read
        check_level_count(present.size, place)
    levels = set(_plain_labels(column, present, place)) - {None}
    if not many:
        check_level_count(len(levels), place)
    return sort_labels(level for level in levels if level is not None)


def encode(
    column: LabelColumn, codes: Mapping[Label, int], place: str, *, separate_unseen: bool = False
) -> npt.NDArray[Any]:
    """Return the codes of a column; missing and unseen labels get `get_missing_code`.

    With `separate_unseen`, unseen labels get the number of levels instead, unless that equals the
    missing code. Codes are uint16, the engine's type, or uint32 if there are too many levels.

    Raises
    ------
    ValueError
        If a label is unreadable, or all labels are of a different kind than in `fit`, for example
        text instead of numbers.
    """
    present = column.present()
    missing = get_missing_code(len(codes))
    dtype = np.uint16 if missing == MISSING else np.uint32
    table: npt.NDArray[Any] = np.full(
        int(present[-1]) + 2 if present.size else 1, missing, dtype=dtype
    )
    labels = _plain_labels(column, present, place)
    unseen = len(codes) if separate_unseen else missing
    table[present] = [missing if label is None else codes.get(label, unseen) for label in labels]
    if codes and (table >= len(codes)).all():
        _check_kinds(column, present, labels, codes, place)
    return take(table, column.codes)


def take(values: npt.NDArray[Scalar], codes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Scalar]:
    """Return the value of each code; negative codes get the last value."""
    found: npt.NDArray[Scalar] = values[np.maximum(codes, -1)]
    return found


def _plain_labels(
    column: LabelColumn, present: npt.NDArray[np.intp], place: str
) -> list[Label | None]:
    found: list[Label | None] = []
    for code, label in zip(present, column.labels_at(present), strict=True):
        try:
            found.append(to_plain_label(label))
        except UnreadableLabelError as error:
            row = column.row_of(code)
            raise ValueError(f"column {place} of X, row {row}: {error}") from error
    return found


def _check_kinds(
    column: LabelColumn,
    present: npt.NDArray[np.intp],
    labels: Sequence[Label | None],
    codes: Mapping[Label, int],
    place: str,
) -> None:
    """Raise an error if all labels are of a different kind than those of `fit`."""
    found = {get_label_kind(label) for label in labels if label is not None}
    known = {get_label_kind(label) for label in codes}
    if not found or not found.isdisjoint(known):
        return
    code, label = next(
        (code, label) for code, label in zip(present, labels, strict=True) if label is not None
    )
    raise ValueError(
        f"column {place} of X has {label!r} in row {column.row_of(code)}, a "
        f"{get_label_kind(label)}, but its categories in fit were of kind "
        f"{' and '.join(sorted(known))}: convert the column to its type in fit"
    )


def check_level_count(count: int, place: str) -> None:
    """Raise an error if a column has more levels than the engine supports.

    Raises
    ------
    ValueError
        With the name of the column and a remedy.
    """
    if count > MISSING:
        raise ValueError(
            f"column {place} of X has {count:,} categories, more than {MISSING:,}: drop it if it "
            "is an identifier, otherwise merge rare categories or encode it as numbers"
        )


# Types that the engine does not support, and wider supported types.
_WIDENED = {"float16": np.float32, "longdouble": np.float64}
_ENCODE = (
    "include the column in categorical_features, encode it as numbers, for example with "
    "OneHotEncoder, or drop it"
)
_TIMES = {np.datetime64, np.timedelta64}
# Block size of the search for infinity, small enough for the caches.
_CELLS_AT_ONCE = 1 << 16
_NUMBERS = (str, bytes, bool, int, float, Decimal, np.bool_, np.integer, np.floating)


def is_missing(value: Any) -> bool:
    """Return whether a Python value is missing: None, NaN, NaT or NA."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating | Decimal) and bool(value != value)  # noqa: PLR0124


def convert_objects_to_numbers(
    values: npt.NDArray[Any], place: str, remedy: str = _ENCODE
) -> npt.NDArray[np.float64]:
    """Convert a 1-D array of Python objects to numbers, including numbers given as text.

    Raises
    ------
    ValueError, TypeError
        If an object is not a number; the message names it and its row.
    """
    # NumPy would convert its dates to counts of their unit.
    if not _TIMES & set(map(type, values.tolist())):
        try:
            return values.astype(np.float64)  # None becomes NaN
        except (TypeError, ValueError, OverflowError):  # NA, or not a number: check each value
            pass
    try:
        return convert_labels_to_numbers(encode_object_labels(values), place, remedy)
    except UnreadableLabelError as error:
        row = next(i for i, value in enumerate(values) if type(value).__hash__ is None)
        raise TypeError(
            f"{place} has a {type(values[row]).__name__} in row {row}: an "
            "argument must be a string or a number"
        ) from error


def convert_labels_to_numbers(
    column: LabelColumn, place: str, remedy: str = _ENCODE
) -> npt.NDArray[np.float64]:
    """Convert the labels of a column to numbers.

    Raises
    ------
    ValueError
        If a label is not a number; the message names it and its first row.
    """
    present = column.present()
    numbers = np.full(int(present.max(initial=-1)) + 2, np.nan)
    for code, label in zip(present, column.labels_at(present), strict=True):
        try:
            numbers[code] = _number(label)
        except (TypeError, ValueError, OverflowError) as error:
            row = column.row_of(code)
            shown = repr(
                str(label) if isinstance(label, str) else label
            )  # convert NumPy's str type
            shown = shown if len(shown) <= 100 else f"{shown[:100]}..."
            raise ValueError(f"{place} has {shown} in row {row}: {remedy}") from error
    return take(numbers, column.codes)


def _number(label: Any) -> float:
    if is_missing(label):
        return np.nan
    if not isinstance(label, _NUMBERS) or type(label) in _TIMES:
        raise TypeError(f"{label!r} is not a number")
    return float(label)


def check_engine_numbers(values: npt.NDArray[Any], place: str) -> npt.NDArray[Any]:
    """Return a column as finite numbers of a type that the engine supports, copied if necessary.

    Raises
    ------
    ValueError
        If a value is infinite; the message names it and its row.
    """
    values = to_engine_type(values)
    if not has_infinity(values):
        return values
    row = int(np.flatnonzero(np.isinf(values))[0])
    raise ValueError(
        f"Input X contains infinity: column {place}, row {row} is {values[row]}. Replace it by "
        "NaN if the value is missing, or by a finite number"
    )


def to_engine_type(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert numbers to a type that the engine supports; overflow becomes infinity."""
    name = "longdouble" if values.dtype == np.longdouble else values.dtype.name
    widened = np.float64 if name == "float64" else _WIDENED.get(name)
    with np.errstate(over="ignore"):
        return values.astype(widened or values.dtype.newbyteorder("="), copy=False)


def find_infinite_columns(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return for each column of a two-dimensional array whether it contains infinity."""
    if not has_infinity(values):
        return np.zeros(values.shape[1], dtype=bool)
    # fmax and fmin skip NaN and need no temporary.
    top, bottom = np.fmax.reduce(values, axis=0), np.fmin.reduce(values, axis=0)
    infinite: npt.NDArray[np.bool_] = np.isinf(top) | np.isinf(bottom)
    return infinite


def has_infinity(values: npt.NDArray[Any]) -> bool:
    """Return whether an array contains infinity, searching it in blocks."""
    if values.dtype.kind != "f" or not values.size:
        return False
    if values.size <= _CELLS_AT_ONCE:
        return bool(np.isinf(values).any())
    step = max(1, _CELLS_AT_ONCE * len(values) // values.size)
    return any(np.isinf(values[i : i + step]).any() for i in range(0, len(values), step))
