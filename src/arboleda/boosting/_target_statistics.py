"""Ordered target statistics: categories become numbers that know nothing of their own row's target.

Prokhorenkova, Gusev, Vorobev, Dorogush and Gulin (2018), "CatBoost: unbiased boosting with
categorical features", section 3.2. The rows to learn from are put in a random order. With y_j and
w_j the target and weight of row j, p the weighted mean of all targets and a the prior weight, the
statistic of row i is

    sum of w_j y_j + a p
    --------------------    over the rows j before i in that order that have the category of i,
      sum of w_j + a

and that of a category, for rows that were not learned from, is the same over all of its rows. So a
row's number is what would have been known of its category had the row come next: it looks like the
number of a new row does, and does not hold the row's own target. Missing values are one more
category; a category that was not seen has no rows, and so the statistic p, unless it shares the
code of missing values.

Sums are sums of integers: those of a category do not depend on the order of the rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Table
from arboleda._engine.schema import get_missing_code
from arboleda._errors import ModelFormatError
from arboleda.persist import Array as SavedArray

if TYPE_CHECKING:
    from arboleda.persist._fields import Sections

Floats = npt.NDArray[np.float64]
RowNumbers = npt.NDArray[np.integer[Any]]

PRIOR_WEIGHT = 5.0
_PURPOSE = 0x7A26E7  # keeps the random order apart from all else that is drawn from a seed
_BITS = 62  # of the sums


@dataclass(frozen=True, eq=False)
class TargetStatistics:
    """The statistics of every category of some columns.

    Parameters
    ----------
    columns : tuple of int
        Which columns, ascending.
    values : tuple of ndarray of shape (n_levels + 1, n_statistics)
        For each of them the statistics of its levels, and in the last row those of missing values.
    """

    columns: tuple[int, ...]
    values: tuple[Floats, ...]

    def __post_init__(self) -> None:
        if len({table.shape[1] for table in self.values}) > 1:
            raise ValueError("all columns have the same number of statistics")

    @property
    def n_statistics(self) -> int:
        """Numbers that a category becomes."""
        return self.values[0].shape[1] if self.values else 1

    def owners(self, n_columns: int) -> npt.NDArray[np.intp]:
        """For each column of a replaced table, the column of the original one that it comes from.

        The first statistic stands in the place of its column; the others follow after all columns.
        """
        more = np.repeat(np.array(self.columns, dtype=np.intp), self.n_statistics - 1)
        return np.concatenate([np.arange(n_columns), more])

    def n_levels(self, n_levels: Sequence[int]) -> tuple[int, ...]:
        """Numbers of levels of the columns of a replaced table: 0 for statistics."""
        kept = [0 if j in self.columns else n for j, n in enumerate(n_levels)]
        return (*kept, *[0] * (len(self.columns) * (self.n_statistics - 1)))

    def by_owner(self, shares: Floats) -> Floats:
        """Sum shares of the columns of a replaced table over those that come from one column."""
        n_columns = shares.size - len(self.columns) * (self.n_statistics - 1)
        summed = np.bincount(self.owners(n_columns), weights=shares, minlength=n_columns)
        return summed.astype(np.float64)

    def replaced(self, table: Table) -> Table:
        """Return a table of rows that were not learned from with numbers for categories."""
        if not self.columns:
            return table
        found = [
            values[_codes(table, column)]
            for column, values in zip(self.columns, self.values, strict=True)
        ]
        return _with_numbers(table, self.columns, found)


def learn_statistics(
    table: Table,
    columns: Sequence[int],
    rows: RowNumbers,
    target: Floats,
    weight: Floats | None,
    *,
    n_classes: int = 0,
    prior_weight: float = PRIOR_WEIGHT,
    seed: int,
) -> tuple[TargetStatistics, Table]:
    """Learn the statistics of some columns, and put numbers in their place.

    Parameters
    ----------
    table : Table
    columns : sequence of int
        Categorical ones, ascending.
    rows : ndarray
        The rows to learn from, ascending.
    target : ndarray of shape (n_samples,)
        Numbers, whose mean is the statistic; or classes 0, 1, ..
    weight : ndarray of shape (n_samples,), or None
    n_classes : int, default=0
        0: the target holds numbers. 2: the statistic is the share of class 1. More: the shares of
        all classes.
    prior_weight : float
        ``a``: of how many rows the prior is worth.
    seed : int
        Of the order of the rows, which is the same for all columns: with orders of their own,
        columns would together tell a row's target.

    Returns
    -------
    statistics : TargetStatistics
    replaced : Table
        The rows learned from have ordered statistics, all others those of their categories.
    """
    counts, counts_unit = _weights(weight, rows)
    sums, sums_unit, scale = _weighted_targets(target[rows], weight, rows, n_classes)
    random = _random_words(rows.size, seed)
    learned: list[Floats] = []
    numbers: list[Floats] = []
    for column in columns:
        codes = _codes(table, column)
        groups = _Groups(codes[rows], random)
        n_levels = table.n_levels[column] + 1
        n_before, n_all = groups.sums(counts, n_levels)
        ordered = np.empty((rows.size, len(sums)))
        whole = np.empty((n_levels, len(sums)))
        for k, part in enumerate(sums):
            before, full = groups.sums(part, n_levels)
            prior = float(_ratio(part.sum(), sums_unit, counts.sum(), counts_unit, 0.0, 0.0))
            for found, sum_, n in ((ordered, before, n_before), (whole, full, n_all)):
                statistic = _ratio(sum_, sums_unit, n, counts_unit, prior, prior_weight)
                found[:, k] = np.ldexp(statistic, scale)
        values = whole[codes]
        values[rows] = ordered
        learned.append(whole)
        numbers.append(values)
    statistics = TargetStatistics(tuple(columns), tuple(learned))
    return statistics, _with_numbers(table, statistics.columns, numbers)


class _Groups:
    """Rows category by category, those of each category in random order."""

    def __init__(self, codes: npt.NDArray[np.intp], random: npt.NDArray[np.uint64]) -> None:
        # One sort by the category in the upper bits of a word and random ones below it.
        shift = max(1, int(codes.max(initial=0)).bit_length())
        keys = (codes.astype(np.uint64) << np.uint64(64 - shift)) | (random >> np.uint64(shift))
        self._rows = np.argsort(keys, kind="stable")
        self._codes = codes[self._rows]
        starts = np.flatnonzero(np.diff(self._codes, prepend=-1))
        self._sizes = np.diff(starts, append=codes.size)
        self._starts = starts

    def sums(
        self, values: npt.NDArray[np.int64], n_levels: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Sums of a row's group over the rows before it, and over the whole of each group."""
        sorted_ = values[self._rows]
        running = np.cumsum(sorted_) - sorted_
        before = np.empty_like(values)
        before[self._rows] = running - np.repeat(running[self._starts], self._sizes)
        totals = np.zeros(n_levels, dtype=np.int64)
        if values.size:
            totals[self._codes[self._starts]] = np.add.reduceat(sorted_, self._starts)
        return before, totals


