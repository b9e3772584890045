"""An order of a column's categories in which neighbours occur with alike values elsewhere.

Apley and Zhu (2020), "Visualizing the effects of predictor variables in black box supervised
learning models", Journal of the Royal Statistical Society B 82: two categories are as far apart as
the distributions of the other columns in their rows - for numbers by Kolmogorov and Smirnov, for
categories by half the sum of the differences of shares - and the order is that of the first
coordinate of their classical multidimensional scaling.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from arboleda.explain._rows import Rows

__all__ = ["level_order"]

Floats = npt.NDArray[np.float64]

# Values at which the distributions of numbers are compared.
_N_QUANTILES = 100
# Coordinates that are equal to so many decimals, of 1 in all, are equal: then the codes decide.
_DECIMALS = 9


def level_order(rows: Rows, column: int, weight: Floats) -> npt.NDArray[np.intp]:
    """Return the codes of the levels of a column that have weight, in their order.

    Parameters
    ----------
    rows : Rows
    column : int
        A column of categories.
    weight : ndarray of shape (n_rows,)

    Returns
    -------
    codes : ndarray of shape (n_levels,)
        Of the two directions the one that begins with the lower code.
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
            distance += _differences(values, codes, weight, rows.categorical[other])
    order = np.argsort(_first_coordinate(distance), kind="stable")
    return present[order[::-1] if order[0] > order[-1] else order]


def _differences(
    values: Floats, codes: npt.NDArray[np.intp], weight: Floats, categorical: bool
) -> Floats:
    """How far apart the distributions of a column are in the rows of any two levels."""
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
    # A level that has no values here is like all of them.
    shares[shares.sum(axis=1) == 0.0] = shares.sum(axis=0)
    total = shares.sum(axis=1, keepdims=True)
    shares /= np.where(total > 0.0, total, 1.0)
    compared = shares if categorical else np.cumsum(shares, axis=1)
    found = np.empty((n_levels, n_levels))
    for level in range(n_levels):
        difference = np.abs(compared - compared[level])
        found[level] = difference.sum(axis=1) / 2.0 if categorical else difference.max(axis=1)
    return found


def _first_coordinate(distance: Floats) -> Floats:
    """First coordinate of classical multidimensional scaling, of length 1."""
    squares = distance**2
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    last = len(squares) - 1
    _, vectors = eigh(-squares / 2.0, subset_by_index=[last, last])
    coordinate: Floats = np.round(vectors[:, 0], _DECIMALS)
    return coordinate
