"""Training data of many workers: the partitions of X, y and weights, and their lengths."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from arboleda._engine.coded_parts import find_files
from arboleda.dask.tasks import load_distributed

__all__ = [
    "NAMES",
    "VALIDATION_NAMES",
    "DataLostError",
    "ParquetPart",
    "Partition",
    "PartitionFacts",
    "are_paths",
    "count_rows",
    "delay_partitions",
    "is_distributed",
    "measure_partitions",
    "read_collections",
    "read_part",
    "summarize_facts",
]

# The parts of a partition, as errors and `fit` name them.
NAMES = ("X", "y", "sample_weight", "qid")
VALIDATION_NAMES = ("X_val", "y_val", "sample_weight_val", "qid_val")
Names = tuple[str, str, str, str]

Codes = npt.NDArray[np.integer[Any]]

_PATHS = (str, os.PathLike)


class DataLostError(RuntimeError):
    """A worker was lost while data were sent to it."""


@dataclass(frozen=True)
class ParquetPart:
    """A Parquet file that the worker of a shard reads itself, and what to take from it."""

    path: str
    target: str | tuple[str, ...]
    sample_weight: str | None = None

    @property
    def own_columns(self) -> list[str]:
        """Names of the columns that are not of X."""
        targets = [self.target] if isinstance(self.target, str) else self.target
        return [*targets, *([] if self.sample_weight is None else [self.sample_weight])]

    def check_columns(self, names: Sequence[str]) -> None:
        """Raise an error if one of these columns is not in the file."""
        for name in self.own_columns:
            if name not in names:
                raise ValueError(
                    f"{self.path} has no column {name!r}: y and sample_weight name columns of the "
                    "files"
                )

    def read(self) -> tuple[Any, ...]:
        """Read the columns, the target and the weights.

        Raises
        ------
        ValueError
            If the file lacks the target or the weights, or cannot be read.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            table = pq.read_table(self.path, partitioning=None)
        except pa.ArrowException as error:
            raise ValueError(f"{self.path} cannot be read as a Parquet file: {error}") from error
        self.check_columns(table.column_names)
        is_one = isinstance(self.target, str)
        target = table[self.target] if is_one else table.select(list(self.target))
        weight = None if self.sample_weight is None else table[self.sample_weight]
        return table.drop_columns(self.own_columns), target, weight, None


@dataclass(frozen=True)
class Partition:
    """Consecutive rows of the table, not in this process.

    ``source`` is a `ParquetPart`, or futures of X, y, the weights and the queries (or None).
    ``names`` are what messages call them.
    """

    source: Any
    names: Names

    @property
    def futures(self) -> list[Any]:
        """The futures of Dask that a shard depends on."""
        if isinstance(self.source, ParquetPart):
            return []
        return [future for future in self.source if future is not None]


@dataclass(frozen=True)
class PartitionFacts:
    """The size of a partition: rows, columns, and bytes in the worker's memory.

    ``digest`` is a sum over its rows, or of the statistics of a file; 0 if it was not wanted.
    ``n_entries`` are the stored values of a sparse partition.
    """

    n_rows: int
    columns: tuple[Any, ...]
    n_bytes: int
    digest: int = 0
    n_entries: int | None = None

    @property
    def n_values(self) -> int:
        """Number of values in memory."""
        return self.n_rows * len(self.columns) if self.n_entries is None else self.n_entries


def read_part(source: Any) -> tuple[Any, ...]:
    """Return X, y, the weights and the queries (or None) of a partition, on a worker."""
    return source.read() if isinstance(source, ParquetPart) else tuple(source)


