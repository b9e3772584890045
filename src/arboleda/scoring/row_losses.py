"""Losses of single rows, whose mean is a metric."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "compute_absolute_errors",
    "compute_brier_losses",
    "compute_gamma_deviances",
    "compute_log_losses",
    "compute_pinball_losses",
    "compute_poisson_deviances",
    "compute_relative_errors",
    "compute_squared_errors",
    "compute_squared_log_errors",
    "compute_top_k_hits",
]

Floats = npt.NDArray[np.float64]


def compute_log_losses(y: npt.NDArray[Any], score: Floats) -> Floats:
    """Return the log-loss of each row, by the probabilities of all classes."""
    smallest = np.finfo(np.float64).eps
    return -np.asarray(np.log(np.clip(score[np.arange(len(y)), y], smallest, 1.0)))


def compute_brier_losses(y: npt.NDArray[Any], score: Floats) -> Floats:
    """Return the squared errors of the probabilities, with two classes of the second one alone.

    With more classes they are summed over the classes (Brier 1950).
    """
    if score.shape[1] == 2:
        return np.asarray((score[:, 1] - y) ** 2)
    return np.asarray(np.sum((score - np.eye(score.shape[1])[y]) ** 2, axis=1))


def compute_top_k_hits(y: npt.NDArray[Any], score: Floats, k: int) -> Floats:
    """Return 1 for rows whose class is among the k of the highest scores, as scikit-learn does.

    Of classes with equal scores, the later one is taken first.
    """
    best = np.argsort(score, axis=1, kind="mergesort")[:, -k:]
    return np.asarray(np.any(best == y[:, np.newaxis], axis=1), dtype=np.float64)


def compute_absolute_errors(y: Floats, predicted: Floats) -> Floats:
    """Return the absolute error of each row."""
    return np.abs(y - predicted)


def compute_squared_errors(y: Floats, predicted: Floats) -> Floats:
    """Return the squared error of each row."""
    return np.asarray((y - predicted) ** 2)


def compute_relative_errors(y: Floats, predicted: Floats) -> Floats | None:
    """Return the absolute error relative to the true value; None if a true value is 0."""
    return None if np.any(y == 0) else np.abs((y - predicted) / y)


def compute_squared_log_errors(y: Floats, predicted: Floats) -> Floats | None:
    """Return the squared error of log(1 + value); None if a value is not above -1."""
    if min(y.min(), predicted.min()) <= -1:
        return None
    return np.asarray((np.log1p(y) - np.log1p(predicted)) ** 2)


def compute_pinball_losses(y: Floats, predicted: Floats, quantile: float) -> Floats:
    """Return the loss of each row whose expectation the quantile minimizes."""
    error = y - predicted
    return np.maximum(quantile * error, (quantile - 1.0) * error)


def compute_poisson_deviances(y: Floats, predicted: Floats) -> Floats | None:
    """Return the deviances 2 (y log(y / p) - y + p); None unless y >= 0 and p > 0."""
    if y.min() < 0 or predicted.min() <= 0:
        return None
    ratio = np.divide(y, predicted, out=np.ones_like(y), where=y > 0)
    return np.asarray(2.0 * (y * np.log(ratio) - y + predicted))


def compute_gamma_deviances(y: Floats, predicted: Floats) -> Floats | None:
    """Return the deviances 2 (log(p / y) + y / p - 1); None unless y > 0 and p > 0."""
    if min(y.min(), predicted.min()) <= 0:
        return None
    return np.asarray(2.0 * (np.log(predicted / y) + y / predicted - 1.0))
