"""Mutual information by counting the levels of columns and of another variable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.fit import BinnedDataset
from arboleda.features._expected_information import compute_expected_terms

__all__ = ["LevelColumns", "Levels", "compute_counted_information"]

Floats = npt.NDArray[np.float64]
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
        binned = Table([values], len(values), (0,)).code(1, n_bins)
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
    table : Table or SparseTable
    n_bins : int
        Number of quantile bins of numeric columns with more values than this.
    n_threads : int
    """

    def __init__(self, table: Table | SparseTable, n_bins: int, n_threads: int) -> None:
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
