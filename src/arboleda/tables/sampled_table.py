"""A random sample of the rows of a table that is larger than memory."""

import hashlib
import io
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pa_csv

from arboleda._utils.errors import TableError
from arboleda.reports.fact_messages import write_message
from arboleda.tables.chunked_reader import Chunk, open_coded, read_chunks
from arboleda.tables.csv_reader import read_delimited
from arboleda.tables.reading import RawTable, convert_table, read_table
from arboleda.tables.table import ColumnType, Note, StudyTable
from arboleda.tables.table_files import SizeLimit, TooLargeError, is_parquet, open_table

__all__ = ["Sample", "read_table_or_sample"]

# Maximum rows of a sample, and bytes of its values in memory; and the rows that it needs.
MAX_ROWS, MAX_BYTES, LEAST_ROWS = 250_000, 100_000_000, 1_000
_WIDTH = 8  # bytes of a value
Keys = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sample:
    """What the rows of a table in memory are a sample of.

    Parameters
    ----------
    source : str, path or CodedTable
        The whole table.
    rows : ndarray of int64
        The number of each row of the sample in the whole table, ascending.
    n_rows : int
        Rows of the whole table.
    seconds : float
        How long it took to read the whole table once.
    """

    source: Any
    rows: Rows
    n_rows: int
    seconds: float

    @property
    def is_whole(self) -> bool:
        """Whether all rows are in memory."""
        return len(self.rows) == self.n_rows

    def select(self, kept: npt.NDArray[np.bool_]) -> "Sample":
        """Return the sample without the rows that were dropped."""
        return replace(self, rows=self.rows[kept])

    def describe(self) -> str:
        """Return a sentence on what is done with the sample and with the other rows."""
        return write_message("sample", count=self.n_rows, rows=len(self.rows))


def read_table_or_sample(
    source: Any,
    *,
    max_table_size: int | None = None,
    types: Mapping[str, ColumnType] | None = None,
) -> tuple[StudyTable, Sample | None]:
    """Read a table, or a random sample of its rows if it is larger than memory.

    The sample has the rows with the smallest random numbers, which belong to their places in the
    table; with its other parameters equal, it does not depend on the memory of the machine.

    Parameters
    ----------
    source, max_table_size, types
        As `read_table`, with the limit above which a file is sampled; or a `CodedTable` or its
        path, which is always sampled.

    Returns
    -------
    table : StudyTable
    sample : Sample or None
        None: the table has all rows.

    Raises
    ------
    TableError
        As `read_table` does; for a table above the limit only if that leaves no room for a sample.
    """
    coded = open_coded(source)
    if coded is not None:
        return _read_sample(coded, max_table_size, types, None)
    try:
        return read_table(source, max_table_size=max_table_size, types=types), None
    except TooLargeError as error:
        return _read_sample(source, max_table_size, types, error)


def _read_sample(
    source: Any,
    max_table_size: int | None,
    types: Mapping[str, ColumnType] | None,
    refusal: TooLargeError | None,
) -> tuple[StudyTable, Sample]:
    n_bytes = MAX_BYTES if max_table_size is None else min(MAX_BYTES, max_table_size)
    first = next(read_chunks(source, max_table_size=max_table_size)).raw
    names = first.names
    most = min(MAX_ROWS, n_bytes // (_WIDTH * len(names)))
    if most < LEAST_ROWS and refusal is not None:
        raise refusal
    started = time.monotonic()
    chosen = _ChosenRows(max(most, LEAST_ROWS), n_bytes)
    as_text = names if _is_text(source) else []
    for chunk in read_chunks(source, as_text=as_text, max_table_size=max_table_size):
        chosen.add(chunk)
    data = chosen.take_all()
    seconds = time.monotonic() - started
    if len(chosen.rows) < LEAST_ROWS and refusal is not None:
        raise refusal
    digest = _hash_file(Path(getattr(source, "path", source)))

    def read(text_columns: Sequence[str]) -> RawTable:
        raw = replace(first, data=data, sha256=digest)
        return _parse_again(raw, text_columns, max_table_size) if as_text else raw

    table = convert_table(read, types or {})
    sample = Sample(source, chosen.rows, chosen.n_rows, seconds)
    if not sample.is_whole:
        notes = (*table.notes, Note("info", None, sample.describe()))
        table = replace(table, notes=notes)
    return table, sample


class _ChosenRows:
    """The rows with the smallest random numbers of those that were added."""

    def __init__(self, max_rows: int, max_bytes: int) -> None:
        self._max_rows = max_rows
        self._max_bytes = max_bytes
        self._parts: list[pa.Table] = []
        self._keys = np.empty(0, dtype=np.uint64)
        self._limit = np.uint64(2**64 - 1)
        self.rows: Rows = np.empty(0, dtype=np.int64)
        self.n_rows = 0

    def add(self, chunk: Chunk) -> None:
        """Add the rows of a chunk."""
        data = chunk.raw.data
        rows = np.arange(chunk.first, chunk.first + data.num_rows)
        keys = _draw_keys(rows)
        taken = np.flatnonzero(keys <= self._limit)
        self._parts.append(data.take(pa.array(taken)))
        self._keys = np.concatenate([self._keys, keys[taken]])
        self.rows = np.concatenate([self.rows, rows[taken]])
        self.n_rows += data.num_rows
        n_bytes = sum(part.nbytes for part in self._parts)
        if len(self.rows) > 2 * self._max_rows or n_bytes > 2 * self._max_bytes:
            self._reduce(n_bytes)

    def take_all(self) -> pa.Table:
        """Return the rows, in the order of the table."""
        if not self.n_rows:
            raise TableError("The table has no rows.")
        n_bytes = sum(part.nbytes for part in self._parts)
        if len(self.rows) > self._max_rows or n_bytes > self._max_bytes:
            self._reduce(n_bytes)
        return pa.concat_tables(self._parts)

    def _reduce(self, n_bytes: int) -> None:
        """Keep at most the maximum number of rows, fewer if they take too many bytes."""
        share = min(1.0, self._max_bytes / max(1, n_bytes))
        n_kept = max(1, min(self._max_rows, int(share * len(self.rows))))
        self._limit = np.partition(self._keys, n_kept - 1)[n_kept - 1]
        kept = np.flatnonzero(self._keys <= self._limit)
        data = pa.concat_tables(self._parts).unify_dictionaries()
        self._parts = [data.take(pa.array(kept)).combine_chunks()]
        self._keys, self.rows = self._keys[kept], self.rows[kept]


def _draw_keys(rows: Rows) -> Keys:
    """Return a random number for each row number (SplitMix64; Steele, Lea and Flood 2014)."""
    z = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _is_text(source: Any) -> bool:
    """Whether the table is delimited text, of which each chunk would have types of its own."""
    if open_coded(source) is not None:
        return False
    with open_table(Path(source)) as file:
        return not is_parquet(file)


def _parse_again(raw: RawTable, as_text: Sequence[str], limit: int | None) -> RawTable:
    """Infer the types of columns of texts from all rows of the sample."""
    separator = ";" if raw.decimal_comma else ","
    text = io.BytesIO()
    pa_csv.write_csv(raw.data, text, pa_csv.WriteOptions(delimiter=separator))
    path = Path(raw.name).with_suffix(".csv")
    parsed, decimal_comma, notes = read_delimited(
        path, text.getvalue(), as_text, SizeLimit(2**62, is_explicit=limit is not None)
    )
    return replace(raw, data=parsed, decimal_comma=decimal_comma, notes=tuple(notes))


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
