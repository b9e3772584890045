"""Outliers by proximity: Breiman and Cutler, "Random forests" (manual), section "Outliers"."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def outlier_scores(squares: Floats, groups: npt.NDArray[np.intp]) -> Floats:
    """Return the score of each row among the rows of its group.

    Parameters
    ----------
    squares : ndarray of shape (n_rows,)
        Sum of the squared proximities of each row to those of its group. None is 0, as a row is as
        near as 1 to itself.
    groups : ndarray of shape (n_rows,)
        Number of the group of each row, from 0 on.
    """
    scores: Floats = len(squares) / squares
    for group in range(int(groups.max()) + 1):
        members = groups == group
        deviation = scores[members] - np.median(scores[members])
        scores[members] = deviation / (np.median(np.abs(deviation)) or 1.0)
    return scores
