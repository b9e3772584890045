"""Test scores of a model per group: for each value of the requested columns."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from arboleda.study.execution.prediction_store import Predictions
from arboleda.study.plan import Plan
from arboleda.study.results.bootstrap import LEVEL, bootstrap_interval
from arboleda.study.results.model_facts import SubgroupGap, SubgroupMetrics, SubgroupsFacts
from arboleda.study.results.scoring import Metric, all_scores
from arboleda.study.results.subgroups import Parts, subgroups_of

__all__ = ["groups_facts"]

# A group with fewer test rows has uncertain scores.
SMALL = 30


def groups_facts(plan: Plan, predictions: Predictions) -> list[SubgroupsFacts]:
    """Return the ``groups`` part of a model's test: metrics per group, and the largest gap.

    Parameters
    ----------
    plan : Plan
    predictions : Predictions
        The model's predictions for the test rows.
    """
    rows = plan.split.test
    return [
        _of_column(plan, predictions, name, subgroups_of(plan.table.column(name), rows))
        for name in plan.settings.by
    ]


def _of_column(plan: Plan, predictions: Predictions, name: str, parts: Parts) -> SubgroupsFacts:
    groups = [_group(plan, predictions, value, places) for value, places in parts.items()]
    return SubgroupsFacts(column=name, level=LEVEL, rows=groups, gap=_gap(plan.metric, groups))


def _group(
    plan: Plan, predictions: Predictions, value: str, places: npt.NDArray[np.int64]
) -> SubgroupMetrics:
    n_classes = len(plan.target.labels)
    rows = plan.split.test[places]
    y = plan.target.y[rows]
    predicted = predictions.predicted[places]
    score = None if predictions.score is None else predictions.score[places]
    found = all_scores(y, predicted, score, n_classes, plan.costs)
    metrics = {key: v if v is not None and np.isfinite(v) else None for key, v in found.items()}
    together = None if plan.split.groups is None else plan.split.groups[rows]
    low, high = bootstrap_interval(
        plan.metric.key,
        y,
        predicted,
        score,
        n_classes=n_classes,
        seed=plan.seed,
        groups=together,
        costs=plan.costs,
    )
    return SubgroupMetrics(
        value=value,
        n=len(places),
        small=len(places) < SMALL,
        metrics=metrics,
        low=low,
        high=high,
    )


def _gap(metric: Metric, groups: Sequence[SubgroupMetrics]) -> SubgroupGap | None:
    """Compare the best and the worst of the groups that are not small."""
    known = [(group.metrics.get(metric.key), group.value) for group in groups if not group.small]
    scored = sorted((score, value) for score, value in known if score is not None)
    if len(scored) < 2:
        return None
    (low, at_low), (high, at_high) = scored[0], scored[-1]
    best, worst = (at_high, at_low) if metric.greater_is_better else (at_low, at_high)
    return SubgroupGap(metric=metric.key, best=best, worst=worst, difference=high - low)
