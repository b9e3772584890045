"""The numbers that models get of a date: its age, calendar parts and positions in cycles."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["PARTS", "describe_parts", "find_parts", "split_dates"]

Floats = npt.NDArray[np.float64]

# The parts by name, and their name in descriptions.
PARTS = {
    "days": "days since 1970",
    "year": "year",
    "month": "month",
    "day": "day",
    "weekday": "weekday",
    "hour": "hour",
    "sine of the year": "position in the year",
    "cosine of the year": "position in the year",
    "sine of the week": "position in the week",
    "cosine of the week": "position in the week",
    "sine of the day": "position in the day",
    "cosine of the day": "position in the day",
}
_SECONDS_PER_DAY = 86_400


def find_parts(seconds: Floats) -> tuple[str, ...]:
    """Return the parts that vary among dates; dates that are all equal keep their days.

    Parameters
    ----------
    seconds : ndarray of shape (n_dates,)
        Seconds since 1970, without missing values.
    """
    parts = split_dates(seconds, tuple(PARTS))
    varying = tuple(n for n, part in parts.items() if part.size and part.min() < part.max())
    return varying or ("days",)


def describe_parts(names: Sequence[str]) -> str:
    """Describe parts in a few words, for a message."""
    return ", ".join(dict.fromkeys(PARTS[name] for name in names))


def split_dates(seconds: Floats, names: Sequence[str]) -> dict[str, Floats]:
    """Compute the named parts of dates; NaN where the date is missing.

    The positions in the year, week and day are the sine and the cosine of an angle that grows from
    0 to a full turn, so that the last day of a year is near the first one of the next.
    """
    missing = np.isnan(seconds)
    stamp = np.where(missing, 0, seconds).astype("int64").astype("datetime64[s]")
    day, month, year = (stamp.astype(f"datetime64[{unit}]") for unit in "DMY")
    clock = _count_units(stamp, day)
    start, end = (y.astype("datetime64[s]") for y in (year, year + np.timedelta64(1, "Y")))
    in_year = 2 * np.pi * _count_units(stamp, start) / _count_units(end, start)
    # 1970-01-01 was a Thursday; Monday is 0.
    weekday = (day.astype(np.int64) + 3) % 7
    in_week = 2 * np.pi * weekday / 7
    in_day = 2 * np.pi * clock / _SECONDS_PER_DAY
    parts = {
        "days": seconds / _SECONDS_PER_DAY,
        "year": year.astype(np.int64) + 1970.0,
        "month": _count_units(month, year) + 1.0,
        "day": _count_units(day, month) + 1.0,
        "weekday": weekday + 0.0,
        "hour": clock // 3600 + 0.0,
        "sine of the year": np.sin(in_year),
        "cosine of the year": np.cos(in_year),
        "sine of the week": np.sin(in_week),
        "cosine of the week": np.cos(in_week),
        "sine of the day": np.sin(in_day),
        "cosine of the day": np.cos(in_day),
    }
    return {name: np.where(missing, np.nan, parts[name]) for name in names}


def _count_units(
    later: npt.NDArray[np.datetime64], earlier: npt.NDArray[np.datetime64]
) -> npt.NDArray[np.int64]:
    """Count the units of ``later`` between two times."""
    return (later - earlier.astype(later.dtype)).astype(np.int64)
