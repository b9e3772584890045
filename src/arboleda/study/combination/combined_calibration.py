"""The calibration of a combination, if it is the best model, from stored predictions.

Its probabilities are calibrated as those of other models are; see
`arboleda.study.results.calibration`.
"""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from arboleda._engine.parallel import run_in_parallel
from arboleda.scoring.evaluate import evaluate_variants
from arboleda.scoring.measures import FunctionMetric
from arboleda.study.execution.executor import Budget
from arboleda.study.execution.job import TEST, error_sentence, limit_threads, to_plain
from arboleda.study.execution.prediction_store import (
    PREDICTIONS_DIR,
    load_predictions,
    predictions_path,
)
from arboleda.study.plan import Plan
from arboleda.study.results.calibration import AS_IT_IS, calibrate_scores
from arboleda.study.runner import ranked
from arboleda.study.search.model_search import Outcome
from arboleda.tables.target import n_scores

__all__ = ["calibrate_combined"]

# Seconds of all calibration methods per training row; with more than two classes per row and class.
ROW_SECONDS = 4e-6


def calibrate_combined(
    plan: Plan,
    outcomes: Sequence[Outcome],
    folder: Path,
    budget: Budget | None,
    n_threads: int = 1,
) -> tuple[Outcome, list[dict[str, Any]]] | None:
    """Try calibration methods on the out-of-fold predictions of the best model, a combination.

    The calibration of a fold is fitted to the other folds, in time order to those before it, and
    the test's to all folds. A fold whose training folds lack a class is not scored.

    Returns
    -------
    outcome, results : Outcome, list of dict
        The model, and the results by fold, the test's last, as `arboleda.study.runner.
        calibrate_best` returns them, none if the time budget does not allow it; None if its
        predictions are missing, or fewer than two folds can be scored.
    """
    outcome = ranked(plan, outcomes)[0]
    # Only the first repeat: in the others, each row is among those that calibrate it.
    folds = plan.split.folds[: len(plan.split.partition)]
    parts = [(str(k), rows) for k, (_, rows) in enumerate(folds)]
    parts.append((TEST, plan.split.test))
    n_classes = len(plan.target.labels)
    predictions = [
        load_predictions(
            predictions_path(folder / PREDICTIONS_DIR, outcome.model.key, {}, k),
            len(rows),
            n_classes,
        )
        for k, rows in parts
    ]
    scores = [one.score for one in predictions if one is not None and one.score is not None]
    if len(scores) < len(parts):
        return None
    classes = [plan.target.y[rows] for _, rows in parts]
    training = [
        range(place) if plan.split.ordered else [k for k in range(len(folds)) if k != place]
        for place in range(len(parts))
    ]
    scored = [
        place
        for place, others in enumerate(training)
        if others and len(np.unique(np.concatenate([classes[k] for k in others]))) == n_classes
    ]
    if len(scored) < 3:
        return None
    n_training_rows = sum(len(classes[k]) for place in scored for k in training[place])
    seconds = ROW_SECONDS * n_training_rows * n_scores(n_classes)
    if budget is not None and not budget.has_room(seconds):
        return outcome, []
    tasks = [
        partial(_calibrate_fold, plan, scores, classes, training[place], place) for place in scored
    ]
    if isinstance(plan.metric.measure, FunctionMetric):
        n_threads = 1  # a function of the user need not be safe in several threads
    with limit_threads():
        return outcome, run_in_parallel(tasks, n_threads)


def _calibrate_fold(
    plan: Plan,
    scores: Sequence[Any],
    classes: Sequence[Any],
    others: Sequence[int],
    place: int,
    _: int,
) -> dict[str, Any]:
    """Return the result of one fold, or of the test, which comes last."""
    started = time.perf_counter()
    is_test = place == len(scores) - 1
    held_out = np.concatenate([scores[k] for k in others])
    known = np.concatenate([classes[k] for k in others])
    n_classes = len(plan.target.labels)
    result: dict[str, Any] = {"error": None, "scores": {}, "warnings": []}
    try:
        found = {AS_IT_IS: scores[place]} | calibrate_scores(
            "predict_proba", held_out, known, scores[place], n_classes
        )
    except (ValueError, MemoryError) as error:
        return result | {"error": error_sentence(error), "timing": {}, "variants": {}}
    variants = evaluate_variants(
        found,
        classes[place],
        plan.target,
        plan.seed,
        is_test=is_test,
        costs=plan.costs,
        metric=plan.metric,
    )
    seconds = time.perf_counter() - started
    return result | {"timing": {"fit_s": seconds}, "variants": to_plain(variants)}
