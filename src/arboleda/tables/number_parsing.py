"""Numbers as people write them: money, units, thousands separators, percent, multipliers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["MONEY", "NumberFormat", "clean_texts", "has_leading_zeros", "infer_number_format"]

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

# Texts from which a format is inferred; with more distinct texts, evenly spaced ones.
MAX_SAMPLE = 20_000
# A unit that is not listed here is accepted if the column has more numbers than this: few values
# with a unit, such as "2 doors" and "4 doors", are a category without loss.
MIN_DISTINCT = 10

# Units by family, with the factor that converts them to the family's first unit.
_FAMILIES: dict[str, dict[str, float]] = {
    "mass": {"kg": 1.0, "g": 1e-3, "mg": 1e-6, "t": 1e3, "lb": 0.45359237, "lbs": 0.45359237}
    | {"oz": 0.028349523125},
    "length": {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "km": 1e3, "in": 0.0254, "ft": 0.3048}
    | {"yd": 0.9144, "mi": 1609.344, "miles": 1609.344},
    "time": {"s": 1.0, "ms": 1e-3, "sec": 1.0, "min": 60.0, "mins": 60.0, "h": 3600.0}
    | {"hr": 3600.0, "hrs": 3600.0, "d": 86400.0, "day": 86400.0, "days": 86400.0},
    "age": {"month": 1.0, "months": 1.0, "yr": 12.0, "yrs": 12.0, "year": 12.0, "years": 12.0},
    "volume": {"l": 1.0, "ml": 1e-3, "cl": 1e-2, "dl": 0.1},
    "memory": {"mb": 1.0, "kb": 1e-3, "gb": 1e3, "tb": 1e6},
    "power": {"kw": 1.0, "w": 1e-3, "mw": 1e3},
    "share": {"%": 1.0, "‰": 0.1},
    "multiplier": {"": 1.0, "k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "b": 1e9, "bn": 1e9},
}
_CODES = "usd eur gbp jpy chf cad aud nzd sek nok dkk pln czk huf inr cny brl mxn ars clp cop pen"
MONEY = rf"(?:us|ca|au|nz|r|s|hk)?[$£€¥₹₽₩₺₪₴฿¢]|{'|'.join(_CODES.split())}|rs\.?|kr\.?|zł"
_PATTERN = r"^(?P<head>[^0-9]{0,12})(?P<digits>[0-9](?:[0-9.,' ]*[0-9])?)(?P<tail>.{0,20})$"
_HEAD = re.compile(rf"(\()?\s*([-+])?\s*({MONEY})?\s*([-+])?\s*([.,])?")
_TAIL = re.compile(
    rf"[.,]?(e[-+]?[0-9]{{1,3}})?\s*(?:({MONEY})|(%|‰|°?[^\W0-9_/]*[23²³]?(?:/[^\W0-9_]+)?)\.?)"
    r"\s*(-)?\s*(\))?"
)
# Decimal mark and thousands separator, the most usual first.
_CONVENTIONS = [(".", ""), (".", ","), (",", ""), (",", "."), (".", " "), (",", " ")]
_CONVENTIONS += [(".", "'"), (",", "'")]


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : {".", ","}
        The decimal mark.
    thousands : {"", ",", ".", " ", "'"}
        The thousands separator, which may also be absent; empty: there is none.
    factors : mapping
        The accepted units in lower case, and the factor of each; money has the unit "".
    currencies : tuple of str
        The currencies, in lower case. The amounts of several are not comparable, so the currency
        is reported beside the number; beside amounts of one, those of others are no numbers.
    """

    decimal: str = "."
    thousands: str = ""
    factors: Mapping[str, float] = field(default_factory=lambda: {"": 1.0})
    currencies: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise a ValueError if the fields, as read from a file, are none of a format."""
        is_known = (self.decimal, self.thousands) in _CONVENTIONS
        texts = (*self.factors, *self.currencies)
        factors = self.factors.values()
        if not is_known or not all(isinstance(text, str) for text in texts):
            raise ValueError("it is not a format of numbers")
        if not all(0 < float(f) < np.inf for f in factors):
            raise ValueError("it is not a format of numbers")

    def parse(self, texts: pa.Array) -> tuple[Floats, pa.Array]:
        """Parse distinct texts.

        Returns
        -------
        values : ndarray of shape (n_texts,)
            The numbers; NaN for texts that are none.
        words : pyarrow.Array
            The texts that are no numbers, and the currencies if there are several; else null.
        """
        cleaned = clean_texts(texts)
        parts = _split_numbers(cleaned)
        pattern = _digits_pattern(self.decimal, self.thousands)
        fits = pc.fill_null(pc.match_substring_regex(parts.digits, pattern), False)
        unit_factors = np.array([self._get_factor(part) for part in parts.kinds])
        factors = np.append(unit_factors, np.nan)[parts.kind]
        is_number = np.asarray(fits) & ~np.isnan(factors)
        signs = np.array([*(part.sign for part in parts.kinds), np.nan])[parts.kind]
        digits = pc.if_else(pa.array(is_number), parts.digits, None)
        values = _to_floats(digits, parts, self.decimal, self.thousands) * factors * signs
        is_number &= np.isfinite(values)  # 1e999 is none
        words = pc.if_else(pa.array(is_number), None, cleaned)
        if len(self.currencies) > 1:
            names = pa.array([*(part.money or None for part in parts.kinds), None])
            money = names.cast(pa.large_string()).take(pa.array(parts.kind))
            words = pc.if_else(pa.array(is_number), money, words)
        return np.where(is_number, values, np.nan), words

    def _get_factor(self, part: "_Kind") -> float:
        """Return the factor of a number's unit; NaN if it is not accepted."""
        is_foreign = part.money and part.money not in self.currencies
        if is_foreign and len(self.currencies) < 2:
            return np.nan
        return self.factors.get(part.unit, np.nan)


