"""Edges of the bins of a column from the rows of all shards, without a shuffle.

The result is that of the engine on all rows (``core/data/learn_edges.cc``), bit for bit. What it
depends on is the sorted distinct values with their numbers of rows, here called runs. Few of them
are sent in whole. Of many, a sample of each shard gives splitters, whose only purpose is to divide
the values into intervals; the rows of each interval and the runs of the splitters are summed; and
only the intervals in which a bin may begin are sent in whole, as runs:

    interval   splitter   interval   splitter   interval        tail: the largest values
    ---------|----------|----------|----------|---------- ..... | | | | | | |
    12 rows    1 row      9 rows     40 rows    11 rows          runs

The binner ends bins early where as many distinct values as bins are left. These are in the tail,
whose runs are all known.

With n rows, B bins and about sqrt(B n) splitters, about sqrt(B n) runs are sent for a column.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda._engine.all_shards import AllShards
from arboleda._engine.sparse_values import SparseValues
from arboleda._engine.value_runs import (
    Runs,
    Sorted,
    count_below,
    count_runs,
    last_runs,
    sort_values,
)

__all__ = ["ColumnCodes", "Edges", "learn_edges"]

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

# Of a column, as the engine takes it: the number of values, whether they are categories, whether
# some are missing, and the edges of numbers.
ColumnCodes = tuple[int, bool, bool, list[float], list[float]]

# A column with at most this many distinct values in a shard is sent in whole.
_FEW_RUNS = 2048
# Rows whose runs are sent at first to find out whether numbers of rows have a common divisor.
_DIVISOR_ROWS = 1 << 14
# Memory for the sorted values of the columns that are learned together.
_GROUP_BYTES = 1 << 27


@dataclass(frozen=True)
class Edges:
    """What bounds the codes of a numeric column.

    Parameters
    ----------
    lower : ndarray
        The smallest value of each code.
    upper : ndarray
        The largest value of each code; empty if every code is one value.
    """

    lower: Floats
    upper: Floats

    def describe(self, *, has_missing: bool) -> ColumnCodes:
        """Return what the engine takes for a numeric column with these edges."""
        return self.lower.size, False, has_missing, self.lower.tolist(), self.upper.tolist()


def learn_edges(
    columns: Sequence[npt.NDArray[Any] | SparseValues],
    rows: npt.NDArray[np.uint32] | None,
    max_bins: int,
    shards: AllShards,
) -> list[Edges]:
    """Return the edges of some columns, from the rows of all shards.

    Parameters
    ----------
    columns : sequence of ndarray or SparseValues
        The values of this shard's rows; NaN is missing.
    rows : ndarray or None
        Which rows to learn from; None: all.
    max_bins : int
        Maximum number of bins.
    shards : AllShards

    Returns
    -------
    edges : list of Edges
    """
    n_own = (len(columns[0]) if rows is None else rows.size) if len(columns) else 0
    n_rows = shards.count(n_own)
    n_together = max(1, _GROUP_BYTES * shards.n_shards // (8 * n_rows + 1))
    rooms = np.empty((min(n_together, len(columns)), n_own))
    found: list[Edges] = []
    for begin in range(0, len(columns), n_together):
        together = columns[begin : begin + n_together]
        found += _run_in_step(
            [
                _learn_column(_sort(values, rows, room), max_bins, n_rows)
                for values, room in zip(together, rooms, strict=False)
            ],
            shards,
        )
    return found


# What a column sends: counts to be added over all shards, or anything to be gathered.
Message = Counts | tuple[Any, ...]
Learning = Generator[Message, Any, Edges]


def _run_in_step(learning: Sequence[Learning], shards: AllShards) -> list[Edges]:
    """Learn several columns at once, with the messages of all in one.

    A column takes the same steps in all shards, since they depend on what all shards sent.
    """
    edges: dict[int, Edges] = {}
    messages = {number: next(column) for number, column in enumerate(learning)}
    while messages:
        sums = {number: sent for number, sent in messages.items() if isinstance(sent, np.ndarray)}
        items = {number: sent for number, sent in messages.items() if number not in sums}
        received: dict[int, Any] = {}
        if sums:
            total = shards.add(np.concatenate(list(sums.values())))
            ends = np.cumsum([part.size for part in sums.values()])[:-1]
            received |= dict(zip(sums, np.split(total, ends), strict=True))
        if items:
            gathered = shards.gather(list(items.values()))
            received |= dict(zip(items, zip(*gathered, strict=True), strict=True))
        messages = {}
        for number, reply in received.items():
            try:
                messages[number] = learning[number].send(reply)
            except StopIteration as end:
                edges[number] = end.value
    return [edges[number] for number in range(len(learning))]


def _sort(
    values: npt.NDArray[Any] | SparseValues, rows: npt.NDArray[np.uint32] | None, room: Floats
) -> Sorted:
    if isinstance(values, SparseValues):
        return (values if rows is None else values[rows]).sort(room)
    return sort_values(values, rows, room)


def _learn_column(ordered: Sorted, max_bins: int, n_rows: int) -> Learning:
    is_whole = count_runs(ordered) <= max(_FEW_RUNS, max_bins + 1)
    tail = Runs.of_sorted(ordered) if is_whole else last_runs(ordered, max_bins + 1)
    sample = None if is_whole else _draw_sample(ordered, max_bins, n_rows)
    parts = yield (is_whole, tail, sample)
    least = max((part.values[0] for whole, part, _ in parts if not whole), default=-np.inf)
    known = Runs.merged([part.from_value(least) for _, part, _ in parts])
    intervals = _Intervals.of_runs(known)
    if np.isfinite(least):
        splitters = np.unique(np.concatenate([part for *_, part in parts if part is not None]))
        splitters = splitters[splitters < least]
        counts = yield _count_rows(ordered, splitters, least)
        intervals = _Intervals.before_tail(splitters, least, counts, known)
    elif known.values.size <= max_bins:
        return Edges(known.values, np.empty(0))
    unit = yield from _find_common_divisor(ordered, intervals)
    while True:
        bins = _find_bins(intervals, max_bins, unit)
        if not bins.unknown:
            break
        unknown = np.array(bins.unknown)
        parts = yield intervals.select_runs(ordered, unknown)
        intervals = intervals.resolved(unknown, Runs.merged(parts))
    starts = np.array(bins.starts)
    lasts = np.append(starts[1:], intervals.rows.size) - 1
    return Edges(intervals.low[starts], intervals.low[lasts])


def _draw_sample(ordered: Sorted, max_bins: int, n_rows: int) -> Floats:
    """Return values at regular distances among this shard's rows; of all shards sqrt(B n)."""
    step = max(1, n_rows // max(1, math.isqrt(max_bins * n_rows)))
    return np.unique(ordered[step // 2 :: step]).astype(np.float64)


def _count_rows(ordered: Sorted, splitters: Floats, least: float) -> Counts:
    """Return the rows of the interval before each splitter, of each splitter, and of the last one.

    The last interval is that between the last splitter and the tail.
    """
    bounds = np.empty(2 * splitters.size + 1, dtype=np.int64)
    if not ordered.size:
        return np.zeros_like(bounds)
    below = count_below(ordered, splitters)
    # A splitter has no row here, or one; more of them are looked for where it has.
    up_to = below + (ordered.take(below, mode="clip") == splitters)
    tied = ordered.take(up_to, mode="clip") == splitters
    up_to[tied] = count_below(ordered, splitters[tied], equal=True)
    bounds[0:-1:2], bounds[1:-1:2] = below, up_to
    bounds[-1:] = count_below(ordered, np.array([least]))
    return np.diff(bounds, prepend=0)


@dataclass(frozen=True)
class _Intervals:
    """All rows in the order of their values: runs, and intervals of which only bounds are known.

    Parameters
    ----------
    low, high : ndarray
        Of a run its value; of an interval its bounds, which are not in it.
    rows : ndarray
        Number of rows of each, positive.
    is_run : ndarray of bool
    """

    low: Floats
    high: Floats
    rows: Counts
    is_run: npt.NDArray[np.bool_]

    @classmethod
    def of_runs(cls, runs: Runs) -> _Intervals:
        return cls(
            runs.values,
            runs.values,
            runs.counts.astype(np.int64),
            np.ones(runs.values.size, dtype=bool),
        )

    @classmethod
    def before_tail(cls, splitters: Floats, least: float, counts: Counts, tail: Runs) -> _Intervals:
        """Return intervals between splitters, the splitters, and the runs of the tail."""
        n = splitters.size
        bounds = np.concatenate([[-np.inf], splitters, [least]])
        low, high = np.empty(2 * n + 1), np.empty(2 * n + 1)
        low[0::2], high[0::2] = bounds[:-1], bounds[1:]
        low[1::2] = high[1::2] = splitters
        is_run = np.arange(2 * n + 1) % 2 == 1
        kept = counts > 0
        head = cls(low[kept], high[kept], counts[kept], is_run[kept])
        return cls.joined([head, cls.of_runs(tail)])

    @classmethod
    def joined(cls, parts: Sequence[_Intervals]) -> _Intervals:
        return cls(
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.is_run for part in parts]),
        )

    def select_runs(self, ordered: Sorted, chosen: npt.NDArray[np.intp]) -> Runs:
        """Return the runs of a shard's sorted values in some intervals, in ascending order."""
        begins = count_below(ordered, self.low[chosen], equal=True)
        ends = count_below(ordered, self.high[chosen])
        lengths = ends - begins
        skipped = begins - (np.cumsum(lengths) - lengths)
        return Runs.of_sorted(ordered[np.repeat(skipped, lengths) + np.arange(lengths.sum())])

    def resolved(self, chosen: npt.NDArray[np.intp], runs: Runs) -> _Intervals:
        """Return the intervals with some of them, in ascending order, replaced by their runs."""
        lengths = np.searchsorted(runs.values, self.high[chosen], side="left")
        lengths = np.diff(lengths, prepend=0)
        is_kept = np.ones(self.rows.size, dtype=bool)
        is_kept[chosen] = False
        is_new = np.zeros(self.rows.size - chosen.size + runs.values.size, dtype=bool)
        places = np.repeat(chosen - np.arange(chosen.size), lengths)  # among those that are kept
        is_new[places + np.arange(places.size)] = True
        is_old = ~is_new

        def replace(own: npt.NDArray[Any], new: Any) -> npt.NDArray[Any]:
            together = np.empty(is_new.size, dtype=own.dtype)
            together[is_new], together[is_old] = new, own[is_kept]
            return together

        return _Intervals(
            replace(self.low, runs.values),
            replace(self.high, runs.values),
            replace(self.rows, runs.counts),
            replace(self.is_run, True),
        )


def _find_common_divisor(ordered: Sorted, intervals: _Intervals) -> Generator[Message, Any, int]:
    """Return the largest number that divides the numbers of rows of all distinct values.

    It is 1 but for a table whose rows are repeated; one value that occurs once shows that. Without
    one, shards send the values whose own rows it does not divide, of more and more intervals.
    """
    divisor = int(np.gcd.reduce(intervals.rows[intervals.is_run]))
    unknown = np.flatnonzero(~intervals.is_run)
    most = _DIVISOR_ROWS
    begin = 0
    while divisor > 1 and begin < unknown.size:
        ends = np.cumsum(intervals.rows[unknown[begin:]])
        end = begin + max(1, int(np.searchsorted(ends, most, side="right")))
        own = intervals.select_runs(ordered, unknown[begin:end])
        parts = yield own.take(own.counts % divisor != 0)
        together = Runs.merged(parts)
        divisor = math.gcd(divisor, *together.counts.tolist())
        begin, most = end, 2 * most
    return divisor


class _Bins(NamedTuple):
    """The items that begin a bin; or the intervals whose runs must be known to find them."""

    starts: list[int]
    unknown: list[int]


def _find_bins(intervals: _Intervals, max_bins: int, unit: int) -> _Bins:
    """Find the first items of all bins as the engine's binner does (``core/data/binner.h``).

    Where a bin begins within an interval, the search goes on as if its values were distinct, to
    name further intervals that will be needed.

    Parameters
    ----------
    intervals : _Intervals
        More distinct values than bins; the last ``max_bins + 1`` items, or all, are runs.
    max_bins : int
    unit : int
        Rows are counted in groups of so many.
    """
    ends = np.cumsum(intervals.rows) // unit
    n_items, is_run = ends.size, intervals.is_run
    position, item, left = 0, 0, max_bins  # the bin begins after so many rows, with this item
    starts: list[int] = []
    unknown = set() if is_run[0] else {0}
    while True:
        starts.append(item)
        share = (int(ends[-1]) - position) // left
        left -= 1
        if left == 0:
            break
        # The item with which the bin has its share of the rows.
        last = max(item, int(ends.searchsorted(position + share)))
        own = int(ends[last]) - (int(ends[last - 1]) if last else 0)
        if not is_run[last]:
            unknown.add(last)
            position, item = position + share, last
            continue
        alone = last > item and own >= share
        item = min(last if alone else last + 1, max(item + 1, n_items - left))
        if item >= n_items:
            break
        position = int(ends[item - 1])
        unknown.update(k for k in (item - 1, item) if not is_run[k])
    return _Bins(starts, sorted(unknown))
