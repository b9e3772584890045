"""Density kernels, up to constants, and logarithms of their sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

Floats = npt.NDArray[np.float64]
Kernel = Literal["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]

# Maximum number of distances in memory at a time: 32 MB.
_MOST_DISTANCES = 4_000_000


def _within(values: Floats, square: Floats) -> Floats:
    """Return the logarithms of values where the squared distance is below 1, otherwise -inf."""
    found = np.full(values.shape, -np.inf)
    np.log(values, out=found, where=(square < 1.0) & (values > 0.0))
    return found


# Logarithm of each kernel as a function of the squared distance in bandwidths, without constants,
# which are the same for all classes.
_LOG_KERNELS: dict[Kernel, Callable[[Floats], Floats]] = {
    "gaussian": lambda square: -0.5 * square,
    "tophat": lambda square: _within(np.ones_like(square), square),
    "epanechnikov": lambda square: _within(1.0 - square, square),
    "exponential": lambda square: -np.sqrt(square),
    "linear": lambda square: _within(1.0 - np.sqrt(square), square),
    "cosine": lambda square: _within(
        np.cos(0.5 * np.pi * np.minimum(np.sqrt(square), 1.0)), square
    ),
}


def bandwidth_of_unit_variance(kernel: Kernel, n_columns: int) -> float:
    """Return the bandwidth for which a kernel has variance 1 in each dimension.

    The variance is E[r^2] / d under the density of the radius, r^(d - 1) K(r). The cosine kernel is
    approximated by the Epanechnikov kernel.
    """
    d = n_columns
    squares = {
        "gaussian": 1.0,
        "tophat": d + 2.0,
        "epanechnikov": d + 4.0,
        "exponential": 1.0 / (d + 1.0),
        "linear": (d + 2.0) * (d + 3.0) / (d + 1.0),
        "cosine": d + 4.0,
    }
    return math.sqrt(squares[kernel])


def squared_distances(new: Floats, known: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield the squared distances of batches of new rows from all known rows."""
    step = max(1, _MOST_DISTANCES // len(known))
    for start in range(0, len(new), step):
        rows = slice(start, min(start + step, len(new)))
        yield rows, cdist(new[rows], known, "sqeuclidean")


def log_sums(distance: Floats, weight: Floats, bandwidth: float, kernel: Kernel) -> Floats:
    """Return the logarithms of sum_i w_i K(distance_i / h) over the columns of a matrix.

    Parameters
    ----------
    distance : ndarray of shape (n, m)
        Squared distances; infinite ones contribute 0.
    weight : ndarray of shape (m,)
    bandwidth : float
    kernel : str

    Returns
    -------
    sums : ndarray of shape (n,)
        Minus infinity for rows that no kernel reaches.
    """
    with np.errstate(over="ignore"):
        log_terms = _LOG_KERNELS[kernel](distance / bandwidth / bandwidth)
    top = log_terms.max(axis=1, keepdims=True)
    reached = np.isfinite(top)
    terms = np.exp(log_terms - np.where(reached, top, 0.0))
    sums = terms @ weight
    found = np.full(len(sums), -np.inf)
    np.log(sums, out=found, where=sums > 0.0)
    shifted: Floats = found + np.where(reached, top, 0.0).ravel()
    return shifted


def log_density(
    new: Floats, known: Floats, weight: Floats, bandwidth: float, kernel: Kernel
) -> Floats:
    """Return the logarithms of 1 / (W h^d) sum_i w_i K((x - x_i) / h), up to a constant.

    Parameters
    ----------
    new : ndarray of shape (n, d)
    known : ndarray of shape (m, d)
    weight : ndarray of shape (m,)
    bandwidth : float
    kernel : str

    Returns
    -------
    log_p : ndarray of shape (n,)
    """
    found = np.empty(len(new))
    for rows, distance in squared_distances(new, known):
        found[rows] = log_sums(distance, weight, bandwidth, kernel)
    found -= math.log(weight.sum()) + new.shape[1] * math.log(bandwidth)
    return found
