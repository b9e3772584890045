"""Out-of-bag votes, error curves, permutation importances and convergence of forests.

The mean vote of L trees on a row varies around that of infinitely many trees with variance V / L,
where V is the variance of one tree's vote. The expected squared error of the mean vote is therefore
that of infinitely many trees plus V / L. Trees are added in blocks until this excess, estimated out
of bag, is at most one hundredth of the squared error (for classes: the Brier score of the votes).

By then the misclassification rate, which is not smooth in L, is flat too. The out-of-bag vote of a
row uses about 0.37 L trees; a new row uses all L, so its excess is about a third of the estimate.

Breiman (2001), "Random forests", Machine Learning 45, section 2 (convergence); Scornet (2016), "On
the asymptotics of random forests", Journal of Multivariate Analysis 146 (its rate).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._base.held_out import OobCurve, mean_of_votes
from arboleda._engine.columns import Schema
from arboleda._engine.fit import (
    FittedRows,
    ForestOptions,
    out_of_bag_curve,
    out_of_bag_permutation,
    out_of_bag_votes,
)
from arboleda._engine.forest import Forest as Trees
from arboleda._engine.forest import Voting
from arboleda._engine.table import DenseTable, SparseTable
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.numbers import clip
from arboleda._utils.results import Result
from arboleda._utils.text import plot_escaped
from arboleda.forest._training_rows import Bags

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OobPredictions:
    """Predictions of the training rows by the trees for which they are out of bag.

    Parameters
    ----------
    trees : Forest
    table : DenseTable or SparseTable
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
    table: DenseTable | SparseTable
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


