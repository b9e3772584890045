"""Outliers by proximity: Breiman and Cutler, "Random forests" (manual), section "Outliers"."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

Floats = npt.NDArray[np.float64]


def outlier_scores(
    blocks: Iterable[tuple[slice, csr_matrix]], n_rows: int, groups: npt.NDArray[np.intp] | None
) -> Floats:
    """Return the score of each row among the rows of its group.

    Parameters
    ----------
    blocks : iterable of (slice, csr_matrix)
        Proximities of some rows to all rows.
    n_rows : int
    groups : ndarray of shape (n_rows,), or None
        Number of the group of each row, from 0 on; None: there is one.
    """
    groups = np.zeros(n_rows, dtype=np.intp) if groups is None else groups
    scores = np.empty(n_rows)
    for rows, near in blocks:
        same = np.repeat(groups[rows], np.diff(near.indptr)) == groups[near.indices]
        squares = np.where(same, near.data**2, 0.0)
        # A row is as near as 1 to itself, so that none is empty and no sum is 0.
        scores[rows] = n_rows / np.add.reduceat(squares, near.indptr[:-1])
    for group in range(int(groups.max()) + 1):
        members = groups == group
        deviation = scores[members] - np.median(scores[members])
        scores[members] = deviation / (np.median(np.abs(deviation)) or 1.0)
    return scores
