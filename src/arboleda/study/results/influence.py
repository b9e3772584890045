r"""The influence of each row on a metric, for standard errors of metrics and differences.

For a metric T of the rows' distribution P and a row i,

    I_i = d/de T((1 - e) P + e delta_i) at e = 0,        se(T) = sqrt(sum_i I_i^2) / n

(the infinitesimal jackknife: Efron 1982, chapter 6). Two models on the same rows are compared by
the differences of their I_i, which keeps the rows paired. For accuracies this is the variance of
McNemar's test, for areas under ROC curves that of DeLong, DeLong and Clarke-Pearson (1988); no
resampling is needed.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from arboleda.study.results.bootstrap import log_losses, quick_score
from arboleda.study.results.costs import row_costs

__all__ = ["metric_influence"]

Floats = npt.NDArray[np.float64]


def metric_influence(
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
    value = quick_score(metric, y, predicted, score, n_classes, costs)
    if value is None or not np.isfinite(value):
        return None
    if n_classes == 0:
        parts = _of_quantities(metric, y, predicted, value)
    elif costs is not None:
        parts = row_costs(y, predicted, score, costs)
    elif metric == "roc_auc":
        assert score is not None
        parts = _of_ranks(y, score)
    elif metric == "log_loss":
        assert score is not None
        parts = log_losses(y, score)
    else:
        counts = np.bincount(y * n_classes + predicted, minlength=n_classes**2)
        shares = counts.reshape(n_classes, n_classes) / len(y)
        parts = _gradient(metric, shares)[y, predicted]
    return value, parts - parts.mean()


def _of_quantities(metric: str, y: Floats, predicted: Floats, value: float) -> Floats:
    error = y - predicted
    if metric == "mae":
        return np.abs(error)
    if metric == "rmse":
        return error**2 / (2 * value) if value > 0 else np.zeros(len(y))
    away = (y - y.mean()) ** 2
    found: Floats = ((1 - value) * away - error**2) / away.mean()
    return found


def _of_ranks(y: npt.NDArray[Any], score: Floats) -> Floats:
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
