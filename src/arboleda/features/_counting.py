"""Mutual information by counting, and its expectation under independence.

Let a_i of n rows have level i of one variable and b_j rows level j of the other. If the rows of
one variable are permuted at random, the count c of cell (i, j) is hypergeometric. The expectation
of the empirical mutual information is the sum over cells of

    E[(c / n) log(c n / (a_i b_j))]

Vinh, Epps, Bailey (2010), "Information theoretic measures for clusterings comparison", Journal of
Machine Learning Research 11. This is the bias for an uninformative column, which grows with the
number of levels. Subtracting it replaces the correction by Miller (1955), to which it converges
for large cells and which fails if many levels have few rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.fit import BinnedDataset

__all__ = ["LevelColumns", "Levels", "compute_counted_information", "compute_expected_terms"]

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

# Cells with larger expected counts use a series around the mean, whose next term is below
# 1 / _LARGE**2 of the result.
_LARGE = 50.0
_MAX_TERMS = 1 << 20  # cells computed at a time, which limits the memory


def compute_expected_terms(levels: Counts, others: Counts, n_rows: int) -> Floats:
    """Compute the expected information of each level with all levels of another variable, in nats.

    Parameters
    ----------
    levels : ndarray of shape (n_levels,)
        Numbers of rows of the levels, at least 1.
    others : ndarray of shape (n_others,)
        Numbers of rows of the levels of the other variable, at least 1, with sum ``n_rows``.
    n_rows : int

    Returns
    -------
    terms : ndarray of shape (n_levels,)
        Expected information of each level; the sum over all levels is that of the variable.
    """
    sizes, times = np.unique(others, return_counts=True)
    terms = np.empty(len(levels))
    step = max(1, _MAX_TERMS // max(1, len(sizes)))
    for first in range(0, len(levels), step):
        block = levels[first : first + step]
        cells = _compute_cells(np.repeat(block, len(sizes)), np.tile(sizes, len(block)), n_rows)
        terms[first : first + step] = cells.reshape(len(block), len(sizes)) @ times
    return terms


def _compute_cells(a: Counts, b: Counts, n_rows: int) -> Floats:
    """Compute the expected information of cells from their margins."""
    mean = a / n_rows * b
    cells = np.empty(len(a))
    large = mean > _LARGE
    cells[large] = _compute_series(a[large], b[large], n_rows)
    cells[~large] = _compute_sums(a[~large], b[~large], n_rows)
    return cells


def _compute_series(a: Counts, b: Counts, n_rows: int) -> Floats:
    """Expand (m / n) E[(1 + d) log(1 + d)], where d = c / m - 1, up to the fourth moment."""
    n, x, y = float(n_rows), a.astype(np.float64), b.astype(np.float64)
    mean = x / n * y
    variance = mean * (n - x) / n * (n - y) / max(n - 1.0, 1.0)
    third = variance * (n - 2.0 * x) / n * (n - 2.0 * y) / max(n - 2.0, 1.0)
    parts = variance / mean - third / (3.0 * mean**2) + variance**2 / (2.0 * mean**3)
    series: Floats = parts / (2.0 * n)
    return series


def _compute_sums(a: Counts, b: Counts, n_rows: int) -> Floats:
    """Sum the expectation over the counts whose probability is not negligible."""
    n, x, y = float(n_rows), a.astype(np.float64), b.astype(np.float64)
    mean = x / n * y
    spread = np.sqrt(mean)
    least, most = np.maximum(0.0, x + y - n), np.minimum(x, y)
    count = np.maximum(least, np.floor(mean - 12.0 * spread - 20.0))
    last = np.minimum(most, np.ceil(mean + 12.0 * spread + 20.0))
    probability = np.exp(_log_choose(x, count) + _log_choose(n - x, y - count) - _log_choose(n, y))
    total = np.zeros(len(a))
    while (running := count <= last).any():
        information = np.log(np.maximum(count, 1.0) / np.maximum(mean, 1e-300))
        total += np.where(running, probability * count / n * information, 0.0)
        ahead = (x - count) * (y - count)
        probability *= np.where(running, ahead, 0.0) / ((count + 1.0) * (n - x - y + count + 1.0))
        count += 1.0
    return total


def _log_choose(n: Floats | float, k: Floats) -> Floats:
    chosen: Floats = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return chosen


Indices = npt.NDArray[np.intp]

_MAX_CELLS = 1 << 18  # rows or cells counted at a time, which fit into the cache


@dataclass(frozen=True, slots=True)
class Levels:
    """Variable with integer levels.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        Levels of the rows, from 0.
    n : int
        Upper limit of the codes.
    """

    codes: npt.NDArray[np.integer]
    n: int

    @classmethod
    def of_bins(cls, values: npt.NDArray[np.float64], n_bins: int) -> Levels:
        """Bin numbers by quantiles; with no more values than bins, each value has its own bin."""
        binned = DenseTable([values], len(values), (0,)).code(1, n_bins)
        return cls.of_codes(binned.codes(0))

    @classmethod
    def of_codes(cls, codes: npt.NDArray[np.integer]) -> Levels:
        """Create levels from codes."""
        return cls(codes, int(codes.max()) + 1)

    def paired_with(self, other: Levels) -> Levels:
        """Return the pairs of levels as a variable; only pairs of some row have a code."""
        pairs = self.codes.astype(np.int64) * other.n + other.codes
        unique, codes = np.unique(pairs, return_inverse=True)
        return Levels(codes.reshape(-1), len(unique))

    def counts(self) -> npt.NDArray[np.int64]:
        """Count the rows of each level that occurs."""
        counts = np.bincount(self.codes, minlength=self.n)
        return counts[counts > 0]


class LevelColumns:
    """Columns of a table as levels: categories or binned numbers; missing values are a level.

    Parameters
    ----------
    table : DenseTable or SparseTable
    n_bins : int
        Number of quantile bins of numeric columns with more values than this.
    n_threads : int
    """

    def __init__(self, table: DenseTable | SparseTable, n_bins: int, n_threads: int) -> None:
        self.n_rows = table.n_rows
        self.n_columns = table.n_columns
        self._binned: BinnedDataset = table.code(n_threads, n_bins)
        counts = [np.bincount(self._binned.codes(j)) for j in range(self.n_columns)]
        self._n_levels = np.array([len(of_column) for of_column in counts])
        all_counts = np.concatenate(counts)
        present = all_counts > 0
        self._margins = all_counts[present]
        self._column_of = np.repeat(np.arange(self.n_columns), self._n_levels)[present]
        logs: Floats = np.log(self._margins)
        self._own_terms = self._sum_over_levels(self._margins * logs)

    def column(self, j: int) -> Levels:
        """Return a column."""
        return Levels(self._binned.codes(j), int(self._n_levels[j]))

    def compute_information(self, other: Levels, among: Indices | None = None) -> Floats:
        """Compute the mutual information of columns with another variable, beyond chance, in nats.

        The expectation for an uninformative column is 0, so estimates can be negative. Only the
        columns ``among`` are computed; None: all.
        """
        columns = np.arange(self.n_columns) if among is None else among
        margins = other.counts()
        log_n = np.log(self.n_rows)
        observed = (
            self._compute_joint_terms(other, columns)
            - self._own_terms
            - (margins * np.log(margins)).sum()
        )
        sizes, places = np.unique(self._margins, return_inverse=True)
        by_chance = compute_expected_terms(sizes, margins, self.n_rows)[places.reshape(-1)]
        information: Floats = observed / self.n_rows + log_n - self._sum_over_levels(by_chance)
        return information[columns]

    def _sum_over_levels(self, terms: Floats) -> Floats:
        sums = np.bincount(self._column_of, weights=terms, minlength=self.n_columns)
        return sums.astype(np.float64, copy=False)  # for the type checker

    def _compute_joint_terms(self, other: Levels, columns: Indices) -> Floats:
        """Sum c log(c) over the cells of each column with another variable."""
        terms = np.zeros(self.n_columns)
        logs = np.arange(self.n_rows + 1, dtype=np.float64)
        logs[1:] *= np.log(logs[1:])
        for block in self._iter_blocks(other.n, columns):
            if self._n_levels[block[0]] * other.n > max(_MAX_CELLS, 4 * self.n_rows):
                pairs = self.column(int(block[0])).paired_with(
                    other
                )  # most cells are empty: count by sorting
                terms[block] = logs[pairs.counts()].sum()
            else:
                terms[block] = logs[self._count_cells(block, other)].sum(axis=1)
        return terms

    def _iter_blocks(self, n_others: int, columns: Indices) -> Iterator[Indices]:
        """Yield blocks of columns with equal numbers of levels, which are counted together."""
        order = columns[np.argsort(self._n_levels[columns], kind="stable")]
        for group in np.split(order, np.flatnonzero(np.diff(self._n_levels[order])) + 1):
            n_cells = int(self._n_levels[group[0]]) * n_others
            step = max(1, _MAX_CELLS // max(self.n_rows, n_cells))
            yield from (group[first : first + step] for first in range(0, len(group), step))

    def _count_cells(self, block: Indices, other: Levels) -> npt.NDArray[np.int64]:
        """Count the cells of columns with equal numbers of levels: (n_columns, n_cells)."""
        n_cells = int(self._n_levels[block[0]]) * other.n
        cells = np.empty((len(block), self.n_rows), dtype=np.intp)
        for row, j in zip(cells, block, strict=True):
            row[:] = self._binned.codes(int(j))
        cells *= other.n
        cells += other.codes
        cells += (np.arange(len(block)) * n_cells)[:, np.newaxis]
        counts = np.bincount(cells.ravel(), minlength=len(block) * n_cells)
        return counts.reshape(len(block), n_cells)


def compute_counted_information(one: Levels, other: Levels) -> float:
    """Compute the mutual information of two variables beyond chance, in nats."""
    n = len(one.codes)
    a, b, both = one.counts(), other.counts(), one.paired_with(other).counts()
    observed = sum(sign * (c * np.log(c)).sum() for sign, c in ((1, both), (-1, a), (-1, b)))
    return float(observed / n + np.log(n) - compute_expected_terms(a, b, n).sum())
