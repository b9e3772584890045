"""What rows show that a model was not fitted on: losses of rows, and intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from arboleda._utils.coverage import compute_rank
from arboleda.boosting._losses import Loss

Floats = npt.NDArray[np.float64]

# Losses that are a mean over rows; the others are Huber's, whose threshold depends on all rows, and
# custom ones, of which only derivatives are known.
ROW_LOSSES = frozenset(
    {
        "log_loss", "exponential", "focal", "squared_error", "absolute_error", "quantile",
        "expectile", "pseudo_huber", "mape", "poisson", "gamma", "tweedie",
    }
)  # fmt: skip


def get_columns(target: Floats) -> Floats:
    """Return targets as columns; those of shape (n,) are one."""
    return target[:, np.newaxis] if target.ndim == 1 else target


def compute_row_losses(loss: Loss, target: Floats, raw: Floats) -> Floats:
    """Compute the loss of each row; of several targets, labels or quantiles the sum.

    Parameters
    ----------
    loss : Loss
        One of `ROW_LOSSES`.
    target : ndarray of shape (n,) or (n, n_targets)
        Numbers, or classes as 0, 1, ..
    raw : ndarray of shape (n, n_outputs)
        Raw scores of a model.

    Returns
    -------
    losses : ndarray of shape (n,)
    """
    if loss.name in {"log_loss", "exponential", "focal"}:
        return _compute_class_losses(loss, target.astype(np.intp), raw)
    y = get_columns(target)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        losses: Floats = _compute_losses(loss, y, loss.predictions(raw)).sum(axis=1)
    return losses


def _compute_class_losses(loss: Loss, codes: npt.NDArray[np.intp], raw: Floats) -> Floats:
    """Return the losses of a classifier, from raw scores: a probability may round to 0 or 1."""
    losses: Floats
    if loss.link == "softmax":
        losses = logsumexp(raw, axis=1) - raw[np.arange(len(codes)), codes]
        return losses
    margin = np.where(codes.reshape(raw.shape) == 1, raw, -raw)
    if loss.name == "exponential":
        with np.errstate(over="ignore"):
            losses = np.exp(-margin)
    else:
        losses = np.logaddexp(0.0, -margin)
        if loss.name == "focal":
            losses *= np.exp(-loss.focal_gamma * np.logaddexp(0.0, margin))
    totals: Floats = losses.sum(axis=1)
    return totals


def _compute_losses(loss: Loss, y: Floats, predictions: Floats) -> Floats:
    """Return the losses of a regressor, of shape (n, n_outputs)."""
    errors = y - predictions
    match loss.name:
        case "absolute_error":
            return np.abs(errors)
        case "quantile":
            levels = np.array(loss.levels)
            return np.maximum(levels * errors, (levels - 1.0) * errors)
        case "expectile":
            return np.where(errors < 0.0, 1.0 - loss.expectile, loss.expectile) * errors**2
        case "pseudo_huber":
            slope = loss.huber_slope
            return errors**2 / (1.0 + np.hypot(1.0, errors / slope))
        case "mape":
            return np.abs(errors) / np.maximum(1.0, np.abs(y))
        case "poisson":
            return predictions - y * np.log(predictions)
        case "gamma":
            return np.log(predictions) + y / predictions
        case "tweedie":
            power = loss.power
            rising = predictions ** (2.0 - power) / (2.0 - power)
            return rising - y * predictions ** (1.0 - power) / (1.0 - power)
    return 0.5 * errors**2


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
    rank = compute_rank(coverage, n_rows)
    if rank > n_rows:
        return np.tile([-np.inf, np.inf], (predictions.shape[1], 1))
    lower = -_select_sum(-predictions, residuals, rank)
    upper = _select_sum(predictions, residuals, rank)
    # For coverages below one half the ends may cross.
    return np.column_stack([np.minimum(lower, upper), np.maximum(lower, upper)])


def _select_sum(predictions: Floats, residuals: Sequence[Floats], rank: int) -> Floats:
    """Return the rank-th smallest sum of a prediction and a residual of its model."""
    best = np.full(predictions.shape[1], np.inf)
    for fold, (values, own_residuals) in enumerate(zip(predictions, residuals, strict=True)):
        if not len(own_residuals):
            continue
        # Bisection for the first residual of this fold with at least `rank` sums that are not
        # larger than its own.
        low = np.zeros(len(values), dtype=np.intp)
        high = np.full(len(values), len(own_residuals), dtype=np.intp)
        while (low < high).any():
            middle = np.minimum((low + high) // 2, len(own_residuals) - 1)
            limits = values + own_residuals[middle]
            counts = np.searchsorted(own_residuals, own_residuals[middle], side="right")
            for other in range(len(residuals)):
                if other != fold:
                    counts = counts + _count_sums(predictions[other], residuals[other], limits)
            is_open = low < high
            high = np.where(is_open & (counts >= rank), middle, high)
            low = np.where(is_open & (counts < rank), middle + 1, low)
        sums = values + own_residuals[np.minimum(low, len(own_residuals) - 1)]
        best = np.where(low < len(own_residuals), np.minimum(best, sums), best)
    return best


def _count_sums(predictions: Floats, residuals: Floats, limits: Floats) -> npt.NDArray[np.intp]:
    """Count the sums of a prediction and any residual that are not larger than a limit."""
    if not len(residuals):
        return np.zeros(len(limits), dtype=np.intp)
    counts = np.searchsorted(residuals, limits - predictions, side="right")
    # The difference is rounded: the residuals on either side of it are compared by their sums.
    above = residuals[np.minimum(counts, len(residuals) - 1)]
    counts = np.where(
        predictions + above <= limits, np.searchsorted(residuals, above, side="right"), counts
    )
    below = residuals[np.maximum(counts - 1, 0)]
    return np.where(
        predictions + below > limits, np.searchsorted(residuals, below, side="left"), counts
    )


def compute_mean_and_error(values: Floats, weights: Floats) -> tuple[float, float]:
    """Compute a weighted mean and its standard error, of numbers of any size.

    Parameters
    ----------
    values, weights : ndarray of shape (n,)
        Not all weights are 0.

    Returns
    -------
    mean, error : float
        Not finite if a value is not.
    """
    shares = weights / weights.max()
    shares = shares / shares.sum()
    scale = float(np.abs(values).max())
    if not 0.0 < scale < math.inf:
        return (0.0, 0.0) if scale == 0.0 else (math.nan, math.nan)
    scaled = values / scale
    mean = float(shares @ scaled)
    error = float(np.sqrt(np.sum((shares * (scaled - mean)) ** 2)))
    return scale * mean, scale * error
