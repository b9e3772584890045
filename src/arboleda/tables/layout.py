"""The layout of a study's table: how its columns are encoded as the matrix that models take."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from arboleda._utils.errors import StudyError
from arboleda.tables.chunked_reader import Chunk, read_chunks
from arboleda.tables.column_formats import ColumnFormat
from arboleda.tables.column_reading import code_texts, column_from_arrow
from arboleda.tables.date_parsing import DateFormat
from arboleda.tables.features import Features, Role, make_features
from arboleda.tables.reading import RawTable, read_raw
from arboleda.tables.recipe import (
    Merges,
    invert_groups,
    merge_numbers,
    merge_texts,
)
from arboleda.tables.table import MISSING, Column, StudyTable, check_names
from arboleda.tables.text_columns import is_true_word
from arboleda.tables.text_encoding import TextEncoding

__all__ = [
    "Layout",
    "RawColumn",
    "convert_column",
    "convert_to_text",
    "find_source",
    "make_layout",
]

FeatureKind = Literal["numeric", "categorical", "boolean", "datetime", "text", "list"]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RawColumn:
    """A column of the table that the models were fitted on; only categories have ``levels``.

    ``merged`` pairs values of a table with the values that the study replaced them by. ``format``
    is how numbers or dates are written; ``words_of`` is the column beside whose values the
    categories of this one stand. ``encoding`` turns a text or list into numbers.
    """

    name: str
    kind: FeatureKind
    levels: tuple[str, ...] = ()
    merged: tuple[tuple[str, str], ...] = ()
    format: ColumnFormat | None = None
    words_of: str | None = None
    encoding: TextEncoding | None = None

    @property
    def is_text(self) -> bool:
        """Whether a file has its values as text."""
        return self.format is not None or self.kind in ("categorical", "text", "list")


@dataclass(frozen=True, repr=False)
class Layout:
    """The columns that a study's models take, in order.

    Parameters
    ----------
    columns : tuple of RawColumn
        Without the target and the columns that are not used.
    """

    columns: tuple[RawColumn, ...]

    def __repr__(self) -> str:
        return f"Layout of {len(self.columns)} columns"

    @cached_property
    def raw_names(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return tuple(column.name for column in self.columns)

    @property
    def source_names(self) -> tuple[str, ...]:
        """The names of the columns that a table as in the study needs."""
        return tuple(dict.fromkeys(column.words_of or column.name for column in self.columns))

    @cached_property
    def _empty(self) -> Features:
        return self._make_features(
            [Column(c.name, _TABLE_KINDS[c.kind], np.empty(0), c.levels) for c in self.columns]
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the matrix's columns; a date has several."""
        return self._empty.names

    @property
    def categorical(self) -> tuple[int, ...]:
        """The indices of the matrix's columns of category codes."""
        return self._empty.categorical

    @property
    def binary(self) -> tuple[int, ...]:
        """The indices of the matrix's columns of Booleans."""
        return self._empty.binary

    @property
    def numeric(self) -> tuple[int, ...]:
        """The indices of the matrix's columns of numbers, Booleans included."""
        return self._empty.numeric

    @property
    def levels(self) -> Any:
        """The levels of each categorical column, by its index in the matrix."""
        return self._empty.levels

    def encode(self, source: Any) -> Features:
        """Encode a table as a matrix; columns are found by name, others are ignored.

        An unknown category gets the code after the last known one, a missing category -1; a missing
        number is NaN.

        Parameters
        ----------
        source : str, path or frame
            As for a study: a file, a bundled table, or a pandas, polars or Arrow table.

        Returns
        -------
        Features

        Raises
        ------
        StudyError
            If the table cannot be read or lacks a column, or a column has values of another kind.
        """
        return self.encode_raw(self.read(source))

    def read(self, source: Any) -> RawTable:
        """Read a table, with columns of texts as text, and check that it has all columns."""
        raw = read_raw(source, as_text=self._text_names)
        self._check(raw)
        return raw

    def iterate_chunks(self, source: Any, *, max_table_size: int | None = None) -> Iterator[Chunk]:
        """Read a table as `read` does, but a file larger than memory in chunks."""
        for part in read_chunks(source, as_text=self._text_names, max_table_size=max_table_size):
            self._check(part.raw)
            yield part

    @property
    def _text_names(self) -> list[str]:
        return [column.name for column in self.columns if column.is_text]

    def _check(self, raw: RawTable) -> None:
        check_names(raw.names, raw.name)
        names = set(raw.names)
        missing = [c.words_of or c.name for c in self.columns if find_source(c, names) is None]
        if missing:
            noun = "columns" if len(missing) > 1 else "column"
            named = ", ".join(repr(name[:60]) for name in missing[:8])
            more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
            raise StudyError(
                f"The table {raw.name} lacks the {noun} {named}{more}, which the models of the "
                "study need; add them, with empty cells where values are unknown."
            )

    def encode_raw(self, raw: RawTable) -> Features:
        """Encode a table that was read by `read`."""
        where = {name: i for i, name in enumerate(raw.names)}
        return self._make_features(
            [
                convert_column(
                    column,
                    raw.data.column(where[find_source(column, where) or column.name]),
                    raw.decimal_comma,
                )
                for column in self.columns
            ]
        )

    def _make_features(self, columns: Iterable[Column]) -> Features:
        roles = {c.name: Role(c.kind, "feature", encoding=c.encoding) for c in self.columns}
        return make_features(StudyTable("", "", tuple(columns), ""), roles)


