"""Rough estimate of the noise, which calibrates the prior of sigma.

Chipman, George & McCulloch (2010), section 2.2.4: the residual standard deviation of least squares,
or the standard deviation of y if least squares has no residual.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arboleda._engine.table import SparseTable, Table

Floats = npt.NDArray[np.float64]

_MAX_ROWS = 10_000  # for least squares, because a rough estimate suffices
_MAX_COLUMNS = 1_000
_MIN_SHARE = 0.01  # of the standard deviation of y


def estimate_noise(
    table: Table | SparseTable, rows: npt.NDArray[np.uint32], y: Floats, weight: Floats | None
) -> float:
    """Estimate sigma, where the noise of a row has the variance sigma^2 / weight.

    The estimate is at least a hundredth of the standard deviation of y, because the prior would be
    degenerate after a perfect fit. It is 1 if y is constant.

    Parameters
    ----------
    table : Table or SparseTable
        The training table. Least squares is not used for sparse tables.
    rows : ndarray of shape (n_rows,)
        Indices of the training rows.
    y, weight : ndarray of shape (n_rows,)
        Targets and weights of these rows; None: all weights are 1.
    """
    w = np.ones(y.size) if weight is None else weight
    spread = _compute_weighted_std(y, w)
    if spread == 0.0:
        return 1.0
    sample = np.arange(0, y.size, -(-y.size // _MAX_ROWS))
    residual = None
    if isinstance(table, Table):
        residual = _compute_residual_std(
            _make_design_matrix(table, rows[sample]), y[sample], w[sample]
        )
    return max(spread if residual is None else residual, _MIN_SHARE * spread)


def _compute_weighted_std(y: Floats, w: Floats) -> float:
    residual = y - np.average(y, weights=w)
    return float(np.sqrt((w * residual**2).sum() / max(1, y.size - 1)))


def _make_design_matrix(table: Table, rows: npt.NDArray[np.uint32]) -> Floats | None:
    """Build scaled columns with means for missing values, and indicators of categories.

    None if there are too few rows or too many columns for least squares.
    """
    width = sum(max(1, levels) for levels in table.n_levels)
    if not rows.size > width + 1 or width > _MAX_COLUMNS:
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
    """Compute the residual standard deviation; None without residual degrees of freedom."""
    if design is None:
        return None
    root = np.sqrt(w)
    solution, _, rank, _ = np.linalg.lstsq(design * root[:, np.newaxis], y * root, rcond=None)
    if rank >= y.size:
        return None
    residual = y - design @ solution
    return float(np.sqrt((w * residual**2).sum() / (y.size - rank)))
