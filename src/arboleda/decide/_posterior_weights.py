"""Weights of posteriors that minimize the cost of decisions on held-out rows.

With two classes, a decision argmin_j sum_k L_kj w_k P(k | x) with class weights w is a threshold:
it depends on w_1 / w_0 only. As a function of one weight, the expected cost of each decision for a
row is a line. The decision changes at the corners of the lower envelope of K lines. The total cost
changes at these corners only, and its minimum is found exactly by sorting all corners. With more
classes the weights are optimized in turn until no weight improves the cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.decide._costs import best_decisions, normalize_costs

__all__ = ["compute_mean_cost", "compute_weighted_mean", "learn_weights"]

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]

_MAX_SWEEPS = 50
# Limits of the weights; beyond them a class is never, or always, predicted.
_SMALLEST, _LARGEST = 1e-100, 1e100
# Relative tolerance for sums of costs in a different order.
_ROUNDING = 1e-12


def compute_mean_cost(
    true: Numbers, decided: Numbers, costs: Floats, weight: Floats | None
) -> float:
    """Return the weighted mean cost of decisions.

    Parameters
    ----------
    true, decided : ndarray of shape (n_rows,)
        Class indices.
    costs : ndarray of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes)
    weight : ndarray of shape (n_rows,) or None
    """
    paid = _get_decision_costs(true, costs)[np.arange(len(true)), decided]
    return compute_weighted_mean(paid, weight)


def compute_weighted_mean(values: npt.NDArray[Any], weight: Floats | None) -> float:
    """Return the weighted mean of values, also if the sum of the weights overflows.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,) or None
        At least one weight must be positive.
    """
    return float(np.average(values, weights=None if weight is None else weight / weight.max()))


def learn_weights(posteriors: Floats, true: Numbers, costs: Floats, weight: Floats) -> Floats:
    """Return class weights of the posteriors that minimize the cost of the decisions.

    With two classes the cost is the minimum over all thresholds. With more classes no change of a
    single weight lowers the cost, and it is never above that of equal weights.

    Parameters
    ----------
    posteriors : ndarray of shape (n_rows, n_classes)
    true : ndarray of shape (n_rows,)
        Class indices.
    costs : ndarray of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes)
    weight : ndarray of shape (n_rows,)
        Weights of the rows; rows of weight 0 are ignored.

    Returns
    -------
    weights : ndarray of shape (n_classes,)
        Class weights with geometric mean 1.
    """
    n_classes = posteriors.shape[1]
    used = weight > 0
    posteriors, true, weight = posteriors[used], true[used], weight[used] / weight[used].max()
    costs = costs if costs.ndim == 2 else costs[used]
    paid = _get_decision_costs(true, costs)
    # Dividing by the largest difference keeps sums from overflow and underflow.
    paid = paid - paid.min(axis=1, keepdims=True)
    paid *= (weight / max(paid.max(), np.finfo(np.float64).tiny))[:, np.newaxis]
    slack = _ROUNDING * paid.sum()
    lines = normalize_costs(costs)
    rows = np.arange(len(true))

    def total(weights: Floats) -> float:
        return float(paid[rows, best_decisions(posteriors * weights, costs)].sum())

    weights = np.ones(n_classes)
    least = total(weights)
    # With two classes only the ratio of the weights matters, and the first one stays fixed.
    turns = range(n_classes) if n_classes > 2 else range(1, n_classes)
    for _ in range(_MAX_SWEEPS):
        before = least
        for number in turns:
            changed = weights.copy()
            changed[number] = _find_best_weight(posteriors, weights, lines, paid, number, slack)
            cost = total(changed)
            if cost < least - slack:
                weights, least = changed, cost
        if least == before:
            break
    scaled: Floats = np.exp(np.log(weights) - np.log(weights).mean())
    return scaled


def _get_decision_costs(true: Numbers, costs: Floats) -> Floats:
    """Return the cost of each decision given the true class, of shape (n_rows, n_classes)."""
    paid: Floats = costs[true] if costs.ndim == 2 else costs[np.arange(len(true)), true]
    return paid


def _find_best_weight(
    posteriors: Floats, weights: Floats, lines: Floats, paid: Floats, number: int, slack: float
) -> float:
    """Return the weight of one class with the lowest cost, the closest to the current weight."""
    others = posteriors * weights
    others[:, number] = 0.0
    own = posteriors[:, number, np.newaxis] * lines[..., number, :]
    start = others @ lines if lines.ndim == 2 else np.einsum("ik,ikj->ij", others, lines)
    places, changes = _find_corners(start, own, paid)
    if not len(places):
        return float(weights[number])
    order = np.argsort(places, kind="stable")
    places, first = np.unique(places[order], return_index=True)
    steps = np.add.reduceat(changes[order], first)
    # Costs between the corners, minus the cost before the first one.
    between = np.concatenate([[0.0], np.cumsum(steps)])
    lower, upper = np.append(0.0, places), np.append(places, np.inf)
    best = np.flatnonzero(between <= between.min() + slack)
    current = weights[number]
    if np.any((lower[best] < current) & (current < upper[best])):
        return float(current)
    middles = [_choose_between(lower[b], upper[b]) for b in best]
    return min(middles, key=lambda middle: abs(np.log(middle / current)))


def _choose_between(lower: float, upper: float) -> float:
    if lower == 0.0:
        return upper / 2.0
    return lower * 2.0 if np.isinf(upper) else float(np.sqrt(lower) * np.sqrt(upper))


def _find_corners(start: Floats, slopes: Floats, paid: Floats) -> tuple[Floats, Floats]:
    """Find the corners of the lower envelopes of the lines start + w slopes for w > 0.

    Parameters
    ----------
    start, slopes, paid : ndarray of shape (n_rows, n_classes)

    Returns
    -------
    places : ndarray
        Values of w at the corners of all rows.
    changes : ndarray
        Change of the cost of the row at each corner.
    """
    rows = np.arange(len(start))
    now = _argmin_lines(start, slopes)
    places, changes = [], []
    for _ in range(start.shape[1] - 1):
        falls = slopes[rows, now][:, np.newaxis] - slopes
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            at = (start - start[rows, now][:, np.newaxis]) / falls
        at[~(falls > 0.0) | ~(at < _LARGEST)] = np.inf
        at = np.maximum(at, _SMALLEST)
        after = _argmin_lines(at, slopes)
        where = at[rows, after]
        met = np.isfinite(where)
        if not met.any():
            break
        places.append(where[met])
        changes.append((paid[rows, after] - paid[rows, now])[met])
        now = np.where(met, after, now)
    if not places:
        return np.empty(0), np.empty(0)
    return np.concatenate(places), np.concatenate(changes)


def _argmin_lines(first: Floats, then: Floats) -> Numbers:
    """Return the column of the minimum in each row; ties go to the minimum of the second array."""
    least = first == first.min(axis=1, keepdims=True)
    lowest: Numbers = np.where(least, then, np.inf).argmin(axis=1)
    return lowest