def _codes(table: Table, column: int) -> npt.NDArray[np.intp]:
    """Return the codes of a categorical column, with that of missing values after all levels."""
    n_levels = table.n_levels[column]
    codes = table.columns[column].astype(np.intp)
    codes[codes == get_missing_code(n_levels)] = n_levels
    return codes


def _with_numbers(table: Table, columns: Sequence[int], numbers: Sequence[Floats]) -> Table:
    """Return a table with statistics in the place of columns, further ones after all columns."""
    replaced = list(table.columns)
    n_levels = list(table.n_levels)
    for column, values in zip(columns, numbers, strict=True):
        replaced[column] = np.ascontiguousarray(values[:, 0])
        n_levels[column] = 0
        for k in range(1, values.shape[1]):
            replaced.append(np.ascontiguousarray(values[:, k]))
            n_levels.append(0)
    return Table(replaced, table.n_rows, tuple(n_levels))


def _random_words(n: int, seed: int) -> npt.NDArray[np.uint64]:
    """Return random words by a counter, that NumPy promises never to change."""
    words: npt.NDArray[np.uint64] = np.random.Philox(key=[seed, _PURPOSE]).random_raw(n)
    return words


def _weights(weight: Floats | None, rows: RowNumbers) -> tuple[npt.NDArray[np.int64], int]:
    if weight is None:
        return np.ones(rows.size, dtype=np.int64), 0
    return _whole(weight[rows])