@dataclass(frozen=True, repr=False)
class PermutationImportance(Result):
    """Increase of each tree's out-of-bag error when one column is permuted.

    Breiman (2001), "Random forests", Machine Learning 45, section 10. The error is the
    misclassification rate or the mean squared error.

    Parameters
    ----------
    importances : ndarray of shape (n_trees, n_features)
        Increase of the error; 0 if the tree does not split on the column. Trees without out-of-bag
        rows are omitted.
    schema : Schema
        The columns.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        Mean over the trees.
    standard_error : ndarray of shape (n_features,)
        Standard deviation over the trees, divided by the square root of their number.
    z_score : ndarray of shape (n_features,)
        ``mean / standard_error``; 0 for a column that no tree splits on. It grows with the square
        root of the number of trees, so it can rank columns but is not a significance test.
    """

    importances: Floats
    schema: Schema

    @property
    def mean(self) -> Floats:
        mean: Floats = self.importances.mean(axis=0)
        return mean

    @property
    def standard_error(self) -> Floats:
        n_trees = len(self.importances)
        if n_trees < 2:
            return np.full(self.importances.shape[1], np.nan)
        error: Floats = self.importances.std(axis=0, ddof=1) / np.sqrt(n_trees)
        return error

    @property
    def z_score(self) -> Floats:
        mean, error = self.mean, self.standard_error
        return np.divide(mean, error, out=np.zeros_like(mean), where=error != 0.0)

    def _summarize(self) -> dict[str, Any]:
        order = np.argsort(-self.mean, kind="stable")
        return {
            "n_trees": len(self.importances),
            "n_features": self.importances.shape[1],
            "most_important": [self._names[j] for j in order[:3]],
        }

    @property
    def _names(self) -> list[Any]:
        names: Any = self.schema.names
        return list(range(self.schema.n_columns)) if names is None else list(names)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per column, the most important first.

        Returns
        -------
        frame : pandas.DataFrame
            ``column``, ``mean``, ``standard_error`` and ``z_score``.
        """
        frame = new_frame(
            {
                "column": self._names,
                "mean": self.mean,
                "standard_error": self.standard_error,
                "z_score": self.z_score,
            }
        )
        return frame.sort_values("mean", ascending=False, kind="stable", ignore_index=True)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the 20 largest means as bars, with standard errors.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        order = np.argsort(-self.mean, kind="stable")[:20]
        names = [plot_escaped(clip(str(self._names[j]), 30)) for j in order]
        ax.barh(
            range(len(order)), self.mean[order], 0.66, xerr=self.standard_error[order], capsize=2
        )
        ax.set_yticks(range(len(order)), names)
        ax.invert_yaxis()
        ax.set_xlabel("increase of the out-of-bag error when the column is permuted")
        return ax


BLOCK_SIZE = 50  # trees added at a time
MAX_TREES = 1_000  # maximum number of trees
MAX_RELATIVE_EXCESS = 0.01  # relative to the squared error


class Convergence:
    """Estimate of the convergence of a forest from the out-of-bag votes of blocks of trees.

    Sums are computed in a fixed order, so the number of trees is the same on every machine.
    """

    def __init__(self, target: npt.NDArray[Any], widths: tuple[int, ...]) -> None:
        """Take class codes or target values, and the width of a vote for each output."""
        columns = target if target.ndim == 2 else target[:, np.newaxis]
        n_rows = len(columns)
        self._is_classes = target.dtype.kind in "iu"
        # Squares of values far from 0 would lose the precision of their differences.
        self._centre = (
            np.zeros(columns.shape[1])
            if self._is_classes
            else np.array([math.fsum(column) / n_rows for column in columns.T])
        )
        self._target = columns if self._is_classes else columns - self._centre
        self._starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
        self._sums = np.zeros((n_rows, sum(widths)))
        self._counts = np.zeros(n_rows)
        self._squares = np.zeros(n_rows)  # squared sums of blocks, each divided by its count
        self._blocks = np.zeros(n_rows)  # blocks in which the row is out of bag

    def add(self, sums: Floats, counts: npt.NDArray[np.integer]) -> None:
        """Add a block of trees: sums and counts of its out-of-bag votes for each row."""
        left_out = counts > 0
        if not self._is_classes:
            sums = sums - counts[:, np.newaxis] * self._centre
        self._sums += sums
        self._counts += counts
        self._blocks += left_out
        with np.errstate(over="ignore"):  # infinity means not converged
            square = _sum_of_squares(sums)
            self._squares += np.divide(square, counts, out=np.zeros_like(square), where=left_out)

    def compute_excess(self) -> tuple[float, float]:
        """Return the excess squared error over infinitely many trees, and the squared error.

        Both are means over the rows with out-of-bag votes from at least two blocks; they are
        infinite if there is no such row.
        """
        has_votes = self._blocks > 1
        if not has_votes.any():
            return math.inf, math.inf
        counts, blocks = self._counts[has_votes], self._blocks[has_votes]
        sums = self._sums[has_votes]
        # One-way analysis of variance: the blocks' means scatter by V / (trees of the block).
        between = self._squares[has_votes] - _sum_of_squares(sums) / counts
        variance = np.maximum(between, 0.0) / (blocks - 1.0)
        errors = self._squared_errors(sums / counts[:, np.newaxis], self._target[has_votes])
        n_used = errors.size
        return math.fsum(variance / counts) / n_used, math.fsum(errors) / n_used

    def has_converged(self) -> bool:
        """Return whether more trees would change little."""
        with np.errstate(over="ignore", invalid="ignore"):
            excess, error = self.compute_excess()
        return math.isfinite(error) and excess <= MAX_RELATIVE_EXCESS * error

    def _squared_errors(self, mean: Floats, target: npt.NDArray[Any]) -> Floats:
        """Return the squared distances of votes to the target (one-hot encoded for classes)."""
        if not self._is_classes:
            return _sum_of_squares(mean - target)
        errors = _sum_of_squares(mean)
        for start, labels in zip(self._starts, target.T, strict=True):
            errors += 1.0 - 2.0 * mean[np.arange(len(mean)), start + labels.astype(np.intp)]
        return errors


def _sum_of_squares(rows: Floats) -> Floats:
    """Return the sums of squares over the columns, in their order."""
    total = np.zeros(len(rows))
    for column in rows.T:
        total += column * column
    return total
