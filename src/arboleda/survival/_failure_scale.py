"""Scale of the logarithm of times to an event, estimated without columns."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import log_ndtr

from arboleda._engine.all_shards import ALONE, AllShards
from arboleda._utils.survival_times import SurvivalIntervals

Floats = npt.NDArray[np.float64]

# More rows are represented by so many, evenly spaced in the order of their intervals.
_MOST_ROWS = 20_000


def estimate_scale(
    intervals: SurvivalIntervals,
    weight: Floats | None,
    distribution: str,
    shards: AllShards = ALONE,
) -> float:
    """Return the scale of the log-location-scale distribution with the largest likelihood.

    Parameters
    ----------
    intervals : SurvivalIntervals
        At least one with a finite upper end.
    weight : ndarray of shape (n_samples,), or None
    distribution : {"normal", "logistic", "extreme"}
    shards : AllShards
        The shards among which the rows are divided. They send each other their distinct rows.

    Returns
    -------
    scale : float
        With three digits, and between 0.01 and 100, so that it does not depend on the order of the
        rows.
    """
    weight = np.ones(len(intervals)) if weight is None else weight
    rows = np.column_stack([intervals.lower, intervals.upper, weight])
    lower, upper, weight = (_choose_rows if shards.is_alone else _choose_from_all)(rows, shards).T
    with np.errstate(divide="ignore"):
        low, high = np.log(lower), np.log(upper)
    known = np.where(np.isfinite(high), high, low)
    known = known[np.isfinite(known)]
    start = np.array([known.mean(), np.log(max(known.std(), 0.1))])

    def loss(parameters: Floats) -> float:
        location, log_scale = parameters
        scale = np.exp(np.clip(log_scale, -20.0, 20.0))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            ends = (low - location) / scale, (high - location) / scale
            likelihood = _log_likelihood(*ends, distribution)
            exact = np.where(low == high, np.log(scale), 0.0)
        value = float(np.sum(weight * (exact - likelihood)))
        return value if np.isfinite(value) else 1e300

    best = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9})
    return float(f"{np.clip(np.exp(best.x[1]), 0.01, 100.0):.3g}")


def _choose_rows(rows: Floats, shards: AllShards) -> Floats:
    """Return rows that are evenly spaced among the sorted ones."""
    order = _sort(rows)
    return rows[order[_space_evenly(len(order))]]


def _choose_from_all(rows: Floats, shards: AllShards) -> Floats:
    """Return the rows that are evenly spaced among the sorted ones of all shards."""
    rows = rows[_sort(rows)]
    is_first = np.append(True, (rows[1:] != rows[:-1]).any(axis=1))[: len(rows)]
    first = np.flatnonzero(is_first)
    distinct = shards.join(rows[first])
    counts = shards.join(np.diff(first, append=len(rows)))
    order = _sort(distinct)
    ends = np.cumsum(counts[order])
    places = np.searchsorted(ends, _space_evenly(int(ends[-1])), side="right")
    return distinct[order[places]]


def _sort(rows: Floats) -> npt.NDArray[np.intp]:
    """Return the order of rows by their first column, then by the others."""
    order: npt.NDArray[np.intp] = np.lexsort(rows.T[::-1])
    return order


def _space_evenly(n_rows: int) -> npt.NDArray[np.intp]:
    return np.linspace(0, n_rows - 1, min(n_rows, _MOST_ROWS)).astype(np.intp)


def _log_likelihood(low: Floats, high: Floats, distribution: str) -> Floats:
    """Return the log density at exact times, and the log probability of other intervals."""
    is_exact = low == high
    is_above = np.isinf(high) | (low + high > 0.0)
    z = np.where(is_exact, low, 0.0)
    from_above = _log_above(low, distribution)
    gap = from_above - _log_above(high, distribution)
    above = np.where(np.isinf(high), from_above, from_above + np.log(-np.expm1(-gap)))
    to_below = _log_below(high, distribution)
    gap = to_below - _log_below(low, distribution)
    below = np.where(np.isinf(low), to_below, to_below + np.log(-np.expm1(-gap)))
    density = _log_density(z, distribution)
    likelihood: Floats = np.where(is_exact, density, np.where(is_above, above, below))
    return likelihood


def _log_density(z: Floats, distribution: str) -> Floats:
    if distribution == "normal":
        return -0.5 * z * z - 0.5 * math.log(2.0 * math.pi)
    tail: Floats = 2.0 * np.logaddexp(0.0, z) if distribution == "logistic" else np.exp(z)
    return z - tail


def _log_above(z: Floats, distribution: str) -> Floats:
    if distribution == "normal":
        normal: Floats = log_ndtr(-z)
        return normal
    hazard: Floats = np.logaddexp(0.0, z) if distribution == "logistic" else np.exp(z)
    return -hazard


def _log_below(z: Floats, distribution: str) -> Floats:
    if distribution == "extreme":
        extreme: Floats = np.log(-np.expm1(-np.exp(z)))
        return extreme
    return _log_above(-z, distribution)
