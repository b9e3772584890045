"""Ordered target statistics: an encoding of categories that does not use a row's own target.

Prokhorenkova, Gusev, Vorobev, Dorogush and Gulin (2018), "CatBoost: unbiased boosting with
categorical features", section 3.2. The training rows are put in a random order. With y_j and w_j
the target and weight of row j, p the weighted mean of all targets and a the prior weight, the
statistic of row i is

    sum of w_j y_j + a p
    --------------------    over the rows j before i in that order that have the category of i,
      sum of w_j + a

and the statistic of a category, which encodes new rows, is the same over all of its training rows.
The statistic of a training row is computed from the rows before it only, like that of a new row,
and does not depend on the row's own target. Missing values are a category of their own. An unseen
category has the statistic p, unless it shares the code of missing values.

Sums are computed in integers: those of a category do not depend on the order of the rows. The
random order is that of words of the rows' places. Of a table in shards, the categories, targets and
weights of all rows are gathered in every shard.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._base.row_words import Purpose, Words, draw_row_words
from arboleda._engine.all_shards import ALONE, AllShards
from arboleda._engine.columns import DenseTable, get_missing_code
from arboleda._utils.errors import ModelFormatError
from arboleda.persist import SavedArray

if TYPE_CHECKING:
    from arboleda.persist.fields import Sections

Floats = npt.NDArray[np.float64]
RowNumbers = npt.NDArray[np.integer[Any]]

PRIOR_WEIGHT = 5.0
_BITS = 62  # number of bits of the sums


@dataclass(frozen=True, eq=False)
class TargetStatistics:
    """The statistics of every category of some columns.

    Parameters
    ----------
    columns : tuple of int
        Indices of the columns, ascending.
    values : tuple of ndarray of shape (n_levels + 1, n_statistics)
        Statistics of the levels of each column; the last row is for missing values.
    """

    columns: tuple[int, ...]
    values: tuple[Floats, ...]

    def __post_init__(self) -> None:
        if len({table.shape[1] for table in self.values}) > 1:
            raise ValueError("all columns must have the same number of statistics")

    @property
    def n_statistics(self) -> int:
        """Number of statistics per category."""
        return self.values[0].shape[1] if self.values else 1

    def owners(self, n_columns: int) -> npt.NDArray[np.intp]:
        """Return the original column of each column of an encoded table.

        The first statistic takes the place of its column; the others follow after all columns.
        """
        more = np.repeat(np.array(self.columns, dtype=np.intp), self.n_statistics - 1)
        return np.concatenate([np.arange(n_columns), more])

    def n_levels(self, n_levels: Sequence[int]) -> tuple[int, ...]:
        """Return the number of levels of each column of an encoded table; 0 for statistics."""
        kept = [0 if j in self.columns else n for j, n in enumerate(n_levels)]
        return (*kept, *[0] * (len(self.columns) * (self.n_statistics - 1)))

    def by_owner(self, shares: Floats) -> Floats:
        """Sum the shares of the columns of an encoded table by their original column."""
        n_columns = shares.size - len(self.columns) * (self.n_statistics - 1)
        summed = np.bincount(self.owners(n_columns), weights=shares, minlength=n_columns)
        return summed.astype(np.float64)

    def replaced(self, table: DenseTable) -> DenseTable:
        """Return a table of new rows with categories encoded by their statistics."""
        if not self.columns:
            return table
        statistics = [
            values[_read_codes(table, column)]
            for column, values in zip(self.columns, self.values, strict=True)
        ]
        return _replace_columns(table, self.columns, statistics)


def learn_statistics(
    table: DenseTable,
    columns: Sequence[int],
    rows: RowNumbers,
    target: Floats,
    weight: Floats | None,
    *,
    n_classes: int = 0,
    prior_weight: float = PRIOR_WEIGHT,
    seed: int,
    shards: AllShards = ALONE,
) -> tuple[TargetStatistics, DenseTable]:
    """Learn the statistics of some columns, and encode the table with them.

    Parameters
    ----------
    table : DenseTable
    columns : sequence of int
        Indices of categorical columns, ascending.
    rows : ndarray
        Indices of the training rows, ascending.
    target : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Numbers, whose mean is the statistic, one for each target; or classes 0, 1, ..
    weight : ndarray of shape (n_samples,), or None
    n_classes : int, default=0
        0: the target is numeric. 2: the statistic is the share of class 1. More: the shares of all
        classes.
    prior_weight : float
        ``a``: weight of the prior, in rows.
    seed : int
        Seed of the order of the rows. It is the same for all columns, since with different orders
        the columns together would leak a row's target.
    shards : AllShards
        The shards among which the rows of the whole table are divided.

    Returns
    -------
    statistics : TargetStatistics
    replaced : DenseTable
        The training rows have ordered statistics, all others those of their categories.
    """
    own = slice(0, table.n_rows)
    all_codes = [_read_codes(table, column) for column in columns]
    if not shards.is_alone:
        first = shards.count_before(table.n_rows)
        own = slice(first, first + table.n_rows)
        rows = shards.join(rows.astype(np.int64) + first)
        target = shards.join(target)
        weight = None if weight is None else shards.join(weight)
        all_codes = [shards.join(codes) for codes in all_codes]
    counts, counts_unit = _scale_weights(weight, rows)
    sums, sums_unit, scales = _compute_weighted_targets(target[rows], weight, rows, n_classes)
    random = draw_row_words(np.arange(rows.size), seed, Purpose.TARGET_STATISTIC)
    learned: list[Floats] = []
    numbers: list[Floats] = []
    for column, codes in zip(columns, all_codes, strict=True):
        groups = _CategoryGroups(codes[rows], random)
        n_levels = table.n_levels[column] + 1
        n_before, n_all = groups.sums(counts, n_levels)
        ordered = np.empty((rows.size, len(sums)))
        whole = np.empty((n_levels, len(sums)))
        for k, (part, scale) in enumerate(zip(sums, scales, strict=True)):
            before, full = groups.sums(part, n_levels)
            prior = float(
                _compute_ratio(part.sum(), sums_unit, counts.sum(), counts_unit, 0.0, 0.0)
            )
            for out, sum_, n in ((ordered, before, n_before), (whole, full, n_all)):
                statistic = _compute_ratio(sum_, sums_unit, n, counts_unit, prior, prior_weight)
                out[:, k] = np.ldexp(statistic, scale)
        values = whole[codes]
        values[rows] = ordered
        learned.append(whole)
        numbers.append(values[own])
    statistics = TargetStatistics(tuple(columns), tuple(learned))
    return statistics, _replace_columns(table, statistics.columns, numbers)


class _CategoryGroups:
    """Rows grouped by category, in random order within each category."""

    def __init__(self, codes: npt.NDArray[np.intp], random: Words) -> None:
        # A single sort: the category in the upper bits of a word, and random bits below.
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
        """Return sums over the earlier rows of each row's group, and over each whole group."""
        sorted_ = values[self._rows]
        running = np.cumsum(sorted_) - sorted_
        before = np.empty_like(values)
        before[self._rows] = running - np.repeat(running[self._starts], self._sizes)
        totals = np.zeros(n_levels, dtype=np.int64)
        if values.size:
            totals[self._codes[self._starts]] = np.add.reduceat(sorted_, self._starts)
        return before, totals


