"""Out-of-bag answers of any ensemble: each row is judged by the members that did not learn from it.

A member leaves out about (1 - 1/N)^N = 36.8 % of N rows when it draws N with replacement. What is
left out costs no data: Breiman (1996), "Out-of-bag estimation"; Breiman (2001), section 3.1.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score

__all__ = ["OobCurve", "judged_classes", "judged_values", "mean_of_votes"]

Floats = npt.NDArray[np.float64]


class OobCurve(NamedTuple):
    """Out-of-bag error after each number of members.

    Attributes
    ----------
    n_estimators : ndarray of int
        1, 2, ..., the number of all members.
    error : ndarray of float
        Share of misclassified rows, or mean squared error, among the rows judged; NaN while there
        is none.
    n_rows : ndarray of int
        Rows that at least one member so far left out.
    """

    n_estimators: npt.NDArray[np.int64]
    error: Floats
    n_rows: npt.NDArray[np.int64]


def mean_of_votes(sums: Floats, counts: npt.NDArray[Any]) -> Floats:
    """Mean output of the members that left a row out; NaN for rows that no member left out.

    Parameters
    ----------
    sums : ndarray of shape (n_rows, n_outputs)
        Sum of the outputs of these members.
    counts : ndarray of shape (n_rows,)
        Their number.

    Warns
    -----
    UserWarning
        If a row was never left out.
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


def judged_classes(shares: Floats, labels: npt.NDArray[Any]) -> float:
    """Out-of-bag accuracy: labels are class numbers; rows of NaN do not count."""
    judged = ~np.isnan(shares[:, 0])
    if not judged.any():
        return float("nan")
    return float(np.mean(shares[judged].argmax(axis=1) == labels[judged]))


def judged_values(predicted: Floats, target: npt.NDArray[Any]) -> float:
    """Out-of-bag R2, averaged over outputs; rows of NaN do not count."""
    judged = ~np.isnan(predicted).any(axis=1)
    if np.count_nonzero(judged) < 2:
        return float("nan")
    return float(r2_score(target.reshape(predicted.shape)[judged], predicted[judged]))
