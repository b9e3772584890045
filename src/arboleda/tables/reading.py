"""Read a file, a frame or a bundled table as a StudyTable."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.parquet as pq

from arboleda._engine.arrays import to_plain_arrow
from arboleda._utils.errors import TableError
from arboleda._utils.memory import release_arrow_memory
from arboleda.tables.column_reading import table_from_arrow
from arboleda.tables.csv_reader import read_delimited
from arboleda.tables.table import (
    ColumnType,
    Note,
    StudyTable,
    check_names,
    get_column_names,
    match_columns,
)
from arboleda.tables.table_files import (
    SizeLimit,
    compute_parquet_size,
    get_file_size,
    make_size_limit,
    open_table,
    shorten_error,
)

__all__ = ["BUNDLED", "RawTable", "convert_table", "get_stem", "read_raw", "read_table"]

# Tables bundled with scikit-learn; the value is whether the target has names.
BUNDLED = {
    "breast_cancer": True,
    "diabetes": False,
    "digits": False,
    "iris": True,
    "wine": True,
}

_UNREADABLE = (pa.ArrowException, nw.exceptions.NarwhalsError, TypeError, ValueError)


@dataclass(frozen=True)
class RawTable:
    """A table as it was read, before its columns are converted to numbers and codes.

    ``name`` is the name in messages, ``stem`` the name without suffixes; ``sha256`` is the digest
    of the file, or None; ``decimal_comma`` is whether ``1,5`` may be a number.
    """

    name: str
    stem: str
    data: pa.Table
    sha256: str | None = None
    decimal_comma: bool = False
    notes: tuple[Note, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns, with a generated name for unnamed ones."""
        return get_column_names(self.data)


def read_table(
    source: Any,
    *,
    max_table_size: int | None = None,
    types: Mapping[str, ColumnType] | None = None,
) -> StudyTable:
    """Read a table.

    Parameters
    ----------
    source : str, path or frame
        A CSV file (any common separator and encoding, also compressed by gzip, bzip2, xz, Zstandard
        or zip), a Parquet file, the name of one of scikit-learn's bundled tables
        (``breast_cancer``, ``diabetes``, ``digits``, ``iris``, ``wine``), or a pandas, polars or
        Arrow table.
    max_table_size : int, optional
        Maximum decompressed bytes of a file: of its text, or of the columns of a Parquet file. By
        default a quarter of the available memory.
    types : mapping, optional
        The types of columns that are not to be inferred, by name or by a pattern such as
        ``zip_*``: number, category, date, text, identifier or list.

    Returns
    -------
    StudyTable
        The columns as numbers and codes.

    Raises
    ------
    TableError
        If the file does not exist, is a pipe or a device, is larger than the limit or cannot be
        read, or if the table has no rows or two columns with the same name.

    Examples
    --------
    >>> read_table("iris").n_rows
    150
    """

    def read(as_text: Sequence[str]) -> RawTable:
        return read_raw(source, as_text=as_text, max_table_size=max_table_size)

    return convert_table(read, types or {})


def convert_table(
    read: Callable[[Sequence[str]], RawTable], types: Mapping[str, ColumnType]
) -> StudyTable:
    """Convert the columns of a table to numbers and codes; see `read_table`.

    Parameters
    ----------
    read : callable
        Reads the table, given the columns that are kept as text.
    types : mapping
        The types of columns that are not to be inferred, by name or pattern.
    """
    raw = read(())
    chosen = _match_types(raw, types)
    if any(kind not in ("number", "date") for kind in chosen.values()):
        # Texts as the file has them: 007 is no 7.
        raw = read(list(chosen))
    table = table_from_arrow(
        raw.data,
        name=raw.name,
        stem=raw.stem,
        sha256=raw.sha256,
        decimal_comma=raw.decimal_comma,
        notes=raw.notes,
        types=chosen,
    )
    del raw
    release_arrow_memory()
    return table


def _match_types(raw: RawTable, types: Mapping[str, ColumnType]) -> dict[str, ColumnType]:
    """Return the type of each column that is named, or matched by a pattern."""
    chosen: dict[str, ColumnType] = {}
    for pattern, kind in types.items():
        for name in match_columns(pattern, raw.names, raw.name):
            chosen[name] = kind
    return chosen