def _read_codes(table: DenseTable, column: int) -> npt.NDArray[np.intp]:
    """Return the codes of a categorical column; missing values have the code ``n_levels``."""
    n_levels = table.n_levels[column]
    codes = table.columns[column].astype(np.intp)
    codes[codes == get_missing_code(n_levels)] = n_levels
    return codes


def _replace_columns(
    table: DenseTable, columns: Sequence[int], numbers: Sequence[Floats]
) -> DenseTable:
    """Return a table with the first statistic in place of each column, and others at the end."""
    replaced = list(table.columns)
    n_levels = list(table.n_levels)
    for column, values in zip(columns, numbers, strict=True):
        replaced[column] = np.ascontiguousarray(values[:, 0])
        n_levels[column] = 0
        for k in range(1, values.shape[1]):
            replaced.append(np.ascontiguousarray(values[:, k]))
            n_levels.append(0)
    return replace(table, columns=replaced, n_levels=tuple(n_levels), matrix=None)


def _scale_weights(weight: Floats | None, rows: RowNumbers) -> tuple[npt.NDArray[np.int64], int]:
    if weight is None:
        return np.ones(rows.size, dtype=np.int64), 0
    return _to_integers(weight[rows])


def _compute_weighted_targets(
    target: Floats, weight: Floats | None, rows: RowNumbers, n_classes: int
) -> tuple[list[npt.NDArray[np.int64]], int, list[int]]:
    """Return weight times target in integer multiples of 2**unit, for each statistic.

    Each target is first divided by a power of two, after which none is larger than 1. The third
    value holds the exponents.
    """
    if n_classes == 0:
        parts = [target] if target.ndim == 1 else list(target.T)
        scales = [int(np.frexp(np.abs(part).max(initial=0.0))[1]) for part in parts]
        parts = [np.ldexp(part, -scale) for part, scale in zip(parts, scales, strict=True)]
    else:
        classes = range(1, 2) if n_classes == 2 else range(n_classes)
        scales = [0] * len(classes)
        parts = [(target == label).astype(np.float64) for label in classes]
    if weight is not None:
        parts = [part * weight[rows] for part in parts]
    # All statistics use the same unit; the shares of classes sum to 1.
    top = max(float(np.abs(part).max(initial=0.0)) for part in parts)
    whole = [_to_integers(part, top) for part in parts]
    return [part for part, _ in whole], whole[0][1], scales


