"""Conversion of a new table's columns to the kinds and formats that they have in a study."""

from collections.abc import Container
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from arboleda._utils.errors import StudyError
from arboleda.tables.column_formats import ColumnFormat
from arboleda.tables.column_reading import code_texts, column_from_arrow
from arboleda.tables.date_parsing import ClockFormat, DateFormat
from arboleda.tables.describe import describe_format
from arboleda.tables.recipe import merge_numbers, merge_texts
from arboleda.tables.table import MISSING, Column
from arboleda.tables.text_columns import is_true_word
from arboleda.tables.text_encoding import TextEncoding

__all__ = [
    "TABLE_KINDS",
    "RawColumn",
    "convert_column",
    "convert_to_text",
    "find_source",
]

FeatureKind = Literal["numeric", "categorical", "boolean", "datetime", "text", "list"]
Floats = npt.NDArray[np.float64]

TABLE_KINDS: dict[FeatureKind, Literal["numeric", "boolean", "datetime", "string"]] = {
    "numeric": "numeric",
    "categorical": "string",
    "boolean": "boolean",
    "datetime": "datetime",
    "text": "string",
    "list": "string",
}
# The values of a kind, and one of them.
_VALUES = {
    "numeric": ("numbers", "a number"),
    "boolean": ("Booleans", "a Boolean"),
    "datetime": ("dates", "a date"),
}
# Dates that are read without a learned format: with the year first, or as in 31.12.2020.
_PLAIN_DATE = r"^\s*(\d{4}[-/]|\d{1,2}\.\d{1,2}\.\d{4})"


@dataclass(frozen=True)
class RawColumn:
    """A column of the table that the models were fitted on; only categories have ``levels``.

    ``merged`` pairs values of a table with the values that the study replaced them by. ``format``
    is how numbers or dates are written; ``words_of`` is the column beside whose values the
    categories of this one stand. ``encoding`` turns a text or list into numbers. ``has_words`` is
    whether the study's table has other texts beside the values, which are missing values; ``parts``
    are those of a date that become numbers.
    """

    name: str
    kind: FeatureKind
    levels: tuple[str, ...] = ()
    merged: tuple[tuple[str, str], ...] = ()
    format: ColumnFormat | None = None
    words_of: str | None = None
    encoding: TextEncoding | None = None
    has_words: bool = False
    parts: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether a file has its values as text."""
        return self.format is not None or self.kind in ("categorical", "text", "list")


def find_source(column: RawColumn, names: Container[str]) -> str | None:
    """Return the column to read: its own, or that beside whose values its words stand."""
    if column.name in names or column.words_of not in names:
        return column.name if column.name in names else None
    return column.words_of


def convert_column(column: RawColumn, data: pa.ChunkedArray, decimal_comma: bool) -> Column:
    """Convert a column of a new table to the kind that it has in the study.

    A value is read by the study's format alone, whatever the other rows hold.

    Raises
    ------
    StudyError
        For a value that cannot be read so, unless the study's column has words beside its values.
    """
    if column.kind in ("text", "list"):
        text = merge_texts(convert_to_text(column, data), dict(column.merged))
        return code_texts(column.name, pa.chunked_array(text.chunks, pa.large_string()))
    if column.words_of is not None and column.format is not None:
        return _read_words(column, column.format, data)
    if column.kind == "categorical":
        return Column(column.name, "string", _encode_categories(column, data), column.levels)
    kind = TABLE_KINDS[column.kind]
    if column.format is not None and _is_text(data.type):
        values = _parse_formatted(column, column.format, data)
    elif isinstance(column.format, DateFormat) and _is_number(data.type):
        values = _parse_formatted(column, column.format, convert_to_text(column, data))
    else:
        values = _read_plain(column, data, decimal_comma)
    if column.kind == "numeric" and column.merged:
        values = merge_numbers(values, dict(column.merged))
    return Column(column.name, kind, values)


def _read_words(column: RawColumn, form: ColumnFormat, data: pa.ChunkedArray) -> Column:
    """Read the words beside the values of a column; a column of another type has none."""
    if not _is_text(data.type):
        return Column(column.name, "string", np.full(len(data), np.nan), column.levels)
    coded = convert_to_text(column, data).combine_chunks().dictionary_encode()
    _, words = form.parse(coded.dictionary)
    texts = pa.chunked_array([words.take(coded.indices)], pa.large_string())
    return Column(column.name, "string", _encode_categories(column, texts), column.levels)


def _parse_formatted(column: RawColumn, form: ColumnFormat, data: pa.ChunkedArray) -> Floats:
    """Parse texts in the study's format."""
    coded = convert_to_text(column, data).combine_chunks().dictionary_encode()
    parsed, _ = form.parse(coded.dictionary)
    codes = np.asarray(pc.fill_null(coded.indices, len(parsed)), dtype=np.int64)
    if not column.has_words:
        is_bad = np.isnan(parsed) & ~_is_missing(coded.dictionary)
        rows = np.flatnonzero(np.append(is_bad, False)[codes])
        if rows.size:
            text = coded.dictionary[int(codes[rows[0]])].as_py()
            raise _make_value_error(column, _describe_values(form), text, int(rows[0]))
    return np.append(parsed, np.nan)[codes]


