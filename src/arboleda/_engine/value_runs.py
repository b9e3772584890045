"""Sorted values of a column, and their runs: distinct values with numbers of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Runs", "Sorted", "count_below", "count_runs", "last_runs", "sort_values"]

Floats = npt.NDArray[np.float64]
Sorted = npt.NDArray[np.floating[Any]]  # ascending, of float32 or float64


class Runs(NamedTuple):
    """Distinct values, ascending, with the number of rows of each."""

    values: Floats
    counts: npt.NDArray[np.integer[Any]]

    @classmethod
    def of_sorted(cls, ordered: Sorted) -> Runs:
        """Return the runs of sorted values.

        Examples
        --------
        >>> Runs.of_sorted(np.array([1.0, 1.0, 3.0]))
        Runs(values=array([1., 3.]), counts=array([2, 1], dtype=uint8))
        """
        if not ordered.size:
            return cls(np.empty(0), np.empty(0, dtype=np.uint8))
        starts = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
        counts = np.diff(starts, append=ordered.size)
        # In a narrow type: runs are sent to other shards.
        counts = counts.astype(np.min_scalar_type(int(counts.max())))
        return cls(ordered[starts].astype(np.float64), counts)

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


def sort_values(
    values: npt.NDArray[Any], rows: npt.NDArray[np.uint32] | None, room: Floats
) -> Sorted:
    """Return the sorted values of some rows that are not NaN, with 0.0 for -0.0.

    Parameters
    ----------
    values : ndarray
    rows : ndarray or None
        None: all.
    room : ndarray
        Where they are sorted: one number for each of the rows. float32 stays float32.
    """
    ordered: Sorted = room
    if values.dtype == np.float32:  # is sorted in half of the time
        ordered = room.view(np.float32)[: room.size]
    ordered[...] = values if rows is None else values[rows]
    ordered.sort()
    present = ordered[: np.searchsorted(ordered, ordered.dtype.type(np.nan))]  # NaN is last
    present += ordered.dtype.type(0.0)
    return present


def count_below(ordered: Sorted, limits: Floats, *, equal: bool = False) -> npt.NDArray[np.intp]:
    """Return the number of sorted values below each limit, or ``equal`` to it.

    Examples
    --------
    >>> count_below(np.array([1.0, 2.0, 2.0], dtype=np.float32), np.array([2.0, 2.1]))
    array([1, 3])
    """
    side: Literal["left", "right"] = "right" if equal else "left"
    if ordered.dtype == np.float64:
        return np.searchsorted(ordered, limits, side)
    # NumPy would convert all values, not the limits. Those that are not float32 are moved to the
    # next one such that the same values are below.
    with np.errstate(over="ignore"):
        narrow = limits.astype(np.float32)
    if equal:
        narrow = np.where(narrow > limits, np.nextafter(narrow, np.float32(-np.inf)), narrow)
    else:
        narrow = np.where(narrow < limits, np.nextafter(narrow, np.float32(np.inf)), narrow)
    return np.searchsorted(ordered, narrow, side)


def count_runs(ordered: Sorted) -> int:
    """Return the number of distinct values among sorted ones."""
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (ordered.size > 0)


def last_runs(ordered: Sorted, n: int) -> Runs:
    """Return the runs of the n largest of more distinct values."""
    size = 2 * n
    while True:
        begin = max(0, ordered.size - size)
        runs = Runs.of_sorted(ordered[begin:])
        if begin == 0 or runs.values.size > n:  # the first may go on before these rows
            return runs.take(slice(-n, None))
        size *= 2
