"""Facts from predictions for held-out rows: subgroups, costs and rejected rows."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.decide import accuracy_coverage_curve
from arboleda.facts.model import (
    AccuracyCoverage,
    CalibratorMethod,
    DecisionCosts,
    PredictionCosts,
    RejectedClass,
    RejectFacts,
    SubgroupGap,
    SubgroupMetrics,
    SubgroupsFacts,
)
from arboleda.scoring.choice import StudyMetric
from arboleda.scoring.intervals import LEVEL, bootstrap_interval
from arboleda.scoring.scores import REJECTED, Predictions, all_scores, decide_by_cost
from arboleda.study.artifacts.rows import HeldOut
from arboleda.study.config.costs import cost_matrix
from arboleda.study.execution.job import TEST
from arboleda.study.execution.prediction_store import (
    PREDICTIONS_DIR,
    load_predictions,
    predictions_path,
)
from arboleda.study.plan import Plan
from arboleda.study.results.calibration import Calibrator, fit_calibrator
from arboleda.study.results.timed_facts import (
    describe_ranking,
    describe_survival,
    find_leading_category,
)
from arboleda.study.runner import Outcome
from arboleda.study.search.strategies import Trial
from arboleda.study.splitting import Subgroups, find_subgroups

__all__ = [
    "ReadPredictions",
    "describe_held_out",
    "describe_subgroups",
    "held_out_predictions",
    "predictions_reader",
]

ReadPredictions = Callable[[Outcome, int | None], Predictions | None]
Floats = npt.NDArray[np.float64]

# Number of best models with facts on groups and rejected rows.
SHOWN = 3
CURVE_POINTS = 200
# A group with fewer test rows has uncertain scores.
SMALL = 30


def predictions_reader(plan: Plan, folder: Path) -> ReadPredictions:
    """Return a function that reads the predictions of a model's chosen candidate.

    It takes the outcome and the number of the fold, or None for the test. It returns None if the
    model failed or its predictions are not in the study's ``folder``.
    """

    def read(outcome: Outcome, fold: int | None) -> Predictions | None:
        if outcome.best is None or outcome.error is not None:
            return None
        if outcome.ensemble:
            return _load_all_folds(plan, folder, outcome.model.key, fold)
        params = outcome.candidates[outcome.best].params
        if fold is None:
            job = plan.test_job(outcome.model, params)
        else:
            job = plan.trial_jobs(outcome.model, Trial(params))[fold]
        path = predictions_path(folder / PREDICTIONS_DIR, job.model, params, job.entry)
        n_classes, n_scores = len(plan.target.labels), plan.target.n_scores
        return load_predictions(path, len(job.score_rows), n_classes, n_scores)

    return read


def _load_all_folds(plan: Plan, folder: Path, key: str, fold: int | None) -> Predictions | None:
    """Read the predictions of a combination, which has no jobs of its own."""
    rows = plan.split.test if fold is None else plan.split.folds[fold][1]
    path = predictions_path(folder / PREDICTIONS_DIR, key, {}, TEST if fold is None else str(fold))
    return load_predictions(path, len(rows), len(plan.target.labels))


def describe_held_out(
    plan: Plan,
    ranked: Sequence[Outcome],
    read_predictions: ReadPredictions,
    importance: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return the facts of each model that its predictions for the test rows give, by name.

    They are ``groups``, ``costs`` and ``reject``, ``survival`` and ``ranking``, as far as they
    apply. ``importance`` is the part of the facts of that name.
    """
    return [
        _of_model(plan, outcome, read_predictions, in_detail=rank < SHOWN)
        | _describe_timed(plan, outcome, ranked, read_predictions, importance)
        for rank, outcome in enumerate(ranked)
    ]