def read_collections(
    client: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    qid: Any = None,
    *,
    names: Names,
    kept_whole: Codes | None = None,
) -> list[Partition]:
    """Return the partitions of X, whose computation begins on the workers.

    Parameters
    ----------
    client : distributed.Client
    X : dask.dataframe, dask.array, sequence of delayed frames or arrays, path or pattern of \
            Parquet files, or a table of this process
    y : the same, or the names of one or more columns of the files
    sample_weight : the same as y, or None
    qid : the same, or None
        Of files it is one of the columns.
    names : tuple of str
        What messages call X, y, the weights and the queries.
    kept_whole : ndarray of int, or None
        Numbers of the rows of a table of this process; rows of equal number are not separated.

    Raises
    ------
    TypeError
        If X is of no such kind, or y of another kind than X.
    ValueError
        If the numbers of partitions differ.
    FileNotFoundError
        If a pattern matches no file.
    """
    if are_paths(X):
        return _name_files(X, y, sample_weight, names)
    given = X, y, sample_weight, qid
    if not any(map(is_distributed, given)):
        return _scatter_rows(client, given, names, kept_whole)
    lists: list[list[Any] | None] = []
    for name, part in zip(names, given, strict=True):
        lists.append(None if part is None else delay_partitions(_align_chunks(part, X), name))
    first = lists[0] or []
    for name, parts in zip(names, lists, strict=True):
        if parts is not None and len(parts) != len(first):
            raise ValueError(
                f"{name} has {len(parts)} partitions, {names[0]} has {len(first)}: they must be "
                "cut at the same rows; take both from the same collection, or repartition"
            )
    futures = iter(client.compute([delayed for parts in lists for delayed in parts or ()]))
    columns = [[None if parts is None else next(futures) for _ in first] for parts in lists]
    return [Partition(source, names) for source in zip(*columns, strict=True)]


def measure_partitions(
    client: Any, partitions: Sequence[Partition], *, digest: bool = False
) -> list[PartitionFacts]:
    """Agree on the lengths of all partitions, on the workers that hold them.

    ``digest`` computes what identifies their content.

    Raises
    ------
    ValueError
        If lengths differ within a partition, or columns between partitions; the message names the
        partition.
    """
    futures = [
        client.submit(_measure, number, partition.source, partition.names, digest, pure=False)
        for number, partition in enumerate(partitions)
    ]
    name = partitions[0].names[0]
    measured: list[PartitionFacts] = client.gather(futures)
    known = [facts for facts in measured if facts.columns and facts.n_rows] or measured[:1]
    for number, facts in enumerate(measured):
        if facts.n_rows and sorted(map(str, facts.columns)) != sorted(map(str, known[0].columns)):
            raise ValueError(
                f"partition {number} of {name} has the columns "
                f"{', '.join(map(str, facts.columns[:20]))}, the first one has "
                f"{', '.join(map(str, known[0].columns[:20]))}: give all partitions the same"
            )
    if not any(facts.n_rows for facts in measured):
        raise ValueError(f"{name} has no rows")
    return measured


def summarize_facts(facts: Sequence[PartitionFacts]) -> dict[str, Any]:
    """Return what identifies a table, however it is cut into partitions of memory."""
    columns = max((part.columns for part in facts), key=len)
    digest = sum(part.digest for part in facts) % 2**64
    return {
        "rows": sum(part.n_rows for part in facts),
        "columns": [str(name) for name in columns],
        "values": f"{digest:016x}",
    }


def _measure(number: int, source: Any, names: Names, digest: bool) -> PartitionFacts:
    """Measure a partition on its worker; of a Parquet file only its footer is read."""
    if isinstance(source, ParquetPart):
        return _measure_file(source)
    X, *others = source
    n_rows = count_rows(X)
    for name, part in zip(names[1:], others, strict=True):
        if part is not None and count_rows(part) != n_rows:
            raise ValueError(
                f"partition {number} has {n_rows} rows in {names[0]} and {count_rows(part)} in "
                f"{name}: they must be cut at the same rows"
            )
    from dask.sizeof import sizeof

    n_bytes = sum(int(sizeof(part)) for part in source if part is not None)
    value = compute_digest(source) if digest and n_rows else 0
    n_entries = int(X.nnz) if issparse(X) else None
    return PartitionFacts(n_rows, _name_columns(X), n_bytes, value, n_entries)


