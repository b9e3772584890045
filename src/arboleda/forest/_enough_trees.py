"""When a forest has trees enough: ``n_estimators="auto"``.

The mean vote of L trees on a row scatters around that of infinitely many with the variance V / L,
where V is the variance of one tree's vote. The expected squared error of the mean vote is therefore
that of infinitely many trees plus V / L: it falls along a known curve, which is nearly flat long
before it has ended. Trees are added in blocks until, on the rows left out, this excess is at most
one hundredth of the squared error (for classes: the Brier score of the votes).

The curve of misclassified rows, which is not smooth, is flat by then. A row that was left out by
about 0.37 L trees is judged; a fresh row asks all L, so its excess is about a third of it.

Breiman (2001), "Random forests", Machine Learning 45, section 2 (that it converges); Scornet
(2016), "On the asymptotics of random forests", Journal of Multivariate Analysis 146 (how
fast).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

BLOCK = 50  # trees that are added at a time
MOST = 1_000  # trees at most
EXCESS = 0.01  # of the squared error


class Convergence:
    """Collects the votes of blocks of trees on the rows they left out.

    Sums that decide are made in a fixed order, so that the number of trees is the same everywhere.
    """

    def __init__(self, target: npt.NDArray[Any], widths: tuple[int, ...]) -> None:
        """Take class numbers or values, and the numbers that a vote holds of each output."""
        columns = target if target.ndim == 2 else target[:, np.newaxis]
        n_rows = len(columns)
        self._is_classes = target.dtype.kind in "iu"
        # Squares of values far from 0 would drown their differences.
        self._centre = (
            np.zeros(columns.shape[1])
            if self._is_classes
            else np.array([math.fsum(column) / n_rows for column in columns.T])
        )
        self._target = columns if self._is_classes else columns - self._centre
        self._starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
        self._sums = np.zeros((n_rows, sum(widths)))
        self._counts = np.zeros(n_rows)
        self._squares = np.zeros(n_rows)  # of blocks' sums, each divided by the block's count
        self._blocks = np.zeros(n_rows)  # that left the row out

    def add(self, sums: Floats, counts: npt.NDArray[np.integer]) -> None:
        """Add the votes of a block: sums over the trees that left a row out, and their number."""
        left_out = counts > 0
        if not self._is_classes:
            sums = sums - counts[:, np.newaxis] * self._centre
        self._sums += sums
        self._counts += counts
        self._blocks += left_out
        with np.errstate(over="ignore"):  # then it is never enough
            square = _sum_of_squares(sums)
            self._squares += np.divide(square, counts, out=np.zeros_like(square), where=left_out)

    def excess(self) -> tuple[float, float]:
        """Excess of the squared error over that of infinitely many trees, and the squared error.

        Both are means over the rows that two blocks or more left out; of no row they are infinite.
        """
        judged = self._blocks > 1
        if not judged.any():
            return math.inf, math.inf
        counts, blocks = self._counts[judged], self._blocks[judged]
        sums = self._sums[judged]
        # One-way analysis of variance: the blocks' means scatter by V / (trees of the block).
        between = self._squares[judged] - _sum_of_squares(sums) / counts
        variance = np.maximum(between, 0.0) / (blocks - 1.0)
        errors = self._squared_errors(sums / counts[:, np.newaxis], self._target[judged])
        n_judged = errors.size
        return math.fsum(variance / counts) / n_judged, math.fsum(errors) / n_judged

    def is_enough(self) -> bool:
        """Whether more trees would change little."""
        with np.errstate(over="ignore", invalid="ignore"):
            excess, error = self.excess()
        return math.isfinite(error) and excess <= EXCESS * error

    def _squared_errors(self, mean: Floats, target: npt.NDArray[Any]) -> Floats:
        """Squared distance of votes to the target; classes count as rows of an identity matrix."""
        if not self._is_classes:
            return _sum_of_squares(mean - target)
        errors = _sum_of_squares(mean)
        for start, labels in zip(self._starts, target.T, strict=True):
            errors += 1.0 - 2.0 * mean[np.arange(len(mean)), start + labels.astype(np.intp)]
        return errors


def _sum_of_squares(rows: Floats) -> Floats:
    """Sum over the columns, in their order."""
    total = np.zeros(len(rows))
    for column in rows.T:
        total += column * column
    return total
