"""A study's table: named columns of numbers, or of codes and their levels."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from arboleda._utils.errors import TableError

__all__ = [
    "MISSING",
    "Column",
    "Note",
    "StudyTable",
    "column_from_arrow",
    "compute_digest",
    "get_column_names",
    "table_from_arrow",
]

ValueKind = Literal["numeric", "boolean", "datetime", "string"]
Floats = npt.NDArray[np.float64]

# Texts that represent a missing value in any column.
MISSING: tuple[str, ...] = ("", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>")
MISSING += ("NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "nil", "-1.#IND", "1.#QNAN")

_DECIMAL_COMMA = r"^\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*$"
_WHOLE = r"^\s*[-+]?\d+\s*$"
_ISO_DATE = re.compile(r"\s*\d{4}-\d{2}-\d{2}")
_DATE_FORMATS = ("%d.%m.%Y", "%Y/%m/%d")


@dataclass(frozen=True)
class Note:
    """Remark on the data: its level, the column that it concerns (or None), and its text."""

    level: Literal["info", "warning"]
    column: str | None
    text: str


@dataclass(frozen=True)
class Column:
    """A column of a table.

    ``values`` has float64 numbers, NaN where missing: the value itself if numeric, 0 or 1 if
    boolean, seconds since 1970 (UTC) if a date, and for a string its index in ``levels``, which
    are sorted and distinct.
    """

    name: str
    kind: ValueKind
    values: Floats
    levels: tuple[str, ...] = ()

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """True where the value is missing."""
        return np.isnan(self.values)


@dataclass(frozen=True)
class StudyTable:
    """A table: its ``name`` for messages, its ``stem`` for names of folders, and its columns.

    ``dropped`` are the columns that a recipe dropped: rows that differ there are no copies.
    """

    name: str
    stem: str
    columns: tuple[Column, ...]
    sha256: str
    notes: tuple[Note, ...] = field(default=())
    dropped: tuple[Column, ...] = field(default=())

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0].values) if self.columns else 0

    def column(self, name: str) -> Column:
        """Return a column by its name; the error for an unknown name suggests a similar one."""
        for column in self.columns:
            if column.name == name:
                return column
        raise TableError(_describe_missing_column(name, self.name, [c.name for c in self.columns]))


def _describe_missing_column(name: str, table: str, names: list[str]) -> str:
    import difflib

    folded = {n.strip().casefold(): n for n in reversed(names)}
    near = difflib.get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.6)
    hint = (
        f"did you mean {folded[near[0]]!r}?" if near else f"its columns are {_list_names(names)}."
    )
    return f"The table {table} has no column {name!r}; {hint}"


def _list_names(names: list[str], limit: int = 8) -> str:
    shown = ", ".join(repr(n[:60]) for n in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def check_names(names: Iterable[str], table: str) -> None:
    """Raise a TableError if two columns have the same name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise TableError(
                f"The table {table} has more than one column named {name[:80]!r}; "
                "give each column its own name."
            )
        seen.add(name)


def get_column_names(data: pa.Table) -> list[str]:
    """Return the names of the columns; unnamed ones are numbered."""
    return [n if n.strip() else f"(column {i + 1})" for i, n in enumerate(data.column_names)]


def table_from_arrow(
    data: pa.Table,
    *,
    name: str,
    stem: str,
    sha256: str | None = None,
    decimal_comma: bool = False,
    notes: tuple[Note, ...] = (),
) -> StudyTable:
    """Convert an Arrow table to columns of numbers and codes.

    Without ``sha256``, the digest is computed from the columns' names and values, so that the same
    data in different kinds of frames identify the same study.
    """
    names = get_column_names(data)
    check_names(names, name)
    columns = tuple(
        column_from_arrow(names[i], data.column(i), decimal_comma) for i in range(data.num_columns)
    )
    return StudyTable(name, stem, columns, sha256 or compute_digest(columns), notes)


def compute_digest(columns: tuple[Column, ...]) -> str:
    """Compute the SHA-256 of the columns' names and values."""
    digest = hashlib.sha256()
    for column in columns:
        head = repr((column.name, column.kind, column.levels)).encode("utf-8", "backslashreplace")
        digest.update(head)
        digest.update(np.where(column.missing, np.nan, column.values).astype("<f8").tobytes())
    return digest.hexdigest()


def column_from_arrow(name: str, data: pa.ChunkedArray, decimal_comma: bool = False) -> Column:
    """Convert one column of an Arrow table to numbers or codes."""
    kind = data.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        if not isinstance(kind, pa.BaseExtensionType):
            data = data.cast(kind)
    if pa.types.is_null(kind):
        return Column(name, "numeric", np.full(len(data), np.nan))
    if pa.types.is_boolean(kind):
        return Column(name, "boolean", _to_floats(data.cast(pa.int8())))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        values = _to_floats(data)
        if pa.types.is_integer(kind) and _has_collisions(values, pc.count_distinct(data).as_py()):
            return _convert_text(name, data.cast(pa.large_string()), decimal_comma)
        return Column(name, "numeric", values)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return Column(name, "datetime", _to_seconds(data.cast(pa.timestamp("us"), safe=False)))
    if pa.types.is_duration(kind):
        ticks = data.cast(pa.duration("us"), safe=False).cast(pa.int64())
        return Column(name, "numeric", _to_floats(ticks) / 1e6)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_time(kind):
        return _convert_text(name, data.cast(pa.large_string()), decimal_comma)
    raise TableError(
        f"Column {name!r} has values of type {kind}, which a study cannot use; "
        "convert them to numbers or text, or remove the column."
    )


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


def _convert_text(name: str, data: pa.ChunkedArray, decimal_comma: bool) -> Column:
    """Convert texts to numbers, dates or booleans if all of them parse; otherwise to codes."""
    distinct = pc.drop_null(pc.unique(data))
    marker = pc.is_in(pc.utf8_trim_whitespace(distinct), pa.array(MISSING, pa.large_string()))
    distinct = distinct.filter(pc.invert(marker))
    texts: list[str] = distinct.to_pylist()
    parsed = _parse_levels(distinct, texts, decimal_comma)
    if parsed is None:
        order = sorted(range(len(texts)), key=texts.__getitem__)
        codes = np.empty(len(texts))
        codes[order] = np.arange(len(texts), dtype=np.float64)
        return Column(
            name, "string", _map_to_rows(data, distinct, codes), tuple(texts[i] for i in order)
        )
    kind, values = parsed
    return Column(name, kind, _map_to_rows(data, distinct, values))


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
            return _to_seconds(pc.strptime(trimmed, format=form, unit="us"))
        except pa.ArrowInvalid:
            continue
    return None


def _match_all(distinct: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(distinct, pattern)).as_py())
