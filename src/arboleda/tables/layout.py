"""The layout of a study's table: how its columns are encoded as the matrix that models take."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from arboleda._utils.errors import StudyError
from arboleda.tables.chunked_reader import Chunk, read_chunks
from arboleda.tables.column_conversion import (
    TABLE_KINDS,
    RawColumn,
    convert_column,
    find_source,
)
from arboleda.tables.features import Features, Role, make_features
from arboleda.tables.reading import RawTable, read_raw
from arboleda.tables.recipe import Merges, invert_groups
from arboleda.tables.table import Column, StudyTable, check_names

__all__ = ["Layout", "make_layout"]


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
            [Column(c.name, TABLE_KINDS[c.kind], np.empty(0), c.levels) for c in self.columns]
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
        roles = {
            c.name: Role(c.kind, "feature", encoding=c.encoding, parts=c.parts)
            for c in self.columns
        }
        return make_features(StudyTable("", "", tuple(columns), ""), roles)


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
        parsing is not None and parsing.share < 1.0,
        role.parts,
    )