def clean_texts(texts: pa.Array) -> pa.Array:
    """Trim texts, and replace typographic blanks and minus signs by plain ones."""
    cleaned = texts.cast(pa.large_string())
    if pc.sum(pc.binary_length(cleaned)).as_py() == pc.sum(pc.utf8_length(cleaned)).as_py():
        return pc.utf8_trim_whitespace(cleaned)  # only ASCII
    for pattern, plain in (
        (r"[\x{00A0}\x{2007}\x{2009}\x{202F}]", " "),
        (r"[\x{2212}\x{2012}\x{2013}]", "-"),
        (r"[\x{2019}\x{02BC}]", "'"),
    ):
        cleaned = pc.replace_substring_regex(cleaned, pattern, plain)
    return pc.utf8_trim_whitespace(cleaned)


def has_leading_zeros(texts: pa.Array) -> bool:
    """Return whether texts are codes of digits such as 00501, whose zeros would be lost."""
    cleaned = pc.utf8_trim_whitespace(texts)
    if not pc.any(pc.match_substring_regex(cleaned, "^0[0-9]{2,}$")).as_py():
        return False
    return bool(pc.all(pc.match_substring_regex(cleaned, "^[0-9]+$")).as_py())


def infer_number_format(
    texts: pa.Array, counts: Counts, *, decimal_comma: bool = False
) -> NumberFormat | None:
    """Infer how the numbers among distinct texts are written; None without any.

    The convention is the column's: the one that most values follow. A single separator before
    three digits is a thousands separator if it is a comma, else a decimal point; with
    ``decimal_comma``, as in files separated by semicolons, the comma is preferably decimal.

    Parameters
    ----------
    texts : pyarrow.Array
        The distinct texts.
    counts : ndarray of shape (n_texts,)
        How often each occurs.
    decimal_comma : bool, default=False
    """
    texts, counts = _draw_texts(texts, counts)
    parts = _split_numbers(clean_texts(texts))
    rows = np.flatnonzero(parts.kind < len(parts.kinds))
    if not rows.size:
        return None
    kinds, counts = [parts.kinds[k] for k in parts.kind[rows]], counts[rows]
    factors = _choose_units([k.unit for k in kinds], counts, any(k.money for k in kinds))
    counts = np.where([k.unit in factors for k in kinds], counts, 0)
    decimal, thousands = _choose_convention(
        parts.digits.take(pa.array(rows)), counts, decimal_comma
    )
    currencies = sorted({k.money for k, n in zip(kinds, counts, strict=True) if k.money and n})
    return NumberFormat(decimal, thousands, factors, tuple(currencies))


@dataclass(frozen=True)
class _Kind:
    """What stands before and after the digits of a number."""

    sign: float
    money: str
    unit: str
    prefix: str  # a decimal mark before the first digit
    exponent: str


@dataclass(frozen=True)
class _NumberParts:
    """The digits of texts, and the index of what stands around them; the last index is none."""

    digits: pa.Array
    kind: npt.NDArray[np.int64]
    kinds: tuple[_Kind, ...]