def _describe_timed(
    plan: Plan,
    outcome: Outcome,
    ranked: Sequence[Outcome],
    read_predictions: ReadPredictions,
    importance: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the facts on a model of times or ranks."""
    if plan.target.second is None or (predictions := read_predictions(outcome, None)) is None:
        return {}
    first = next((o for o in ranked if o.model.baseline and o is not outcome), None)
    baseline = None if first is None else read_predictions(first, None)
    if plan.target.task == "ranking":
        return {"ranking": describe_ranking(plan, predictions, baseline)}
    # The groups of a column are the same for all models.
    column = find_leading_category(plan.roles, importance) if outcome is ranked[0] else None
    return {"survival": describe_survival(plan, predictions, baseline, column)}


def _of_model(
    plan: Plan, outcome: Outcome, read_predictions: ReadPredictions, *, in_detail: bool
) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    predictions = read_predictions(outcome, None)
    if outcome.test is None or predictions is None:
        return facts
    if plan.settings.score_by and in_detail:
        facts["groups"] = describe_subgroups(plan, predictions)
    matrix, reject_cost = cost_matrix(plan.settings, plan.target), plan.settings.reject_cost
    if matrix is not None:
        calibrator = _calibrator(plan, outcome, read_predictions)
        p = calibrator.probabilities(predictions)
        facts["costs"] = _costs(plan, predictions, p, matrix, calibrator.method)
        if reject_cost is not None and in_detail:
            facts["reject"] = _rejects(plan, p, matrix, reject_cost)
    return facts


def held_out_predictions(
    plan: Plan, outcome: Outcome, read_predictions: ReadPredictions
) -> HeldOut | None:
    """Return targets and out-of-fold predictions of a model; None if a fold is missing."""
    found = [read_predictions(outcome, k) for k in range(len(plan.split.held_out))]
    parts = [part for part in found if part is not None]
    if len(parts) < len(found) or not parts:
        return None
    scores = [part.score for part in parts if part.score is not None]
    rows = np.concatenate([score for _, score in plan.split.held_out])
    score = np.concatenate(scores) if len(scores) == len(parts) else None
    return plan.target.y[rows], Predictions(
        np.concatenate([part.predicted for part in parts]), score
    )


def _calibrator(plan: Plan, outcome: Outcome, read_predictions: ReadPredictions) -> Calibrator:
    """Fit the calibration of a model's probabilities to its out-of-fold predictions."""
    found = held_out_predictions(plan, outcome, read_predictions)
    y, predictions = (plan.target.y, None) if found is None else found
    return fit_calibrator(predictions, y, len(plan.target.labels), plan.seed)


def _costs(
    plan: Plan, predictions: Predictions, p: Floats, matrix: Floats, method: CalibratorMethod
) -> PredictionCosts:
    """Return the costs of a model's predictions and of the cheapest decisions on the test."""
    y = plan.target.y[plan.split.test]
    own = matrix[y, predictions.predicted]
    decided = decide_by_cost(p, matrix, None)
    costs = matrix[y, decided]
    n = len(matrix)
    return PredictionCosts(
        total=float(own.sum()),
        mean=float(own.mean()),
        decided=DecisionCosts(
            calibration=method,
            total=float(costs.sum()),
            mean=float(costs.mean()),
            counts=np.bincount(y * n + decided, minlength=n * n).reshape(n, n).tolist(),
        ),
    )


def _rejects(plan: Plan, p: Floats, matrix: Floats, reject_cost: float) -> RejectFacts:
    """Return the rows rejected by Chow's rule, and the resulting accuracy and cost."""
    y, labels = plan.target.y[plan.split.test], plan.target.labels
    decisions = decide_by_cost(p, matrix, reject_cost)
    taken = decisions != REJECTED
    correct = decisions == y
    costs = np.where(taken, matrix[y, decisions], reject_cost)
    curve = accuracy_coverage_curve(y, p, labels=range(len(labels)))
    some = np.unique(np.linspace(0, len(curve.coverage) - 1, CURVE_POINTS).round().astype(int))
    plain = plan.settings.cost_matrix is None
    return RejectFacts(
        cost=reject_cost,
        threshold=1.0 - reject_cost if plain else None,
        coverage=float(taken.mean()),
        accuracy=float(correct[taken].mean()) if taken.any() else None,
        mean_cost=float(costs.mean()),
        curve=AccuracyCoverage(
            threshold=curve.threshold[some].tolist(),
            coverage=curve.coverage[some].tolist(),
            accuracy=curve.accuracy[some].tolist(),
        ),
        classes=[
            RejectedClass(
                label=label, n=int(np.sum(y == k)), rejected=int(np.sum(~taken & (y == k)))
            )
            for k, label in enumerate(labels)
        ],
    )


def describe_subgroups(plan: Plan, predictions: Predictions) -> list[SubgroupsFacts]:
    """Return the ``groups`` part of a model's test: metrics per group, and the largest gap.

    Parameters
    ----------
    plan : Plan
    predictions : Predictions
        The model's predictions for the test rows.
    """
    rows = plan.split.test
    return [
        _of_column(plan, predictions, name, find_subgroups(plan.table.column(name), rows))
        for name in plan.settings.score_by
    ]


def _of_column(plan: Plan, predictions: Predictions, name: str, parts: Subgroups) -> SubgroupsFacts:
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
    found = all_scores(y, predicted, score, n_classes, plan.costs, plan.metric)
    metrics = {key: v if v is not None and np.isfinite(v) else None for key, v in found.items()}
    together = None if plan.split.groups is None else plan.split.groups[rows]
    low, high = bootstrap_interval(
        plan.metric,
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


def _gap(metric: StudyMetric, groups: Sequence[SubgroupMetrics]) -> SubgroupGap | None:
    """Compare the best and the worst of the groups that are not small."""
    known = [(group.metrics.get(metric.key), group.value) for group in groups if not group.small]
    scored = sorted((score, value) for score, value in known if score is not None)
    if len(scored) < 2:
        return None
    (low, at_low), (high, at_high) = scored[0], scored[-1]
    best, worst = (at_high, at_low) if metric.greater_is_better else (at_low, at_high)
    return SubgroupGap(metric=metric.key, best=best, worst=worst, difference=high - low)
