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

from arboleda._engine.coded_parts import find_files
from arboleda.dask.tasks import load_distributed

__all__ = [
    "NAMES",
    "VALIDATION_NAMES",
    "DataLostError",
    "ParquetPart",
    "Partition",
    "PartitionFacts",
    "measure_partitions",
    "read_collections",
    "read_part",
    "summarize_facts",
]

# The parts of a partition, as errors and `fit` name them.
NAMES = ("X", "y", "sample_weight")
VALIDATION_NAMES = ("X_val", "y_val", "sample_weight_val")

_PATHS = (str, os.PathLike)


class DataLostError(RuntimeError):
    """A worker was lost while data were sent to it."""


@dataclass(frozen=True)
class ParquetPart:
    """A Parquet file that the worker of a shard reads itself, and what to take from it."""

    path: str
    target: str
    sample_weight: str | None = None

    def read(self) -> tuple[Any, Any, Any]:
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
        own = [self.target, *([] if self.sample_weight is None else [self.sample_weight])]
        for name in own:
            if name not in table.column_names:
                raise ValueError(
                    f"{self.path} has no column {name!r}: y and sample_weight name columns of the "
                    "files"
                )
        weight = None if self.sample_weight is None else table[self.sample_weight]
        return table.drop_columns(own), table[self.target], weight


