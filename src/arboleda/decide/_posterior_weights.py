"""Weights of posteriors, found by the cost that decisions had on rows not learned from.

A decision argmin_j sum_k L_kj w_k P(k | x) with weights w of the classes is a threshold where there
are two classes: it depends on w_1 / w_0 alone. As one weight grows, the expected cost of each
decision for a row is a line, so the decision changes at corners of the lower envelope of K lines;
the cost over all rows changes there only, and its least value is found exactly by sorting all
corners. With more classes the weights take turns until none gains.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.decide._costs import best_decisions, relative

__all__ = ["cost_of_decisions", "learned_weights", "weighted_mean"]

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]

_MOST_SWEEPS = 50
# Weights stay inside these limits; beyond them a class is never, or always, decided for.
_SMALLEST, _LARGEST = 1e-100, 1e100
# Sums of costs in another order differ by so much of their size.
_ROUNDING = 1e-12


def cost_of_decisions(
    true: Numbers, decided: Numbers, costs: Floats, weight: Floats | None
) -> float:
    """Mean cost of decisions, weighted by rows.

    Parameters
    ----------
    true, decided : ndarray of shape (n_rows,)
        Numbers of classes.
    costs : ndarray of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes)
    weight : ndarray of shape (n_rows,) or None
    """
    paid = _paid(true, costs)[np.arange(len(true)), decided]
    return weighted_mean(paid, weight)


def weighted_mean(values: npt.NDArray[Any], weight: Floats | None) -> float:
    """Mean of values, weighted by rows whose weights may be so large that their sum is no number.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,) or None
        Some row has weight.
    """
    return float(np.average(values, weights=None if weight is None else weight / weight.max()))


def learned_weights(posteriors: Floats, true: Numbers, costs: Floats, weight: Floats) -> Floats:
    """Weights of the classes' posteriors that make the decisions cost least.

    With two classes the least cost of all thresholds; with more a cost that no single weight can
    lower, and never more than that of equal weights.

    Parameters
    ----------
    posteriors : ndarray of shape (n_rows, n_classes)
    true : ndarray of shape (n_rows,)
        Numbers of the classes.
    costs : ndarray of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes)
    weight : ndarray of shape (n_rows,)
        Of the rows; rows of weight 0 have no say.

    Returns
    -------
    weights : ndarray of shape (n_classes,)
        With geometric mean 1.
    """
    n_classes = posteriors.shape[1]
    used = weight > 0
    posteriors, true, weight = posteriors[used], true[used], weight[used] / weight[used].max()
    costs = costs if costs.ndim == 2 else costs[used]
    paid = _paid(true, costs)
    # All in units of the largest difference, so that sums neither overflow nor vanish.
    paid = paid - paid.min(axis=1, keepdims=True)
    paid *= (weight / max(paid.max(), np.finfo(np.float64).tiny))[:, np.newaxis]
    slack = _ROUNDING * paid.sum()
    lines = relative(costs)
    rows = np.arange(len(true))

    def total(weights: Floats) -> float:
        return float(paid[rows, best_decisions(posteriors * weights, costs)].sum())

    weights = np.ones(n_classes)
    least = total(weights)
    # Only the ratio counts, so that one of two weights stays.
    turns = range(n_classes) if n_classes > 2 else range(1, n_classes)
    for _ in range(_MOST_SWEEPS):
        before = least
        for number in turns:
            changed = weights.copy()
            changed[number] = _best_weight(posteriors, weights, lines, paid, number, slack)
            cost = total(changed)
            if cost < least - slack:
                weights, least = changed, cost
        if least == before:
            break
    scaled: Floats = np.exp(np.log(weights) - np.log(weights).mean())
    return scaled


def _paid(true: Numbers, costs: Floats) -> Floats:
    """Costs of all decisions for rows whose truth is known, of shape (n_rows, n_classes)."""
    paid: Floats = costs[true] if costs.ndim == 2 else costs[np.arange(len(true)), true]
    return paid


def _best_weight(
    posteriors: Floats, weights: Floats, lines: Floats, paid: Floats, number: int, slack: float
) -> float:
    """Weight of one class with which the decisions cost least, the nearest to the present one."""
    others = posteriors * weights
    others[:, number] = 0.0
    own = posteriors[:, number, np.newaxis] * lines[..., number, :]
    start = others @ lines if lines.ndim == 2 else np.einsum("ik,ikj->ij", others, lines)
    places, changes = _corners(start, own, paid)
    if not len(places):
        return float(weights[number])
    order = np.argsort(places, kind="stable")
    places, first = np.unique(places[order], return_index=True)
    steps = np.add.reduceat(changes[order], first)
    # Costs between the corners, less that before the first one.
    between = np.concatenate([[0.0], np.cumsum(steps)])
    lower, upper = np.append(0.0, places), np.append(places, np.inf)
    best = np.flatnonzero(between <= between.min() + slack)
    present = weights[number]
    if np.any((lower[best] < present) & (present < upper[best])):
        return float(present)
    middles = [_between(lower[b], upper[b]) for b in best]
    return min(middles, key=lambda middle: abs(np.log(middle / present)))


def _between(lower: float, upper: float) -> float:
    if lower == 0.0:
        return upper / 2.0
    return lower * 2.0 if np.isinf(upper) else float(np.sqrt(lower) * np.sqrt(upper))


def _corners(start: Floats, slopes: Floats, paid: Floats) -> tuple[Floats, Floats]:
    """Where the lowest of the lines start + w slopes changes as w grows from 0, and what it costs.

    Parameters
    ----------
    start, slopes, paid : ndarray of shape (n_rows, n_classes)

    Returns
    -------
    places : ndarray
        Values of w, of all rows.
    changes : ndarray
        By how much the cost of the row changes there.
    """
    rows = np.arange(len(start))
    now = _lowest(start, slopes)
    places, changes = [], []
    for _ in range(start.shape[1] - 1):
        falls = slopes[rows, now][:, np.newaxis] - slopes
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            at = (start - start[rows, now][:, np.newaxis]) / falls
        at[~(falls > 0.0) | ~(at < _LARGEST)] = np.inf
        at = np.maximum(at, _SMALLEST)
        after = _lowest(at, slopes)
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


def _lowest(first: Floats, then: Floats) -> Numbers:
    """Column of the least value in each row; of equals the least in the second array."""
    least = first == first.min(axis=1, keepdims=True)
    lowest: Numbers = np.where(least, then, np.inf).argmin(axis=1)
    return lowest
