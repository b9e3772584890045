"""Dates and times as people write them, in the order of day and month that the column shows."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from arboleda.tables.number_parsing import clean_texts

__all__ = [
    "MONTHS",
    "YEARS",
    "ZONES",
    "ClockFormat",
    "DateFormat",
    "infer_clock_format",
    "infer_date_format",
    "infer_epoch",
]

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Order = Literal["dmy", "mdy", "ymd"]
Fields = tuple[int, int, int]
_ORDERS: tuple[Order, ...] = ("dmy", "mdy", "ymd")

# Texts from which the order of day and month is inferred.
MAX_SAMPLE = 20_000
# Steps between dates that show that they are sorted, rather than by chance.
MIN_STEPS = 5
# Two-digit years from 69 are of the last century, as in POSIX.
FIRST_OF_LAST_CENTURY = 69
# Other years are numbers of something else.
YEARS = 1400, 2399
_ENGLISH = "jan feb mar apr may jun jul aug sep oct nov dec"
_SPANISH = "ene feb mar abr may jun jul ago sep oct nov dic"
_OTHER = {"set": 9, "sept": 9, "mär": 3, "mai": 5, "okt": 10, "dez": 12, "fév": 2, "avr": 4}
_OTHER |= {"jui": 7, "aoû": 8, "déc": 12}
MONTHS = {n: i for words in (_ENGLISH, _SPANISH) for i, n in enumerate(words.split(), 1)} | _OTHER
ZONES = {"z": 0, "utc": 0, "gmt": 0, "bst": 60, "cet": 60, "cest": 120, "est": -300, "edt": -240}
ZONES |= {"cst": -360, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420}

_SPLIT = r"^(?P<date>.{6,30}?)(?:[T ,]+(?P<time>[0-9]{1,2}:[0-9]{2}.{0,25}))?$"
_SPLIT_REVERSED = r"^(?P<time>[0-9]{1,2}:[0-9]{2}.{0,16}?),? +(?P<date>[^:]{6,30})$"
_NUMERIC = re.compile(r"(\d{1,4})([-/. ])(\d{1,2})\2(\d{2}|\d{4})")
_YEAR_FIRST = re.compile(r"(\d{4})([-/. ]?)(\d{1,2})\2(\d{1,2})")
_WEEKDAY = r"(?:[^\W\d_]{2,10}\.?,?\s+)?"
_DAY, _MONTH, _OF = r"(\d{1,2})(?:st|nd|rd|th)?", r"([^\W\d_]{3,10})\.?", r"[-/. ,]+(?:de[l]?\s+)?"
_DAY_NAME = re.compile(rf"{_WEEKDAY}{_DAY}{_OF}{_MONTH}{_OF}(\d{{2}}|\d{{4}})")
_NAME_DAY = re.compile(rf"{_WEEKDAY}{_MONTH}[-. ]+{_DAY},?[- ]+(\d{{4}})")
_YEAR_NAME = re.compile(rf"(\d{{4}})[-/ ]{_MONTH}[-/ ](\d{{1,2}})")
_NAME_YEAR = re.compile(rf"{_MONTH}{_OF}(\d{{4}})")
_YEAR_MONTH, _MONTH_YEAR = re.compile(r"(\d{4})[-/](\d{1,2})"), re.compile(r"(\d{1,2})[-/](\d{4})")
_CLOCK = re.compile(
    r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(?:([ap])\.?\s?m\.?)?"
    r"\s*(?:([a-z]{1,4})|(?:utc|gmt)?([+-]\d{2}):?(\d{2})?)?"
)


@dataclass(frozen=True)
class DateFormat:
    """How the dates of a column are written.

    Attributes
    ----------
    order : {"dmy", "mdy", "ymd"}
        The order of day, month and year in dates of three numbers. A year of four digits in front
        and names of months are recognized in any column.
    epoch : float or None
        If the column holds numbers since 1970, how many make a second.
    is_ambiguous : bool
        Whether the column shows no order of day and month: no day is above 12.
    """

    order: Order = "dmy"
    epoch: float | None = None
    is_ambiguous: bool = False

    def check(self) -> None:
        """Raise a ValueError if the fields, as read from a file, are none of a format."""
        is_known = self.order in _ORDERS and self.epoch in (None, *_EPOCH_UNITS)
        if not is_known or not isinstance(self.is_ambiguous, bool):
            raise ValueError("it is not a format of dates")

    def parse(self, texts: pa.Array) -> tuple[Floats, pa.Array]:
        """Parse distinct texts.

        Returns
        -------
        values : ndarray of shape (n_texts,)
            Seconds since 1970 in UTC, or in local time without a zone; NaN for texts that are no
            dates.
        words : pyarrow.Array
            The texts that are no dates; else null.
        """
        cleaned = clean_texts(texts)
        if self.epoch is not None:
            is_number = pc.match_substring_regex(cleaned, r"^-?[0-9]{1,18}(\.[0-9]*)?$")
            numbers = pc.if_else(is_number, cleaned, None).cast(pa.float64())
            values = np.array(pc.fill_null(numbers, np.nan)) / self.epoch
        else:
            values = _parse_dates(cleaned, _SPLIT, self.order)
            is_open = np.isnan(values)
            if is_open.any():
                rest = cleaned.filter(pa.array(is_open))
                values[is_open] = _parse_dates(rest, _SPLIT_REVERSED, self.order)
        return values, pc.if_else(pa.array(np.isnan(values)), cleaned, None)


@dataclass(frozen=True)
class ClockFormat:
    """Times of day, such as 10:30 or 7:05 PM, as hours."""

    def check(self) -> None:
        """Accept the format, which has no fields."""

    def parse(self, texts: pa.Array) -> tuple[Floats, pa.Array]:
        """Parse distinct texts to hours; see `DateFormat.parse`."""
        cleaned = clean_texts(texts)
        values = _map_distinct(cleaned, _parse_clock) / 3600.0
        return values, pc.if_else(pa.array(np.isnan(values)), cleaned, None)


def infer_date_format(texts: pa.Array) -> DateFormat | None:
    """Infer the order of day and month in distinct texts; None if the first of them are no dates.

    A number above 12 shows which field is the day. Otherwise the texts decide by the order in which
    they stand, if they ascend or descend as dates of one order alone; else the day is first, and
    the format is ambiguous.

    Parameters
    ----------
    texts : pyarrow.Array
        The distinct texts, in the order of their first occurrence.
    """
    if len(texts) > MAX_SAMPLE:
        rows = np.linspace(0, len(texts) - 1, MAX_SAMPLE).astype(np.int64)
        texts = texts.take(pa.array(rows))
    shares: dict[Order, float] = {}
    for order in _ORDERS:
        values, _ = DateFormat(order).parse(texts)
        shares[order] = float(np.mean(~np.isnan(values))) if len(values) else 0.0
    best = max(shares.values())
    if not best:
        return None
    fitting: list[Order] = [o for o in _ORDERS if shares[o] == best]
    if len(fitting) == 1:
        return DateFormat(fitting[0])
    parsed = {order: DateFormat(order).parse(texts)[0] for order in fitting}
    first = parsed[fitting[0]]
    if all(np.array_equal(first, other, equal_nan=True) for other in parsed.values()):
        return DateFormat("ymd")
    sorted_orders = [order for order, values in parsed.items() if _is_sorted(values)]
    if len(sorted_orders) == 1:
        return DateFormat(sorted_orders[0])
    return DateFormat(fitting[0], is_ambiguous=True)


def infer_clock_format(texts: pa.Array) -> ClockFormat | None:
    """Return the format of times of day if all of the first texts are such times."""
    values, _ = ClockFormat().parse(texts.slice(0, MAX_SAMPLE))
    return ClockFormat() if len(values) and not np.isnan(values).any() else None


_DATE_NAME = re.compile(r"(?i)(^|[^a-z])(dates?|datetime|time(stamp)?|ts|epoch|fecha|day|when)s?$")
_DATE_CAMEL = re.compile(r"[a-z](Date|Time|Timestamp|At)$|_at$")
# Seconds from 1980 to 2100, and how many units make one: seconds, milliseconds and so on.
_EPOCH_RANGE = 315_532_800, 4_102_444_800
_EPOCH_UNITS = 1.0, 1e3, 1e6, 1e9


def infer_epoch(name: str, values: Floats) -> DateFormat | None:
    """Return the format of whole numbers that are times since 1970, by the column's name.

    Parameters
    ----------
    name : str
        A name such as ``created_at``, ``timestamp`` or ``date``.
    values : ndarray of shape (n_rows,)
        Without missing ones.
    """
    if not _DATE_NAME.search(name) and not _DATE_CAMEL.search(name):
        return None
    if not values.size or np.any(values % 1 != 0):
        return None
    if values.min() >= 19000101 and values.max() <= 21001231:
        digits = pa.array(values.astype(np.int64)).cast(pa.large_string())
        parsed, _ = DateFormat("ymd").parse(pc.unique(digits))
        return None if np.isnan(parsed).any() else DateFormat("ymd")
    low, high = _EPOCH_RANGE
    for unit in _EPOCH_UNITS:
        if values.min() >= low * unit and values.max() <= high * unit:
            return DateFormat(epoch=unit)
    return None


def _is_sorted(values: Floats) -> bool:
    steps = np.diff(values[~np.isnan(values)])
    return len(steps) >= MIN_STEPS and bool(np.all(steps >= 0) or np.all(steps <= 0))


def _parse_dates(cleaned: pa.Array, pattern: str, order: Order) -> Floats:
    found = pc.extract_regex(cleaned, pattern)
    days = _map_distinct(pc.struct_field(found, "date"), lambda text: _parse_day(text, order))
    clock = pc.struct_field(found, "time")
    seconds = _map_distinct(clock, _parse_clock)
    return np.asarray(days * 86400.0 + seconds)


def _map_distinct(texts: pa.Array, parse: Callable[[str], float | None]) -> Floats:
    """Parse each distinct text once; null gives NaN, and an empty text 0."""
    coded = pc.utf8_lower(texts).dictionary_encode()
    distinct: Iterable[str] = coded.dictionary.to_pylist()
    parsed = [0.0 if not text else parse(text) for text in distinct]
    values = np.array([*(np.nan if p is None else p for p in parsed), np.nan])
    return np.asarray(values[np.asarray(pc.fill_null(coded.indices, -1))])


def _parse_clock(text: str) -> float | None:
    """Return the seconds since midnight in UTC."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
    if hour > 24 or minute > 59 or second > 60:
        return None
    if found[5]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found[5] == "p")
    offset = 0
    if found[6]:
        if found[6] not in ZONES:
            return None
        offset = ZONES[found[6]]
    elif found[7]:
        sign = -1 if found[7].startswith("-") else 1
        offset = sign * (60 * abs(int(found[7])) + int(found[8] or 0))
    fraction = float(f"0.{found[4]}") if found[4] else 0.0
    return 3600.0 * hour + 60.0 * (minute - offset) + second + fraction


