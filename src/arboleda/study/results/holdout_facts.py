"""What each model said of rows it had not seen, and what is told of it beside its metrics."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.decide import accuracy_coverage_curve
from arboleda.study.artifacts.held_out import HeldOut
from arboleda.study.execution.job import TEST
from arboleda.study.execution.prediction_store import (
    PREDICTIONS_DIR,
    Predictions,
    load_predictions,
    predictions_path,
)
from arboleda.study.plan import Plan
from arboleda.study.results.calibrator import Calibrator, fit_calibrator
from arboleda.study.results.costs import REJECTED, cost_matrix, decide_by_cost
from arboleda.study.results.group_scores import groups_facts
from arboleda.study.runner import Outcome
from arboleda.study.search import Trial

__all__ = ["ReadPredictions", "add_holdout_facts", "held_out_predictions", "predictions_reader"]

ReadPredictions = Callable[[Outcome, int | None], Predictions | None]
Floats = npt.NDArray[np.float64]

# Models for which groups and rejected rows are told: those that somebody would use.
SHOWN = 3
CURVE_POINTS = 200


def predictions_reader(plan: Plan, folder: Path) -> ReadPredictions:
    """A function that reads what a model's chosen candidate said of a fold's rows, or the test's.

    It takes the outcome and the number of the fold, or None for the test. It gives None if the
    model failed, or its answers are not in the study's ``folder``.
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
        return load_predictions(path, len(job.score_rows), len(plan.target.labels))

    return read


def _load_all_folds(plan: Plan, folder: Path, key: str, fold: int | None) -> Predictions | None:
    """What a combination said: it has no piece of work of its own."""
    rows = plan.split.test if fold is None else plan.split.folds[fold][1]
    path = predictions_path(folder / PREDICTIONS_DIR, key, {}, TEST if fold is None else str(fold))
    return load_predictions(path, len(rows), len(plan.target.labels))


def add_holdout_facts(
    plan: Plan,
    ranked: Sequence[Outcome],
    models: Sequence[dict[str, Any]],
    answers: ReadPredictions,
) -> None:
    """Add ``groups``, ``costs`` and ``reject`` to the test facts of the models, in their order."""
    matrix = cost_matrix(plan.settings, plan.target)
    for rank, (outcome, facts) in enumerate(zip(ranked, models, strict=True)):
        said = answers(outcome, None)
        if facts["test"] is None or said is None:
            continue
        if plan.settings.by and rank < SHOWN:
            facts["test"]["groups"] = groups_facts(plan, said)
        if matrix is not None:
            calibrator = _calibrator(plan, outcome, answers)
            p = calibrator.probabilities(said)
            facts["test"]["costs"] = _costs(plan, said, p, matrix, calibrator.method)
            if plan.settings.reject_cost is not None and rank < SHOWN:
                facts["test"]["reject"] = _rejects(plan, p, matrix, plan.settings.reject_cost)


def held_out_predictions(plan: Plan, outcome: Outcome, answers: ReadPredictions) -> HeldOut | None:
    """What a model said of the folds' rows, and their targets; None if a part is not known."""
    found = [answers(outcome, k) for k in range(len(plan.split.held_out))]
    said = [part for part in found if part is not None]
    if len(said) < len(found) or not said:
        return None
    scores = [part.score for part in said if part.score is not None]
    rows = np.concatenate([score for _, score in plan.split.held_out])
    score = np.concatenate(scores) if len(scores) == len(said) else None
    return plan.target.y[rows], Predictions(
        np.concatenate([part.predicted for part in said]), score
    )


def _calibrator(plan: Plan, outcome: Outcome, answers: ReadPredictions) -> Calibrator:
    """What makes probabilities of a model's answers, learned from those about the folds' rows."""
    found = held_out_predictions(plan, outcome, answers)
    y, said = (plan.target.y, None) if found is None else found
    return fit_calibrator(said, y, len(plan.target.labels), plan.seed)


def _costs(plan: Plan, said: Predictions, p: Floats, matrix: Floats, method: str) -> dict[str, Any]:
    """What a model's answers cost on the test rows, and what the cheapest decisions do."""
    y = plan.target.y[plan.split.test]
    own = matrix[y, said.predicted]
    decided = decide_by_cost(p, matrix, None)
    costs = matrix[y, decided]
    n = len(matrix)
    return {
        "total": float(own.sum()),
        "mean": float(own.mean()),
        "decided": {
            "calibration": method,
            "total": float(costs.sum()),
            "mean": float(costs.mean()),
            "counts": np.bincount(y * n + decided, minlength=n * n).reshape(n, n).tolist(),
        },
    }


def _rejects(plan: Plan, p: Floats, matrix: Floats, reject_cost: float) -> dict[str, Any]:
    """What is left undecided by Chow's rule, and what that does to accuracy and cost."""
    y, labels = plan.target.y[plan.split.test], plan.target.labels
    decisions = decide_by_cost(p, matrix, reject_cost)
    taken = decisions != REJECTED
    right = decisions == y
    costs = np.where(taken, matrix[y, decisions], reject_cost)
    curve = accuracy_coverage_curve(y, p, labels=range(len(labels)))
    some = np.unique(np.linspace(0, len(curve.coverage) - 1, CURVE_POINTS).round().astype(int))
    plain = plan.settings.cost_matrix is None
    return {
        "cost": reject_cost,
        "threshold": 1.0 - reject_cost if plain else None,
        "coverage": float(taken.mean()),
        "accuracy": float(right[taken].mean()) if taken.any() else None,
        "mean_cost": float(costs.mean()),
        "curve": {
            "threshold": curve.threshold[some].tolist(),
            "coverage": curve.coverage[some].tolist(),
            "accuracy": curve.accuracy[some].tolist(),
        },
        "classes": [
            {"label": label, "n": int(np.sum(y == k)), "rejected": int(np.sum(~taken & (y == k)))}
            for k, label in enumerate(labels)
        ],
    }
