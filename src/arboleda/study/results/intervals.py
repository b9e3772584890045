"""Intervals and standard errors of one metric over the test rows.

The draws of the bootstrap are many, so each metric is computed from what a draw changes: the
multiplicity of each row. Everything else, such as the order of the scores, is prepared once. The
values are those of ``arboleda.metrics``.

If no row was predicted wrong, no bootstrap sample has an error, and the interval would have no
width. If n of n predictions are correct, an error rate of up to

    u = 1 - tail^(1 / n)

is possible: the upper end of the interval of Clopper and Pearson (1934, "The use of confidence
or fiducial limits illustrated in the case of the binomial"), about 3.7 / n for 95 percent.

Standard errors of metrics and of differences use the influence of each row. For a metric T of the
rows' distribution P and a row i,

    I_i = d/de T((1 - e) P + e delta_i) at e = 0,        se(T) = sqrt(sum_i I_i^2) / n

(the infinitesimal jackknife: Efron 1982, chapter 6). Two models on the same rows are compared by
the differences of their I_i, which keeps the rows paired. For accuracies this is the variance of
McNemar's test, for areas under ROC curves that of DeLong, DeLong and Clarke-Pearson (1988); no
resampling is needed.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from arboleda.metrics import counts
from arboleda.study.results.scoring import compute_row_costs

__all__ = [
    "DRAWS",
    "LEVEL",
    "bootstrap_interval",
    "compute_influence",
    "compute_least_area",
    "compute_log_losses",
    "compute_possible_counts",
    "compute_score",
]

DRAWS = 1000
LEVEL = 0.95
_OF_SCORES = ("roc_auc", "log_loss")
_OF_COUNTS = {
    "accuracy": counts.accuracy,
    "balanced_accuracy": counts.balanced_accuracy,
    "f1_macro": lambda table: float(np.mean(counts.f1(table))),
    "mcc": counts.matthews,
}
# Metrics that do not depend on counts of (true, predicted) pairs alone.
_OF_ROWS = (*_OF_SCORES, "cost")
# What the seed is mixed with, so that two uses of it draw different numbers.
_PURPOSE = 1

Floats = npt.NDArray[np.float64]
# A metric of rows with multiplicities; None where it is undefined.
Measure = Callable[[Floats], float | None]
Counts = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


def bootstrap_interval(
    metric: str,
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: Floats | None,
    *,
    n_classes: int,
    seed: int,
    groups: npt.NDArray[np.int64] | None = None,
    costs: Floats | None = None,
) -> tuple[float | None, float | None]:
    """Compute a percentile interval of a metric (Efron and Tibshirani 1993, section 13.3).

    With ``groups``, the group of each row, whole groups are drawn with replacement (the cluster
    bootstrap; Field and Welsh 2007, section 2). Draws in which the metric is undefined, because a
    class is absent, are skipped; both ends are None if no draw is left or all rows are of one
    group. If all predictions are correct, no draw has an error: the lower end is then the value at
    the largest possible error rate (see `zero_error_interval`). Metric "cost" needs ``costs`` by
    true and predicted class.
    """
    draw = np.random.default_rng([seed, _PURPOSE])
    values: list[float] = []
    if groups is None and n_classes and metric not in _OF_ROWS:
        # The confusion matrix of rows drawn with replacement is multinomial.
        whole = np.bincount(y * n_classes + predicted, minlength=n_classes**2)
        for cells in draw.multinomial(len(y), whole / len(y), size=DRAWS):
            drawn = cells.reshape(n_classes, n_classes).astype(np.float64)
            values.append(_OF_COUNTS[metric](drawn))
    else:
        measure = _measure(metric, y, predicted, score, n_classes, costs)
        found = [measure(times) for times in _draw_multiplicities(draw, len(y), groups)]
        values = [value for value in found if value is not None]
    if not values:
        return None, None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    units = np.arange(len(y)) if groups is None else groups
    if metric == "roc_auc" and compute_score(metric, y, predicted, score, n_classes) == 1.0:
        low = min(low, compute_least_area(y, n_classes, units, tail))
    elif metric in _OF_COUNTS and np.array_equal(y, predicted):
        possible = compute_possible_counts(y, n_classes, units, tail)
        low = min(low, _OF_COUNTS[metric](possible))
    return float(low), float(high)


def _draw_multiplicities(
    draw: np.random.Generator, n_rows: int, groups: npt.NDArray[np.int64] | None
) -> Iterator[Floats]:
    """Yield the multiplicity of each row, for each draw."""
    if groups is None:
        for _ in range(DRAWS):
            drawn = draw.integers(n_rows, size=n_rows)
            yield np.bincount(drawn, minlength=n_rows).astype(np.float64)
        return
    n_groups, of_row = len(np.unique(groups)), np.unique(groups, return_inverse=True)[1]
    if n_groups == 1:
        return
    for _ in range(DRAWS):
        drawn = draw.integers(n_groups, size=n_groups)
        yield np.bincount(drawn, minlength=n_groups).astype(np.float64)[of_row]


def compute_score(
    metric: str,
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: Floats | None,
    n_classes: int,
    costs: Floats | None = None,
) -> float | None:
    """Compute a metric of a study; None if it is undefined."""
    return _measure(metric, y, predicted, score, n_classes, costs)(np.ones(len(y)))


def _measure(
    metric: str,
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: Floats | None,
    n_classes: int,
    costs: Floats | None = None,
) -> Measure:
    if n_classes == 0:
        return _measure_quantities(metric, y, predicted)
    if costs is not None:
        return _average(compute_row_costs(y, predicted, score, costs))
    if metric in _OF_SCORES:
        if score is None or np.isnan(score).any():
            return lambda times: None
        return (
            _mean_area(y, score) if metric == "roc_auc" else _average(compute_log_losses(y, score))
        )
    cell = y * n_classes + predicted

    def of_cells(times: Floats) -> float:
        table = np.bincount(cell, weights=times, minlength=n_classes**2)
        return _OF_COUNTS[metric](table.reshape(n_classes, n_classes))

    return of_cells


def _average(parts: Floats) -> Callable[[Floats], float]:
    return lambda times: float(np.sum(times * parts) / np.sum(times))


def _measure_quantities(metric: str, y: Floats, predicted: Floats) -> Measure:
    error = y - predicted
    if metric == "mae":
        return _average(np.abs(error))
    mse = _average(error**2)
    if metric == "rmse":
        return lambda times: float(np.sqrt(mse(times)))

    def share_explained(times: Floats) -> float | None:
        some = y[times > 0]
        if some.min() == some.max():
            return None
        variance = _average((y - _average(y)(times)) ** 2)(times)
        return 1 - mse(times) / variance if variance > 0 else None

    return share_explained


def _mean_area(y: npt.NDArray[Any], score: Floats) -> Measure:
    """Return the area under the ROC curve of the second class, or the mean over many classes."""
    shown = [1] if score.shape[1] == 2 else range(score.shape[1])
    areas = [_area(y == k, score[:, k]) for k in shown]

    def mean(times: Floats) -> float | None:
        found = [value for area in areas if (value := area(times)) is not None]
        return float(np.mean(found)) if len(found) == len(areas) else None

    return mean


def _area(hit: npt.NDArray[np.bool_], score: Floats) -> Measure:
    """Return the Mann-Whitney statistic: how often a hit ranks above another row, ties by half."""
    hits, others = (
        some[np.argsort(score[some])] for some in (np.flatnonzero(hit), np.flatnonzero(~hit))
    )
    # Numbers of other rows below each hit, and not above it.
    below = np.searchsorted(score[others], score[hits], side="left")
    up_to = np.searchsorted(score[others], score[hits], side="right")

    def area(times: Floats) -> float | None:
        of_hits, of_others = times[hits], np.append(0.0, np.cumsum(times[others]))
        n_pairs = of_hits.sum() * of_others[-1]
        wins = np.sum(of_hits * (of_others[below] + of_others[up_to])) / 2
        return float(wins / n_pairs) if n_pairs else None

    return area


def compute_log_losses(y: npt.NDArray[Any], score: Floats) -> Floats:
    """Return the log-loss of each row, by the probabilities of all classes."""
    smallest = np.finfo(np.float64).eps
    return -np.asarray(np.log(np.clip(score[np.arange(len(y)), y], smallest, 1.0)))


def compute_possible_counts(y: Rows, n_classes: int, units: Rows, tail: float) -> Counts:
    """Return counts by true and predicted class at the largest possible error rate.

    Each class has the same error rate; errors go to other classes by their frequency.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Classes of the rows, all predicted correctly.
    n_classes : int
    units : ndarray of shape (n,)
        The unit of each row: rows of one unit are not independent.
    tail : float
        Probability of no error at that error rate.
    """
    counts = np.bincount(y, minlength=n_classes).astype(np.float64)
    wrong = 1 - _least_share(units, tail)
    others = np.tile(counts, (n_classes, 1))
    np.fill_diagonal(others, 0.0)
    if not others[y[0]].any():
        others[y[0]] = 1.0
        others[y[0], y[0]] = 0.0
    total = others.sum(axis=1, keepdims=True)
    spread = np.divide(others, total, out=np.zeros_like(others), where=total > 0)
    possible: Counts = np.diag((1 - wrong) * counts) + wrong * counts[:, np.newaxis] * spread
    return possible


def compute_least_area(y: Rows, n_classes: int, units: Rows, tail: float) -> float:
    """Return the smallest possible area under the ROC curve of a perfect ranking.

    As many pairs as the rarer class has units share no row and so are independent. With more than
    two classes it is the mean over the classes.
    """
    shown = [1] if n_classes == 2 else range(n_classes)
    areas = []
    for k in shown:
        hit = y == k
        rarer = min((units[hit], units[~hit]), key=lambda some: len(np.unique(some)))
        areas.append(_least_share(rarer, tail))
    return float(np.mean(areas))


def _least_share(units: Rows, tail: float) -> float:
    """Return the smallest possible accuracy if all predictions are correct."""
    return float(tail ** (1 / len(np.unique(units))))


def compute_influence(
    metric: str,
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: Floats | None,
    n_classes: int,
    costs: Floats | None = None,
) -> tuple[float, Floats] | None:
    """Compute a metric and the influence of each row; None if the metric is undefined.

    Parameters
    ----------
    metric : str
        Key of a metric of a study.
    y, predicted : ndarray of shape (n,)
        Numbers of classes, or values.
    score : ndarray of shape (n, n_classes) or None
        Probabilities or decision values.
    n_classes : int
        0 in a regression.
    costs : ndarray of shape (n_classes, n_classes), optional
        By true and predicted class, for the metric "cost" alone.

    Returns
    -------
    value : float
    influence : ndarray of shape (n,)
        Sums to 0.
    """
    value = compute_score(metric, y, predicted, score, n_classes, costs)
    if value is None or not np.isfinite(value):
        return None
    if n_classes == 0:
        parts = _influence_of_quantities(metric, y, predicted, value)
    elif costs is not None:
        parts = compute_row_costs(y, predicted, score, costs)
    elif metric == "roc_auc":
        assert score is not None
        parts = _influence_of_ranks(y, score)
    elif metric == "log_loss":
        assert score is not None
        parts = compute_log_losses(y, score)
    else:
        counts = np.bincount(y * n_classes + predicted, minlength=n_classes**2)
        shares = counts.reshape(n_classes, n_classes) / len(y)
        parts = _gradient(metric, shares)[y, predicted]
    return value, parts - parts.mean()


def _influence_of_quantities(metric: str, y: Floats, predicted: Floats, value: float) -> Floats:
    error = y - predicted
    if metric == "mae":
        return np.abs(error)
    if metric == "rmse":
        return error**2 / (2 * value) if value > 0 else np.zeros(len(y))
    away = (y - y.mean()) ** 2
    found: Floats = ((1 - value) * away - error**2) / away.mean()
    return found


def _influence_of_ranks(y: npt.NDArray[Any], score: Floats) -> Floats:
    """Compute DeLong's components: how often a row ranks above those of the other class."""
    n_classes = score.shape[1]
    shown = [1] if n_classes == 2 else range(n_classes)
    total = np.zeros(len(y))
    for k in shown:
        hit = y == k
        ranks = rankdata(score[:, k])
        above = (ranks[hit] - rankdata(score[hit, k])) / np.sum(~hit)
        below = 1.0 - (ranks[~hit] - rankdata(score[~hit, k])) / np.sum(hit)
        area = float(above.mean())
        total[hit] += (above - area) / hit.mean()
        total[~hit] += (below - area) / (~hit).mean()
    return total / len(shown)


def _gradient(metric: str, shares: Floats) -> Floats:
    """Return the derivatives of a metric by the shares of (true, predicted) pairs."""
    right = np.eye(len(shares))
    if metric == "accuracy":
        return right
    hit, true, predicted = np.diag(shares), shares.sum(axis=1), shares.sum(axis=0)
    if metric == "balanced_accuracy":
        some = true > 0
        each = np.divide(1.0, true, out=np.zeros_like(true), where=some)
        return np.asarray((right * each[:, None] - (hit * each**2)[:, None]) / some.sum())
    if metric == "f1_macro":
        both = true + predicted
        each = np.divide(1.0, both, out=np.zeros_like(both), where=both > 0)
        lost = hit * each**2
        return np.asarray(2 * (right * each[:, None] - lost[:, None] - lost) / len(shares))
    # Gorodkin (2004), equation 8, in shares: cov / sqrt(u v).
    covariance = hit.sum() - true @ predicted
    u, v = 1 - true @ true, 1 - predicted @ predicted
    if u * v <= 0:
        return np.zeros_like(shares)
    slope = (right - predicted[:, None] - true) / np.sqrt(u * v)
    return np.asarray(slope + covariance * (true[:, None] * v + predicted * u) / (u * v) ** 1.5)
