"""The training rows beside the trees that did not see them: the engine asked in its own terms."""

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
from arboleda._out_of_bag import OobCurve, means_of_votes
from arboleda.forest._bags import Bags

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LeftOut:
    """The rows of a fit, and trees grown on bags of them.

    Parameters
    ----------
    trees : Forest
    table : Table or SparseTable
        The rows of the fit.
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Class numbers, or values.
    n_classes : tuple of int
        Of each output; empty in regression.
    bags : Bags
    voting : {"soft", "hard", "laplace"}
    n_threads : int
    first_tree : int
        The number of the first of the trees.
    """

    trees: Trees
    table: Table | SparseTable
    target: npt.NDArray[Any]
    n_classes: tuple[int, ...]
    bags: Bags
    voting: Voting
    n_threads: int
    first_tree: int = 0

    def votes(self) -> tuple[Floats, npt.NDArray[np.uint32]]:
        """Sums of the votes of the trees that left a row out, and their number, for every row.

        0 for rows that could not be drawn.
        """
        sums, counts = out_of_bag_votes(
            self.trees, self.table, self._rows(), voting=self.voting, n_threads=self.n_threads
        )
        sums[self.bags.unused], counts[self.bags.unused] = 0.0, 0
        return sums, counts

    def means(self) -> Floats:
        """Mean vote of the trees that left a row out; NaN where there is none, with a warning."""
        sums, counts = self.votes()
        used = np.ones(self.bags.n_rows, dtype=bool)
        used[self.bags.unused] = False
        means = np.full(sums.shape, np.nan)
        means[used] = means_of_votes(sums[used], counts[used])
        return means

    def curve(self) -> OobCurve:
        """Error after each number of trees."""
        error, n_judged = out_of_bag_curve(
            self.trees, self.table, self._rows(), voting=self.voting, n_threads=self.n_threads
        )
        return OobCurve(np.arange(1, len(error) + 1), error, n_judged.astype(np.int64))

    def permutation(self) -> Floats:
        """Increase of each tree's error by a permuted column: (trees, columns)."""
        return out_of_bag_permutation(
            self.trees, self.table, self._rows(), n_threads=self.n_threads
        )

    def _rows(self) -> FittedRows:
        options = ForestOptions(n_trees=1, first_tree=self.first_tree, **self.bags.options)
        return FittedRows(options, self.target, self.n_classes, self.bags.weight, self.bags.seed)
