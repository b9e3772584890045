"""Tables larger than memory, read in chunks."""

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from arboleda._engine.arrays import to_plain_arrow
from arboleda._engine.coded_file import MAGIC
from arboleda._engine.coded_table import CodedTable
from arboleda._utils.errors import ModelFormatError, TableError
from arboleda.tables.csv_reader import (
    guess_separator,
    parse_text,
    read_header,
    refuse_nul,
    strip_blanks,
)
from arboleda.tables.reading import RawTable, get_stem, read_raw
from arboleda.tables.table import check_names
from arboleda.tables.table_files import (
    SizeLimit,
    compute_parquet_size,
    explain_damage,
    get_file_size,
    is_parquet,
    make_size_limit,
    open_table,
    open_unpacked,
    shorten_error,
)

__all__ = ["LARGE", "Chunk", "open_coded", "read_chunks"]

# Smaller files are read as a whole, so that types are inferred from all rows.
LARGE = 1 << 26
# Maximum size of a chunk: characters of text, rows of Parquet.
_CHARACTERS = 1 << 24
_ROWS = 1 << 16
# Bytes that are decompressed at a time to measure a small file.
_BLOCK = 1 << 20
_UNREADABLE = (
    pa.ArrowException,
    EOFError,
    OSError,
    RuntimeError,
    TableError,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True)
class Chunk:
    """Some rows of a table, the number of rows before them, and the fraction of the file read."""

    raw: RawTable
    first: int
    share: float


def read_chunks(
    source: Any, *, as_text: Sequence[str] = (), max_table_size: int | None = None
) -> Iterator[Chunk]:
    """Read a table in chunks; a small file or a table in memory is one chunk.

    Parameters
    ----------
    source : str, path, frame or CodedTable
        Of a coded table, each value is that of its bin.
    as_text : sequence of str
        Columns of delimited text that are kept as text even if they look like numbers.
    max_table_size : int, optional
        Maximum bytes of one row of text. By default a quarter of the available memory. The table as
        a whole may have any size.

    Raises
    ------
    TableError
        As `read_raw`; also if a large text is neither UTF-8 nor UTF-16.
    """
    coded = open_coded(source)
    if coded is not None:
        yield from _read_coded_chunks(coded)
        return
    path = Path(source) if isinstance(source, (str, Path)) else None
    if path is None or not path.is_file():
        yield Chunk(read_raw(source, as_text=as_text, max_table_size=max_table_size), 0, 1.0)
        return
    limit = make_size_limit(max_table_size)
    with open_table(path) as file, explain_damage(path):
        if _is_small(path):
            whole = read_raw(source, as_text=as_text, max_table_size=max(LARGE, limit.bytes))
            yield Chunk(whole, 0, 1.0)
        elif is_parquet(file):
            yield from _read_parquet_chunks(path, file)
        else:
            yield from _read_text_chunks(path, file, as_text, limit)


def open_coded(source: Any) -> CodedTable | None:
    """Return a coded table, opened if it is named by its path; None for other sources.

    Raises
    ------
    TableError
        If the file is damaged.
    """
    if isinstance(source, CodedTable) or not isinstance(source, (str, Path)):
        return source if isinstance(source, CodedTable) else None
    try:
        if not Path(source).is_file():
            return None
        with Path(source).open("rb") as file:
            is_coded = file.read(len(MAGIC)) == MAGIC
        return CodedTable(source) if is_coded else None
    except ModelFormatError as error:
        raise TableError(f"The coded table {error}.") from error
    except (OSError, ValueError):
        return None  # the reader of tables says why


def _read_coded_chunks(table: CodedTable) -> Iterator[Chunk]:
    """Read the values of the bins, the categories, and the target as the last column."""
    n_rows, path = len(table), table.path
    target = None if table.target_name is None else table.y
    for first in range(0, n_rows, _ROWS):
        rows = np.arange(first, min(n_rows, first + _ROWS))
        columns = table.decode(rows)
        if target is not None and table.target_name is not None:
            columns[table.target_name] = target[rows]
        data = pa.table({str(name): pa.array(v, from_pandas=True) for name, v in columns.items()})
        yield Chunk(RawTable(path.name, path.stem, data), first, (rows[-1] + 1) / n_rows)


