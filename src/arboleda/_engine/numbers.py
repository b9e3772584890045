"""Numbers from what is not typed as numbers: objects, text, labels."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.categories import LabelColumn, labels_of_objects, take
from arboleda._engine.labels import UnreadableLabelError

# Types that the engine does not read, and the ones that hold the same values.
_WIDENED = {"float16": np.float32, "longdouble": np.float64}
_ENCODE = (
    "name the column in categorical_features, encode it as numbers first, for example with "
    "OneHotEncoder, or drop it"
)
_TIMES = {np.datetime64, np.timedelta64}
# Of an array that is looked through for infinity, so that what is found stays in the caches.
_CELLS_AT_ONCE = 1 << 16
_NUMBERS = (str, bytes, bool, int, float, Decimal, np.bool_, np.integer, np.floating)


def is_missing(value: Any) -> bool:
    """Whether a Python value means that there is none: None, NaN, NaT or NA."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating | Decimal) and bool(value != value)  # noqa: PLR0124


def numbers_of_objects(
    values: npt.NDArray[Any], place: str, remedy: str = _ENCODE
) -> npt.NDArray[np.float64]:
    """Return the numbers that a 1-D array of Python objects holds, also when written as text.

    Raises
    ------
    ValueError, TypeError
        If an object is no number; it is named with its row.
    """
    # NumPy would read a date of its own as the count of its unit.
    if not _TIMES & set(map(type, values.tolist())):
        try:
            return values.astype(np.float64)  # None becomes NaN
        except (TypeError, ValueError, OverflowError):  # NA, or no number: each is looked at
            pass
    try:
        return numbers_of_labels(labels_of_objects(values), place, remedy)
    except UnreadableLabelError as error:
        row = next(i for i, value in enumerate(values) if type(value).__hash__ is None)
        raise TypeError(
            f"{place} holds a {type(values[row]).__name__} in row {row}: an "
            "argument must be a string or a number"
        ) from error


def numbers_of_labels(
    column: LabelColumn, place: str, remedy: str = _ENCODE
) -> npt.NDArray[np.float64]:
    """Return the numbers that a column's labels are.

    Raises
    ------
    ValueError
        If a label is no number; it is named with its first row.
    """
    present = column.present()
    numbers = np.full(int(present.max(initial=-1)) + 2, np.nan)
    for code, label in zip(present, column.labels_at(present), strict=True):
        try:
            numbers[code] = _number(label)
        except (TypeError, ValueError, OverflowError) as error:
            row = column.row_of(code)
            shown = repr(str(label) if isinstance(label, str) else label)  # NumPy's text as text
            shown = shown if len(shown) <= 100 else f"{shown[:100]}..."
            raise ValueError(f"{place} holds {shown} in row {row}: {remedy}") from error
    return take(numbers, column.codes)


def _number(label: Any) -> float:
    if is_missing(label):
        return np.nan
    if not isinstance(label, _NUMBERS) or type(label) in _TIMES:
        raise TypeError(f"{label!r} is no number")
    return float(label)


def engine_numbers(values: npt.NDArray[Any], place: str) -> npt.NDArray[Any]:
    """Return a column of finite numbers in a type that the engine reads, copied only if it must be.

    Raises
    ------
    ValueError
        If a value is infinite; it is named with its row.
    """
    values = in_engine_type(values)
    if not holds_infinity(values):
        return values
    row = int(np.flatnonzero(np.isinf(values))[0])
    raise ValueError(
        f"Input X contains infinity: column {place}, row {row} is {values[row]}. Replace it by "
        "NaN if the value is missing, or by a finite number"
    )


def in_engine_type(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers in a type that the engine reads; what is beyond float64 becomes infinite."""
    name = "longdouble" if values.dtype == np.longdouble else values.dtype.name
    widened = np.float64 if name == "float64" else _WIDENED.get(name)
    with np.errstate(over="ignore"):
        return values.astype(widened or values.dtype.newbyteorder("="), copy=False)


def infinite_columns(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Tell for each column of a two-dimensional array whether it holds infinity."""
    if not holds_infinity(values):
        return np.zeros(values.shape[1], dtype=bool)
    # fmax and fmin skip NaN and need no temporary.
    top, bottom = np.fmax.reduce(values, axis=0), np.fmin.reduce(values, axis=0)
    infinite: npt.NDArray[np.bool_] = np.isinf(top) | np.isinf(bottom)
    return infinite


def holds_infinity(values: npt.NDArray[Any]) -> bool:
    """Tell whether any number of an array is infinite, some rows after the others."""
    if values.dtype.kind != "f" or not values.size:
        return False
    step = max(1, _CELLS_AT_ONCE * len(values) // values.size)
    return any(np.isinf(values[i : i + step]).any() for i in range(0, len(values), step))
