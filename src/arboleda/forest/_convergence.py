"""Number of trees at which a forest has converged: ``n_estimators="auto"``.

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
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

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
