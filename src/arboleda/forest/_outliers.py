"""Outliers by proximity: Breiman and Cutler, "Random forests" (manual), section "Outliers"."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def compute_outlier_scores(squares: Floats, groups: npt.NDArray[np.intp]) -> Floats:
    """Compute the outlier score of each row within its group.

    Parameters
    ----------
    squares : ndarray of shape (n_rows,)
        Sum of the squared proximities of each row to the rows of its group. Never 0, as the
        proximity of a row to itself is 1.
    groups : ndarray of shape (n_rows,)
        Group number of each row, starting at 0.
    """
    scores: Floats = len(squares) / squares
    for group in range(int(groups.max()) + 1):
        members = groups == group
        deviation = scores[members] - np.median(scores[members])
        scores[members] = deviation / (np.median(np.abs(deviation)) or 1.0)
    return scores
