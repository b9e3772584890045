"""Intervals and standard errors of one metric over the test rows, and of gains over the folds.

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

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from arboleda.diagnose import corrected_t_test
from arboleda.scoring.choice import StudyMetric
from arboleda.scoring.measures import CountMetric, RowMean, ScoredOutputs, ScoreMeasure
from arboleda.scoring.scores import compute_row_costs

if TYPE_CHECKING:
    from arboleda.facts.best_model import GainFacts

__all__ = [
    "DRAWS",
    "LEVEL",
    "bootstrap_interval",
    "compute_fold_gain",
    "compute_influence",
    "compute_least_area",
    "compute_possible_counts",
    "compute_score",
]

DRAWS = 1000
# Maximum rows whose draws are kept for the next model: 20 MB.
MAX_CACHED_ROWS = 10_000
LEVEL = 0.95
# What the seed is mixed with, so that two uses of it draw different numbers.
_PURPOSE = 1

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


def bootstrap_interval(
    metric: StudyMetric,
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
    outputs, measure = ScoredOutputs(y, predicted, score, n_classes), _get_measure(metric, costs)
    values: list[float] = []
    if groups is None and isinstance(measure, CountMetric):
        # The confusion matrix of rows drawn with replacement is multinomial.
        whole = np.bincount(y * n_classes + predicted, minlength=n_classes**2)
        draw = np.random.default_rng([seed, _PURPOSE])
        for cells in draw.multinomial(len(y), whole / len(y), size=DRAWS):
            drawn = cells.reshape(n_classes, n_classes).astype(np.float64)
            values.append(measure.function(drawn))
    else:
        of_times = measure.prepare(outputs)
        found = [of_times(times) for times in _draw_multiplicities(seed, len(y), groups)]
        values = [value for value in found if value is not None]
    if not values:
        return None, None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    units = np.arange(len(y)) if groups is None else groups
    if metric.key == "roc_auc" and measure.compute(outputs) == 1.0:
        low = min(low, compute_least_area(y, n_classes, units, tail))
    elif isinstance(measure, CountMetric) and np.array_equal(y, predicted):
        possible = measure.function(compute_possible_counts(y, n_classes, units, tail))
        low, high = min(low, possible), max(high, possible)
    return float(low), float(high)


def _get_measure(metric: StudyMetric, costs: Floats | None) -> ScoreMeasure:
    """Return how a metric is computed; the cost needs ``costs`` by true and predicted class."""
    if metric.measure is not None:
        return metric.measure
    assert costs is not None
    return RowMean(partial(_compute_costs, costs), takes="outputs")


def _compute_costs(costs: Floats, outputs: ScoredOutputs) -> Floats:
    return compute_row_costs(outputs.y, outputs.predicted, outputs.score, costs)


@lru_cache(maxsize=1)
def _cache_row_counts(seed: int, n_rows: int) -> npt.NDArray[np.uint16]:
    """Draw once for all models of a study, which are scored on the same rows."""
    counts = np.empty((DRAWS, n_rows), dtype=np.uint16)
    for place, count in enumerate(
        _draw_row_counts(np.random.default_rng([seed, _PURPOSE]), n_rows)
    ):
        counts[place] = count
    return counts


def _draw_row_counts(draw: np.random.Generator, n_rows: int) -> Iterator[npt.NDArray[np.intp]]:
    for _ in range(DRAWS):
        yield np.bincount(draw.integers(n_rows, size=n_rows), minlength=n_rows)


def _draw_multiplicities(
    seed: int, n_rows: int, groups: npt.NDArray[np.int64] | None
) -> Iterator[Floats]:
    """Yield the multiplicity of each row, for each draw."""
    draw = np.random.default_rng([seed, _PURPOSE])
    if groups is None:
        few = n_rows <= MAX_CACHED_ROWS
        counts = _cache_row_counts(seed, n_rows) if few else _draw_row_counts(draw, n_rows)
        yield from (count.astype(np.float64) for count in counts)
        return
    n_groups, of_row = len(np.unique(groups)), np.unique(groups, return_inverse=True)[1]
    if n_groups == 1:
        return
    for _ in range(DRAWS):
        drawn = draw.integers(n_groups, size=n_groups)
        yield np.bincount(drawn, minlength=n_groups).astype(np.float64)[of_row]


def compute_score(
    metric: StudyMetric,
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: Floats | None,
    n_classes: int,
    costs: Floats | None = None,
) -> float | None:
    """Compute a metric of a study; None if it is undefined."""
    return _get_measure(metric, costs).compute(ScoredOutputs(y, predicted, score, n_classes))


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
    metric: StudyMetric,
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: Floats | None,
    n_classes: int,
    costs: Floats | None = None,
) -> tuple[float, Floats] | None:
    """Compute a metric and the influence of each row; None if the metric is undefined.

    Parameters
    ----------
    metric : StudyMetric
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
    outputs, measure = ScoredOutputs(y, predicted, score, n_classes), _get_measure(metric, costs)
    value = measure.compute(outputs)
    if value is None or not np.isfinite(value):
        return None
    influence = measure.compute_influence(outputs, value)
    return value, influence - influence.mean()


def compute_fold_gain(
    before: Sequence[float],
    after: Sequence[float],
    folds: Sequence[tuple[Rows, Rows]],
    *,
    greater_is_better: bool,
) -> "GainFacts | None":
    """Compute the mean gain over the folds, with the interval of the corrected resampled t test.

    Parameters
    ----------
    before, after : sequence of float
        The scores on each fold.
    folds : sequence of (fit rows, scored rows)
    greater_is_better : bool

    Returns
    -------
    gain : GainFacts or None
        Above 0 if ``after`` is better; None with fewer than two folds.
    """
    from arboleda.facts.best_model import GainFacts  # not needed, and slow to load, in workers

    if len(before) != len(after) or len(before) != len(folds) or len(before) < 2:
        return None
    sign = 1.0 if greater_is_better else -1.0
    gains = sign * (np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64))
    share = float(np.mean([len(score) / len(fit) for fit, score in folds]))
    mean, error, _, _ = corrected_t_test(gains[np.newaxis], share)
    reach = float(stats.t.ppf((1 + LEVEL) / 2, len(gains) - 1) * error[0])
    difference = float(mean[0])
    return GainFacts(
        difference=difference, low=difference - reach, high=difference + reach, level=LEVEL
    )
