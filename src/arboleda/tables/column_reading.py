"""Read the columns of an Arrow table as numbers, dates, Booleans or codes of texts."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from arboleda._utils.errors import TableError
from arboleda.tables.column_formats import (
    ParsedTexts,
    get_value_kind,
    recognize_format,
    require_format,
)
from arboleda.tables.date_parsing import YEARS, infer_epoch
from arboleda.tables.number_parsing import has_leading_zeros
from arboleda.tables.table import (
    MISSING,
    Column,
    ColumnType,
    Note,
    Parsing,
    StudyTable,
    ValueKind,
    check_names,
    compute_digest,
    get_column_names,
)
from arboleda.tables.table_checks import find_foreign_rows

__all__ = ["code_texts", "column_from_arrow", "columns_from_arrow", "table_from_arrow"]

Floats = npt.NDArray[np.float64]

_DECIMAL_COMMA = r"^\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*$"
_WHOLE = r"^\s*[-+]?\d+\s*$"
_ISO_DATE = re.compile(r"\s*\d{4}-\d{2}-\d{2}")
_DATE_FORMATS = ("%d.%m.%Y", "%Y/%m/%d")


def table_from_arrow(
    data: pa.Table,
    *,
    name: str,
    stem: str,
    sha256: str | None = None,
    decimal_comma: bool = False,
    notes: tuple[Note, ...] = (),
    types: Mapping[str, ColumnType] | None = None,
) -> StudyTable:
    """Convert an Arrow table to columns of numbers and codes.

    ``types`` are the types of columns that the user chose; the others are inferred.

    Without ``sha256``, the digest is computed from the columns' names and values, so that the same
    data in different kinds of frames identify the same study.
    """
    names = get_column_names(data)
    check_names(names, name)
    chosen = types or {}
    columns = tuple(
        column
        for i, own in enumerate(names)
        for column in columns_from_arrow(own, data.column(i), decimal_comma, chosen.get(own))
        if column.name == own or column.name not in names
    )
    notes = (*notes, *find_foreign_rows(data, columns))
    return StudyTable(name, stem, columns, sha256 or compute_digest(columns), notes)


def columns_from_arrow(
    name: str,
    data: pa.ChunkedArray,
    decimal_comma: bool = False,
    wanted: ColumnType | None = None,
) -> list[Column]:
    """Convert one column of an Arrow table; words beside numbers or dates are a second column.

    Raises
    ------
    TableError
        If the column cannot be converted, or none of its values is of the type ``wanted``.
    """
    if wanted is None:
        return _read_column(name, data, decimal_comma)
    if wanted in ("number", "date"):
        columns = _read_as_values(name, data, decimal_comma, wanted)
    else:
        columns = [code_texts(name, _to_texts(data))]
    return [replace(column, type=wanted) if column.name == name else column for column in columns]


def column_from_arrow(name: str, data: pa.ChunkedArray, decimal_comma: bool = False) -> Column:
    """Convert one column of a new table to numbers, dates, Booleans or codes, without a format.

    Formats, as those of money or of times since 1970, are known from the study: a few rows do not
    show them.
    """
    return _read_column(name, data, decimal_comma, finds_formats=False)[0]


def _read_column(
    name: str, data: pa.ChunkedArray, decimal_comma: bool, *, finds_formats: bool = True
) -> list[Column]:
    kind = data.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        if not isinstance(kind, pa.BaseExtensionType):
            data = data.cast(kind)
    if pa.types.is_null(kind):
        return [Column(name, "numeric", np.full(len(data), np.nan))]
    if pa.types.is_boolean(kind):
        return [Column(name, "boolean", _to_floats(data.cast(pa.int8())))]
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        values = _to_floats(data)
        if pa.types.is_integer(kind) and _has_collisions(values, pc.count_distinct(data).as_py()):
            return _convert_text(name, data.cast(pa.large_string()), decimal_comma, finds_formats)
        dated = _read_epoch(name, values) if finds_formats else None
        return [dated or Column(name, "numeric", values)]
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return [Column(name, "datetime", _to_seconds(data.cast(pa.timestamp("us"), safe=False)))]
    if pa.types.is_duration(kind):
        ticks = data.cast(pa.duration("us"), safe=False).cast(pa.int64())
        return [Column(name, "numeric", _to_floats(ticks) / 1e6)]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_time(kind):
        return _convert_text(name, data.cast(pa.large_string()), decimal_comma, finds_formats)
    raise TableError(
        f"Column {name!r} has values of type {kind}, which a study cannot use; "
        "convert them to numbers or text, or remove the column."
    )


def _read_epoch(name: str, values: Floats, *, is_certain: bool = False) -> Column | None:
    """Return a column of dates if its numbers are times since 1970, or days such as 20201231."""
    present = values[~np.isnan(values)]
    form = infer_epoch("date" if is_certain else name, present)
    if form is None:
        return None
    texts = pa.array(present.astype(np.int64)).cast(pa.large_string())
    dates = np.full(len(values), np.nan)
    dates[~np.isnan(values)] = form.parse(texts)[0]
    examples = tuple(dict.fromkeys(texts[:3].to_pylist()))
    return Column(name, "datetime", dates, (), Parsing(name, form, "values", 1.0, examples, ()))


def _read_as_values(
    name: str, data: pa.ChunkedArray, decimal_comma: bool, wanted: Literal["number", "date"]
) -> list[Column]:
    """Read a column as numbers or dates, because the user says so."""
    columns = _read_column(name, data, decimal_comma)
    column = columns[0]
    if column.kind == {"number": "numeric", "date": "datetime"}[wanted]:
        return columns
    if wanted == "number" and column.kind == "boolean":
        return [replace(column, kind="numeric")]
    if wanted == "date" and column.kind == "numeric" and column.parsing is None:
        dated = _read_epoch(name, column.values, is_certain=True)
        if dated is not None:
            return [dated]
    texts = _to_texts(data)
    distinct, counts = _count_texts(texts)
    try:
        parsed = require_format(wanted, distinct, counts)
    except ValueError as error:
        shown = "" if not len(distinct) else f" such as {distinct[0].as_py()[:40]!r}"
        raise TableError(
            f"No value{shown} of the column {name!r} can be read as a {wanted}; leave it out of "
            "--type, or write its values in a common form."
        ) from error
    return _make_parsed_columns(name, texts, distinct, parsed)


def _to_texts(data: pa.ChunkedArray) -> pa.ChunkedArray:
    """Convert values of any type to texts; numbers that are integers lose their decimal point."""
    if pa.types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
    if pa.types.is_floating(data.type):
        values = _to_floats(data)
        present = values[~np.isnan(values)]
        data = pc.if_else(pc.is_nan(data), None, data)
        if np.all(present % 1 == 0) and np.all(np.abs(present) < 2**53):
            data = data.cast(pa.int64())
    return data.cast(pa.large_string())


def _to_floats(data: pa.ChunkedArray) -> Floats:
    if not pa.types.is_float64(data.type):
        data = data.cast(pa.float64(), safe=False)
    return np.asarray(data.to_numpy(zero_copy_only=False), dtype=np.float64)


def _has_collisions(values: Floats, n_distinct: int) -> bool:
    """Return whether integers above 2^53 collide as float64: they identify rows, then."""
    present = values[~np.isnan(values)]
    if not present.size or np.abs(present).max() <= 2**53:
        return False
    return len(np.unique(present)) < n_distinct


def _to_seconds(data: pa.ChunkedArray) -> Floats:
    return _to_floats(data.cast(pa.int64())) / 1e6


def _count_texts(data: pa.ChunkedArray) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Return the distinct texts that are not missing, in their order, and how often they occur."""
    counted = pc.value_counts(data)
    distinct, counts = counted.field("values"), counted.field("counts")
    marker = pc.is_in(pc.utf8_trim_whitespace(distinct), pa.array(MISSING, pa.large_string()))
    is_text = pc.and_(pc.is_valid(distinct), pc.invert(pc.fill_null(marker, True)))
    return distinct.filter(is_text), np.asarray(counts.filter(is_text), dtype=np.int64)


