"""Expected mutual information of contingency tables under independence.

Let a_i of n rows have level i of one variable and b_j rows level j of the other. If the rows of
one variable are permuted at random, the count c of cell (i, j) is hypergeometric. The expectation
of the empirical mutual information is the sum over cells of

    E[(c / n) log(c n / (a_i b_j))]

Vinh, Epps, Bailey (2010), "Information theoretic measures for clusterings comparison", Journal of
Machine Learning Research 11. This is the bias for an uninformative column, which grows with the
number of levels. Subtracting it replaces the correction by Miller (1955), to which it converges
for large cells and which fails if many levels have few rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

__all__ = ["compute_expected_terms"]

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

# Cells with larger expected counts use a series around the mean, whose next term is below
# 1 / _LARGE**2 of the result.
_LARGE = 50.0
_MAX_CELLS = 1 << 20  # cells computed at a time, which limits the memory


def compute_expected_terms(levels: Counts, others: Counts, n_rows: int) -> Floats:
    """Compute the expected information of each level with all levels of another variable, in nats.

    Parameters
    ----------
    levels : ndarray of shape (n_levels,)
        Numbers of rows of the levels, at least 1.
    others : ndarray of shape (n_others,)
        Numbers of rows of the levels of the other variable, at least 1, with sum ``n_rows``.
    n_rows : int

    Returns
    -------
    terms : ndarray of shape (n_levels,)
        Expected information of each level; the sum over all levels is that of the variable.
    """
    sizes, times = np.unique(others, return_counts=True)
    terms = np.empty(len(levels))
    step = max(1, _MAX_CELLS // max(1, len(sizes)))
    for first in range(0, len(levels), step):
        block = levels[first : first + step]
        cells = _compute_cells(np.repeat(block, len(sizes)), np.tile(sizes, len(block)), n_rows)
        terms[first : first + step] = cells.reshape(len(block), len(sizes)) @ times
    return terms


def _compute_cells(a: Counts, b: Counts, n_rows: int) -> Floats:
    """Compute the expected information of cells from their margins."""
    mean = a / n_rows * b
    cells = np.empty(len(a))
    large = mean > _LARGE
    cells[large] = _compute_series(a[large], b[large], n_rows)
    cells[~large] = _compute_sums(a[~large], b[~large], n_rows)
    return cells


def _compute_series(a: Counts, b: Counts, n_rows: int) -> Floats:
    """Expand (m / n) E[(1 + d) log(1 + d)], where d = c / m - 1, up to the fourth moment."""
    n, x, y = float(n_rows), a.astype(np.float64), b.astype(np.float64)
    mean = x / n * y
    variance = mean * (n - x) / n * (n - y) / max(n - 1.0, 1.0)
    third = variance * (n - 2.0 * x) / n * (n - 2.0 * y) / max(n - 2.0, 1.0)
    parts = variance / mean - third / (3.0 * mean**2) + variance**2 / (2.0 * mean**3)
    series: Floats = parts / (2.0 * n)
    return series


def _compute_sums(a: Counts, b: Counts, n_rows: int) -> Floats:
    """Sum the expectation over the counts whose probability is not negligible."""
    n, x, y = float(n_rows), a.astype(np.float64), b.astype(np.float64)
    mean = x / n * y
    spread = np.sqrt(mean)
    least, most = np.maximum(0.0, x + y - n), np.minimum(x, y)
    count = np.maximum(least, np.floor(mean - 12.0 * spread - 20.0))
    last = np.minimum(most, np.ceil(mean + 12.0 * spread + 20.0))
    probability = np.exp(_log_choose(x, count) + _log_choose(n - x, y - count) - _log_choose(n, y))
    total = np.zeros(len(a))
    while (running := count <= last).any():
        information = np.log(np.maximum(count, 1.0) / np.maximum(mean, 1e-300))
        total += np.where(running, probability * count / n * information, 0.0)
        ahead = (x - count) * (y - count)
        probability *= np.where(running, ahead, 0.0) / ((count + 1.0) * (n - x - y + count + 1.0))
        count += 1.0
    return total


def _log_choose(n: Floats | float, k: Floats) -> Floats:
    chosen: Floats = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return chosen
