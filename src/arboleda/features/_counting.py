"""Mutual information by counting: levels of columns against levels of another variable."""

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

_CELLS = 1 << 18  # rows, and cells, that are counted at a time: they stay in the cache


@dataclass(frozen=True, slots=True)
class Levels:
    """One variable as levels.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        From 0.
    n : int
        Every code is below it.
    """

    codes: npt.NDArray[np.integer]
    n: int

    @classmethod
    def of_bins(cls, values: npt.NDArray[np.float64], n_bins: int) -> Levels:
        """Numbers in bins of equally many rows; with no more values than bins each has its own."""
        coded = Table([values], len(values), (0,)).code(1, n_bins)
        return cls.of_codes(coded.codes(0))

    @classmethod
    def of_codes(cls, codes: npt.NDArray[np.integer]) -> Levels:
        """Codes as they are."""
        return cls(codes, int(codes.max()) + 1)

    def paired_with(self, other: Levels) -> Levels:
        """Pairs of levels as levels of one variable; only pairs in some row have a code."""
        pairs = self.codes.astype(np.int64) * other.n + other.codes
        found, codes = np.unique(pairs, return_inverse=True)
        return Levels(codes.reshape(-1), len(found))

    def counts(self) -> npt.NDArray[np.int64]:
        """Rows of each level that is in some row."""
        counts = np.bincount(self.codes, minlength=self.n)
        return counts[counts > 0]


class LevelColumns:
    """The columns of a table as levels: categories, or numbers in bins; missing is a level too.

    Parameters
    ----------
    table : Table or SparseTable
    n_bins : int
        A numeric column with more values than this is cut into as many bins of equally many rows.
    n_threads : int
    """

    def __init__(self, table: Table | SparseTable, n_bins: int, n_threads: int) -> None:
        self.n_rows = table.n_rows
        self.n_columns = table.n_columns
        self._coded: BinnedDataset = table.code(n_threads, n_bins)
        counts = [np.bincount(self._coded.codes(j)) for j in range(self.n_columns)]
        self._n_levels = np.array([len(of_column) for of_column in counts])
        together = np.concatenate(counts)
        present = together > 0
        self._margins = together[present]
        self._column_of = np.repeat(np.arange(self.n_columns), self._n_levels)[present]
        logs: Floats = np.log(self._margins)
        self._own_terms = self._sum_over_levels(self._margins * logs)

    def column(self, j: int) -> Levels:
        """One column."""
        return Levels(self._coded.codes(j), int(self._n_levels[j]))

    def compute_information(self, other: Levels, among: Indices | None = None) -> Floats:
        """Mutual information of some columns with another variable, beyond chance, in nats.

        Of an uninformative column it is 0 in the mean, so it can be negative. Only the columns
        ``among`` are counted; None: all.
        """
        columns = np.arange(self.n_columns) if among is None else among
        margins = other.counts()
        log_n = np.log(self.n_rows)
        seen = (
            self._compute_joint_terms(other, columns)
            - self._own_terms
            - (margins * np.log(margins)).sum()
        )
        sizes, places = np.unique(self._margins, return_inverse=True)
        by_chance = compute_expected_terms(sizes, margins, self.n_rows)[places.reshape(-1)]
        found: Floats = seen / self.n_rows + log_n - self._sum_over_levels(by_chance)
        return found[columns]

    def _sum_over_levels(self, terms: Floats) -> Floats:
        sums = np.bincount(self._column_of, weights=terms, minlength=self.n_columns)
        return sums.astype(np.float64, copy=False)  # what it is, which NumPy's stubs do not know

    def _compute_joint_terms(self, other: Levels, columns: Indices) -> Floats:
        """Sum of c log(c) over the cells of each of some columns with another variable."""
        terms = np.zeros(self.n_columns)
        logs = np.arange(self.n_rows + 1, dtype=np.float64)
        logs[1:] *= np.log(logs[1:])
        for block in self._iter_blocks(other.n, columns):
            if self._n_levels[block[0]] * other.n > max(_CELLS, 4 * self.n_rows):
                pairs = self.column(int(block[0])).paired_with(
                    other
                )  # most cells are empty: sorted
                terms[block] = logs[pairs.counts()].sum()
            else:
                terms[block] = logs[self._count_cells(block, other)].sum(axis=1)
        return terms

    def _iter_blocks(self, n_others: int, columns: Indices) -> Iterator[Indices]:
        """Columns of equally many levels, as many as are counted together; very wide ones alone."""
        order = columns[np.argsort(self._n_levels[columns], kind="stable")]
        for group in np.split(order, np.flatnonzero(np.diff(self._n_levels[order])) + 1):
            n_cells = int(self._n_levels[group[0]]) * n_others
            step = max(1, _CELLS // max(self.n_rows, n_cells))
            yield from (group[first : first + step] for first in range(0, len(group), step))

    def _count_cells(self, block: Indices, other: Levels) -> npt.NDArray[np.int64]:
        """Counts of the cells of some columns of equally many levels: (columns, cells)."""
        n_cells = int(self._n_levels[block[0]]) * other.n
        cells = np.empty((len(block), self.n_rows), dtype=np.intp)
        for row, j in zip(cells, block, strict=True):
            row[:] = self._coded.codes(int(j))
        cells *= other.n
        cells += other.codes
        cells += (np.arange(len(block)) * n_cells)[:, np.newaxis]
        counts = np.bincount(cells.ravel(), minlength=len(block) * n_cells)
        return counts.reshape(len(block), n_cells)


def compute_counted_information(one: Levels, other: Levels) -> float:
    """Mutual information of two variables beyond chance, in nats."""
    n = len(one.codes)
    a, b, both = one.counts(), other.counts(), one.paired_with(other).counts()
    seen = sum(sign * (c * np.log(c)).sum() for sign, c in ((1, both), (-1, a), (-1, b)))
    return float(seen / n + np.log(n) - compute_expected_terms(a, b, n).sum())
