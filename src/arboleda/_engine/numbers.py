"""Conversion of objects, text and labels to numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.categories import LabelColumn, encode_object_labels, take
from arboleda._engine.labels import UnreadableLabelError

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
    step = max(1, _CELLS_AT_ONCE * len(values) // values.size)
    return any(np.isinf(values[i : i + step]).any() for i in range(0, len(values), step))
