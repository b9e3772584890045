"""The layout of a study's table: how its columns are encoded as the matrix that models take."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from arboleda._utils.errors import StudyError
from arboleda.tables.chunked_reader import Chunk, read_chunks
from arboleda.tables.features import Features, Role, make_features
from arboleda.tables.reading import RawTable, read_raw
from arboleda.tables.recipe import (
    Merges,
    invert_groups,
    merge_numbers,
    merge_texts,
)
from arboleda.tables.table import MISSING, Column, StudyTable, check_names, column_from_arrow

__all__ = [
    "Layout",
    "RawColumn",
    "convert_column",
    "convert_to_text",
    "make_layout",
]

FeatureKind = Literal["numeric", "categorical", "boolean", "datetime"]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RawColumn:
    """A column of the table that the models were fitted on; only categories have ``levels``.

    ``merged`` pairs values of a table with the values that the study replaced them by.
    """

    name: str
    kind: FeatureKind
    levels: tuple[str, ...] = ()
    merged: tuple[tuple[str, str], ...] = ()


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
        """Read a table, with categorical columns as text, and check that it has all columns."""
        raw = read_raw(source, as_text=self._categorical_names)
        self._check(raw)
        return raw

    def iterate_chunks(self, source: Any, *, max_table_size: int | None = None) -> Iterator[Chunk]:
        """Read a table as `read` does, but a file larger than memory in chunks."""
        for part in read_chunks(
            source, as_text=self._categorical_names, max_table_size=max_table_size
        ):
            self._check(part.raw)
            yield part

    @property
    def _categorical_names(self) -> list[str]:
        return [column.name for column in self.columns if column.kind == "categorical"]

    def _check(self, raw: RawTable) -> None:
        check_names(raw.names, raw.name)
        missing = [name for name in self.raw_names if name not in set(raw.names)]
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
                convert_column(column, raw.data.column(where[column.name]), raw.decimal_comma)
                for column in self.columns
            ]
        )

    def _make_features(self, columns: Iterable[Column]) -> Features:
        roles = {column.name: Role(column.kind, "feature") for column in self.columns}
        return make_features(StudyTable("", "", tuple(columns), ""), roles)


_TABLE_KINDS: dict[FeatureKind, Literal["numeric", "boolean", "datetime", "string"]] = {
    "numeric": "numeric",
    "categorical": "string",
    "boolean": "boolean",
    "datetime": "datetime",
}
_KIND_WORDS = {
    "numeric": "numbers",
    "boolean": "Booleans",
    "datetime": "dates",
    "string": "text",
}


def make_layout(columns: Iterable[Column], roles: Any, merges: Merges) -> Layout:
    """Make the layout of a study's table: its features in the table's order."""
    return Layout(
        tuple(
            RawColumn(
                c.name,
                roles[c.name].kind,
                c.levels if c.kind == "string" else (),
                tuple(invert_groups(merges.get(c.name, {})).items()),
            )
            for c in columns
            if roles[c.name].role == "feature"
        )
    )


def convert_column(column: RawColumn, data: pa.ChunkedArray, decimal_comma: bool) -> Column:
    """Convert a column of a new table to the kind that it has in the study."""
    if column.kind == "categorical":
        return Column(column.name, "string", _encode_categories(column, data), column.levels)
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
        if parsed.kind not in ("boolean", "numeric"):
            _refuse(column, parsed, int(np.argmin(parsed.missing)))
        others = np.flatnonzero(~parsed.missing & (values != 0) & (values != 1))
        if others.size:
            _refuse(column, parsed, int(others[0]))
    elif parsed.kind != "datetime":
        _refuse(column, parsed, int(np.argmin(parsed.missing)))
    if column.merged:
        values = merge_numbers(values, dict(column.merged))
    return Column(column.name, _TABLE_KINDS[column.kind], values)


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
        raise StudyError(
            f"Column {column.name!r} holds text in the study, but this table has values of the "
            f"type {kind}; give it text such as {column.levels[0][:60]!r}."
        ) from error


def _is_integral(data: pa.ChunkedArray) -> bool:
    values = np.asarray(data.to_numpy(zero_copy_only=False), dtype=np.float64)
    values = values[~np.isnan(values)]
    return bool(np.all(np.isfinite(values) & (np.abs(values) < 2**53)) and np.all(values % 1 == 0))
