"""The rough estimate of the noise that the prior of sigma is calibrated to.

Chipman, George & McCulloch (2010), section 2.2.4: the residual standard deviation of least squares,
or the standard deviation of y where least squares has no residual.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arboleda._engine.table import SparseTable, Table

Floats = npt.NDArray[np.float64]

_MOST_ROWS = 10_000  # of least squares: the estimate is rough
_MOST_COLUMNS = 1_000
_LEAST_SHARE = 0.01  # of the standard deviation of y


def estimate_noise(
    table: Table | SparseTable, rows: npt.NDArray[np.uint32], y: Floats, weight: Floats | None
) -> float:
    """Return an estimate of sigma, where the noise of a row has the variance sigma^2 / weight.

    At least a hundredth of the standard deviation of y, as a perfect fit would leave no prior; 1
    where y is constant.

    Parameters
    ----------
    table : Table or SparseTable
        The training table. A sparse one is not read.
    rows : ndarray of shape (n_rows,)
        The rows of the table that are used.
    y, weight : ndarray of shape (n_rows,)
        Their targets and weights; None: all weights are 1.
    """
    w = np.ones(y.size) if weight is None else weight
    spread = _compute_weighted_std(y, w)
    if spread == 0.0:
        return 1.0
    some = np.arange(0, y.size, -(-y.size // _MOST_ROWS))
    residual = None
    if isinstance(table, Table):
        residual = _compute_residual_std(_make_design_matrix(table, rows[some]), y[some], w[some])
    return max(spread if residual is None else residual, _LEAST_SHARE * spread)


def _compute_weighted_std(y: Floats, w: Floats) -> float:
    off = y - np.average(y, weights=w)
    return float(np.sqrt((w * off**2).sum() / max(1, y.size - 1)))


def _make_design_matrix(table: Table, rows: npt.NDArray[np.uint32]) -> Floats | None:
    """Standardised numbers with means for missing values, and indicators of categories.

    None where least squares on these columns would be no rough estimate any more.
    """
    width = sum(max(1, levels) for levels in table.n_levels)
    if not rows.size > width + 1 or width > _MOST_COLUMNS:
        return None
    parts: list[Floats] = [np.ones((rows.size, 1))]
    for column, levels in zip(table.columns, table.n_levels, strict=True):
        values = np.asarray(column[rows], dtype=np.float64)
        if levels > 0:
            parts.append((values[:, np.newaxis] == np.arange(levels)).astype(np.float64))
            continue
        largest = np.nanmax(np.abs(values)) if not np.isnan(values).all() else 0.0
        if largest > 0.0:
            values = values / largest
            values = np.where(np.isnan(values), np.nanmean(values), values)
            parts.append((values - values.mean())[:, np.newaxis])
    return np.hstack(parts)


def _compute_residual_std(design: Floats | None, y: Floats, w: Floats) -> float | None:
    """Return the residual standard deviation; None where it has no degree of freedom."""
    if design is None:
        return None
    root = np.sqrt(w)
    solution, _, rank, _ = np.linalg.lstsq(design * root[:, np.newaxis], y * root, rcond=None)
    if rank >= y.size:
        return None
    off = y - design @ solution
    return float(np.sqrt((w * off**2).sum() / (y.size - rank)))
