"""Order of a column's categories in which neighbours have similar values of the other columns.

Apley and Zhu (2020), "Visualizing the effects of predictor variables in black box supervised
learning models", Journal of the Royal Statistical Society B 82: the distance of two categories is
the sum over the other columns of the distance of their distributions in the rows of each category -
the Kolmogorov-Smirnov distance for numbers, half the sum of absolute differences of shares for
categories. The order is that of the first coordinate of classical multidimensional scaling.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from arboleda.explain._rows import TableRows

__all__ = ["order_levels"]

Floats = npt.NDArray[np.float64]

# Number of values at which the distributions of numbers are compared.
_N_QUANTILES = 100
# Coordinates that agree to this many decimals are ties, ordered by code.
_DECIMALS = 9


def order_levels(rows: TableRows, column: int, weight: Floats) -> npt.NDArray[np.intp]:
    """Return the codes of the levels of a column that have positive weight, in order.

    Parameters
    ----------
    rows : TableRows
    column : int
        A categorical column.
    weight : ndarray of shape (n_rows,)

    Returns
    -------
    codes : ndarray of shape (n_levels,)
        In the direction that begins with the lower code.
    """
    found = rows.values(column)
    kept = ~np.isnan(found) & (weight > 0.0)
    present, codes = np.unique(found[kept].astype(np.intp), return_inverse=True)
    if len(present) < 3:
        return present
    weight = weight[kept]
    distance = np.zeros((len(present), len(present)))
    for other in range(rows.n_columns):
        if other != column:
            values = rows.values(other)[kept]
            distance += _compute_distances(values, codes, weight, rows.categorical[other])
    order = np.argsort(_compute_first_coordinate(distance), kind="stable")
    return present[order[::-1] if order[0] > order[-1] else order]


def _compute_distances(
    values: Floats, codes: npt.NDArray[np.intp], weight: Floats, categorical: bool
) -> Floats:
    """Compute the distances of the distributions of a column in the rows of any two levels."""
    known = ~np.isnan(values)
    values, codes_of_known, weight = values[known], codes[known], weight[known]
    n_levels = int(codes.max()) + 1
    distinct, places = np.unique(values, return_inverse=True)
    if not categorical and len(distinct) > _N_QUANTILES:
        distinct = np.unique(
            np.quantile(values, np.linspace(0.0, 1.0, _N_QUANTILES), method="inverted_cdf")
        )
        places = np.searchsorted(distinct, values)
    shares = np.zeros((n_levels, max(1, len(distinct))))
    np.add.at(shares, (codes_of_known, places), weight)
    # A level without values of this column has the overall distribution.
    shares[shares.sum(axis=1) == 0.0] = shares.sum(axis=0)
    total = shares.sum(axis=1, keepdims=True)
    shares /= np.where(total > 0.0, total, 1.0)
    compared = shares if categorical else np.cumsum(shares, axis=1)
    found = np.empty((n_levels, n_levels))
    for level in range(n_levels):
        difference = np.abs(compared - compared[level])
        found[level] = difference.sum(axis=1) / 2.0 if categorical else difference.max(axis=1)
    return found


def _compute_first_coordinate(distance: Floats) -> Floats:
    """Compute the first coordinate of classical multidimensional scaling, of length 1."""
    squares = distance**2
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    last = len(squares) - 1
    _, vectors = eigh(-squares / 2.0, subset_by_index=[last, last])
    coordinate: Floats = np.round(vectors[:, 0], _DECIMALS)
    return coordinate
