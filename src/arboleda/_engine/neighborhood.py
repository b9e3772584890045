"""A forest as a weighted neighbourhood: weights of training rows, quantiles, proximities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from arboleda import _native
from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.fit_forest import FittedRows
from arboleda._engine.forest import Forest

__all__ = ["Neighborhood", "Proximity", "squared_proximities"]

Floats = npt.NDArray[np.float64]
Csr = tuple[Any, Any, Any]  # starts of the rows, columns, values

# Numbers that a block of proximities holds at most: 96 MiB.
_BLOCK_NUMBERS = 1 << 23


class Neighborhood:
    """What the training rows weigh in a forest's answers.

    Parameters
    ----------
    forest : Forest
        It keeps the rows of its leaves.
    rows : FittedRows
        Those of its fit, whose bags are drawn again.
    n_threads : int
        Has no influence on any result.
    """

    def __init__(self, forest: Forest, rows: FittedRows, n_threads: int) -> None:
        self._rows = rows
        self._n_rows = len(rows.target)
        self._n_threads = n_threads
        self._native = _native.Neighborhood(forest._native, rows.native(), self._n_rows, n_threads)

    def weights(self, table: Table | SparseTable) -> csr_matrix:
        """Weight of each training row for each row of a table: (rows, training rows).

        Not negative, the sum of a row is 1.
        """
        answer: Callable[..., Csr] = self._native.weights
        return _matrix(answer(*table.native, self._n_threads), table.n_rows, self._n_rows)

    def quantiles(self, table: Table | SparseTable, levels: Floats) -> Floats:
        """Quantiles of the weighted targets, of shape (rows, outputs, levels)."""
        targets = np.ascontiguousarray(self._rows.target.T, dtype=np.float64).ravel()
        answer: Callable[..., Floats] = self._native.quantiles
        return answer(*table.native, self._n_threads, targets, np.ascontiguousarray(levels))


class Proximity:
    """Share of a forest's trees in which two rows reach the same leaf.

    Parameters
    ----------
    forest : Forest
    table : Table or SparseTable
        The rows that others are near to.
    n_threads : int
        Has no influence on any result.
    fitted : FittedRows or None
        Count the trees that saw neither row only; the table is then that of the fit.
    """

    def __init__(
        self,
        forest: Forest,
        table: Table | SparseTable,
        n_threads: int,
        fitted: FittedRows | None = None,
    ) -> None:
        self._n_rows = table.n_rows
        self._n_threads = n_threads
        make: Callable[..., _native.Proximity] = _native.Proximity
        rows = None if fitted is None else fitted.native()
        self._native = make(forest._native, *table.native, rows, n_threads)

    def of(self, table: Table | SparseTable, first_row: int = 0) -> csr_matrix:
        """Proximity of each row of a table to each of the rows given before.

        ``first_row`` is the number of the table's first row in that of the fit, where only the
        trees count that saw neither row.
        """
        answer: Callable[..., Csr] = self._native.of
        return _matrix(
            answer(*table.native, self._n_threads, first_row), table.n_rows, self._n_rows
        )

    def blocks(self, table: Table | SparseTable) -> Iterator[tuple[slice, csr_matrix]]:
        """Yield the same in blocks of rows, in bounded memory."""
        size = max(1, _BLOCK_NUMBERS // max(1, self._n_rows))
        for first in range(0, table.n_rows, size):
            rows = slice(first, min(first + size, table.n_rows))
            part = table.take(np.arange(rows.start, rows.stop))
            yield rows, self.of(part, first)


def squared_proximities(
    forest: Forest, table: Table | SparseTable, groups: npt.NDArray[np.intp], n_threads: int
) -> Floats:
    """Sum of the squared proximities of each row to the rows of its group, itself among them.

    Parameters
    ----------
    forest : Forest
    table : Table or SparseTable
    groups : ndarray of shape (n_rows,)
        Number of the group of each row, from 0 on.
    n_threads : int
        Has no influence on the result.
    """
    shared: Callable[..., npt.NDArray[np.uint64]] = _native.squared_shared_leaves
    sums = shared(forest._native, *table.native, groups.astype(np.uint32), n_threads)
    return sums / float(forest.n_trees) ** 2


def _matrix(found: Csr, n_rows: int, n_columns: int) -> csr_matrix:
    start, index, value = found
    return csr_matrix((value, index, start), shape=(n_rows, n_columns))