def _convert_text(
    name: str, data: pa.ChunkedArray, decimal_comma: bool, finds_formats: bool
) -> list[Column]:
    """Convert texts to numbers, dates or Booleans if they can be read so; otherwise to codes."""
    distinct, counts = _count_texts(data)
    plain = _parse_levels(distinct, distinct.to_pylist(), decimal_comma)
    if plain is not None:
        kind, values = plain
        return [Column(name, kind, _map_to_rows(data, distinct, values))]
    parsed = None
    if finds_formats:
        parsed = recognize_format(distinct, counts, decimal_comma=decimal_comma)
    if parsed is None:
        return [code_texts(name, data)]
    return _make_parsed_columns(name, data, distinct, parsed)


def _make_parsed_columns(
    name: str, data: pa.ChunkedArray, distinct: pa.Array, parsed: ParsedTexts
) -> list[Column]:
    """Return the column of values, and that of frequent words beside them, if there are any."""
    facts = parsed.share, parsed.examples, parsed.unparsed
    values = Column(
        name,
        get_value_kind(parsed.format),
        _map_to_rows(data, distinct, parsed.values),
        (),
        Parsing(name, parsed.format, "values", *facts),
    )
    if parsed.words.null_count == len(parsed.words):
        return [values]
    words = parsed.words.take(pc.index_in(data, value_set=distinct))
    column = code_texts(
        f"{name} (words)", pa.chunked_array([words]) if isinstance(words, pa.Array) else words
    )
    return [values, replace(column, parsing=Parsing(name, parsed.format, "words", *facts))]


