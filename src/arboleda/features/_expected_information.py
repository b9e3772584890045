"""Information that counted tables show by chance, when their margins are independent.

With n rows, a_i of them on level i of one variable and b_j on level j of the other, and the rows
of one permuted at random, the count of cell (i, j) is hypergeometric. The expectation of the
counted mutual information is the sum over cells of

    E[(c / n) log(c n / (a_i b_j))]

Vinh, Epps, Bailey (2010), "Information theoretic measures for clusterings comparison", Journal of
Machine Learning Research 11. It is what an uninformative column has to be forgiven: the
more levels, the more. Subtracting it takes the place of the correction by Miller (1955), which it
becomes in large cells and which fails where many levels have few rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

__all__ = ["compute_expected_terms"]

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

# Cells that expect more rows than this are expanded around their mean; the next term of the series
# is below 1 / _LARGE**2 of what is returned.
_LARGE = 50.0
_PAIRS = 1 << 20  # cells at a time: some numbers of each are in memory


def compute_expected_terms(levels: Counts, others: Counts, n_rows: int) -> Floats:
    """Expected information of one level of a variable with all levels of another, in nats.

    Parameters
    ----------
    levels : ndarray of shape (n_levels,)
        Numbers of rows of levels, each at least 1.
    others : ndarray of shape (n_others,)
        Numbers of rows of the other variable's levels, each at least 1; they sum to ``n_rows``.
    n_rows : int

    Returns
    -------
    terms : ndarray of shape (n_levels,)
        The sum of those of a variable's levels is its expected information.
    """
    sizes, times = np.unique(others, return_counts=True)
    terms = np.empty(len(levels))
    step = max(1, _PAIRS // max(1, len(sizes)))
    for first in range(0, len(levels), step):
        some = levels[first : first + step]
        cells = _compute_cells(np.repeat(some, len(sizes)), np.tile(sizes, len(some)), n_rows)
        terms[first : first + step] = cells.reshape(len(some), len(sizes)) @ times
    return terms


def _compute_cells(a: Counts, b: Counts, n_rows: int) -> Floats:
    """Expected information of cells by their margins."""
    mean = a / n_rows * b
    found = np.empty(len(a))
    large = mean > _LARGE
    found[large] = _compute_series(a[large], b[large], n_rows)
    found[~large] = _compute_sums(a[~large], b[~large], n_rows)
    return found


def _compute_series(a: Counts, b: Counts, n_rows: int) -> Floats:
    """(m / n) E[(1 + d) log(1 + d)] with the mean m, d = c / m - 1, to the fourth moment of d."""
    n, x, y = float(n_rows), a.astype(np.float64), b.astype(np.float64)
    mean = x / n * y
    variance = mean * (n - x) / n * (n - y) / max(n - 1.0, 1.0)
    third = variance * (n - 2.0 * x) / n * (n - 2.0 * y) / max(n - 2.0, 1.0)
    parts = variance / mean - third / (3.0 * mean**2) + variance**2 / (2.0 * mean**3)
    series: Floats = parts / (2.0 * n)
    return series


def _compute_sums(a: Counts, b: Counts, n_rows: int) -> Floats:
    """The expectation as it stands, over the counts whose probability is not negligible."""
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