def _to_integers(values: Floats, top: float | None = None) -> tuple[npt.NDArray[np.int64], int]:
    """Return values as integer multiples of a power of two, small enough for sums not to overflow.

    The second value is the exponent of the power of two.
    """
    largest = float(np.abs(values).max(initial=0.0)) if top is None else top
    unit = int(np.frexp(largest)[1]) + values.size.bit_length() - _BITS
    return np.rint(np.ldexp(values, -unit)).astype(np.int64), unit


def _compute_ratio(
    sums: npt.NDArray[np.int64] | np.int64,
    sums_unit: int,
    counts: npt.NDArray[np.int64] | np.int64,
    counts_unit: int,
    prior: float,
    prior_weight: float,
) -> Floats:
    numerator = np.ldexp(np.asarray(sums, dtype=np.float64), sums_unit) + prior_weight * prior
    denominator = np.ldexp(np.asarray(counts, dtype=np.float64), counts_unit) + prior_weight
    ratio: Floats = numerator / denominator
    return ratio


class TargetStatisticsField:
    """Field of model files for statistics: one array, with the columns in the header."""

    def encode(self, name: str, value: TargetStatistics, sections: Sections) -> dict[str, Any]:
        """Return the columns, their numbers of levels, and the name of the array."""
        sizes = [len(table) for table in value.values]
        stacked = np.concatenate(value.values) if value.values else np.empty((0, 1))
        array = SavedArray(np.float64, 2).encode(name, stacked, sections)
        return {"columns": list(value.columns), "sizes": sizes, **array}

    def decode(self, name: str, stored: Any, sections: Sections) -> TargetStatistics:
        """Check and return the statistics."""
        match stored:
            case {"columns": list(columns), "sizes": list(sizes), **array}:
                stacked = SavedArray(np.float64, 2).decode(name, array, sections)
            case _:
                raise ModelFormatError(f"{name} is not a table of target statistics")
        numbers = [*columns, *sizes]
        if not all(type(number) is int and 0 <= number < 2**32 for number in numbers):
            raise ModelFormatError(f"{name} lists an invalid column or size")
        is_ascending = all(a < b for a, b in itertools.pairwise(columns))
        ends = np.cumsum([0, *sizes])
        if not is_ascending or len(sizes) != len(columns) or ends[-1] != len(stacked):
            raise ModelFormatError(f"{name} does not match its columns")
        if stacked.shape[1] == 0 or not np.isfinite(stacked).all():
            raise ModelFormatError(f"{name} holds values that are not finite")
        parts = tuple(stacked[a:b] for a, b in itertools.pairwise(ends))
        return TargetStatistics(tuple(columns), parts)
