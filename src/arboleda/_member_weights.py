"""Weights of ensemble members from their errors on held-out rows.

For classifiers log(p / (1 - p)) with the accuracy p: Shapley and Grofman (1984), Kuncheva (2014),
section 4.3. For regressors 1 / mean squared error: Bates and Granger (1969).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ScaledError", "inverse_error_weights", "log_odds", "mean_squared_error"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

# A mean squared error divided by 4^e, and e, which supports any scale of the target.
ScaledError = tuple[float, int]


def log_odds(accuracy: Floats, n_rows: int | npt.NDArray[np.integer]) -> Floats:
    """Compute log(p / (1 - p)), with p clipped to half a row from 0 and 1 to be finite.

    Parameters
    ----------
    accuracy : ndarray of shape (n_members,)
        Share p of the rows, or of their weight, that a member classifies correctly.
    n_rows : int or ndarray of shape (n_members,)
        Number of rows that the accuracy is measured on, at least 1.
    """
    half_a_row = 0.5 / np.asarray(n_rows)
    p = np.clip(accuracy, half_a_row, 1 - half_a_row)
    odds: Floats = np.log(p / (1 - p))
    return odds


def mean_squared_error(predicted: Array, target: Array, weight: Floats | None) -> ScaledError:
    """Compute the mean squared error divided by 4^e, and e; averaged over several targets."""
    half = predicted / 2 - target / 2  # halves avoid overflow of the difference
    exponent = int(np.frexp(np.abs(half).max())[1])
    mean = np.average(np.ldexp(half, -exponent) ** 2, weights=weight)
    return float(mean), exponent if mean else -(2**30)


def inverse_error_weights(errors: Sequence[ScaledError]) -> Floats:
    """Compute weights proportional to 1 / mean squared error, with sum 1; equal if all are 0."""
    greatest = max(exponent for _, exponent in errors)
    error = np.array([np.ldexp(mean, 2 * (e - greatest)) for mean, e in errors])
    if not error.any():
        return np.full(len(error), 1 / len(error))
    # Bound the error from below, as its inverse must be finite.
    floats = np.finfo(float)
    error = np.maximum(error, max(floats.eps * error.max(), floats.smallest_subnormal))
    inverse = error.min() / error
    weights: Floats = inverse / inverse.sum()
    return weights
