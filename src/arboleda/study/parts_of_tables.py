"""Tables larger than memory, read part by part."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from arboleda._bridge.arrow import plain_arrow
from arboleda.study.csv_text import header_of, parse_text, refuse_nul, separator_of
from arboleda.study.errors import StudyError
from arboleda.study.reading import RawTable, read_raw, stem_of
from arboleda.study.table import check_names

__all__ = ["LARGE", "Part", "parts_of"]

# Files of fewer bytes, packed or not, are read in one go: guesses see all of them.
LARGE = 1 << 26
# Of text in a part, in characters; of Parquet, in rows.
_CHARACTERS = 1 << 24
_ROWS = 1 << 16
_PACKED: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}


@dataclass(frozen=True)
class Part:
    """Some rows of a table, the number of those before them, and how much of the file is read."""

    raw: RawTable
    first: int
    share: float


def parts_of(source: Any, *, as_text: Sequence[str] = ()) -> Iterator[Part]:
    """Read a table part by part; a small file, or what is in memory anyway, in one.

    Parameters
    ----------
    source : str, path or frame
    as_text : sequence of str
        Columns of delimited text that are left as they stand.

    Raises
    ------
    StudyError
        As `read_raw`; also if a large text is not in UTF-8 or UTF-16.
    """
    path = Path(source) if isinstance(source, (str, Path)) else None
    if path is None or not path.is_file() or path.stat().st_size < LARGE:
        yield Part(read_raw(source, as_text=as_text), 0, 1.0)
        return
    try:
        with path.open("rb") as file:
            start = file.read(8)
            file.seek(0)
            parts = _of_parquet if start[:4] == b"PAR1" else _of_text
            yield from parts(path, file, as_text)
    except (OSError, EOFError, zipfile.BadZipFile, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StudyError(f"The file {path} cannot be read: {reason}.") from error


def _of_parquet(path: Path, file: BinaryIO, as_text: Sequence[str]) -> Iterator[Part]:
    try:
        table = pq.ParquetFile(file)
        n_rows = table.metadata.num_rows
        first = 0
        for batch in table.iter_batches(_ROWS):
            data = plain_arrow(pa.Table.from_batches([batch]))
            first += batch.num_rows
            raw = RawTable(path.name, stem_of(path), data)
            yield Part(raw, first - batch.num_rows, first / n_rows)
    except pa.ArrowException as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise StudyError(f"The Parquet file {path.name} cannot be read: {reason}.") from error


def _of_text(path: Path, file: BinaryIO, as_text: Sequence[str]) -> Iterator[Part]:
    size = path.stat().st_size
    with ExitStack() as stack:
        content = _unpacked(path, file, stack)
        start = content.peek(3)[:3]
        encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        reader = stack.enter_context(io.TextIOWrapper(content, encoding, newline=""))
        try:
            for part in _parts_of_text(path, reader, as_text):
                yield replace(part, share=min(1.0, file.tell() / size))
        except UnicodeDecodeError as error:
            raise StudyError(
                f"The file {path.name} is too large to guess its encoding, and it is not UTF-8; "
                "save the table as CSV in UTF-8, or as Parquet."
            ) from error


def _unpacked(path: Path, file: BinaryIO, stack: ExitStack) -> Any:
    start = file.read(8)
    file.seek(0)
    found: Any = file
    for magic, opened in _PACKED.items():
        if start.startswith(magic):
            found = stack.enter_context(opened(file))
    if start.startswith(b"PK\x03\x04"):
        archive = stack.enter_context(zipfile.ZipFile(file))
        members = [m for m in archive.infolist() if not m.is_dir()]
        if len(members) != 1:
            raise StudyError(
                f"The archive {path.name} holds {len(members)} files; it must hold one table."
            )
        found = stack.enter_context(archive.open(members[0]))
    return found


def _parts_of_text(path: Path, reader: io.TextIOWrapper, as_text: Sequence[str]) -> Iterator[Part]:
    text, separator, header, first = "", "", "", 0
    while True:
        more = reader.read(_CHARACTERS)
        refuse_nul(more, path)
        text += more
        end = len(text) if not more else _end_of_rows(text)
        if more and not end:
            continue  # a row is longer than a part, or a quote is open
        if not separator:
            separator = separator_of(text)
            names = header_of(text, separator)
            check_names([name for name in names if name.strip()], path.name)
            header = text[: _end_of_rows(text, first=True)]
            text, end = text[len(header) :], end - len(header)
        rows, text = text[:end], text[end:]
        if rows.strip():
            try:
                data = parse_text(header + rows, separator, path, as_text)
            except StudyError as error:
                raise _counted_from(first, error) from error
            decimal_comma = separator != ","
            yield Part(RawTable(path.name, stem_of(path), data, None, decimal_comma), first, 0.0)
            first += data.num_rows
        if not more:
            break
    if not first:
        raise StudyError(f"The table {path.name} has a header line but no rows.")


def _end_of_rows(text: str, *, first: bool = False) -> int:
    """Where the last row ends that is whole, or the first; 0 if none does.

    A line ends within quotes if an odd number of them stands before it.
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


def _counted_from(first: int, error: StudyError) -> StudyError:
    return StudyError(f"In the rows after the first {first:,}: {error}") if first else error
