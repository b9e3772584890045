"""Weights of the members of an ensemble from their quality on rows that they did not learn from.

Of classifiers log(p / (1 - p)), p being the accuracy: Shapley and Grofman (1984), Kuncheva (2014),
section 4.3. Of regressors 1 / mean squared error: Bates and Granger (1969).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ScaledError", "inverse_error_weights", "log_odds", "mean_squared_error"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

# A mean squared error divided by 4^e, and e: a number in any unit of the target.
ScaledError = tuple[float, int]


def log_odds(accuracy: Floats, n_rows: int | npt.NDArray[np.integer]) -> Floats:
    """log(p / (1 - p)), with p kept half a row away from 0 and 1, so that it is finite.

    Parameters
    ----------
    accuracy : ndarray of shape (n_members,)
        Share p of the rows, or of their weight, that a member classifies rightly.
    n_rows : int or ndarray of shape (n_members,)
        Number of rows that the accuracy is measured on, at least 1.
    """
    half_a_row = 0.5 / np.asarray(n_rows)
    p = np.clip(accuracy, half_a_row, 1 - half_a_row)
    odds: Floats = np.log(p / (1 - p))
    return odds


def mean_squared_error(predicted: Array, target: Array, weight: Floats | None) -> ScaledError:
    """Mean squared error divided by 4^e, and e; over several targets the mean."""
    half = predicted / 2 - target / 2  # the difference of two of the greatest numbers is none
    exponent = int(np.frexp(np.abs(half).max())[1])
    mean = np.average(np.ldexp(half, -exponent) ** 2, weights=weight)
    return float(mean), exponent if mean else -(2**30)


def inverse_error_weights(errors: Sequence[ScaledError]) -> Floats:
    """Weights in proportion to 1 / mean squared error, of sum 1; equal if no member errs."""
    greatest = max(exponent for _, exponent in errors)
    error = np.array([np.ldexp(mean, 2 * (e - greatest)) for mean, e in errors])
    if not error.any():
        return np.full(len(error), 1 / len(error))
    # A member without error would weigh infinitely much, and so would 1 over a tiny error.
    floats = np.finfo(float)
    error = np.maximum(error, max(floats.eps * error.max(), floats.smallest_subnormal))
    inverse = error.min() / error
    weights: Floats = inverse / inverse.sum()
    return weights
