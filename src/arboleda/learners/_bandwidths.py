"""How wide kernels are: by rules of thumb, or by the likelihood of rows left out."""

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

# Bandwidths that are judged, as the standard deviation of the kernel over that of a column.
_WIDTHS = np.geomspace(0.02, 4.0, 17)
# Rows of a class that judge, evenly spaced; all rows make the density that they judge.
_MOST_JUDGES = 500
# Bandwidths stay where their logarithms and squares are numbers.
_LEAST, _MOST = 1e-140, 1e140


def rule_bandwidth(rule: Literal["scott", "silverman"], n_rows: float, n_columns: int) -> float:
    """Return n^(-1 / (d + 4)), or for Silverman's rule (n (d + 2) / 4)^(-1 / (d + 4)).

    Scott (1992), "Multivariate Density Estimation", and Silverman (1986), "Density Estimation for
    Statistics and Data Analysis", section 4.3.2, for a Gaussian kernel and columns of variance 1.
    """
    count = n_rows if rule == "scott" else n_rows * (n_columns + 2.0) / 4.0
    return float(count ** (-1.0 / (n_columns + 4.0)))


def judged_bandwidth(Z: Floats, weight: Floats, kernel: Kernel, scale: float) -> float:
    """Return the bandwidth under which rows are most likely that the density did not see.

    Each row is judged by the density of all rows that differ from it, so that rows written twice do
    not speak for themselves. Where no row differs, or none is reached by any kernel, the bandwidth
    is that of the kernel whose standard deviation is the columns'.

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
    judges = np.unique(np.linspace(0, len(Z) - 1, _MOST_JUDGES).round().astype(np.intp))
    likelihood = np.zeros(bandwidths.size)
    for rows, distance in squared_distances(Z[judges], Z):
        distance[distance == 0.0] = np.inf
        others = np.isfinite(distance) @ weight
        alone = others == 0.0
        judging = np.where(alone, 0.0, weight[judges[rows]])
        for h, bandwidth in enumerate(bandwidths):
            log_p = log_sums(distance, weight, bandwidth, kernel)
            log_p -= np.log(np.where(alone, 1.0, others)) + Z.shape[1] * math.log(bandwidth)
            likelihood[h] += judging @ np.where(alone, 0.0, log_p)
    if not likelihood.any() or np.isneginf(likelihood).all():
        return unit
    return float(bandwidths[int(likelihood.argmax())])


def within_range(bandwidth: float) -> float:
    """Return the bandwidth, moved to where arithmetic can follow."""
    return min(max(bandwidth, _LEAST), _MOST)
