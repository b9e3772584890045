"""Whether calibrating a combined model's probabilities helps; see `arboleda.study.calibration`."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arboleda.study.answers import ANSWERS, answers_path, read_answers
from arboleda.study.calibration import AS_IT_IS, calibrated_scores, variants_of
from arboleda.study.plan import Plan
from arboleda.study.runner import Outcome, ranked
from arboleda.study.work import TEST, _plain, _sentence, _thread_pools

__all__ = ["calibrate_combined"]


def calibrate_combined(
    plan: Plan, outcomes: Sequence[Outcome], folder: Path
) -> tuple[Outcome, list[dict[str, Any]]] | None:
    """Try methods of calibration on what the best model, a combination, said of rows held out.

    What calibrates a fold is learned from the other folds, and what calibrates the test from all.

    Returns
    -------
    outcome, results : Outcome, list of dict
        The model, and the results by fold, the test's last, as `arboleda.study.runner.
        calibrate_best` gives them; None if its answers are not there, or there are no other folds.
    """
    outcome = ranked(plan, outcomes)[0]
    # Of repeated folds the first round alone: in others, each row is among what calibrates it.
    folds = plan.split.folds[: len(plan.split.partition)]
    asked = [(str(k), rows) for k, (_, rows) in enumerate(folds)]
    asked.append((TEST, plan.split.test))
    n_classes = len(plan.target.labels)
    said = [
        read_answers(answers_path(folder / ANSWERS, outcome.model.key, {}, k), len(rows), n_classes)
        for k, rows in asked
    ]
    scores = [one.score for one in said if one is not None and one.score is not None]
    if len(scores) < len(asked) or len(asked) < 3:
        return None
    classes = [plan.target.y[rows] for _, rows in asked]
    with _thread_pools().limit(limits=1):
        return outcome, [_tried(plan, scores, classes, place) for place in range(len(asked))]


def _tried(plan: Plan, scores: Sequence[Any], classes: Sequence[Any], place: int) -> dict[str, Any]:
    """The result of one fold, or of the test, which comes last."""
    started = time.perf_counter()
    is_test = place == len(scores) - 1
    others = [k for k in range(len(scores) - 1) if k != place]
    held_out = np.concatenate([scores[k] for k in others])
    known = np.concatenate([classes[k] for k in others])
    n_classes = len(plan.target.labels)
    result: dict[str, Any] = {"error": None, "scores": {}, "warnings": []}
    try:
        found = {AS_IT_IS: scores[place]} | calibrated_scores(
            "predict_proba", held_out, known, scores[place], n_classes
        )
    except ValueError as error:
        return result | {"error": _sentence(error), "timing": {}, "variants": {}}
    variants = variants_of(found, classes[place], plan.target, plan.seed, is_test=is_test)
    seconds = time.perf_counter() - started
    return result | {"timing": {"fit_s": seconds}, "variants": _plain(variants)}