def _is_small(path: Path) -> bool:
    """Whether the file, compressed and decompressed, is small enough to read as a whole."""
    try:
        with ExitStack() as stack:
            file = stack.enter_context(open_table(path))
            if get_file_size(file) >= LARGE:
                return False
            if is_parquet(file):
                return compute_parquet_size(pq.ParquetFile(file), file, LARGE) < LARGE
            left = LARGE
            content = open_unpacked(path, file, stack)
            while left > 0 and (block := content.read(_BLOCK)):
                left -= len(block)
            return left > 0
    except _UNREADABLE:
        return True  # reading it as a whole raises the error


def _read_parquet_chunks(path: Path, file: BinaryIO) -> Iterator[Chunk]:
    try:
        # What is buffered in advance stays in memory to the end of the file.
        table = pq.ParquetFile(file, pre_buffer=False)
        n_rows = table.metadata.num_rows
        first = 0
        for batch in table.iter_batches(_count_chunk_rows(table, file)):
            data = to_plain_arrow(pa.Table.from_batches([batch]))
            first += batch.num_rows
            raw = RawTable(path.name, get_stem(path), data)
            yield Chunk(raw, first - batch.num_rows, first / n_rows)
    except pa.ArrowException as error:
        raise TableError(
            f"The Parquet file {path.name} cannot be read: {shorten_error(error)}."
        ) from error


def _count_chunk_rows(table: pq.ParquetFile, file: BinaryIO) -> int:
    """Return the number of rows of a chunk, which is lower for long texts."""
    size = compute_parquet_size(table, file, 2**62)
    n_rows: int = table.metadata.num_rows
    return max(1, min(_ROWS, _CHARACTERS * n_rows // max(1, size)))


def _read_text_chunks(
    path: Path, file: BinaryIO, as_text: Sequence[str], limit: SizeLimit
) -> Iterator[Chunk]:
    size = get_file_size(file)
    with ExitStack() as stack:
        content: Any = open_unpacked(path, file, stack)
        if not hasattr(content, "peek"):
            content = stack.enter_context(io.BufferedReader(content))
        start = content.peek(3)[:3]
        encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        reader = stack.enter_context(io.TextIOWrapper(content, encoding, newline=""))
        try:
            for chunk in _split_text(path, reader, as_text, limit):
                yield replace(chunk, share=min(1.0, file.tell() / size))
        except UnicodeDecodeError as error:
            raise TableError(
                f"The file {path.name} is too large to guess its encoding, and it is not UTF-8; "
                "save the table as CSV in UTF-8, or as Parquet."
            ) from error


def _split_text(
    path: Path, reader: io.TextIOWrapper, as_text: Sequence[str], limit: SizeLimit
) -> Iterator[Chunk]:
    text, separator, header, first = "", "", "", 0
    while True:
        more = reader.read(_CHARACTERS)
        refuse_nul(more, path)
        text += more
        end = len(text) if not more else _find_end_of_rows(text)
        if more and not end:
            limit.check(path.name, len(text), at_least=True)
            continue  # a row is longer than a chunk, or a quote is open
        if not separator:
            separator = guess_separator(text)
            names = read_header(strip_blanks(text, separator), separator)
            check_names([name for name in names if name.strip()], path.name)
            header = text[: _find_end_of_rows(text, first=True)]
            text, end = text[len(header) :], end - len(header)
        rows, text = text[:end], text[end:]
        if rows.strip():
            try:
                stripped = strip_blanks(header + rows, separator)
                data = parse_text(stripped, separator, path, as_text)
            except TableError as error:
                raise _add_row_offset(first, error) from error
            decimal_comma = separator != ","
            yield Chunk(RawTable(path.name, get_stem(path), data, None, decimal_comma), first, 0.0)
            first += data.num_rows
        if not more:
            break
    if not first:
        raise TableError(f"The table {path.name} has a header line but no rows.")


def _find_end_of_rows(text: str, *, first: bool = False) -> int:
    """Return the end of the last complete row, or of the first one; 0 without any.

    A line break is within quotes if an odd number of quote marks precedes it in the text.
    """
    if first:
        end = text.find("\n")
        while end >= 0 and text.count('"', 0, end) % 2:
            end = text.find("\n", end + 1)
        return end + 1
    stop = len(text)
    quotes = text.count('"')
    while (end := text.rfind("\n", 0, stop)) >= 0:
        quotes -= text.count('"', end, stop)
        if quotes % 2 == 0:
            return end + 1
        stop = end
    return 0


def _add_row_offset(first: int, error: TableError) -> TableError:
    return TableError(f"In the rows after the first {first:,}: {error}") if first else error
