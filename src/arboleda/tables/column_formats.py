"""The format of a column of text: numbers, dates or times as people write them, or none."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from arboleda.tables.date_parsing import (
    ClockFormat,
    DateFormat,
    infer_clock_format,
    infer_date_format,
)
from arboleda.tables.number_parsing import (
    MIN_DISTINCT,
    NumberFormat,
    has_leading_zeros,
    infer_number_format,
)

__all__ = [
    "ColumnFormat",
    "ParsedTexts",
    "format_from_dict",
    "format_to_dict",
    "get_value_kind",
    "parse_texts",
    "recognize_format",
    "require_format",
]

ColumnFormat = NumberFormat | DateFormat | ClockFormat
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

# A column is of a format if at least this share of its values is; or the second share, if the other
# values are at most so many different words.
MIN_SHARE, MIN_SHARE_BESIDE_WORDS, MAX_WORDS = 0.9, 0.5, 10
# A word that occurs less often than this is not a category, but a missing value.
MIN_WORD_COUNT = 5
# Distinct texts that are tried before all are parsed.
N_TRIED = 1_000
# Whole numbers above this are not all exact in double precision.
MAX_EXACT = 2**53
N_EXAMPLES = 3


@dataclass(frozen=True)
class ParsedTexts:
    """Distinct texts as values.

    Attributes
    ----------
    format : ColumnFormat
    values : ndarray of shape (n_texts,)
        Numbers, hours or seconds since 1970; NaN for words.
    words : pyarrow.Array
        The frequent texts that are no such values, or the currency; else null.
    share : float
        The share of the column's values that parse.
    examples : tuple of str
        Three of the texts that parse.
    unparsed : tuple of str
        At most three of the others, the most frequent first.
    """

    format: ColumnFormat
    values: Floats
    words: pa.Array
    share: float
    examples: tuple[str, ...]
    unparsed: tuple[str, ...]


def get_value_kind(form: ColumnFormat) -> Literal["numeric", "datetime"]:
    """Return the kind of values that a format describes."""
    return "datetime" if isinstance(form, DateFormat) else "numeric"


def recognize_format(
    texts: pa.Array, counts: Counts, *, decimal_comma: bool = False
) -> ParsedTexts | None:
    """Recognize numbers, dates or times among distinct texts; None for other texts.

    Codes with leading zeros stay texts, and so do few numbers among words.

    Parameters
    ----------
    texts : pyarrow.Array
        The distinct texts without missing ones, in the order of their first occurrence.
    counts : ndarray of shape (n_texts,)
        How often each occurs.
    decimal_comma : bool, default=False
        Whether a comma is preferably a decimal mark.
    """
    if not len(texts) or has_leading_zeros(texts):
        return None
    tried = texts.slice(0, N_TRIED)
    clock = infer_clock_format(tried)
    if clock is not None:
        parsed = parse_texts(clock, texts, counts)
        if _is_accepted(parsed):
            return parsed
    if _is_likely(infer_date_format(tried), tried):
        date = infer_date_format(texts)
        parsed = parse_texts(date or DateFormat(), texts, counts)
        if _is_accepted(parsed):
            return parsed
    if not _is_likely(
        infer_number_format(tried, counts[:N_TRIED], decimal_comma=decimal_comma), tried
    ):
        return None
    number = infer_number_format(texts, counts, decimal_comma=decimal_comma)
    parsed = parse_texts(number or NumberFormat(), texts, counts)
    return parsed if _is_exact(parsed.values) and _is_accepted(parsed) else None


def require_format(kind: Literal["number", "date"], texts: pa.Array, counts: Counts) -> ParsedTexts:
    """Parse distinct texts as numbers or dates, however few of them are.

    Raises
    ------
    ValueError
        If none is.
    """
    form: ColumnFormat | None
    if kind == "date":
        form = infer_date_format(texts)
    else:
        clock = infer_clock_format(texts)
        form = clock if clock is not None else infer_number_format(texts, counts)
    if form is None:
        raise ValueError(f"no value is a {kind}")
    parsed = parse_texts(form, texts, counts)
    if not parsed.share:
        raise ValueError(f"no value is a {kind}")
    return parsed


def parse_texts(form: ColumnFormat, texts: pa.Array, counts: Counts) -> ParsedTexts:
    """Parse distinct texts in a format."""
    values, words = form.parse(texts)
    is_value = ~np.isnan(values)
    n_all = int(counts.sum())
    share = float(counts[is_value].sum() / n_all) if n_all else 0.0
    shown = np.flatnonzero(is_value)
    at = np.unique(np.linspace(0, max(0, len(shown) - 1), N_EXAMPLES).astype(np.int64))
    others = np.flatnonzero(~is_value)
    others = others[np.argsort(-counts[others], kind="stable")[:N_EXAMPLES]]
    return ParsedTexts(
        form,
        values,
        _drop_rare_words(words, counts),
        share,
        tuple(_shorten(texts[int(shown[i])].as_py()) for i in at if shown.size),
        tuple(_shorten(texts[int(i)].as_py()) for i in others),
    )


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def _drop_rare_words(words: pa.Array, counts: Counts) -> pa.Array:
    coded = words.dictionary_encode()
    codes = np.asarray(pc.fill_null(coded.indices, -1))
    totals = np.bincount(codes[codes >= 0], counts[codes >= 0], minlength=len(coded.dictionary))
    is_frequent = np.append(totals >= MIN_WORD_COUNT, False)[codes]
    return pc.if_else(pa.array(is_frequent), words, None)


def _is_likely(form: ColumnFormat | None, texts: pa.Array) -> bool:
    if form is None:
        return False
    values, _ = form.parse(texts)
    return bool(np.mean(~np.isnan(values)) >= MIN_SHARE_BESIDE_WORDS)


def _is_accepted(parsed: ParsedTexts) -> bool:
    present = parsed.values[~np.isnan(parsed.values)]
    n_distinct = len(np.unique(present))
    if n_distinct <= MIN_DISTINCT:
        # Few different numbers beside words are a category without loss.
        return parsed.share == 1.0 and n_distinct > 2
    if parsed.share >= MIN_SHARE:
        return True
    n_words = len(parsed.values) - len(present)
    return parsed.share >= MIN_SHARE_BESIDE_WORDS and n_words <= MAX_WORDS


def _is_exact(values: Floats) -> bool:
    """Return whether no two large whole numbers become the same value."""
    present = values[~np.isnan(values)]
    if not present.size or np.abs(present).max() <= MAX_EXACT:
        return True
    return len(np.unique(present)) == len(present)


_FORMATS: dict[str, type[ColumnFormat]] = {
    "number": NumberFormat,
    "date": DateFormat,
    "clock": ClockFormat,
}


def format_to_dict(form: ColumnFormat) -> dict[str, Any]:
    """Convert a format to plain values, for JSON."""
    kind = next(kind for kind, cls in _FORMATS.items() if isinstance(form, cls))
    fields = asdict(form)
    if "currencies" in fields:
        fields["currencies"] = list(fields["currencies"])
    return {"kind": kind, **fields}


def format_from_dict(content: Any) -> ColumnFormat:
    """Make a format of plain values.

    Raises
    ------
    ValueError
        If they are none of a format.
    """
    if not isinstance(content, Mapping) or content.get("kind") not in _FORMATS:
        raise ValueError("it is not a format of values")
    given = {name: value for name, value in content.items() if name != "kind"}
    factors = given.get("factors", {})
    if not isinstance(factors, Mapping) or not all(
        isinstance(factor, int | float) for factor in factors.values()
    ):
        raise ValueError("it is not a format of values")
    try:
        if isinstance(given.get("currencies"), list):
            given["currencies"] = tuple(given["currencies"])
        form = _FORMATS[content["kind"]](**given)
        form.check()
    except TypeError as error:
        raise ValueError("it is not a format of values") from error
    return form