def code_texts(name: str, data: pa.ChunkedArray) -> Column:
    """Convert texts to codes of their sorted levels."""
    distinct, _ = _count_texts(data)
    texts = distinct.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    codes = np.empty(len(texts))
    codes[order] = np.arange(len(texts), dtype=np.float64)
    values = _map_to_rows(data, distinct, codes)
    return Column(name, "string", values, tuple(texts[i] for i in order))


def _map_to_rows(data: pa.ChunkedArray, distinct: pa.Array, values: Floats) -> Floats:
    """Map the values of distinct texts to all rows; NaN where missing."""
    where = pc.index_in(data, value_set=distinct)
    rows = np.asarray(pc.fill_null(where, -1).to_numpy(zero_copy_only=False), dtype=np.int64)
    return np.append(values, np.nan)[rows]


def _parse_levels(
    distinct: pa.Array, texts: list[str], decimal_comma: bool
) -> tuple[ValueKind, Floats] | None:
    if not texts:
        return "numeric", np.empty(0)
    if has_leading_zeros(distinct):
        return None  # codes, whose zeros count
    folded = [t.strip().lower() for t in texts]
    if set(folded) <= {"true", "false"}:
        return "boolean", np.array([float(t == "true") for t in folded])
    numbers = _parse_numbers(distinct, texts, decimal_comma)
    if numbers is not None:
        return "numeric", numbers
    dates = _parse_dates(distinct, texts)
    return None if dates is None else ("datetime", dates)


def _parse_numbers(distinct: pa.Array, texts: list[str], decimal_comma: bool) -> Floats | None:
    if decimal_comma and _match_all(distinct, f"({_DECIMAL_COMMA})|({_WHOLE})"):
        return np.array([float(t.replace(",", ".")) for t in texts])
    try:
        # Python also accepts "1_000" and "infinity", which are text in a table.
        values = _to_floats(pc.utf8_trim_whitespace(distinct).cast(pa.float64()))
    except pa.ArrowInvalid:
        return None
    return None if _has_collisions(values, len(texts)) else values


def _parse_dates(distinct: pa.Array, texts: list[str]) -> Floats | None:
    trimmed = pc.utf8_trim_whitespace(distinct)
    if _ISO_DATE.match(texts[0]):
        try:
            return _to_seconds(trimmed.cast(pa.timestamp("us", "UTC")))
        except pa.ArrowInvalid:
            pass  # without a time zone
        try:
            return _to_seconds(trimmed.cast(pa.timestamp("us")))
        except pa.ArrowInvalid:
            return None
    for form in _DATE_FORMATS:
        try:
            dates = pc.strptime(trimmed, format=form, unit="us")
        except pa.ArrowInvalid:
            continue
        # It reads the year of 31.12.20 as 20; recognize_format finds the century.
        return None if pc.min(pc.year(dates)).as_py() < YEARS[0] else _to_seconds(dates)
    return None


def _match_all(distinct: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(distinct, pattern)).as_py())