def _weighted_targets(
    target: Floats, weight: Floats | None, rows: RowNumbers, n_classes: int
) -> tuple[list[npt.NDArray[np.int64]], int, int]:
    """Return weight times target as whole numbers of 2**unit, for each statistic.

    The targets are taken in units of 2**scale, in which none is larger than 1.
    """
    if n_classes == 0:
        scale = int(np.frexp(np.abs(target).max(initial=0.0))[1])
        parts = [np.ldexp(target, -scale)]
    else:
        scale = 0
        classes = range(1, 2) if n_classes == 2 else range(n_classes)
        parts = [(target == label).astype(np.float64) for label in classes]
    if weight is not None:
        parts = [part * weight[rows] for part in parts]
    # One unit for all classes, so that their shares sum to 1.
    top = max(float(np.abs(part).max(initial=0.0)) for part in parts)
    whole = [_whole(part, top) for part in parts]
    return [part for part, _ in whole], whole[0][1], scale


def _whole(values: Floats, top: float | None = None) -> tuple[npt.NDArray[np.int64], int]:
    """Return values as whole numbers of a power of two, so fine that no sum of theirs overflows."""
    largest = float(np.abs(values).max(initial=0.0)) if top is None else top
    unit = int(np.frexp(largest)[1]) + values.size.bit_length() - _BITS
    return np.rint(np.ldexp(values, -unit)).astype(np.int64), unit


def _ratio(
    sums: npt.NDArray[np.int64] | np.int64,
    sums_unit: int,
    counts: npt.NDArray[np.int64] | np.int64,
    counts_unit: int,
    prior: float,
    prior_weight: float,
) -> Floats:
    above = np.ldexp(np.asarray(sums, dtype=np.float64), sums_unit) + prior_weight * prior
    below = np.ldexp(np.asarray(counts, dtype=np.float64), counts_unit) + prior_weight
    ratio: Floats = above / below
    return ratio


class TargetStatisticsField:
    """How a model file holds statistics: all of them in one array, which columns in the header."""

    def encode(self, name: str, value: TargetStatistics, sections: Sections) -> dict[str, Any]:
        """Return the columns with their numbers of statistics, and the name of the array."""
        sizes = [len(table) for table in value.values]
        held = np.concatenate(value.values) if value.values else np.empty((0, 1))
        array = SavedArray(np.float64, 2).encode(name, held, sections)
        return {"columns": list(value.columns), "sizes": sizes, **array}

    def decode(self, name: str, stored: Any, sections: Sections) -> TargetStatistics:
        """Return the statistics, checked."""
        match stored:
            case {"columns": list(columns), "sizes": list(sizes), **array}:
                held = SavedArray(np.float64, 2).decode(name, array, sections)
            case _:
                raise ModelFormatError(f"{name} is no table of statistics")
        numbers = [*columns, *sizes]
        if not all(type(number) is int and 0 <= number < 2**32 for number in numbers):
            raise ModelFormatError(f"{name} lists something that is no column")
        ascending = all(a < b for a, b in itertools.pairwise(columns))
        ends = np.cumsum([0, *sizes])
        if not ascending or len(sizes) != len(columns) or ends[-1] != len(held):
            raise ModelFormatError(f"{name} does not hold what its columns need")
        if held.shape[1] == 0 or not np.isfinite(held).all():
            raise ModelFormatError(f"{name} holds what is no statistic")
        parts = tuple(held[a:b] for a, b in itertools.pairwise(ends))
        return TargetStatistics(tuple(columns), parts)
