"""Labels of categories as Python values, independent of the container."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

Label = str | bool | int | float | date | time | timedelta

_READ: dict[str, Callable[[str], Label]] = {
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
}


class UnreadableLabelError(ValueError):
    """Error for a value that cannot be a category; the message includes a remedy."""


def to_plain_label(value: Any) -> Label | None:
    """Convert a label to a Python value; None if it is missing.

    Equivalent labels compare equal afterwards: 1, 1.0 and True, a date and its midnight, a NumPy or
    pandas scalar and the Python value.

    Raises
    ------
    UnreadableLabelError
        If the value is not a text, number, date, time or duration.
    """
    if isinstance(value, str):
        return str(value)
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, np.datetime64 | np.timedelta64):
        return _from_numpy_time(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float | Decimal):
        if math.isnan(value):
            return None
        if math.isinf(value):
            raise UnreadableLabelError(
                f"{value} is not a category: replace it by NaN if it is missing"
            )
        return float(value)
    if isinstance(value, date | time | timedelta):
        return _plain_time(value)
    raise UnreadableLabelError(
        f"{value!r} is not a text, number or date: convert the column to text"
    )


def sort_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Sort labels by kind, then by value."""
    return tuple(sorted(labels, key=_order))


def get_label_kind(label: Label) -> str:
    """Return the kind of a label: number, text, date and so on."""
    return _order(label)[0]


def label_to_json(label: Label) -> Any:
    """Encode a label as JSON; dates, times and durations become tagged text."""
    if isinstance(label, timedelta):
        return {"type": "duration", "microseconds": label // timedelta(microseconds=1)}
    if isinstance(label, date | time):
        return {"type": type(label).__name__, "value": label.isoformat()}
    return label


def label_from_json(found: Any) -> Label:
    """Decode a label that was encoded by `label_to_json`.

    Raises
    ------
    ValueError
        If it is not an encoded label.
    """
    if isinstance(found, str | bool | int) or (isinstance(found, float) and math.isfinite(found)):
        return found
    if isinstance(found, dict):
        kind, value, size = found.get("type"), found.get("value"), found.get("microseconds")
        try:
            if (
                kind == "duration"
                and type(size) is int
                and found.keys() == {"type", "microseconds"}
            ):
                return timedelta(microseconds=size)
            if (
                isinstance(kind, str)
                and kind in _READ
                and isinstance(value, str)
                and found.keys() == {"type", "value"}
            ):
                return _READ[kind](value)
        except (ValueError, OverflowError) as error:
            raise ValueError(f"{str(found)[:80]} is not a label of a category") from error
    raise ValueError(f"{str(found)[:80]} is not a label of a category")


def _from_numpy_time(value: np.datetime64 | np.timedelta64) -> Label | None:
    if np.isnat(value):
        return None
    fine = value.astype("M8[us]" if isinstance(value, np.datetime64) else "m8[us]")
    plain = fine.item()
    if fine != value or not isinstance(plain, date | timedelta):
        raise UnreadableLabelError(
            f"{value} exceeds the precision or range of Python's dates: round it"
        )
    return _plain_time(plain)


def _plain_time(value: date | time | timedelta) -> Label:
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):  # pandas
        raise UnreadableLabelError(f"{value} is more precise than a microsecond: round it")
    if isinstance(value, datetime):
        if value.tzinfo is None and value.time() == time():
            return date(value.year, value.month, value.day)
        utc = value.tzinfo and value.utcoffset()
        return datetime.fromisoformat(value.isoformat()) if utc is not None else _naive(value)
    if isinstance(value, timedelta):
        return timedelta(value.days, value.seconds, value.microseconds)
    return value


def _naive(value: datetime) -> datetime:
    return datetime.combine(value.date(), value.time())


def _order(label: Label) -> tuple[str, Any]:
    if isinstance(label, bool | int | float):
        return "number", label
    if isinstance(label, str):
        return "text", label
    if isinstance(label, timedelta):
        return "duration", label
    # Times with and without a time zone cannot be compared; dates and datetimes can.
    zone = isinstance(label, datetime | time) and label.utcoffset() is not None
    kind = f"{'time' if isinstance(label, time) else 'date'}{' with zone' if zone else ''}"
    if isinstance(label, date) and not isinstance(label, datetime):
        return kind, datetime.combine(label, time())
    return kind, label