@dataclass(frozen=True)
class Partition:
    """Consecutive rows of the table, not in this process.

    ``source`` is a `ParquetPart`, or futures of X, y and the weights (or None).
    """

    source: Any

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
    """

    n_rows: int
    columns: tuple[Any, ...]
    n_bytes: int
    digest: int = 0


def read_part(source: Any) -> tuple[Any, Any, Any]:
    """Return X, y and the weights of a partition, on a worker."""
    return source.read() if isinstance(source, ParquetPart) else tuple(source)


def read_collections(
    client: Any, X: Any, y: Any, sample_weight: Any = None, *, names: tuple[str, str, str]
) -> list[Partition]:
    """Return the partitions of X, whose computation begins on the workers.

    Parameters
    ----------
    client : distributed.Client
    X : dask.dataframe, dask.array, sequence of delayed frames or arrays, path or pattern of \
            Parquet files, or a table of this process
    y : the same, or the name of a column of the files
    sample_weight : the same as y, or None
    names : tuple of str
        What messages call X, y and the weights.

    Raises
    ------
    TypeError
        If X is of no such kind, or y of another kind than X.
    ValueError
        If the numbers of partitions differ.
    FileNotFoundError
        If a pattern matches no file.
    """
    if _are_paths(X):
        return _name_files(X, y, sample_weight, names)
    given = [part for part in (X, y, sample_weight) if part is not None]
    if not any(map(_is_distributed, given)):
        return _scatter_rows(client, given)
    x_name, y_name, w_name = names
    lists = [_delay_partitions(X, x_name)]
    for name, part in ((y_name, y), (w_name, sample_weight)):
        if part is not None:
            lists.append(_delay_partitions(_align_chunks(part, X), name))
    for name, part in zip((y_name, w_name), lists[1:], strict=False):
        if len(part) != len(lists[0]):
            raise ValueError(
                f"{name} has {len(part)} partitions, {x_name} has {len(lists[0])}: they must be "
                "cut at the same rows; take both from the same collection, or repartition"
            )
    futures = iter(client.compute([delayed for part in lists for delayed in part]))
    columns = [[next(futures) for _ in part] for part in lists]
    columns += [[None] * len(lists[0])] * (3 - len(columns))
    return [Partition(parts) for parts in zip(*columns, strict=True)]


def measure_partitions(
    client: Any,
    partitions: Sequence[Partition],
    names: tuple[str, str, str],
    *,
    digest: bool = False,
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
        client.submit(_measure, number, partition.source, names, digest, pure=False)
        for number, partition in enumerate(partitions)
    ]
    measured: list[PartitionFacts] = client.gather(futures)
    known = [facts for facts in measured if facts.columns and facts.n_rows] or measured[:1]
    for number, facts in enumerate(measured):
        if facts.n_rows and sorted(map(str, facts.columns)) != sorted(map(str, known[0].columns)):
            raise ValueError(
                f"partition {number} of {names[0]} has the columns "
                f"{', '.join(map(str, facts.columns[:20]))}, the first one has "
                f"{', '.join(map(str, known[0].columns[:20]))}: give all partitions the same"
            )
    if not any(facts.n_rows for facts in measured):
        raise ValueError(f"{names[0]} has no rows")
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


def _measure(number: int, source: Any, names: tuple[str, str, str], digest: bool) -> PartitionFacts:
    """Measure a partition on its worker; of a Parquet file only its footer is read."""
    if isinstance(source, ParquetPart):
        return _measure_file(source)
    X, y, weight = source
    n_rows = _count_rows(X)
    for name, part in ((names[1], y), (names[2], weight)):
        if part is not None and _count_rows(part) != n_rows:
            raise ValueError(
                f"partition {number} has {n_rows} rows in {names[0]} and {_count_rows(part)} in "
                f"{name}: they must be cut at the same rows"
            )
    from dask.sizeof import sizeof

    n_bytes = sum(int(sizeof(part)) for part in source if part is not None)
    value = compute_digest(source) if digest and n_rows else 0
    return PartitionFacts(n_rows, _name_columns(X), n_bytes, value)


def _measure_file(part: ParquetPart) -> PartitionFacts:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(part.path)
    except pa.ArrowException as error:
        raise ValueError(f"{part.path} cannot be read as a Parquet file: {error}") from error
    names = metadata.schema.to_arrow_schema().names
    for name in (part.target, part.sample_weight):
        if name is not None and name not in names:
            raise ValueError(
                f"{part.path} has no column {name!r}: y and sample_weight name columns of the files"
            )
    columns = tuple(name for name in names if name not in {part.target, part.sample_weight})
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    n_bytes = sum(group.total_byte_size for group in groups)
    content = repr([group.to_dict() for group in groups]).encode()
    digest = int.from_bytes(hashlib.sha256(content).digest()[:8], "little")
    return PartitionFacts(metadata.num_rows, columns, n_bytes, digest)


def compute_digest(parts: Sequence[Any]) -> int:
    """Return the sum over rows of a hash of their numbers, modulo 2**64.

    Other values take part as texts.
    """
    n_rows = _count_rows(parts[0])
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


def _hash_column(column: Any) -> Any:
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    texts = [zlib.crc32(str(value).encode("utf-8", "surrogatepass")) for value in values.tolist()]
    return np.array(texts, dtype=np.uint64)


def _count_rows(part: Any) -> int:
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


def _are_paths(X: Any) -> bool:
    if isinstance(X, _PATHS):
        return True
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(x, _PATHS) for x in X)


def _name_files(X: Any, y: Any, sample_weight: Any, names: tuple[str, str, str]) -> list[Partition]:
    for name, column in ((names[1], y), (names[2], sample_weight)):
        if not isinstance(column, str) and not (column is None and name == names[2]):
            raise TypeError(
                f"{names[0]} is a path, so {name} must be the name of a column of the files, got "
                f"{type(column).__name__}"
            )
    return [
        Partition(ParquetPart(str(Path(path).absolute()), y, sample_weight))
        for path in find_files(X)
    ]


def _is_distributed(part: Any) -> bool:
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


def _delay_partitions(part: Any, name: str) -> list[Any]:
    """Return delayed objects or futures, one for each partition of rows."""
    if not _is_distributed(part):
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


def _scatter_rows(client: Any, given: Sequence[Any]) -> list[Partition]:
    """Cut tables of this process into one block of rows for each worker, and send them."""
    from sklearn.utils import _safe_indexing, check_consistent_length

    check_consistent_length(*given)
    n_rows = _count_rows(given[0])
    workers = sorted(client.nthreads())
    limits = [n_rows * i // len(workers) for i in range(len(workers) + 1)]
    partitions = []
    for worker, (start, end) in zip(workers, pairwise(limits), strict=True):
        blocks = [_safe_indexing(part, slice(start, end)) for part in given]
        try:
            futures = client.scatter(blocks, workers=[worker], hash=False)
        except (KeyError, OSError) as error:  # the scheduler does not have the worker any more
            raise DataLostError(f"the worker {worker} is gone") from error
        partitions.append(Partition((*futures, *[None] * (3 - len(futures)))))
    return partitions