_TABLE_KINDS: dict[FeatureKind, Literal["numeric", "boolean", "datetime", "string"]] = {
    "numeric": "numeric",
    "categorical": "string",
    "boolean": "boolean",
    "datetime": "datetime",
    "text": "string",
    "list": "string",
}
_KIND_WORDS = {
    "numeric": "numbers",
    "boolean": "Booleans",
    "datetime": "dates",
    "string": "text",
}


def find_source(column: RawColumn, names: Container[str]) -> str | None:
    """Return the column to read: its own, or that beside whose values its words stand."""
    if column.name in names or column.words_of not in names:
        return column.name if column.name in names else None
    return column.words_of


def make_layout(columns: Iterable[Column], roles: Any, merges: Merges) -> Layout:
    """Make the layout of a study's table: its features in the table's order."""
    return Layout(
        tuple(_make_raw_column(c, roles[c.name], merges) for c in columns if _is_feature(c, roles))
    )


def _is_feature(column: Column, roles: Any) -> bool:
    return bool(roles[column.name].role == "feature")


def _make_raw_column(column: Column, role: Role, merges: Merges) -> RawColumn:
    parsing = column.parsing
    words = parsing is not None and parsing.part == "words"
    return RawColumn(
        column.name,
        role.kind,
        column.levels if role.kind == "categorical" else (),
        tuple(invert_groups(merges.get(column.name, {})).items()),
        None if parsing is None else parsing.format,
        parsing.source if parsing is not None and words else None,
        role.encoding,
    )


def convert_column(column: RawColumn, data: pa.ChunkedArray, decimal_comma: bool) -> Column:
    """Convert a column of a new table to the kind that it has in the study."""
    if column.kind in ("text", "list"):
        text = merge_texts(convert_to_text(column, data), dict(column.merged))
        return code_texts(column.name, pa.chunked_array(text.chunks, pa.large_string()))
    if column.format is not None and (pa.types.is_integer(data.type) or _is_text(data.type)):
        return _parse_formatted(column, column.format, data)
    if column.kind == "categorical":
        return Column(column.name, "string", _encode_categories(column, data), column.levels)
    if column.kind == "boolean" and column.merged:
        data = merge_texts(convert_to_text(column, data), dict(column.merged))
    parsed = column_from_arrow(column.name, data, decimal_comma)
    if parsed.missing.all():
        return Column(column.name, _TABLE_KINDS[column.kind], parsed.values)
    values = parsed.values
    if column.kind == "numeric":
        if parsed.kind == "string":
            values = _parse_numbers(parsed)
        elif parsed.kind == "datetime":
            _refuse(column, parsed, int(np.argmin(parsed.missing)))
    elif column.kind == "boolean":
        if parsed.kind == "string":
            parsed = _parse_truth(parsed)
            values = parsed.values
        if parsed.kind not in ("boolean", "numeric"):
            _refuse(column, parsed, int(np.argmin(parsed.missing)))
        others = np.flatnonzero(~parsed.missing & (values != 0) & (values != 1))
        if others.size:
            _refuse(column, parsed, int(others[0]))
    elif parsed.kind != "datetime":
        _refuse(column, parsed, int(np.argmin(parsed.missing)))
    return Column(column.name, _TABLE_KINDS[column.kind], _merge_values(column, values))


