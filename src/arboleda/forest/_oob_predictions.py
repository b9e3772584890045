"""Out-of-bag votes, error curves and permutation importances, computed by the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.fit_forest import (
    FittedRows,
    ForestOptions,
    out_of_bag_curve,
    out_of_bag_permutation,
    out_of_bag_votes,
)
from arboleda._engine.forest import Forest as Trees
from arboleda._engine.forest import Voting
from arboleda._engine.table import SparseTable, Table
from arboleda._out_of_bag import OobCurve, mean_of_votes
from arboleda.forest._bags import Bags

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OobPredictions:
    """Predictions of the training rows by the trees for which they are out of bag.

    Parameters
    ----------
    trees : Forest
    table : Table or SparseTable
        The training rows.
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Class codes or target values.
    n_classes : tuple of int
        Number of classes of each output; empty for regression.
    bags : Bags
    voting : {"soft", "hard", "laplace"}
    n_threads : int
    first_tree : int
        Number of the first tree.
    """

    trees: Trees
    table: Table | SparseTable
    target: npt.NDArray[Any]
    n_classes: tuple[int, ...]
    bags: Bags
    voting: Voting
    n_threads: int
    first_tree: int = 0

    def sum_votes(self) -> tuple[Floats, npt.NDArray[np.uint32]]:
        """Return the sums and counts of the out-of-bag votes for every row.

        Both are 0 for rows that could not be drawn.
        """
        sums, counts = out_of_bag_votes(
            self.trees, self.table, self._rows(), voting=self.voting, n_threads=self.n_threads
        )
        sums[self.bags.unused], counts[self.bags.unused] = 0.0, 0
        return sums, counts

    def mean_votes(self) -> Floats:
        """Return the mean out-of-bag vote; NaN, with a warning, for rows without votes."""
        sums, counts = self.sum_votes()
        used = np.ones(self.bags.n_rows, dtype=bool)
        used[self.bags.unused] = False
        means = np.full(sums.shape, np.nan)
        means[used] = mean_of_votes(sums[used], counts[used])
        return means

    def compute_curve(self) -> OobCurve:
        """Compute the error for each number of trees."""
        error, n_used = out_of_bag_curve(
            self.trees, self.table, self._rows(), voting=self.voting, n_threads=self.n_threads
        )
        return OobCurve(np.arange(1, len(error) + 1), error, n_used.astype(np.int64))

    def compute_permutation_increases(self) -> Floats:
        """Compute the increase of each tree's error by permuting a column: (trees, columns)."""
        return out_of_bag_permutation(
            self.trees, self.table, self._rows(), n_threads=self.n_threads
        )

    def _rows(self) -> FittedRows:
        options = ForestOptions(n_trees=1, first_tree=self.first_tree, **self.bags.options)
        return FittedRows(options, self.target, self.n_classes, self.bags.weight, self.bags.seed)