def _describe_values(form: ColumnFormat) -> tuple[str, str]:
    """Return what a column of a format holds, and one such value."""
    if isinstance(form, ClockFormat):
        return "times of day such as 10:30", "such a time"
    described = describe_format(form)
    if isinstance(form, DateFormat):
        return described, "such a date"
    return f"numbers ({described})", "such a number"


def _read_plain(column: RawColumn, data: pa.ChunkedArray, decimal_comma: bool) -> Floats:
    """Read values that need no format of their own."""
    if column.kind == "boolean" and column.merged:
        data = merge_texts(convert_to_text(column, data), dict(column.merged))
    parsed = column_from_arrow(column.name, data, decimal_comma)
    if parsed.missing.all():
        return parsed.values
    if parsed.kind == "string":
        return _read_levels(column, parsed, decimal_comma)
    is_bad = ~parsed.missing
    if column.kind == "boolean" and parsed.kind in ("boolean", "numeric"):
        is_bad &= (parsed.values != 0) & (parsed.values != 1)
    elif (column.kind == "datetime") == (parsed.kind == "datetime"):
        return parsed.values
    if is_bad.any():
        row = int(np.argmax(is_bad))
        text = None if parsed.kind == "datetime" else f"{parsed.values[row]:g}"
        raise _make_value_error(column, _VALUES[column.kind], text, row)
    return parsed.values


def _read_levels(column: RawColumn, parsed: Column, decimal_comma: bool) -> Floats:
    """Read each text as a plain number, date or truth value."""
    if column.kind == "datetime":
        levels = _parse_dates(parsed.levels)
    elif column.kind == "boolean":
        truths = [is_true_word(level) for level in parsed.levels]
        levels = np.array([np.nan if truth is None else float(truth) for truth in truths])
    else:
        levels = np.array([_parse_number(text, decimal_comma) for text in parsed.levels])
    codes = np.where(parsed.missing, len(levels), parsed.values).astype(np.int64)
    rows = np.flatnonzero(np.append(np.isnan(levels), False)[codes])
    if rows.size:
        text = parsed.levels[int(codes[rows[0]])]
        raise _make_value_error(column, _VALUES[column.kind], text, int(rows[0]))
    return np.append(levels, np.nan)[codes]


def _parse_dates(levels: tuple[str, ...]) -> Floats:
    texts = pa.array(levels, pa.large_string())
    dates, _ = DateFormat().parse(texts)
    return np.where(np.asarray(pc.match_substring_regex(texts, _PLAIN_DATE)), dates, np.nan)


def _parse_number(text: str, decimal_comma: bool) -> float:
    plain = text.strip().replace(",", ".") if decimal_comma else text.strip()
    try:
        return float(pc.cast(pa.scalar(plain), pa.float64()).as_py())
    except pa.ArrowInvalid:
        return np.nan


def _make_value_error(
    column: RawColumn, values: tuple[str, str], text: str | None, row: int
) -> StudyError:
    """Return the error for a value; a date has no ``text``."""
    shown = "a date" if text is None else repr(text[:60])
    return StudyError(
        f"Column {column.name!r} holds {values[0]} in the study, but {shown} in data row "
        f"{row + 1:,} is not {values[1]}; correct it or leave it blank."
    )


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_time(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_missing(texts: pa.Array) -> npt.NDArray[np.bool_]:
    """Return which texts represent a missing value."""
    trimmed = pc.fill_null(pc.utf8_trim_whitespace(texts), "")
    markers = pc.is_in(trimmed, pa.array(MISSING, pa.large_string()))
    return np.asarray(markers.to_numpy(zero_copy_only=False), dtype=bool)


def _encode_categories(column: RawColumn, data: pa.ChunkedArray) -> Floats:
    """Encode each text as its index in the levels, their number if unknown, NaN if missing.

    Blanks around a text count only if levels differ by them.
    """
    text = merge_texts(convert_to_text(column, data), dict(column.merged))
    known = pa.array(column.levels, pa.large_string())
    exact = pc.index_in(text, value_set=known)
    trimmed = pc.utf8_trim_whitespace(known)
    near = pc.index_in(pc.utf8_trim_whitespace(text), value_set=trimmed)
    codes = pc.fill_null(pc.coalesce(exact, near), len(column.levels))
    values = np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.where(_is_missing(text), np.nan, values)


def convert_to_text(column: RawColumn, data: pa.ChunkedArray) -> pa.ChunkedArray:
    """Convert a categorical column to text; floats that are integers lose their decimal point."""
    kind = data.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        data = data.cast(kind)
    if pa.types.is_floating(kind) and _is_integral(data):
        # A data frame converts a column of integers to floats if one is missing.
        data = pc.if_else(pc.is_nan(data), None, data).cast(pa.int64())
    try:
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            raise pa.ArrowInvalid(kind)
        return data.cast(pa.large_string())
    except pa.ArrowException as error:
        example = f" such as {column.levels[0][:60]!r}" if column.levels else ""
        raise StudyError(
            f"Column {column.name!r} holds text in the study, but this table has values of the "
            f"type {kind}; give it text{example}."
        ) from error


def _is_integral(data: pa.ChunkedArray) -> bool:
    values = np.asarray(data.to_numpy(zero_copy_only=False), dtype=np.float64)
    values = values[~np.isnan(values)]
    return bool(np.all(np.isfinite(values) & (np.abs(values) < 2**53)) and np.all(values % 1 == 0))
