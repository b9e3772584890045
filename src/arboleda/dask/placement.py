"""Which worker holds which rows: consecutive partitions, about as many rows for each worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import linear_sum_assignment

from arboleda._utils.errors import ClusterError
from arboleda.dask.partitions import PartitionFacts

__all__ = ["PlacedShard", "check_memory", "estimate_memory", "place_shards"]

# Bytes of a fit for each row besides its columns: target, weight, scores, gradients, row numbers.
_ROW_BYTES = 100
# Bytes of a value: as it is read, sorted, and twice as a code; measured.
_VALUE_BYTES = 15
# Bytes of a worker that does nothing yet.
_PROCESS_BYTES = 250_000_000


@dataclass(frozen=True)
class PlacedShard:
    """Consecutive partitions, ``start`` to ``end - 1``, and the worker that fits to their rows."""

    address: str
    start: int
    end: int
    n_rows: int

    @property
    def partitions(self) -> range:
        """The numbers of its partitions."""
        return range(self.start, self.end)


def place_shards(
    n_rows: Sequence[int], held: Sequence[Mapping[str, int]], workers: Sequence[str]
) -> list[PlacedShard]:
    """Give every worker consecutive partitions, evenly by rows, and near where they are.

    Parameters
    ----------
    n_rows : sequence of int
        Rows of every partition.
    held : sequence of mapping of str to int
        The workers that hold a partition, with its bytes there.
    workers : sequence of str
        Their addresses.

    Returns
    -------
    shards : list of PlacedShard
        In the order of rows; at most one for each worker, each with rows.

    Examples
    --------
    >>> for shard in place_shards([5, 0, 5, 10], [{"b": 1}, {}, {}, {"a": 1}], ["a", "b"]):
    ...     print(shard)
    PlacedShard(address='b', start=0, end=3, n_rows=10)
    PlacedShard(address='a', start=3, end=4, n_rows=10)
    """
    limits = _cut_evenly(np.asarray(n_rows, dtype=np.int64), len(workers))
    ranges = list(pairwise(limits))
    local = np.zeros((len(ranges), len(workers)))
    for i, (start, end) in enumerate(ranges):
        for j, worker in enumerate(workers):
            local[i, j] = sum(held[p].get(worker, 0) for p in range(start, end))
    _, chosen = linear_sum_assignment(local, maximize=True)
    return [
        PlacedShard(workers[j], start, end, sum(n_rows[start:end]))
        for (start, end), j in zip(ranges, chosen, strict=True)
    ]


def _cut_evenly(n_rows: np.ndarray, n_shards: int) -> list[int]:
    """Return the limits of ranges of partitions, each of which has rows."""
    before = np.concatenate([[0], np.cumsum(n_rows)])
    total = before[-1]
    wanted = total * np.arange(1, n_shards) / n_shards
    right = np.clip(np.searchsorted(before, wanted), 1, len(n_rows))
    is_left_nearer = wanted - before[right - 1] < before[right] - wanted
    limits = [0]
    for limit in (right - is_left_nearer).tolist():
        if before[limits[-1]] < before[limit] < total:
            limits.append(limit)
    return [*limits, len(n_rows)]


def estimate_memory(facts: Sequence[PartitionFacts], shard: PlacedShard) -> int:
    """Estimate the bytes of a worker with a shard: its process, the partitions and the fit."""
    own = [facts[number] for number in shard.partitions]
    held = sum(part.n_bytes for part in own)
    values = _VALUE_BYTES * sum(part.n_values for part in own)
    return _PROCESS_BYTES + held + values + shard.n_rows * _ROW_BYTES


def check_memory(
    facts: Sequence[PartitionFacts], shards: Sequence[PlacedShard], limits: Mapping[str, int]
) -> dict[str, int]:
    """Return the estimated bytes by worker.

    Raises
    ------
    ClusterError
        If it is more than the worker's ``memory_limit`` (0: there is none).
    """
    needed = {shard.address: estimate_memory(facts, shard) for shard in shards}
    for shard in shards:
        limit = limits.get(shard.address, 0)
        if limit and needed[shard.address] > limit:
            raise ClusterError(
                f"The worker {shard.address} would need about "
                f"{needed[shard.address] / 1e9:.2f} GB for {shard.n_rows:,} of the rows, and its "
                f"memory_limit is {limit / 1e9:.2f} GB; start more workers, or raise memory_limit."
            )
    return needed
