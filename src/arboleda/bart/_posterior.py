"""Draws from the posterior: convergence, quantiles, noise estimates and model files.

Chipman, George & McCulloch (2010), section 2.2.4: the residual standard deviation of least squares,
or the standard deviation of y if least squares has no residual.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from arboleda._engine.bart import POSTERIOR_ARRAYS, Posterior
from arboleda._engine.table import DenseTable, SparseTable
from arboleda._utils.coverage import check_coverage
from arboleda._utils.errors import ModelFormatError
from arboleda.persist import SavedArray

Floats = npt.NDArray[np.float64]


def compute_split_r_hat(draws: Floats) -> float:
    """Compute the potential scale reduction factor of chains split in halves.

    With M half chains of n draws, W the mean of their variances and B / n the variance of their
    means, R-hat = sqrt(((n - 1) / n W + B / n) / W). It is near 1 if the halves of all chains
    agree. A. Gelman et al. (2013), "Bayesian Data Analysis", 3rd edition, section 11.4.

    Parameters
    ----------
    draws : ndarray of shape (n_chains, n_draws)
        Draws after the burn-in.

    Returns
    -------
    r_hat : float
        NaN for fewer than 4 draws per chain, 1 if all draws are equal.
    """
    n = draws.shape[1] // 2
    if n < 2:
        return math.nan
    halves = np.concatenate([draws[:, :n], draws[:, -n:]])
    within = float(halves.var(axis=1, ddof=1).mean())
    between = float(halves.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return 1.0 if between == 0.0 else math.inf
    return math.sqrt(((n - 1) / n * within + between) / within)


_MAX_ROWS = 10_000  # for least squares, because a rough estimate suffices
_MAX_COLUMNS = 1_000
_MIN_SHARE = 0.01  # of the standard deviation of y


def estimate_noise(
    table: DenseTable | SparseTable, rows: npt.NDArray[np.uint32], y: Floats, weight: Floats | None
) -> float:
    """Estimate sigma, where the noise of a row has the variance sigma^2 / weight.

    The estimate is at least a hundredth of the standard deviation of y, because the prior would be
    degenerate after a perfect fit. It is 1 if y is constant.

    Parameters
    ----------
    table : DenseTable or SparseTable
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
    if isinstance(table, DenseTable):
        residual = _compute_residual_std(
            _make_design_matrix(table, rows[sample]), y[sample], w[sample]
        )
    return max(spread if residual is None else residual, _MIN_SHARE * spread)


def _compute_weighted_std(y: Floats, w: Floats) -> float:
    residual = y - np.average(y, weights=w)
    return float(np.sqrt((w * residual**2).sum() / max(1, y.size - 1)))


def _make_design_matrix(table: DenseTable, rows: npt.NDArray[np.uint32]) -> Floats | None:
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
    check_coverage(coverage)
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


class PosteriorsField:
    """Field of a tuple of posteriors, each with five arrays."""

    def encode(self, name: str, value: Any, sections: Any) -> list[dict[str, Any]]:
        """Return the sizes of each posterior and the names of its arrays."""
        return [
            {
                "n_draws": posterior.n_draws,
                "n_trees": posterior.n_trees,
                "arrays": {
                    part: SavedArray(dtype).encode(
                        f"{name}.{number}.{part}", posterior.arrays[part], sections
                    )
                    for part, dtype in POSTERIOR_ARRAYS.items()
                },
            }
            for number, posterior in enumerate(value)
        ]

    def decode(self, name: str, stored: Any, sections: Any) -> tuple[Posterior, ...]:
        """Return the validated posteriors."""
        if not isinstance(stored, list):
            raise ModelFormatError(f"{name} is not a list of posteriors")
        return tuple(
            self._decode_one(f"{name}.{number}", one, sections) for number, one in enumerate(stored)
        )

    def _decode_one(self, name: str, stored: Any, sections: Any) -> Posterior:
        match stored:
            case {
                "n_draws": int(n_draws),
                "n_trees": int(n_trees),
                "arrays": dict(names),
                **rest,
            } if (
                not rest
                and type(n_draws) is type(n_trees) is int
                and 0 < n_draws < 2**62
                and 0 < n_trees < 2**62
                and names.keys() == POSTERIOR_ARRAYS.keys()
            ):
                arrays = {
                    part: SavedArray(dtype).decode(f"{name}.{part}", names[part], sections)
                    for part, dtype in POSTERIOR_ARRAYS.items()
                }
            case _:
                raise ModelFormatError(f"{name} is not a posterior of trees")
        try:
            return Posterior.from_arrays(n_draws, n_trees, arrays)
        except ValueError as error:
            raise ModelFormatError(f"{name}: {error}") from error
