"""A bootstrap interval of one metric over the test rows.

The draws are many, so each metric is taken here from what a draw changes: counts of (true,
predicted) pairs, means over rows, or ranks. The values are those of ``arboleda.metrics``.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

__all__ = ["DRAWS", "LEVEL", "bootstrap_interval", "quick_score"]

DRAWS = 1000
LEVEL = 0.95
_OF_SCORES = ("roc_auc", "log_loss")
# What the seed is mixed with, so that two uses of it draw different numbers.
_PURPOSE = 1

Floats = npt.NDArray[np.float64]


def bootstrap_interval(
    metric: str,
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: Floats | None,
    *,
    n_classes: int,
    seed: int,
) -> tuple[float | None, float | None]:
    """Percentile interval of a metric (Efron and Tibshirani 1993, section 13.3).

    Draws in which the metric is not defined, because a class is absent, do not count; both ends
    are None if none is left.
    """
    draw = np.random.default_rng([seed, _PURPOSE])
    values: list[float] = []
    if n_classes and metric not in _OF_SCORES:
        # Rows drawn with replacement fall into the cells of the table as a multinomial does.
        counts = np.bincount(y * n_classes + predicted, minlength=n_classes**2)
        for cells in draw.multinomial(len(y), counts / len(y), size=DRAWS):
            drawn = cells.reshape(n_classes, n_classes).astype(np.float64)
            values.append(_of_counts(metric, drawn))
    for _ in range(DRAWS - len(values)):
        rows = draw.integers(len(y), size=len(y))
        part = None if score is None else score[rows]
        value = quick_score(metric, y[rows], predicted[rows], part, n_classes)
        if value is not None:
            values.append(value)
    if not values:
        return None, None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def quick_score(
    metric: str,
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: Floats | None,
    n_classes: int,
) -> float | None:
    """One metric that a study can choose by; None where it is not defined."""
    if n_classes == 0:
        return _of_quantities(metric, y, predicted)
    if metric == "roc_auc":
        return None if score is None else _roc_auc(y, score)
    if metric == "log_loss":
        return None if score is None else _log_loss(y, score)
    counts = np.bincount(y * n_classes + predicted, minlength=n_classes**2)
    return _of_counts(metric, counts.reshape(n_classes, n_classes).astype(np.float64))


def _of_quantities(metric: str, y: Floats, predicted: Floats) -> float | None:
    error = y - predicted
    if metric == "mae":
        return float(np.mean(np.abs(error)))
    mse = float(np.mean(error**2))
    if metric == "rmse":
        return float(np.sqrt(mse))
    variance = float(np.var(y))
    return 1 - mse / variance if variance > 0 else None


def _of_counts(metric: str, counts: Floats) -> float:
    hit, true, predicted = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    n = counts.sum()
    if metric == "accuracy":
        return float(hit.sum() / n)
    if metric == "balanced_accuracy":
        return float(np.mean(hit[true > 0] / true[true > 0]))
    if metric == "f1_macro":
        both = true + predicted
        return float(np.mean(np.divide(2 * hit, both, out=np.zeros_like(hit), where=both > 0)))
    # Gorodkin (2004), equation 8.
    covariance = hit.sum() * n - true @ predicted
    spread = np.sqrt((n**2 - true @ true) * (n**2 - predicted @ predicted))
    return float(covariance / spread) if spread > 0 else 0.0


def _roc_auc(y: npt.NDArray[Any], score: Floats) -> float | None:
    """The Mann-Whitney statistic: of the second of two classes, else the mean over the classes."""
    n_classes = score.shape[1]
    areas = []
    for k in [1] if n_classes == 2 else range(n_classes):
        hit = y == k
        n_hit = int(hit.sum())
        if n_hit in (0, len(y)):
            return None
        above = float(rankdata(score[:, k])[hit].sum()) - n_hit * (n_hit + 1) / 2
        areas.append(above / (n_hit * (len(y) - n_hit)))
    return float(np.mean(areas))


def _log_loss(y: npt.NDArray[Any], score: Floats) -> float:
    smallest = np.finfo(np.float64).eps
    return float(-np.mean(np.log(np.clip(score[np.arange(len(y)), y], smallest, 1.0))))
