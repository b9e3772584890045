"""Bandwidths of kernels: rules of thumb, or leave-one-out likelihood."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from arboleda.learners._kernels import (
    Kernel,
    bandwidth_of_unit_variance,
    log_sums,
    squared_distances,
)

Floats = npt.NDArray[np.float64]

# Candidate bandwidths, as the standard deviation of the kernel over that of a column.
_WIDTHS = np.geomspace(0.02, 4.0, 17)
# Maximum number of rows of a class that are scored, evenly spaced; the density uses all rows.
_MAX_SCORED_ROWS = 500
# Limits within which logarithms and squares of bandwidths are finite.
_LEAST, _MOST = 1e-140, 1e140


def compute_rule_bandwidth(
    rule: Literal["scott", "silverman"], n_rows: float, n_columns: int
) -> float:
    """Return n^(-1 / (d + 4)), or for Silverman's rule (n (d + 2) / 4)^(-1 / (d + 4)).

    Scott (1992), "Multivariate Density Estimation", and Silverman (1986), "Density Estimation for
    Statistics and Data Analysis", section 4.3.2, for a Gaussian kernel and columns of variance 1.
    """
    count = n_rows if rule == "scott" else n_rows * (n_columns + 2.0) / 4.0
    return float(count ** (-1.0 / (n_columns + 4.0)))


def cross_validated_bandwidth(Z: Floats, weight: Floats, kernel: Kernel, scale: float) -> float:
    """Return the bandwidth with the largest leave-one-out likelihood.

    The density at each row is computed from all rows that differ from it, which excludes
    duplicates. If all rows are equal, or no kernel reaches another row, the standard deviation of
    the kernel is set to that of the columns.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows of one class.
    weight : ndarray of shape (n,)
    kernel : str
    scale : float
        Standard deviation of the columns.
    """
    unit = scale * bandwidth_of_unit_variance(kernel, Z.shape[1])
    bandwidths = unit * _WIDTHS
    scored = np.unique(np.linspace(0, len(Z) - 1, _MAX_SCORED_ROWS).round().astype(np.intp))
    likelihood = np.zeros(bandwidths.size)
    for rows, distance in squared_distances(Z[scored], Z):
        distance[distance == 0.0] = np.inf
        others = np.isfinite(distance) @ weight
        alone = others == 0.0
        scored_weight = np.where(alone, 0.0, weight[scored[rows]])
        for h, bandwidth in enumerate(bandwidths):
            log_p = log_sums(distance, weight, bandwidth, kernel)
            log_p -= np.log(np.where(alone, 1.0, others)) + Z.shape[1] * math.log(bandwidth)
            likelihood[h] += scored_weight @ np.where(alone, 0.0, log_p)
    if not likelihood.any() or np.isneginf(likelihood).all():
        return unit
    return float(bandwidths[int(likelihood.argmax())])


def clip_bandwidth(bandwidth: float) -> float:
    """Clip a bandwidth to the range in which the arithmetic is finite."""
    return min(max(bandwidth, _LEAST), _MOST)
