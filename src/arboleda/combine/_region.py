"""Regions of competence: the nearest of the rows whose answers by the members are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import NearestNeighbors

__all__ = ["Region"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class Region:
    """An index of judged rows: a tree where the columns are few, else scikit-learn's brute force.

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
        """Distances and numbers of the rows nearest to others, nearest first."""
        return self._nearest(X, self.n_neighbors)

    def around_itself(self) -> tuple[Floats, Indices]:
        """The same around each of the judged rows, which is none of its own neighbours."""
        n_others = min(self.n_neighbors, self._index.n_samples_fit_ - 1)
        return self._nearest(None, n_others)

    def _nearest(self, X: Any, n_wanted: int) -> tuple[Floats, Indices]:
        distances, numbers = self._index.kneighbors(X, n_wanted)
        if not np.isfinite(distances).all():
            raise ValueError(
                "the distances of some rows are no numbers, for a column holds values so great "
                "that their squares are none: scale the columns, as StandardScaler does"
            )
        return distances, numbers
