"""Sorted values of a column, and their runs: distinct values with numbers of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Runs", "count_runs", "last_runs", "sort_values"]

Floats = npt.NDArray[np.float64]


class Runs(NamedTuple):
    """Distinct values, ascending, with the number of rows of each."""

    values: Floats
    counts: npt.NDArray[np.integer[Any]]

    @classmethod
    def of_sorted(cls, ordered: Floats) -> Runs:
        """Return the runs of sorted values.

        Examples
        --------
        >>> Runs.of_sorted(np.array([1.0, 1.0, 3.0]))
        Runs(values=array([1., 3.]), counts=array([2, 1], dtype=uint8))
        """
        if not ordered.size:
            return cls(ordered, np.empty(0, dtype=np.uint8))
        starts = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
        counts = np.diff(starts, append=ordered.size)
        # In a narrow type: runs are sent to other shards.
        return cls(ordered[starts], counts.astype(np.min_scalar_type(int(counts.max()))))

    @classmethod
    def merged(cls, parts: Sequence[Runs]) -> Runs:
        """Return the runs of the rows of all parts."""
        together = np.concatenate([part.values for part in parts])
        if not together.size:
            return cls(together, np.empty(0, dtype=np.int64))
        order = together.argsort(kind="stable")  # merges what is sorted already
        ordered = together[order]
        starts = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
        counts = np.concatenate([part.counts for part in parts]).astype(np.int64)
        return cls(ordered[starts], np.add.reduceat(counts[order], starts))

    def take(self, chosen: Any) -> Runs:
        """Return some of the runs."""
        return Runs(self.values[chosen], self.counts[chosen])

    def from_value(self, least: float) -> Runs:
        """Return the runs of values that are not less than one."""
        return self.take(slice(int(np.searchsorted(self.values, least)), None))


def sort_values(values: npt.NDArray[Any]) -> Floats:
    """Return the sorted values that are not NaN, with 0.0 for -0.0."""
    narrow = values.dtype == np.float32  # is sorted in half of the time
    ordered = np.array(values, dtype=np.float32 if narrow else np.float64)
    ordered.sort()
    present = ordered[: np.searchsorted(ordered, np.nan)]  # NaN is last
    sorted_values: Floats = np.add(present, 0.0, dtype=np.float64)
    return sorted_values


def count_runs(ordered: Floats) -> int:
    """Return the number of distinct values among sorted ones."""
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (ordered.size > 0)


def last_runs(ordered: Floats, n: int) -> Runs:
    """Return the runs of the n largest of more distinct values."""
    size = 2 * n
    while True:
        begin = max(0, ordered.size - size)
        runs = Runs.of_sorted(ordered[begin:])
        if begin == 0 or runs.values.size > n:  # the first may go on before these rows
            return runs.take(slice(-n, None))
        size *= 2
