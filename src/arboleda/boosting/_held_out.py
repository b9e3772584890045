"""What rows show that a model was not fitted on: losses of rows, and intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from arboleda.boosting._losses import Loss

Floats = npt.NDArray[np.float64]

_SMALLEST = np.finfo(np.float64).tiny


def compute_row_losses(loss: Loss, target: Floats, predictions: Floats) -> Floats | None:
    """Compute the loss of each row; of several targets or quantiles the sum.

    Parameters
    ----------
    loss : Loss
    target : ndarray of shape (n,) or (n, n_targets)
        Numbers, or classes as 0, 1, ..
    predictions : ndarray of shape (n, n_outputs) or (n, n_classes)
        Means, medians or quantiles, or the probabilities of the classes.

    Returns
    -------
    losses : ndarray of shape (n,), or None
        None for losses that are no sum over rows (Huber's, whose threshold depends on all rows) and
        custom losses.
    """
    if loss.name in {"log_loss", "exponential"}:
        given = predictions[np.arange(len(target)), target.astype(np.intp)]
        given = np.maximum(given, _SMALLEST)
        return -np.log(given) if loss.name == "log_loss" else np.sqrt((1.0 - given) / given)
    y = target.reshape(len(target), -1)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        losses = _compute_losses(loss, y, predictions)
    return None if losses is None else losses.sum(axis=1)


def _compute_losses(loss: Loss, y: Floats, predictions: Floats) -> Floats | None:
    """Return the losses of a regressor, of shape (n, n_outputs)."""
    errors = y - predictions
    match loss.name:
        case "squared_error":
            return 0.5 * errors**2
        case "absolute_error":
            return np.abs(errors)
        case "quantile":
            levels = np.array(loss.levels)
            return np.maximum(levels * errors, (levels - 1.0) * errors)
        case "poisson":
            return predictions - y * np.log(predictions)
        case "gamma":
            return np.log(predictions) + y / predictions
        case "tweedie":
            power = loss.power
            rising = predictions ** (2.0 - power) / (2.0 - power)
            return rising - y * predictions ** (1.0 - power) / (1.0 - power)
    return None


def compute_plus_bounds(
    predictions: Floats, residuals: Sequence[Floats], coverage: float
) -> Floats:
    """Compute intervals of the cross-validation variant of the jackknife+.

    With n residuals R_i of rows that the model m_i was not fitted on, and k = ceil((n + 1)
    coverage), the interval for x is from the k-th largest of m_i(x) - R_i to the k-th smallest of
    m_i(x) + R_i: Barber, Candes, Ramdas and Tibshirani (2021), "Predictive inference with the
    jackknife+", section 3.

    Parameters
    ----------
    predictions : ndarray of shape (n_folds, n_new)
        Prediction of every model for the new rows.
    residuals : sequence of ndarray
        The absolute errors of each model on its fold, sorted.
    coverage : float
        Between 0 and 1.

    Returns
    -------
    bounds : ndarray of shape (n_new, 2)
        Infinite if there are too few residuals for the coverage.
    """
    n_rows = sum(map(len, residuals))
    # From the decimal form of the coverage: 0.56 times 100 is 56.
    rank = math.ceil((n_rows + 1) * Fraction(repr(float(coverage))))
    if rank > n_rows:
        return np.tile([-np.inf, np.inf], (predictions.shape[1], 1))
    lower = -_select_sum(-predictions, residuals, rank)
    upper = _select_sum(predictions, residuals, rank)
    # For coverages below one half the ends may cross.
    return np.column_stack([np.minimum(lower, upper), np.maximum(lower, upper)])


def _select_sum(predictions: Floats, residuals: Sequence[Floats], rank: int) -> Floats:
    """Return the rank-th smallest sum of a prediction and a residual of its model."""
    best = np.full(predictions.shape[1], np.inf)
    for fold, (values, of_fold) in enumerate(zip(predictions, residuals, strict=True)):
        if not len(of_fold):
            continue
        # Bisection for the first residual of this fold with at least `rank` sums that are not
        # larger than its own.
        low = np.zeros(len(values), dtype=np.intp)
        high = np.full(len(values), len(of_fold), dtype=np.intp)
        while (low < high).any():
            middle = np.minimum((low + high) // 2, len(of_fold) - 1)
            sums = values + of_fold[middle]
            counts = np.searchsorted(of_fold, of_fold[middle], side="right")
            for other, (theirs, of_other) in enumerate(zip(predictions, residuals, strict=True)):
                if other != fold:
                    counts = counts + np.searchsorted(of_other, sums - theirs, side="right")
            open_ends = low < high
            high = np.where(open_ends & (counts >= rank), middle, high)
            low = np.where(open_ends & (counts < rank), middle + 1, low)
        sums = values + of_fold[np.minimum(low, len(of_fold) - 1)]
        best = np.where(low < len(of_fold), np.minimum(best, sums), best)
    return best
