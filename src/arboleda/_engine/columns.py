"""Tables as the engine reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._native import BinnedDataset

Column = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns as the engine reads them.

    Parameters
    ----------
    columns : list of ndarray
        One-dimensional, of any stride; views of the caller's data where its type allows that. A
        numeric column has any type of the engine's, NaN means missing. A categorical column holds
        level numbers as uint16; 65535 means missing or unknown.
    n_rows : int
    n_levels : tuple of int
        Number of levels of each column, 0 for a numeric one.
    matrix : ndarray of float of shape (n_rows, n_columns), or None
        The array that the columns are views of, where they are those of one.
    """

    columns: list[Column]
    n_rows: int
    n_levels: tuple[int, ...]
    matrix: Column | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, len(self.columns)

    @property
    def native(self) -> tuple[Any, ...]:
        """What the engine's predictions take."""
        return self.columns, self.n_rows

    def code(
        self,
        n_threads: int,
        max_bins: int | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> BinnedDataset:
        """Return the codes of all rows, at most ``max_bins`` for a numeric column; None: no limit.

        What the codes stand for is learned from ``rows`` (ascending) only; None: from all.
        """
        return BinnedDataset(
            self.columns, self.n_rows, n_threads, self.n_levels, max_bins or 0, rows
        )

    def code_like(self, learned: BinnedDataset, n_threads: int) -> BinnedDataset:
        """Return this table's codes as another table has learned them."""
        return BinnedDataset.like(learned, self.columns, self.n_rows, n_threads)

    def take(self, rows: npt.NDArray[np.intp]) -> Table:
        """Return a copy of some rows."""
        return Table([column[rows] for column in self.columns], rows.size, self.n_levels)


@dataclass(frozen=True, slots=True)
class SparseTable:
    """A sparse matrix as the engine reads it: entries in order, none twice, all columns numeric.

    Parameters
    ----------
    matrix : sparse matrix or array
        CSR or CSC, canonical, with data of a type of the engine's.
    """

    matrix: Any

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.matrix.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, self.n_columns

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Zeros: no column is categorical."""
        return (0,) * self.n_columns

    @property
    def native(self) -> tuple[Any, ...]:
        """What the engine's predictions take."""
        return *_entries(self.matrix.tocsr()), self.n_columns

    def code(
        self,
        n_threads: int,
        max_bins: int | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> BinnedDataset:
        """Return the codes of all rows, at most ``max_bins`` a column; None: no limit.

        What the codes stand for is learned from ``rows`` (ascending) only; None: from all.
        """
        entries = _entries(self.matrix.tocsc())
        return BinnedDataset.from_csc(*entries, self.n_rows, n_threads, max_bins or 0, rows)

    def code_like(self, learned: BinnedDataset, n_threads: int) -> BinnedDataset:
        """Return this matrix's codes as another table has learned them."""
        entries = _entries(self.matrix.tocsc())
        return BinnedDataset.from_csc_like(learned, *entries, self.n_rows, n_threads)

    def take(self, rows: npt.NDArray[np.intp]) -> SparseTable:
        """Return a copy of some rows."""
        return SparseTable(self.matrix.tocsr()[rows])


def _entries(matrix: Any) -> tuple[Column, npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Values, their places in the line, and the starts of the lines."""
    start = matrix.indptr.astype(np.int64, copy=False)
    used = slice(0, int(start[-1]))  # SciPy's arrays may have room for more
    return matrix.data[used], matrix.indices[used].astype(np.int32, copy=False), start