def _measure_file(part: ParquetPart) -> PartitionFacts:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(part.path)
    except pa.ArrowException as error:
        raise ValueError(f"{part.path} cannot be read as a Parquet file: {error}") from error
    names = metadata.schema.to_arrow_schema().names
    part.check_columns(names)
    columns = tuple(name for name in names if name not in part.own_columns)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    n_bytes = sum(group.total_byte_size for group in groups)
    content = repr([group.to_dict() for group in groups]).encode()
    digest = int.from_bytes(hashlib.sha256(content).digest()[:8], "little")
    return PartitionFacts(metadata.num_rows, columns, n_bytes, digest)


def compute_digest(parts: Sequence[Any]) -> int:
    """Return the sum over rows of a hash of their numbers, modulo 2**64.

    Other values take part as texts.
    """
    n_rows = count_rows(parts[0])
    hashes = np.zeros(n_rows, dtype=np.uint64)
    for part in parts:
        for column in _iterate_columns(part):
            hashes = (hashes ^ (hashes >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            hashes += _hash_column(column)
    hashes ^= hashes >> np.uint64(32)
    return int((hashes * np.uint64(0x94D049BB133111EB)).sum(dtype=np.uint64))


def _iterate_columns(part: Any) -> Iterator[Any]:
    if part is None:
        return
    if issparse(part):
        yield _hash_sparse_rows(part)
        return
    shape: tuple[Any, ...] = getattr(part, "shape", (len(part),))
    if len(shape) < 2:
        yield part
    elif hasattr(part, "iloc"):
        yield from (part.iloc[:, number] for number in range(shape[1]))
    elif hasattr(part, "column_names"):
        yield from (part[name] for name in part.column_names)
    elif hasattr(part, "columns"):
        yield from (part[name] for name in part.columns)
    else:
        yield from (part[:, number] for number in range(shape[1]))


def _hash_sparse_rows(part: Any) -> npt.NDArray[np.uint64]:
    """Return a hash of the values of each row that are not 0, and of their columns."""
    matrix = part.tocsr(copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    hashes = matrix.data.astype(np.float64).view(np.uint64) * np.uint64(0x94D049BB133111EB)
    hashes ^= matrix.indices.astype(np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    sums: npt.NDArray[np.uint64] = np.zeros(hashes.size + 1, dtype=np.uint64)
    np.cumsum(hashes, out=sums[1:])
    of_rows: npt.NDArray[np.uint64] = np.diff(sums[matrix.indptr])
    return of_rows


def _hash_column(column: Any) -> Any:
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    texts = [zlib.crc32(str(value).encode("utf-8", "surrogatepass")) for value in values.tolist()]
    return np.array(texts, dtype=np.uint64)


def count_rows(part: Any) -> int:
    """Return the number of rows of an array or a frame."""
    shape = getattr(part, "shape", None)
    return int(shape[0]) if shape is not None else len(part)


def _name_columns(X: Any) -> tuple[Any, ...]:
    names = getattr(X, "column_names", None)  # of Arrow
    if names is None:
        names = getattr(X, "columns", None)
    if names is not None:
        return tuple(names)
    shape: tuple[Any, ...] = getattr(X, "shape", ())
    return tuple(range(shape[1])) if len(shape) > 1 else ()


def are_paths(X: Any) -> bool:
    """Return whether it is a path, or a list of them."""
    if isinstance(X, _PATHS):
        return True
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(x, _PATHS) for x in X)


def _name_files(X: Any, y: Any, sample_weight: Any, names: Names) -> list[Partition]:
    targets = [y] if isinstance(y, str) else y
    are_names = isinstance(targets, list | tuple) and all(isinstance(t, str) for t in targets)
    is_name = sample_weight is None or isinstance(sample_weight, str)
    for name, column, is_valid in ((names[1], y, are_names), (names[2], sample_weight, is_name)):
        if not is_valid:
            raise TypeError(
                f"{names[0]} is a path, so {name} must be the name of a column of the files, got "
                f"{type(column).__name__}"
            )
    target = y if isinstance(y, str) else tuple(y)
    return [
        Partition(ParquetPart(str(Path(path).absolute()), target, sample_weight), names)
        for path in find_files(X)
    ]


def is_distributed(part: Any) -> bool:
    """Return whether it is a collection of Dask, or a list of delayed parts or futures."""
    from dask.base import is_dask_collection

    distributed = load_distributed()
    if isinstance(part, list | tuple) and part:
        return all(is_dask_collection(p) or isinstance(p, distributed.Future) for p in part)
    return bool(is_dask_collection(part))


def _align_chunks(part: Any, X: Any) -> Any:
    """Cut the rows of an array as those of X, if both are known."""
    if not (hasattr(part, "chunks") and hasattr(X, "chunks")):
        return part
    rows, own = X.chunks[0], part.chunks[0]
    if rows == own or np.isnan([*rows, *own]).any() or sum(rows) != sum(own):
        return part
    return part.rechunk({0: rows})


def delay_partitions(part: Any, name: str) -> list[Any]:
    """Return delayed objects or futures, one for each partition of rows."""
    if not is_distributed(part):
        raise TypeError(
            f"{name} is of type {type(part).__name__}, others are on the workers: give "
            f"dask.dataframe, dask.array or lists of delayed parts for all"
        )
    if isinstance(part, list | tuple):
        return list(part)
    if hasattr(part, "chunks"):
        if part.ndim > 1:
            part = part.rechunk(dict.fromkeys(range(1, part.ndim), -1))
        return list(part.to_delayed().ravel())
    if hasattr(part, "to_delayed"):
        return list(part.to_delayed())
    return [part]  # one delayed table


def _scatter_rows(
    client: Any, given: Sequence[Any], names: Names, kept_whole: Codes | None
) -> list[Partition]:
    """Cut tables of this process into one block of rows for each worker, and send them."""
    from sklearn.utils import _safe_indexing, check_consistent_length

    check_consistent_length(*given)
    n_rows = count_rows(given[0])
    workers = sorted(client.nthreads())
    limits = [n_rows * i // len(workers) for i in range(len(workers) + 1)]
    if kept_whole is not None:
        limits = _move_limits(limits, kept_whole)
    partitions = []
    for worker, (start, end) in zip(workers, pairwise(limits), strict=True):
        blocks = {
            i: _safe_indexing(part, slice(start, end))
            for i, part in enumerate(given)
            if part is not None
        }
        try:
            futures = client.scatter(list(blocks.values()), workers=[worker], hash=False)
        except (KeyError, OSError) as error:  # the scheduler does not have the worker any more
            raise DataLostError(f"the worker {worker} is gone") from error
        sent = dict(zip(blocks, futures, strict=True))
        partitions.append(Partition(tuple(sent.get(i) for i in range(len(given))), names))
    return partitions


def _move_limits(limits: Sequence[int], numbers: Codes) -> list[int]:
    """Move limits between rows to the next place that separates no two rows of equal number.

    Examples
    --------
    >>> _move_limits([0, 2, 4, 6], np.array([0, 0, 1, 0, 2, 2]))
    [0, 4, 4, 6]
    """
    last = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.int64)
    last[numbers] = np.arange(len(numbers))  # the last row of each number
    ends = np.maximum.accumulate(last[numbers])  # of the rows so far
    allowed = np.append(0, 1 + np.flatnonzero(ends == np.arange(len(numbers))))
    return [int(limit) for limit in allowed[np.searchsorted(allowed, limits)]]
