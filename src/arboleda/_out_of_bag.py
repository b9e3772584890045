"""Out-of-bag predictions of ensembles.

Each row is predicted by the members that were not fitted on it. A member that draws N of N rows
with replacement leaves out about (1 - 1/N)^N = 36.8 % of them: Breiman (1996), "Out-of-bag
estimation"; Breiman (2001), section 3.1.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score

__all__ = ["OobCurve", "compute_oob_accuracy", "compute_oob_r2", "mean_of_votes"]

Floats = npt.NDArray[np.float64]


class OobCurve(NamedTuple):
    """Out-of-bag error for each number of members.

    Attributes
    ----------
    n_estimators : ndarray of int
        1, 2, ..., the number of all members.
    error : ndarray of float
        Misclassification rate or mean squared error of the rows with out-of-bag predictions; NaN if
        there are none.
    n_rows : ndarray of int
        Number of rows that at least one member left out.
    """

    n_estimators: npt.NDArray[np.int64]
    error: Floats
    n_rows: npt.NDArray[np.int64]


def mean_of_votes(sums: Floats, counts: npt.NDArray[Any]) -> Floats:
    """Return the mean output of the members that left a row out; NaN if there is none.

    Parameters
    ----------
    sums : ndarray of shape (n_rows, n_outputs)
        Sum of the outputs of these members.
    counts : ndarray of shape (n_rows,)
        Number of these members.

    Warns
    -----
    UserWarning
        If no member left a row out.
    """
    never = int(np.count_nonzero(counts == 0))
    if never:
        warnings.warn(
            "Some inputs do not have OOB scores. This probably means too few estimators were used "
            f"to compute any reliable oob estimates: {never:,} of {len(counts):,} rows were left "
            "out by no member; their out-of-bag predictions are NaN and do not count in the score.",
            stacklevel=2,
        )
    with np.errstate(invalid="ignore"):
        means: Floats = sums / counts[:, np.newaxis]
    return means


def compute_oob_accuracy(shares: Floats, labels: npt.NDArray[Any]) -> float:
    """Compute the out-of-bag accuracy for class codes, ignoring rows of NaN."""
    has_votes = ~np.isnan(shares[:, 0])
    if not has_votes.any():
        return float("nan")
    return float(np.mean(shares[has_votes].argmax(axis=1) == labels[has_votes]))


def compute_oob_r2(predicted: Floats, target: npt.NDArray[Any]) -> float:
    """Compute the out-of-bag R2, averaged over outputs, ignoring rows of NaN."""
    has_votes = ~np.isnan(predicted).any(axis=1)
    if np.count_nonzero(has_votes) < 2:
        return float("nan")
    return float(r2_score(target.reshape(predicted.shape)[has_votes], predicted[has_votes]))
