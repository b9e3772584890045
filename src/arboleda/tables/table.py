"""A study's table: named columns of numbers, or of codes and their levels."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arboleda._utils.errors import TableError
from arboleda.tables.column_formats import ColumnFormat

__all__ = [
    "MISSING",
    "NO_HEADER",
    "NO_NAMES",
    "Column",
    "ColumnType",
    "Note",
    "Parsing",
    "StudyTable",
    "compute_digest",
    "get_column_names",
    "match_columns",
]

ValueKind = Literal["numeric", "boolean", "datetime", "string"]
# What a user may say a column is.
ColumnType = Literal["number", "category", "date", "text", "identifier", "list"]
Floats = npt.NDArray[np.float64]

# Texts that represent a missing value in any column.
MISSING: tuple[str, ...] = ("", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>")
MISSING += ("NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "nil", "-1.#IND", "1.#QNAN")


# Note on a file whose first line may be data.
NO_HEADER = (
    "The first line, read as the names of the columns, holds values; if it is a row of data, add a "
    "header line."
)
# Note on a file whose first line is hardly a header.
NO_NAMES = (
    "Most columns have no name in the first line; if it is a title, remove the lines above the "
    "names of the columns."
)


@dataclass(frozen=True)
class Note:
    """Remark on the data: its level, the column that it concerns (or None), and its text."""

    level: Literal["info", "warning"]
    column: str | None
    text: str


@dataclass(frozen=True)
class Parsing:
    """How a column was read from texts that people wrote.

    ``part`` is "values", or "words" for the column of the texts beside them. ``source`` is the
    name of the text column, ``share`` the share of its values that parse; ``examples`` are some of
    these, ``unparsed`` some of the others.
    """

    source: str
    format: ColumnFormat
    part: Literal["values", "words"]
    share: float
    examples: tuple[str, ...]
    unparsed: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    ``values`` has float64 numbers, NaN where missing: the value itself if numeric, 0 or 1 if
    boolean, seconds since 1970 (UTC) if a date, and for a string its index in ``levels``, which
    are sorted and distinct. ``parsing`` is how it was read, if not plainly; ``type`` is the type
    that the user gave it, or None.
    """

    name: str
    kind: ValueKind
    values: Floats
    levels: tuple[str, ...] = ()
    parsing: Parsing | None = None
    type: ColumnType | None = None

    @property
    def source(self) -> str:
        """The name of the column of the file from which it was read."""
        return self.name if self.parsing is None else self.parsing.source

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
        message = _describe_missing_column(name, self.name, [c.name for c in self.columns])
        hints = [f" {note.text}" for note in self.notes if note.text in (NO_HEADER, NO_NAMES)]
        raise TableError(message + "".join(hints))


def match_columns(pattern: str, names: Sequence[str], table: str) -> list[str]:
    """Return the names that a pattern such as ``tmp_*`` matches; an exact name is no pattern.

    Raises
    ------
    TableError
        If none matches; the message suggests a similar name.
    """
    if pattern in names:
        return [pattern]
    matched = [name for name in names if fnmatchcase(name, pattern)]
    if not matched:
        raise TableError(_describe_missing_column(pattern, table, list(names)))
    return matched


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


def compute_digest(columns: tuple[Column, ...]) -> str:
    """Compute the SHA-256 of the columns' names and values."""
    digest = hashlib.sha256()
    for column in columns:
        head = repr((column.name, column.kind, column.levels)).encode("utf-8", "backslashreplace")
        digest.update(head)
        digest.update(np.where(column.missing, np.nan, column.values).astype("<f8").tobytes())
    return digest.hexdigest()