def _merge_values(column: RawColumn, values: Floats) -> Floats:
    is_merged = column.kind == "numeric" and column.merged
    return merge_numbers(values, dict(column.merged)) if is_merged else values


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _parse_formatted(column: RawColumn, form: ColumnFormat, data: pa.ChunkedArray) -> Column:
    """Parse texts in the study's format: the values, or the words beside them."""
    if pa.types.is_integer(data.type) and not isinstance(form, DateFormat):
        values = np.asarray(data.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
        if column.words_of is None:
            return Column(column.name, "numeric", _merge_values(column, values))
    coded = data.cast(pa.large_string()).combine_chunks().dictionary_encode()
    values, words = form.parse(coded.dictionary)
    codes = np.asarray(pc.fill_null(coded.indices, len(values)), dtype=np.int64)
    if column.words_of is None:
        values = _merge_values(column, np.append(values, np.nan)[codes])
        return Column(column.name, _TABLE_KINDS[column.kind], values)
    texts = pa.chunked_array([words.take(coded.indices)], pa.large_string())
    return Column(column.name, "string", _encode_categories(column, texts), column.levels)


def _parse_truth(parsed: Column) -> Column:
    """Replace words such as yes and no by truth values; return other texts unchanged."""
    truths = [is_true_word(level) for level in parsed.levels]
    if any(truth is None for truth in truths):
        return parsed
    values = np.array([*map(float, truths), np.nan])  # type: ignore[arg-type]
    codes = np.where(parsed.missing, len(truths), parsed.values).astype(np.int64)
    return Column(parsed.name, "boolean", values[codes])


def _parse_numbers(parsed: Column) -> Floats:
    """Parse texts as numbers; raise a StudyError for the first that is not a number."""
    numbers = np.full(len(parsed.levels) + 1, np.nan)
    bad = []
    for code, text in enumerate(parsed.levels):
        try:
            numbers[code] = pc.cast(pa.scalar(text.strip()), pa.float64()).as_py()
        except pa.ArrowInvalid:
            bad.append(code)
    if bad:
        row = int(np.flatnonzero(np.isin(parsed.values, bad))[0])
        raise StudyError(
            f"Column {parsed.name!r} holds numbers in the study, but "
            f"{parsed.levels[int(parsed.values[row])][:60]!r} in data row {row + 1} is not a "
            "number; correct it or leave it blank."
        )
    return numbers[np.where(parsed.missing, len(parsed.levels), parsed.values).astype(np.int64)]


def _refuse(column: RawColumn, parsed: Column, row: int) -> None:
    value = parsed.values[row]
    text = parsed.levels[int(value)][:60] if parsed.kind == "string" else f"{value:g}"
    what = (
        f"a date in data row {row + 1}"
        if parsed.kind == "datetime"
        else (f"{text!r} in data row {row + 1}")
    )
    raise StudyError(
        f"Column {column.name!r} holds {_KIND_WORDS[_TABLE_KINDS[column.kind]]} in the study, but "
        f"this table has {what}; give it values of that kind, or leave it blank."
    )


def _encode_categories(column: RawColumn, data: pa.ChunkedArray) -> Floats:
    """Encode each text as its index in the levels, their number if unknown, NaN if missing."""
    text = merge_texts(convert_to_text(column, data), dict(column.merged))
    known = pa.array(column.levels, pa.large_string())
    codes = pc.fill_null(pc.index_in(text, value_set=known), len(column.levels))
    is_missing = pc.is_in(
        pc.fill_null(pc.utf8_trim_whitespace(text), ""), pa.array(MISSING, pa.large_string())
    )
    values = np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.where(is_missing.to_numpy(zero_copy_only=False).astype(bool), np.nan, values)


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
