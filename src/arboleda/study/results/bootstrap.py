"""A bootstrap interval of one metric over the test rows.

The draws are many, so each metric is computed from what a draw changes: the multiplicity of each
row. Everything else, such as the order of the scores, is prepared once. The values are those of
``arboleda.metrics``.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.metrics import _counts as counts
from arboleda.study.results.costs import row_costs
from arboleda.study.results.zero_error_interval import least_area, table_still_possible

__all__ = ["DRAWS", "LEVEL", "bootstrap_interval", "log_losses", "quick_score"]

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
        found = [measure(times) for times in _times(draw, len(y), groups)]
        values = [value for value in found if value is not None]
    if not values:
        return None, None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    units = np.arange(len(y)) if groups is None else groups
    if metric == "roc_auc" and quick_score(metric, y, predicted, score, n_classes) == 1.0:
        low = min(low, least_area(y, n_classes, units, tail))
    elif metric in _OF_COUNTS and np.array_equal(y, predicted):
        possible = table_still_possible(y, n_classes, units, tail)
        low = min(low, _OF_COUNTS[metric](possible))
    return float(low), float(high)


def _times(
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


def quick_score(
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
        return _of_quantities(metric, y, predicted)
    if costs is not None:
        return _mean_of(row_costs(y, predicted, score, costs))
    if metric in _OF_SCORES:
        if score is None or np.isnan(score).any():
            return lambda times: None
        return _mean_area(y, score) if metric == "roc_auc" else _mean_of(log_losses(y, score))
    cell = y * n_classes + predicted

    def of_cells(times: Floats) -> float:
        table = np.bincount(cell, weights=times, minlength=n_classes**2)
        return _OF_COUNTS[metric](table.reshape(n_classes, n_classes))

    return of_cells


def _mean_of(parts: Floats) -> Callable[[Floats], float]:
    return lambda times: float(np.sum(times * parts) / np.sum(times))


def _of_quantities(metric: str, y: Floats, predicted: Floats) -> Measure:
    error = y - predicted
    if metric == "mae":
        return _mean_of(np.abs(error))
    mse = _mean_of(error**2)
    if metric == "rmse":
        return lambda times: float(np.sqrt(mse(times)))

    def share_explained(times: Floats) -> float | None:
        some = y[times > 0]
        if some.min() == some.max():
            return None
        variance = _mean_of((y - _mean_of(y)(times)) ** 2)(times)
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


def log_losses(y: npt.NDArray[Any], score: Floats) -> Floats:
    """Return the log-loss of each row, by the probabilities of all classes."""
    smallest = np.finfo(np.float64).eps
    return -np.asarray(np.log(np.clip(score[np.arange(len(y)), y], smallest, 1.0)))
