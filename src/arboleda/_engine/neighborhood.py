"""Neighbourhoods of forests: weights of training rows, quantiles and proximities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from arboleda import _native
from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.fit import FittedRows
from arboleda._engine.forest import Forest

__all__ = ["Neighborhood", "Proximity", "squared_proximities"]

Floats = npt.NDArray[np.float64]
Csr = tuple[Any, Any, Any]  # starts of the rows, columns, values

# Maximum number of proximities per block: 96 MiB.
_BLOCK_NUMBERS = 1 << 23


class Neighborhood:
    """Weights of the training rows in a forest's predictions.

    Parameters
    ----------
    forest : Forest
        A forest that keeps the rows of its leaves.
    rows : FittedRows
        Rows of the fit, whose bags are drawn again.
    n_threads : int
        The results do not depend on it.
    """

    def __init__(self, forest: Forest, rows: FittedRows, n_threads: int) -> None:
        self._rows = rows
        self._n_rows = len(rows.target)
        self._n_threads = n_threads
        self._native = _native.Neighborhood(forest._native, rows.native(), self._n_rows, n_threads)

    def weights(self, table: DenseTable | SparseTable) -> csr_matrix:
        """Compute the weight of each training row for each row of a table: (rows, training rows).

        The weights are non-negative and sum to 1 in each row.
        """
        compute: Callable[..., Csr] = self._native.weights
        return _matrix(compute(*table.native, self._n_threads), table.n_rows, self._n_rows)

    def quantiles(self, table: DenseTable | SparseTable, levels: Floats) -> Floats:
        """Compute quantiles of the weighted targets, of shape (rows, outputs, levels)."""
        targets = np.ascontiguousarray(self._rows.target.T, dtype=np.float64).ravel()
        compute: Callable[..., Floats] = self._native.quantiles
        return compute(*table.native, self._n_threads, targets, np.ascontiguousarray(levels))


class Proximity:
    """Share of a forest's trees in which two rows reach the same leaf.

    Parameters
    ----------
    forest : Forest
    table : DenseTable or SparseTable
        The rows to compare with.
    n_threads : int
        The results do not depend on it.
    fitted : FittedRows or None
        Count only trees for which both rows are out of bag; the table is then that of the fit.
    """

    def __init__(
        self,
        forest: Forest,
        table: DenseTable | SparseTable,
        n_threads: int,
        fitted: FittedRows | None = None,
    ) -> None:
        self._n_rows = table.n_rows
        self._n_threads = n_threads
        make: Callable[..., _native.Proximity] = _native.Proximity
        rows = None if fitted is None else fitted.native()
        self._native = make(forest._native, *table.native, rows, n_threads)

    def of(self, table: DenseTable | SparseTable, first_row: int = 0) -> csr_matrix:
        """Compute the proximity of each row of a table to each of the compared rows.

        For out-of-bag proximities, ``first_row`` is the index of the table's first row in the
        table of the fit.
        """
        compute: Callable[..., Csr] = self._native.of
        return _matrix(
            compute(*table.native, self._n_threads, first_row), table.n_rows, self._n_rows
        )

    def blocks(self, table: DenseTable | SparseTable) -> Iterator[tuple[slice, csr_matrix]]:
        """Yield the proximities in blocks of rows, to bound the memory."""
        size = max(1, _BLOCK_NUMBERS // max(1, self._n_rows))
        for first in range(0, table.n_rows, size):
            rows = slice(first, min(first + size, table.n_rows))
            part = table.take(np.arange(rows.start, rows.stop))
            yield rows, self.of(part, first)


def squared_proximities(
    forest: Forest, table: DenseTable | SparseTable, groups: npt.NDArray[np.intp], n_threads: int
) -> Floats:
    """Sum the squared proximities of each row to the rows of its group, including itself.

    Parameters
    ----------
    forest : Forest
    table : DenseTable or SparseTable
    groups : ndarray of shape (n_rows,)
        Group number of each row, starting at 0.
    n_threads : int
        The result does not depend on it.
    """
    shared: Callable[..., npt.NDArray[np.uint64]] = _native.squared_shared_leaves
    sums = shared(forest._native, *table.native, groups.astype(np.uint32), n_threads)
    return sums / float(forest.n_trees) ** 2


def _matrix(found: Csr, n_rows: int, n_columns: int) -> csr_matrix:
    start, index, value = found
    return csr_matrix((value, index, start), shape=(n_rows, n_columns))
