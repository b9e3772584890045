"""Concordance of predicted risks with times to an event."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.survival_times import (
    SurvivalIntervals,
    SurvivalTimes,
    has_intervals,
    read_survival_intervals,
    read_survival_times,
)

__all__ = [
    "compute_concordance",
    "concordance_index",
    "count_smaller",
    "read_risk",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def concordance_index(
    y: Any, risk: npt.ArrayLike, *, sample_weight: Any = None, tied_tol: float = 1e-8
) -> float:
    """Compute Harrell's concordance index.

    The share of the comparable pairs of rows whose predicted risks have the order of their times.
    A pair is comparable if the row with the event had it before the time of the other row, or at
    the time at which the other was censored. Equal risks count one half.

    Parameters
    ----------
    y : structured ndarray or data frame of n_samples rows
        Event indicator and time; or intervals, with fields "lower" and "upper".
    risk : array-like of shape (n_samples,)
        Predicted risk; larger means an earlier event.
    sample_weight : array-like of shape (n_samples,), default=None
        A pair counts the product of the weights of its rows.
    tied_tol : float, default=1e-8
        Largest difference of risks that are considered equal.

    Returns
    -------
    concordance : float
        From 0 to 1; 0.5 for constant risks.

    Raises
    ------
    ValueError
        If no pair is comparable, lengths differ, or a risk is not finite.

    References
    ----------
    F. Harrell, K. Lee, D. Mark (1996), "Multivariable prognostic models", Statistics in Medicine
    15(4).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda.metrics import concordance_index
    >>> y = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], dtype="?,f8")
    >>> concordance_index(y, [0.9, 0.1, 0.2])
    1.0
    """
    intervals = (
        read_survival_intervals(y)
        if has_intervals(y)
        else _make_intervals(read_survival_times(y, requires_event=False))
    )
    n_rows = len(intervals)
    weight = _read_weight(sample_weight, n_rows)
    return _compute_concordance(intervals, read_risk(risk, n_rows), weight, weight, tied_tol)


def read_risk(risk: npt.ArrayLike, n_rows: int) -> Floats:
    """Check and return predicted risks, one per row."""
    values = np.asarray(risk, dtype=np.float64)
    if values.shape != (n_rows,):
        raise ValueError(f"risk has the shape {values.shape}; {n_rows} rows need one number each")
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise ValueError(f"risk is {values[wrong[0]]} in row {wrong[0]}: it must be finite")
    return values


def _read_weight(weight: Any, n_rows: int) -> Floats:
    if weight is None:
        return np.ones(n_rows)
    values = np.asarray(weight, dtype=np.float64)
    if values.shape != (n_rows,) or not (np.isfinite(values) & (values >= 0.0)).all():
        raise ValueError(f"sample_weight must hold {n_rows} finite, non-negative numbers")
    return values


def compute_concordance(
    times: SurvivalTimes, risk: Floats, event_weight: Floats, weight: Floats, tied_tol: float
) -> float:
    """Return the weighted share of concordant pairs.

    A pair weighs the event weight of its earlier row times the weight of the other.
    """
    return _compute_concordance(_make_intervals(times), risk, event_weight, weight, tied_tol)


def _make_intervals(times: SurvivalTimes) -> SurvivalIntervals:
    return SurvivalIntervals(times.time, np.where(times.event, times.time, np.inf))


def _compute_concordance(
    intervals: SurvivalIntervals,
    risk: Floats,
    event_weight: Floats,
    weight: Floats,
    tied_tol: float,
) -> float:
    # Later rows first, and inexact times before exact ones: the rows comparable with an event are
    # those before the first exact time at the end of its interval.
    is_exact = intervals.lower == intervals.upper
    order = np.lexsort((is_exact, -intervals.lower))
    lower, upper, is_exact = intervals.lower[order], intervals.upper[order], is_exact[order]
    risk, weight = risk[order], weight[order]
    ends = np.flatnonzero(np.isfinite(upper))
    starts = np.searchsorted(-lower, -upper[ends], side="left")
    n_inexact = np.cumsum(np.concatenate([[0], ~is_exact]))
    stops = np.searchsorted(-lower, -upper[ends], side="right")
    n_comparable = starts + n_inexact[stops] - n_inexact[starts]
    ranks = np.sort(risk)
    below = np.searchsorted(ranks, risk[ends] - tied_tol, side="left")
    up_to = np.searchsorted(ranks, risk[ends] + tied_tol, side="right")
    values = np.searchsorted(ranks, risk)
    smaller = count_smaller(values, weight, n_comparable, below)
    tied = count_smaller(values, weight, n_comparable, up_to) - smaller
    all_weight = np.concatenate([[0.0], np.cumsum(weight)])[n_comparable]
    w = event_weight[order][ends]
    total = float(np.sum(w * all_weight))
    if not total > 0.0:
        raise ValueError(
            "no pair of rows is comparable: at least one row must have the event before the time "
            "of another row"
        )
    return float(np.sum(w * (smaller + 0.5 * tied))) / total


def count_smaller(values: Integers, weight: Floats, n_first: Integers, bounds: Integers) -> Floats:
    """Sum the weights of the values below a bound among the first ones, for many pairs of both.

    In O((n + m) log n), by the wavelet matrix of Claude, Navarro and Ordonez (2015): bit by bit
    from the highest, values are parted by the bit, and each query follows its bound.

    Parameters
    ----------
    values : ndarray of int, shape (n,)
        From 0 to n - 1.
    weight : ndarray of shape (n,)
    n_first : ndarray of int, shape (m,)
        The query looks at ``values[:n_first]``.
    bounds : ndarray of int, shape (m,)
        Values below the bound are counted.

    Returns
    -------
    sums : ndarray of shape (m,)
    """
    low, high = np.zeros_like(n_first), n_first.copy()
    sums = np.zeros(len(n_first))
    for bit in reversed(range(len(values).bit_length())):
        is_zero = (values >> bit) & 1 == 0
        n_zeros = np.concatenate([[0], np.cumsum(is_zero)])
        of_zeros = np.concatenate([[0.0], np.cumsum(np.where(is_zero, weight, 0.0))])
        goes_right = (bounds >> bit) & 1 == 1
        sums += np.where(goes_right, of_zeros[high] - of_zeros[low], 0.0)
        zeros_low, zeros_high = n_zeros[low], n_zeros[high]
        low = np.where(goes_right, n_zeros[-1] + low - zeros_low, zeros_low)
        high = np.where(goes_right, n_zeros[-1] + high - zeros_high, zeros_high)
        parted = np.argsort(~is_zero, kind="stable")
        values, weight = values[parted], weight[parted]
    return sums