def _split_numbers(cleaned: pa.Array) -> _NumberParts:
    found = pc.extract_regex(cleaned, _PATTERN)
    head, tail = (pc.struct_field(found, name).dictionary_encode() for name in ("head", "tail"))
    n_tails = len(tail.dictionary)
    at = np.asarray(pc.fill_null(head.indices, -1)).astype(np.int64)
    at = np.where(at < 0, -1, at * n_tails + np.asarray(pc.fill_null(tail.indices, 0)))
    distinct, inverse = np.unique(at, return_inverse=True)
    heads, tails = head.dictionary.to_pylist(), tail.dictionary.to_pylist()
    kinds: list[_Kind] = []
    places = []
    for pair in distinct.tolist():
        kind = None if pair < 0 else _read_kind(heads[pair // n_tails], tails[pair % n_tails])
        places.append(-1 if kind is None else len(kinds))
        if kind is not None:
            kinds.append(kind)
    place = np.array(places, dtype=np.int64)
    place[place < 0] = len(kinds)
    digits = pc.struct_field(found, "digits").cast(pa.large_string())
    return _NumberParts(digits, place[inverse], tuple(kinds))


def _read_kind(head: str, tail: str) -> _Kind | None:
    """Return what a head and a tail mean; None if no number has them."""
    before, after = _HEAD.fullmatch(head.lower()), _TAIL.fullmatch(tail.lower())
    if before is None or after is None or (before[1] is None) != (after[5] is None):
        return None
    signs = [mark for mark in (before[2], before[4], after[4]) if mark]
    if len(signs) + (before[1] is not None) > 1:
        return None
    is_negative = before[1] is not None or signs == ["-"]
    money = before[3] or after[2] or ""
    sign = -1.0 if is_negative else 1.0
    return _Kind(sign, money.rstrip("."), after[3] or "", before[5] or "", after[1] or "")


def _draw_texts(texts: pa.Array, counts: Counts) -> tuple[pa.Array, Counts]:
    if len(texts) <= MAX_SAMPLE:
        return texts, counts
    rows = np.linspace(0, len(texts) - 1, MAX_SAMPLE).astype(np.int64)
    return texts.take(pa.array(rows)), counts[rows]


def _choose_convention(digits: pa.Array, counts: Counts, decimal_comma: bool) -> tuple[str, str]:
    order = _CONVENTIONS
    if decimal_comma:
        order = [c for c in order if c[0] == "," or not c[1]] + [c for c in order if c[0] != ","]
    best, most = order[0], -1
    for convention in order:
        fits = np.asarray(pc.match_substring_regex(digits, _digits_pattern(*convention)))
        n_fits = int(counts[fits].sum())
        if n_fits > most:
            best, most = convention, n_fits
    return best


def _digits_pattern(decimal: str, thousands: str) -> str:
    """Return the pattern of digits that follow a convention."""
    fraction = rf"(?:\{decimal}[0-9]*)?"
    plain = rf"[0-9]+{fraction}"
    if not thousands:
        return f"^(?:{plain})$"
    mark = " " if thousands == " " else rf"\{thousands}"
    # Groups of two digits as in 1,00,000 are usual in India.
    grouped = rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{2,3}})*{mark}[0-9]{{3}}{fraction}"
    return f"^(?:{plain}|{grouped})$"


def _to_floats(digits: pa.Array, parts: _NumberParts, decimal: str, thousands: str) -> Floats:
    if thousands:
        digits = pc.replace_substring(digits, thousands, "")
    if decimal != ".":
        digits = pc.replace_substring(digits, decimal, ".")
    text = pa.large_string()
    if any(kind.exponent or kind.prefix for kind in parts.kinds):
        place = pa.array(parts.kind)
        around = [
            pa.array([*ends, None], text).take(place)
            for ends in (
                ["0." if kind.prefix else "" for kind in parts.kinds],
                [kind.exponent for kind in parts.kinds],
            )
        ]
        digits = pc.binary_join_element_wise(around[0], digits, around[1], pa.scalar("", text))
    return np.array(pc.fill_null(digits.cast(pa.float64()), np.nan), dtype=np.float64)


def _choose_units(units: Sequence[str], counts: Counts, is_money: bool) -> dict[str, float]:
    """Return the accepted units with their factors: those comparable with the most usual one."""
    total: dict[str, int] = {}
    for unit, count in zip(units, counts.tolist(), strict=True):
        total[unit] = total.get(unit, 0) + count
    named = sorted((u for u in total if u), key=lambda u: (-total[u], u))
    if not named:
        return {"": 1.0}
    first = named[0]
    if total.get("", 0) > 9 * total[first]:
        return {"": 1.0}  # a number, and a few values with something else
    multipliers = _FAMILIES["multiplier"]
    if first in multipliers and (is_money or first == "k" or "" in total or "k" in total):
        family = multipliers
    else:
        family = next((f for f in _FAMILIES.values() if first in f and f is not multipliers), {})
    if not family:
        plural = first[:-1] if first.endswith("s") else f"{first}s"
        return {first: 1.0, plural: 1.0, "": 1.0} if _is_usual_unit(units, first) else {"": 1.0}
    accepted = {u: family[u] / family[first] for u in named if u in family}
    if family is multipliers:
        return {"": 1.0} | {u: family[u] for u in accepted}
    return {"": 1.0} | accepted


def _is_usual_unit(units: Sequence[str], unit: str) -> bool:
    """Return whether an unlisted unit stands beside enough different numbers."""
    return sum(u == unit for u in units) > MIN_DISTINCT
