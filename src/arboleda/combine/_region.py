"""Regions of competence: the validation rows nearest to a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import NearestNeighbors

__all__ = ["Region"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class Region:
    """A nearest-neighbour index of the validation rows.

    Parameters
    ----------
    rows : array-like of shape (n_rows, n_columns)
    n_neighbors : int or None
        None: all rows.
    n_jobs : int or None
    """

    def __init__(self, rows: Any, n_neighbors: int | None, n_jobs: int | None) -> None:
        self._index = NearestNeighbors(n_jobs=n_jobs).fit(rows)
        n_rows = self._index.n_samples_fit_
        self.n_neighbors = n_rows if n_neighbors is None else min(n_neighbors, n_rows)

    def around(self, X: Any) -> tuple[Floats, Indices]:
        """Return distances and indices of the rows nearest to each row of X, nearest first."""
        return self._find_nearest(X, self.n_neighbors)

    def around_itself(self) -> tuple[Floats, Indices]:
        """Return the neighbours of each validation row, excluding the row itself."""
        n_others = min(self.n_neighbors, self._index.n_samples_fit_ - 1)
        return self._find_nearest(None, n_others)

    def _find_nearest(self, X: Any, n_neighbors: int) -> tuple[Floats, Indices]:
        distances, indices = self._index.kneighbors(X, n_neighbors)
        if not np.isfinite(distances).all():
            raise ValueError(
                "the distances of some rows are not finite, because the squares of a column's "
                "values overflow: scale the columns, for example with StandardScaler"
            )
        return distances, indices
