"""How the columns of a study's table become the matrix that its models take."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from arboleda.study.data.chunked_reader import Chunk, read_chunks
from arboleda.study.data.features import Features, Role, make_features
from arboleda.study.data.reading import RawTable, read_raw
from arboleda.study.data.recipe import (
    Merges,
    renamed,
    with_numbers_merged,
    with_texts_merged,
)
from arboleda.study.data.table import MISSING, Column, Table, check_names, column_from_arrow
from arboleda.study.errors import StudyError

__all__ = ["Layout", "RawColumn", "as_known", "as_text", "make_layout"]

FeatureKind = Literal["numeric", "categorical", "boolean", "datetime"]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RawColumn:
    """A column of the table that the models learned from; ``levels`` are those of a category.

    ``merged`` pairs values of a table with what the study made of them.
    """

    name: str
    kind: FeatureKind
    levels: tuple[str, ...] = ()
    merged: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, repr=False)
class Layout:
    """The columns that a study's models were given, in their order.

    Parameters
    ----------
    columns : tuple of RawColumn
        Without the target and the columns that were left out.
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
        return self._features(
            [Column(c.name, _KINDS[c.kind], np.empty(0), c.levels) for c in self.columns]
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the matrix's columns: a date is several of them."""
        return self._empty.names

    @property
    def categorical(self) -> tuple[int, ...]:
        """The matrix's columns that hold codes of categories."""
        return self._empty.categorical

    @property
    def binary(self) -> tuple[int, ...]:
        """The matrix's columns that hold truth values."""
        return self._empty.binary

    @property
    def numeric(self) -> tuple[int, ...]:
        """The matrix's columns that hold numbers, truth values among them."""
        return self._empty.numeric

    @property
    def levels(self) -> Any:
        """The texts of the codes of each column of categories, by its place in the matrix."""
        return self._empty.levels

    def encode(self, source: Any) -> Features:
        """The matrix of a table: its columns are found by name, others are ignored.

        A category that the study did not meet gets the code that follows those it met, a missing
        one -1; a missing number is NaN.

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
            If the table cannot be read, lacks a column, or a column holds another kind of values.
        """
        return self.encode_raw(self.read(source))

    def read(self, source: Any) -> RawTable:
        """The table as it is, with the columns of categories as text; all needed ones are there."""
        raw = read_raw(source, as_text=self._texts)
        self._check(raw)
        return raw

    def parts(self, source: Any, *, max_table_size: int | None = None) -> Iterator[Chunk]:
        """The table as by `read`, a file larger than memory part by part."""
        for part in read_chunks(source, as_text=self._texts, max_table_size=max_table_size):
            self._check(part.raw)
            yield part

    @property
    def _texts(self) -> list[str]:
        return [column.name for column in self.columns if column.kind == "categorical"]

    def _check(self, raw: RawTable) -> None:
        check_names(raw.names, raw.name)
        missing = [name for name in self.raw_names if name not in set(raw.names)]
        if missing:
            word = "columns" if len(missing) > 1 else "column"
            named = ", ".join(repr(name[:60]) for name in missing[:8])
            more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
            raise StudyError(
                f"The table {raw.name} lacks the {word} {named}{more}, which the models of the "
                "study need; add what is missing, empty where nothing is known."
            )

    def encode_raw(self, raw: RawTable) -> Features:
        """The matrix of a table that was read by `read`."""
        where = {name: i for i, name in enumerate(raw.names)}
        return self._features(
            [
                as_known(column, raw.data.column(where[column.name]), raw.decimal_comma)
                for column in self.columns
            ]
        )

    def _features(self, columns: Iterable[Column]) -> Features:
        roles = {column.name: Role(column.kind, "feature") for column in self.columns}
        return make_features(Table("", "", tuple(columns), ""), roles)


_KINDS: dict[FeatureKind, Literal["numeric", "boolean", "datetime", "string"]] = {
    "numeric": "numeric",
    "categorical": "string",
    "boolean": "boolean",
    "datetime": "datetime",
}
_WORDS = {"numeric": "numbers", "boolean": "truth values", "datetime": "dates", "string": "text"}


def make_layout(columns: Iterable[Column], roles: Any, merges: Merges) -> Layout:
    """The layout of a study's table: its features in the table's order."""
    return Layout(
        tuple(
            RawColumn(
                c.name,
                roles[c.name].kind,
                c.levels if c.kind == "string" else (),
                tuple(renamed(merges.get(c.name, {})).items()),
            )
            for c in columns
            if roles[c.name].role == "feature"
        )
    )


def as_known(column: RawColumn, data: pa.ChunkedArray, decimal_comma: bool) -> Column:
    """The values of a column of a new table, read as what the study knows them to be."""
    if column.kind == "categorical":
        return Column(column.name, "string", _codes(column, data), column.levels)
    found = column_from_arrow(column.name, data, decimal_comma)
    if found.missing.all():
        return Column(column.name, _KINDS[column.kind], found.values)
    values = found.values
    if column.kind == "numeric":
        if found.kind == "string":
            values = _numbers_of(found)
        elif found.kind == "datetime":
            _refuse(column, found, int(np.argmin(found.missing)))
    elif column.kind == "boolean":
        if found.kind not in ("boolean", "numeric"):
            _refuse(column, found, int(np.argmin(found.missing)))
        strange = np.flatnonzero(~found.missing & (values != 0) & (values != 1))
        if strange.size:
            _refuse(column, found, int(strange[0]))
    elif found.kind != "datetime":
        _refuse(column, found, int(np.argmin(found.missing)))
    if column.merged:
        values = with_numbers_merged(values, dict(column.merged))
    return Column(column.name, _KINDS[column.kind], values)


def _numbers_of(found: Column) -> Floats:
    """The numbers that texts stand for, or StudyError for the first that is none."""
    numbers = np.full(len(found.levels) + 1, np.nan)
    bad = []
    for code, text in enumerate(found.levels):
        try:
            numbers[code] = pc.cast(pa.scalar(text.strip()), pa.float64()).as_py()
        except pa.ArrowInvalid:
            bad.append(code)
    if bad:
        row = int(np.flatnonzero(np.isin(found.values, bad))[0])
        raise StudyError(
            f"Column {found.name!r} holds numbers in the study, but "
            f"{found.levels[int(found.values[row])][:60]!r} in data row {row + 1} is none; "
            "correct it or leave it blank."
        )
    return numbers[np.where(found.missing, len(found.levels), found.values).astype(np.int64)]


def _refuse(column: RawColumn, found: Column, row: int) -> None:
    value = found.values[row]
    text = found.levels[int(value)][:60] if found.kind == "string" else f"{value:g}"
    what = (
        f"a date in data row {row + 1}"
        if found.kind == "datetime"
        else (f"{text!r} in data row {row + 1}")
    )
    raise StudyError(
        f"Column {column.name!r} holds {_WORDS[_KINDS[column.kind]]} in the study, but here "
        f"{what}; give it the same kind of values, or leave it blank."
    )


def _codes(column: RawColumn, data: pa.ChunkedArray) -> Floats:
    """The place of each text among the known ones, their number if it is none, NaN if missing."""
    text = with_texts_merged(as_text(column, data), dict(column.merged))
    known = pa.array(column.levels, pa.large_string())
    codes = pc.fill_null(pc.index_in(text, value_set=known), len(column.levels))
    gone = pc.is_in(
        pc.fill_null(pc.utf8_trim_whitespace(text), ""), pa.array(MISSING, pa.large_string())
    )
    values = np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.where(gone.to_numpy(zero_copy_only=False).astype(bool), np.nan, values)


def as_text(column: RawColumn, data: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of categories as text, whole numbers among floats without their point."""
    kind = data.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        data = data.cast(kind)
    if pa.types.is_floating(kind) and _all_whole(data):
        # Frames turn whole numbers into these where one is missing.
        data = pc.if_else(pc.is_nan(data), None, data).cast(pa.int64())
    try:
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            raise pa.ArrowInvalid(kind)
        return data.cast(pa.large_string())
    except pa.ArrowException as error:
        raise StudyError(
            f"Column {column.name!r} holds text in the study, but here values of the type {kind}; "
            f"give it text such as {column.levels[0][:60]!r}."
        ) from error


def _all_whole(data: pa.ChunkedArray) -> bool:
    values = np.asarray(data.to_numpy(zero_copy_only=False), dtype=np.float64)
    values = values[~np.isnan(values)]
    return bool(np.all(np.isfinite(values) & (np.abs(values) < 2**53)) and np.all(values % 1 == 0))
