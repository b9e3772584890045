"""Files of tables: opening of regular files, streaming decompression, limits of their size."""

import bz2
import gzip
import io
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from arboleda._utils.errors import TableError
from arboleda._utils.memory import available_memory

__all__ = [
    "SizeLimit",
    "TooLargeError",
    "compute_parquet_size",
    "explain_damage",
    "get_file_size",
    "is_parquet",
    "make_size_limit",
    "open_table",
    "open_unpacked",
    "shorten_error",
]

# Bytes of a value, and of the offset of a text.
_WIDTH = 8


def compute_parquet_size(file: pq.ParquetFile, source: Any, limit: int) -> int:
    """Compute the bytes of the columns; above the limit, a lower bound.

    A small file may hold many rows, because runs of a value and dictionary-encoded texts take
    hardly any space. Values are counted as 8 bytes each, texts by their lengths: only the
    dictionary and the indices are read, one column of one row group at a time.

    Parameters
    ----------
    file : pyarrow.parquet.ParquetFile
    source : file or buffer
        The source of the file, which is read again.
    limit : int
        Counting stops above this number of bytes.
    """
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    chunks = [[group.column(j) for j in range(group.num_columns)] for group in groups]
    size: int = max(
        sum(_WIDTH * chunk.num_values for row in chunks for chunk in row),
        sum(chunk.total_uncompressed_size for row in chunks for chunk in row),
    )
    texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
    if size > limit or len(set(file.schema_arrow.names)) < len(file.schema_arrow.names):
        return size  # duplicate names are rejected later
    coded = pq.ParquetFile(source, read_dictionary=texts)
    for i in range(len(groups)):
        for name in texts:
            size += _count_text_bytes(coded.read_row_group(i, columns=[name]).column(0))
            if size > limit:
                return size
    return size


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _count_text_bytes(column: pa.ChunkedArray) -> int:
    size = 0
    for chunk in column.chunks:
        if pa.types.is_dictionary(chunk.type):
            lengths = pc.cast(pc.binary_length(chunk.dictionary), pa.int64())
            total = pc.sum(lengths.take(chunk.indices)).as_py()
        else:
            total = pc.sum(pc.cast(pc.binary_length(chunk), pa.int64())).as_py()
        size += total or 0
    return size


# Maximum bytes of a table's text or columns, as a fraction of the available memory: reading needs
# up to four copies of them temporarily.
SHARE = 0.25
_PARQUET = b"PAR1"
_ZIP = b"PK\x03\x04"
_PACKED: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": lambda file: io.BufferedReader(pa.CompressedInputStream(file, "zstd")),
}
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class TooLargeError(TableError):
    """Error for a table that is larger than the limit; its rows can still be read in chunks."""


@dataclass(frozen=True)
class SizeLimit:
    """Maximum decompressed bytes of a table; ``is_explicit`` is whether the user set it."""

    bytes: int
    is_explicit: bool

    def check(self, name: str, size: int, *, at_least: bool = False) -> None:
        """Raise a TooLargeError for a size above the limit.

        Parameters
        ----------
        name : str
            The table's name, for the message.
        size : int
            Bytes of the table.
        at_least : bool, default=False
            Whether the table may be larger than ``size``, because counting stopped there.

        Raises
        ------
        TooLargeError
            The message states the size, the limit and the option.
        """
        if size <= self.bytes:
            return
        origin = "" if self.is_explicit else ", a quarter of the memory that is available"
        raise TooLargeError(
            f"The table {name} takes {'at least ' * at_least}{format_size(size)} unpacked, and the "
            f"limit is {format_size(self.bytes)}{origin}; reduce its rows or columns, or raise the "
            "limit with --max-table-size (max_table_size=)."
        )


def make_size_limit(limit: int | None) -> SizeLimit:
    """Return the given limit, or the default fraction of the memory that is available now."""
    if limit is not None:
        return SizeLimit(limit, is_explicit=True)
    available = available_memory()
    return SizeLimit(2**62 if available is None else int(SHARE * available), is_explicit=False)


def format_size(n_bytes: int) -> str:
    """Format a size: 1.5 GB.

    Examples
    --------
    >>> format_size(1_530_000_000), format_size(20)
    ('1.5 GB', '20 bytes')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.1f} {name}"
    return f"{n_bytes} bytes"


def open_table(path: Path) -> BinaryIO:
    """Open a table's file for reading.

    Only regular files are opened: others may block or never end.

    Raises
    ------
    TableError
        If it is not a regular file, or cannot be opened.
    FileNotFoundError
        If it does not exist: the caller may interpret the name differently.
    """
    try:
        _check_mode(path, path.stat().st_mode)
        return path.open("rb")
    except (FileNotFoundError, TableError):
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TableError(f"The file {path} cannot be read: {reason}.") from error


def _check_mode(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise TableError(f"{path} is a folder; name a CSV or Parquet file in it.")
    if not stat.S_ISREG(mode):
        what = next((what for is_kind, what in _KINDS if is_kind(mode)), "a special file")
        raise TableError(
            f"{path} is {what}, not a regular file; write the table to a CSV or Parquet file."
        )


def open_unpacked(path: Path, file: BinaryIO, stack: ExitStack) -> BinaryIO:
    """Return the content as a decompressed stream, or the file itself if it is not compressed.

    Parameters
    ----------
    path : Path
        For messages.
    file : BinaryIO
        The file, positioned at its start; its position is restored.
    stack : ExitStack
        The stack that closes the opened streams.

    Raises
    ------
    TableError
        If it is an archive that does not contain exactly one file.
    """
    start = file.read(8)
    file.seek(0)
    content: Any = file
    for magic, open_stream in _PACKED.items():
        if start.startswith(magic):
            content = stack.enter_context(open_stream(file))
    if start.startswith(_ZIP):
        archive = stack.enter_context(zipfile.ZipFile(file))
        members = [m for m in archive.infolist() if not m.is_dir()]
        if len(members) != 1:
            raise TableError(
                f"The archive {path.name} holds {len(members)} files, but must hold exactly one; "
                "unpack it, and name one of them."
            )
        content = stack.enter_context(archive.open(members[0]))
    stream: BinaryIO = content
    return stream


def is_parquet(file: BinaryIO) -> bool:
    """Return whether a file begins like Parquet; its position is restored."""
    start = file.read(len(_PARQUET))
    file.seek(0)
    return start == _PARQUET


def get_file_size(file: BinaryIO) -> int:
    """Return the size of an open file in bytes."""
    return os.fstat(file.fileno()).st_size


@contextmanager
def explain_damage(path: Path) -> Iterator[None]:
    """Convert errors of damaged or encrypted files to a TableError."""
    try:
        yield
    except TableError:
        raise
    except (pa.ArrowException, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise _describe_damage(path, error) from error
    # zipfile raises RuntimeError for encrypted files and for unknown methods of compression.
    except RuntimeError as error:
        raise TableError(
            f"The archive {path.name} cannot be unpacked ({error}); pack the table again, "
            "without a password."
        ) from error
    except OSError as error:
        if error.strerror:
            raise TableError(f"The file {path} cannot be read: {error.strerror}.") from error
        raise _describe_damage(path, error) from error


def _describe_damage(path: Path, error: Exception) -> TableError:
    return TableError(
        f"The compressed file {path.name} is damaged ({shorten_error(error)}) and cannot be read; "
        "fetch or pack it again."
    )


def shorten_error(error: Exception) -> str:
    """Return an error's message on one line, at most 200 characters, without a final period."""
    return " ".join(str(error).split())[:200].rstrip(".")
