"""Quantiles of draws, and of draws with normal noise."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

Floats = npt.NDArray[np.float64]

_MAX_STEPS = 80
_TOLERANCE = 1e-10  # of the smallest sigma


def read_levels(quantiles: Any, *, closed: bool) -> Floats:
    """Validate quantile levels and return them as an array.

    Raises
    ------
    ValueError
        If a level is not between 0 and 1; the ends are only allowed if ``closed``.
    """
    levels = np.atleast_1d(np.asarray(quantiles))
    are_numbers = levels.dtype.kind in "fiu" and levels.ndim == 1 and levels.size > 0
    inside = are_numbers and ((levels >= 0) & (levels <= 1)).all()
    if not inside or (not closed and ((levels == 0) | (levels == 1)).any()):
        ends = "from 0 to 1" if closed else "strictly between 0 and 1"
        raise ValueError(
            f"quantiles must be numbers {ends}, such as [0.1, 0.9], got {quantiles!r}."
        )
    return levels.astype(np.float64)


def get_interval_levels(coverage: Any) -> list[float]:
    """Return the levels of the quantiles that bound an equal-tailed interval.

    Raises
    ------
    ValueError
        If the coverage is not strictly between 0 and 1.
    """
    is_number = isinstance(coverage, Real) and not isinstance(coverage, bool)
    if not is_number or not 0.0 < coverage < 1.0:
        raise ValueError(
            f"coverage must be strictly between 0 and 1, such as 0.9, got {coverage!r}."
        )
    return [(1.0 - float(coverage)) / 2.0, (1.0 + float(coverage)) / 2.0]


def compute_noisy_quantiles(draws: Floats, sigma: Floats, levels: Floats) -> Floats:
    """Compute quantiles of the mixture of normal distributions around the draws.

    The quantile of level p solves mean_d Phi((q - f_d) / sigma_d) = p. It lies between the
    smallest and the largest quantile of the components. It is found by Newton's method, with
    bisection when a step would leave the bracket.

    Parameters
    ----------
    draws : ndarray of shape (n_draws, n_samples)
    sigma : ndarray of shape (n_draws,)
    levels : ndarray of shape (n_levels,)
        Strictly between 0 and 1.

    Returns
    -------
    quantiles : ndarray of shape (n_samples, n_levels)
    """
    if sigma.min() <= 0.0:  # y is constant
        return np.quantile(draws, levels, axis=0).T
    spread = sigma[:, np.newaxis]
    quantiles = np.empty((draws.shape[1], levels.size))
    for k, level in enumerate(levels):
        parts = draws + spread * ndtri(level)
        low, high = parts.min(axis=0), parts.max(axis=0)
        q = parts.mean(axis=0)
        for _ in range(_MAX_STEPS):
            z = (q - draws) / spread
            excess = ndtr(z).mean(axis=0) - level
            low, high = np.where(excess < 0, q, low), np.where(excess > 0, q, high)
            density = (np.exp(-0.5 * z**2) / spread).mean(axis=0) / np.sqrt(2.0 * np.pi)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = q - excess / density
            inside = (step >= low) & (step <= high)
            step = np.where(inside, step, (low + high) / 2.0)
            moved = np.abs(step - q).max()
            q = step
            if moved <= _TOLERANCE * sigma.min():
                break
        quantiles[:, k] = q
    return quantiles
