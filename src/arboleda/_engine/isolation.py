"""Isolation forests in the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.forest import Forest
from arboleda._native import IsolationOptions

__all__ = ["HyperplaneForest", "IsolationOptions", "fit_isolation_forest", "mean_path_length"]

Floats = npt.NDArray[np.float64]

# Arrays that represent trees of hyperplanes, in the order of the engine.
HYPERPLANE_ARRAYS: Mapping[str, type[np.float64 | np.int64]] = {
    "root": np.int64,
    "right": np.int64,
    "place": np.int64,
    "value": np.float64,
    "feature": np.int64,
    "weight": np.float64,
    "point": np.float64,
}


class HyperplaneForest:
    """Immutable trees that split by hyperplanes.

    Parameters
    ----------
    native : _native.HyperplaneForest
    n_features : int
        Number of columns of X.
    n_terms : int
        Number of columns of a hyperplane.
    """

    def __init__(self, native: _native.HyperplaneForest, n_features: int, n_terms: int) -> None:
        self._native = native
        self.n_features = n_features
        self.n_terms = n_terms

    @classmethod
    def from_arrays(
        cls, n_features: int, n_terms: int, arrays: Mapping[str, npt.NDArray[Any]]
    ) -> HyperplaneForest:
        """Create trees from the arrays returned by `arrays`.

        Raises
        ------
        ValueError
            If the arrays are not trees.
        """
        values = [arrays[name] for name in HYPERPLANE_ARRAYS]
        native = _native.HyperplaneForest.from_arrays(n_features, n_terms, *values)
        return cls(native, n_features, n_terms)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self._native.n_trees

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Copies of the arrays that represent the trees."""
        return dict(zip(HYPERPLANE_ARRAYS, self._native.to_arrays(), strict=True))

    def mean_lengths(self, table: DenseTable | SparseTable, n_threads: int = 1) -> Floats:
        """Compute the mean path length of each row, of shape (n_samples,)."""
        return self._native.mean_lengths(_read_cells(table), n_threads)

    def extended(self, more: HyperplaneForest) -> HyperplaneForest:
        """Return these trees followed by those of another forest."""
        first, second = self.arrays, more.arrays
        n_nodes, n_leaves = len(first["right"]), len(first["value"])
        is_leaf = second["right"] < 0
        second["place"] += np.where(is_leaf, n_leaves, n_nodes - n_leaves)
        second["right"] += np.where(is_leaf, 0, n_nodes)
        second["root"] = second["root"][1:] + n_nodes
        joined = {name: np.concatenate([first[name], second[name]]) for name in HYPERPLANE_ARRAYS}
        return HyperplaneForest.from_arrays(self.n_features, self.n_terms, joined)

    def __reduce__(self) -> tuple[Any, ...]:
        return HyperplaneForest.from_arrays, (self.n_features, self.n_terms, self.arrays)


def mean_path_length(n_rows: int) -> float:
    """Return the mean path length of an unsuccessful search in a binary tree of `n_rows` keys."""
    return _native.mean_path_length(n_rows)


def fit_isolation_forest(
    table: DenseTable | SparseTable,
    weight: Floats | None,
    options: IsolationOptions,
    *,
    n_terms: int,
    n_threads: int,
    seed: int,
) -> Forest | HyperplaneForest:
    """Grow isolation trees.

    Parameters
    ----------
    table : DenseTable or SparseTable
    weight : ndarray of shape (n_samples,), or None
        Rows are drawn with probability in proportion to it.
    options : IsolationOptions
    n_terms : int
        Number of columns of a split: 1, or that of the options.
    n_threads : int
        The result does not depend on it.
    seed : int
    """
    cells = _read_cells(table)
    if n_terms > 1:
        native = options.fit_hyperplanes(cells, weight, n_threads, seed)
        return HyperplaneForest(native, table.n_columns, n_terms)
    trees = options.fit_forest(cells, list(table.n_levels), weight, n_threads, seed)
    return Forest(trees, (1,))


def _read_cells(table: DenseTable | SparseTable) -> _native.TableCells:
    make: Callable[..., _native.TableCells] = _native.TableCells
    return make(*table.native)
