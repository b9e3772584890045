"""Metrics of times to an event, and the times at which survival curves are compared.

With G the Kaplan-Meier estimate of the probability of not being censored, from the training rows,
and S_i(t) the predicted survival of row i, the Brier score at t is the mean over the rows of

    1 (T_i <= t, event) S_i(t)^2 / G(T_i)   +   1 (T_i > t) (1 - S_i(t))^2 / G(t)

(Graf, Schmoor, Sauerbrei, Schumacher 1999). Its mean over time is a mean of losses of rows, so
intervals and paired tests are those of other losses. It is proper: in expectation it is least for
the true curves, whatever the censoring. The concordance index is not; it compares orders only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.integrate import trapezoid

from arboleda._utils.concordance import compute_concordance
from arboleda._utils.errors import StudyError
from arboleda._utils.survival_times import SurvivalTimes
from arboleda.metrics import CensoringCurve, compute_area
from arboleda.scoring.choice import StudyMetric, find_metric
from arboleda.scoring.measures import (
    BlockMeasure,
    RowMean,
    ScoredOutputs,
    ScoreMeasure,
    Weighted,
)
from arboleda.tables.timed_target import read_target_times

__all__ = [
    "SURVIVAL_METRICS",
    "SurvivalScale",
    "bind_survival_metric",
    "choose_times",
    "compute_areas",
    "compute_brier_losses",
    "find_importance_metric",
]

SURVIVAL_METRICS = ("integrated_brier", "concordance", "dynamic_auc")
# Times at which survival curves are compared, and the share of the rows before and up to them.
N_TIMES, FIRST_SHARE, LAST_SHARE = 30, 0.05, 0.9
TIED = 1e-8

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SurvivalScale:
    """The times at which curves are compared, and the censoring that weights rows.

    Attributes
    ----------
    times : ndarray of shape (n_times,)
        Ascending.
    censoring : CensoringCurve
        Of the training rows.
    """

    times: Floats
    censoring: CensoringCurve

    @classmethod
    def of(cls, train: SurvivalTimes, times: Sequence[float]) -> "SurvivalScale":
        """Estimate the censoring of training rows."""
        return cls(np.array(times), CensoringCurve.fit(train))

    def weigh_events(self, rows: SurvivalTimes) -> Floats:
        """Return 1 / G at the time of each row that has the event up to the last time; else 0."""
        counted = rows.event & (rows.time <= self.times[-1])
        weight = np.zeros(len(rows))
        weight[counted] = 1.0 / self.censoring.predict(rows.time[counted])
        return weight


def choose_times(train: SurvivalTimes, name: str) -> tuple[float, ...]:
    """Choose times at which training rows had events and later rows are still observed.

    Raises
    ------
    StudyError
        If the rows have too few distinct times.
    """
    first, last = np.quantile(train.time, [FIRST_SHARE, LAST_SHARE])
    distinct = np.unique(train.time)
    first = max(first, float(train.time[train.event].min()))
    if last >= distinct[-1]:  # many rows are censored at the end
        last = distinct[-2]
    if not first < last:
        raise StudyError(
            f"The training rows have too few distinct times of {name!r} with an event before "
            "others end; give the times in a finer unit, or choose another seed."
        )
    return tuple(np.linspace(first, last, N_TIMES).tolist())


def compute_brier_losses(rows: SurvivalTimes, curves: Floats, scale: SurvivalScale) -> Floats:
    """Return the Brier loss of each row at each time, of shape (n_rows, n_times)."""
    later = rows.time[:, np.newaxis] > scale.times
    weight = scale.weigh_events(rows)[:, np.newaxis]
    losses = np.where(later, 0.0, curves**2 * weight)
    losses += np.where(later, (1.0 - curves) ** 2 / scale.censoring.predict(scale.times), 0.0)
    return losses


def compute_areas(rows: SurvivalTimes, curves: Floats, scale: SurvivalScale) -> Floats:
    """Return the area under the ROC curve of events by each time against later ones.

    The score is the predicted probability of the event by the time. NaN at times without rows on
    both sides.
    """
    return _compute_areas(rows, curves, scale, np.ones(len(rows)))


def _compute_areas(
    rows: SurvivalTimes, curves: Floats, scale: SurvivalScale, multiplicity: Floats
) -> Floats:
    weight = scale.weigh_events(rows) * multiplicity
    areas = np.full(len(scale.times), np.nan)
    for k, time in enumerate(scale.times):
        later = rows.time > time
        cases, controls = np.where(later, 0.0, weight), np.where(later, multiplicity, 0.0)
        if cases.any() and controls.any():
            areas[k] = compute_area(cases, controls, 1.0 - curves[:, k], TIED)
    return areas


def _compute_integrated_losses(scale: SurvivalScale, outputs: ScoredOutputs) -> Floats | None:
    if outputs.score is None:
        return None
    losses = compute_brier_losses(read_target_times(outputs.y), outputs.score, scale)
    times = scale.times
    return np.asarray(trapezoid(losses, times, axis=1) / (times[-1] - times[0]))


class Concordance(BlockMeasure):
    """Harrell's concordance index."""

    def prepare(self, outputs: ScoredOutputs) -> Weighted:
        """Return the index as a function of the multiplicities of the rows."""
        rows = read_target_times(outputs.y)
        risk = np.asarray(outputs.predicted, dtype=np.float64)

        def compute(times: Floats) -> float | None:
            try:
                return compute_concordance(rows, risk, times, times, TIED)
            except ValueError:  # no pair is comparable
                return None

        return compute


@dataclass(frozen=True)
class DynamicArea(BlockMeasure):
    """The mean over time of the area under the ROC curve of events by a time."""

    scale: SurvivalScale

    def prepare(self, outputs: ScoredOutputs) -> Weighted:
        """Return the mean area as a function of the multiplicities of the rows."""
        rows, curves = read_target_times(outputs.y), outputs.score

        def compute(times: Floats) -> float | None:
            if curves is None:
                return None
            areas = _compute_areas(rows, curves, self.scale, times)
            return float(np.nanmean(areas)) if not np.isnan(areas).all() else None

        return compute


def bind_survival_metric(
    metric: StudyMetric, train: SurvivalTimes, times: Sequence[float]
) -> StudyMetric:
    """Return the metric, and the other ones to report, on the scale of the training rows."""
    scale = SurvivalScale.of(train, times)
    measures: Mapping[str, ScoreMeasure] = {
        "integrated_brier": RowMean(partial(_compute_integrated_losses, scale), takes="outputs"),
        "concordance": Concordance(),
        "dynamic_auc": DynamicArea(scale),
    }
    return replace(metric, measure=measures[metric.key], all_measures=measures)


def find_importance_metric(metric: StudyMetric, task: str) -> StudyMetric:
    """Return the metric of importances: of times the concordance index, which needs risks alone."""
    if task != "survival":
        return metric
    return replace(find_metric("concordance"), measure=Concordance())