def _parse_day(text: str, order: Order) -> float | None:
    """Return the days since 1970 of a date; a month without a day is its first day."""
    text = text.strip(" ,")
    fields = _read_numeric(text, order) or _read_named(text)
    if fields is None:
        return None
    year, month, day = fields
    if year < 100:
        year += 1900 if year >= FIRST_OF_LAST_CENTURY else 2000
    if not YEARS[0] <= year <= YEARS[1]:
        return None
    try:
        return float(date(year, month, day).toordinal() - _EPOCH)
    except ValueError:
        return None


_EPOCH = date(1970, 1, 1).toordinal()


def _read_numeric(text: str, order: Order) -> Fields | None:
    if found := _YEAR_FIRST.fullmatch(text):
        if found[2] or len(text) == 8:
            return int(found[1]), int(found[3]), int(found[4])
        return None
    if found := _NUMERIC.fullmatch(text):
        one, two, three = int(found[1]), int(found[3]), int(found[4])
        if order == "ymd":
            return None if len(found[1]) != 2 else (one, two, three)
        if order == "mdy" and found[2] == ".":
            return None
        return (three, two, one) if order == "dmy" else (three, one, two)
    if found := _YEAR_MONTH.fullmatch(text):
        return int(found[1]), int(found[2]), 1
    if found := _MONTH_YEAR.fullmatch(text):
        return int(found[2]), int(found[1]), 1
    return None


def _read_named(text: str) -> Fields | None:
    if found := _DAY_NAME.fullmatch(text):
        day, month, year = found[1], found[2], found[3]
    elif found := _NAME_DAY.fullmatch(text):
        day, month, year = found[2], found[1], found[3]
    elif found := _YEAR_NAME.fullmatch(text):
        day, month, year = found[3], found[2], found[1]
    elif found := _NAME_YEAR.fullmatch(text):
        day, month, year = "1", found[1], found[2]
    else:
        return None
    number = MONTHS.get(month[:3])
    return None if number is None else (int(year), number, int(day))