def read_raw(
    source: Any, *, as_text: Sequence[str] = (), max_table_size: int | None = None
) -> RawTable:
    """Read a table without converting its columns; see `read_table`.

    The columns of delimited text in ``as_text`` are kept as text, even if they look like numbers.
    """
    if isinstance(source, str) and source in BUNDLED and not Path(source).is_file():
        return _read_bundled(source)
    if isinstance(source, (str, Path)):
        return _read_file(Path(source), as_text, make_size_limit(max_table_size))
    return _read_frame(source)


def _read_file(path: Path, as_text: Sequence[str], limit: SizeLimit) -> RawTable:
    try:
        with open_table(path) as file:
            size = get_file_size(file)
            limit.check(path.name, size)
            data = file.read(size)
    except FileNotFoundError as error:
        raise TableError(
            f"There is no file {path}; name a CSV or Parquet file, or one of the bundled tables "
            f"{', '.join(BUNDLED)}."
        ) from error
    except OSError as error:
        raise TableError(f"The file {path} cannot be read: {error.strerror or error}.") from error
    sha256 = hashlib.sha256(data).hexdigest()
    if data[:4] == b"PAR1":
        return RawTable(path.name, get_stem(path), _read_parquet(path, data, limit), sha256)
    if path.suffix.lower() in (".parquet", ".pq"):
        raise TableError(f"The file {path.name} is not a Parquet file, despite its extension.")
    parsed, decimal_comma, notes = read_delimited(path, data, as_text, limit)
    return RawTable(path.name, get_stem(path), parsed, sha256, decimal_comma, tuple(notes))


def get_stem(path: Path) -> str:
    """Return a file's name without its suffixes: adult for adult.csv.gz."""
    return re.sub(
        r"(\.(csv|tsv|txt|data|parquet|pq|gz|bz2|xz|zst|zip))+$", "", path.name, flags=re.I
    )


def _read_parquet(path: Path, data: bytes, limit: SizeLimit) -> pa.Table:
    try:
        # Unlike read_table, this accepts duplicate names, which are rejected by name later.
        file = pq.ParquetFile(pa.BufferReader(data))
        size = compute_parquet_size(file, pa.BufferReader(data), limit.bytes)
        limit.check(path.name, size, at_least=True)
        table = to_plain_arrow(file.read())
    except (pa.ArrowException, OSError) as error:
        raise TableError(
            f"The Parquet file {path.name} cannot be read: {shorten_error(error)}."
        ) from error
    if table.num_rows == 0 or table.num_columns == 0:
        raise TableError(f"The table {path.name} has no rows.")
    return table


def _read_bundled(name: str) -> RawTable:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    columns: dict[str, Any] = {str(n): bunch.data[:, i] for i, n in enumerate(bunch.feature_names)}
    if BUNDLED[name]:
        columns["target"] = [str(bunch.target_names[k]) for k in bunch.target]
    else:
        columns["target"] = bunch.target
    return RawTable(name, name, pa.table(columns))


def _read_frame(source: Any) -> RawTable:
    try:
        frame = nw.from_native(source, eager_only=True)
        names = [str(n) for n in frame.columns]
    except _UNREADABLE as error:
        raise TableError(
            f"A {type(source).__name__} cannot be read as a table ({shorten_error(error)}); pass a "
            "path, or a pandas, polars or Arrow table."
        ) from error
    check_names(names, "given")
    columns = [_read_column(frame, n) for n in frame.columns]
    data = to_plain_arrow(pa.table(columns, names=names))
    if data.num_rows == 0 or data.num_columns == 0:
        raise TableError("The table has no rows.")
    return RawTable("table", "table", data)


def _read_column(frame: nw.DataFrame[Any], name: str) -> Any:
    try:
        return frame.get_column(name).to_arrow()
    except _UNREADABLE as error:
        raise TableError(
            f"Column {str(name)!r} cannot be read ({shorten_error(error)}); give all its values "
            "one kind, numbers or text, or remove it."
        ) from error
