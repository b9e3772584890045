"""Tables in the engine's format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._native import BinnedDataset

Column = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns in the engine's format.

    Parameters
    ----------
    columns : list of ndarray
        One-dimensional arrays of any stride; views of the caller's data if its type allows. A
        numeric column has a type that the engine supports, NaN is missing. A categorical column has
        level codes as uint16; 65535 is missing or unknown.
    n_rows : int
    n_levels : tuple of int
        Number of levels of each column, 0 for a numeric one.
    matrix : ndarray of float of shape (n_rows, n_columns), or None
        The array that all columns are views of, if there is one.
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
        """Arguments of the engine's prediction functions."""
        return self.columns, self.n_rows

    def code(
        self,
        n_threads: int,
        max_bins: int | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> BinnedDataset:
        """Bin all rows, with at most ``max_bins`` bins per numeric column; None: no limit.

        The bins are computed from ``rows`` (ascending) only; None: from all.
        """
        return BinnedDataset(
            self.columns, self.n_rows, n_threads, self.n_levels, max_bins or 0, rows
        )

    def code_like(self, learned: BinnedDataset, n_threads: int) -> BinnedDataset:
        """Bin this table with the bins of another table."""
        return BinnedDataset.like(learned, self.columns, self.n_rows, n_threads)

    def take(self, rows: npt.NDArray[np.intp]) -> Table:
        """Return a copy of some rows."""
        return Table([column[rows] for column in self.columns], rows.size, self.n_levels)


@dataclass(frozen=True, slots=True)
class SparseTable:
    """A canonical sparse matrix in the engine's format, with numeric columns only.

    Parameters
    ----------
    matrix : sparse matrix or array
        CSR or CSC, canonical, with data of a type that the engine supports.
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
        """Zeros, as no column is categorical."""
        return (0,) * self.n_columns

    @property
    def native(self) -> tuple[Any, ...]:
        """Arguments of the engine's prediction functions."""
        return *_entries(self.matrix.tocsr()), self.n_columns

    def code(
        self,
        n_threads: int,
        max_bins: int | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> BinnedDataset:
        """Bin all rows, with at most ``max_bins`` bins per column; None: no limit.

        The bins are computed from ``rows`` (ascending) only; None: from all.
        """
        entries = _entries(self.matrix.tocsc())
        return BinnedDataset.from_csc(*entries, self.n_rows, n_threads, max_bins or 0, rows)

    def code_like(self, learned: BinnedDataset, n_threads: int) -> BinnedDataset:
        """Bin this matrix with the bins of another table."""
        entries = _entries(self.matrix.tocsc())
        return BinnedDataset.from_csc_like(learned, *entries, self.n_rows, n_threads)

    def take(self, rows: npt.NDArray[np.intp]) -> SparseTable:
        """Return a copy of some rows."""
        return SparseTable(self.matrix.tocsr()[rows])


def _entries(matrix: Any) -> tuple[Column, npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the values, their indices within the lines, and the starts of the lines."""
    start = matrix.indptr.astype(np.int64, copy=False)
    used = slice(0, int(start[-1]))  # SciPy's arrays may be longer
    return matrix.data[used], matrix.indices[used].astype(np.int32, copy=False), start
