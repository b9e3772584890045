"""The facts of the best model's calibration: the tried methods, their scores, the chosen one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.study.plan import Plan
from arboleda.study.results.best_model_facts import (
    CalibrationFacts,
    CalibrationFolds,
    CalibrationTest,
    CalibrationVariant,
    FoldMetrics,
)
from arboleda.study.results.calibration import AS_IT_IS, BINS, METHODS
from arboleda.study.results.model_facts import ReliabilityBin, SearchSeconds

__all__ = ["calibration_facts"]

# A proper score: the true probabilities minimize it.
SCORE = "log_loss"
SHOWN = (SCORE, "brier")


def calibration_facts(
    plan: Plan, model: str, results: Sequence[Mapping[str, Any]]
) -> CalibrationFacts:
    """Return the ``calibration`` part of the facts.

    A method is chosen if its mean log-loss over the folds is the smallest, and smaller than that of
    the uncalibrated model by more than one standard error of the difference.

    Parameters
    ----------
    plan : Plan
    model : str
        Key of the model.
    results : sequence of mapping
        Results of the folds in their order, then that of the test.
    """
    *folds, test = results
    error = next((result["error"] for result in results if result["error"]), None)
    tried = [] if error else [m for m in (AS_IT_IS, *METHODS) if _is_complete(m, folds)]
    variants = [
        _variant(plan, method, [f["variants"][method] for f in folds], test["variants"].get(method))
        for method in tried
    ]
    return CalibrationFacts(
        model=model,
        error=error,
        metric=SCORE,
        chosen=_choose({v.method: np.array(v.cv.metrics[SCORE].folds) for v in variants}),
        variants=variants,
        timing=SearchSeconds(search_s=float(sum(sum(r["timing"].values()) for r in results))),
    )


def _is_complete(method: str, folds: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each fold has probabilities, none of them 0 for an observed class."""
    return all(
        method in fold["variants"] and fold["variants"][method]["metrics"][SCORE] is not None
        for fold in folds
    )


def _choose(losses: Mapping[str, npt.ArrayLike]) -> str | None:
    if not losses:
        return None
    best = min(losses, key=lambda method: float(np.mean(losses[method])))
    if AS_IT_IS not in losses or best == AS_IT_IS:
        return best
    gain = np.subtract(losses[AS_IT_IS], losses[best])
    standard_error = float(np.std(gain, ddof=1)) / np.sqrt(len(gain))
    return best if float(np.mean(gain)) > standard_error else AS_IT_IS


def _variant(
    plan: Plan, method: str, folds: Sequence[Mapping[str, Any]], test: Mapping[str, Any] | None
) -> CalibrationVariant:
    shown = dict.fromkeys([*SHOWN, plan.metric.key])
    error, bins = _pool_bins([fold["bins"] for fold in folds])
    return CalibrationVariant(
        method=method,
        cv=CalibrationFolds(
            metrics={name: _spread([f["metrics"][name] for f in folds]) for name in shown},
            error=error,
            bins=bins,
        ),
        test=None
        if test is None
        else CalibrationTest(
            metrics={name: test["metrics"][name] for name in shown},
            calibration=test["reliability"],
        ),
    )


def _spread(scores: Sequence[float | None]) -> FoldMetrics:
    known = [score for score in scores if score is not None]
    if len(known) < len(scores):
        return FoldMetrics(folds=list(scores), mean=None, sd=None)
    return FoldMetrics(folds=known, mean=float(np.mean(known)), sd=float(np.std(known, ddof=1)))


def _pool_bins(folds: Sequence[Sequence[Sequence[float]]]) -> tuple[float, list[ReliabilityBin]]:
    """Return the calibration error and the bins of all held-out rows together."""
    count, predicted, observed = np.sum(folds, axis=0).T
    some = np.flatnonzero(count)
    error = float(np.abs(observed - predicted).sum() / count.sum())
    return error, [
        ReliabilityBin(
            lower=int(b) / BINS,
            upper=(int(b) + 1) / BINS,
            count=int(np.rint(count[b])),
            mean_probability=float(predicted[b] / count[b]),
            frequency=float(observed[b] / count[b]),
        )
        for b in some
    ]
