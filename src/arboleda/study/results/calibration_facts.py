"""The ``calibration`` part of the facts: whether calibration improves the best model."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.facts.best_model import (
    CalibrationFacts,
    CalibrationFolds,
    CalibrationTest,
    CalibrationVariant,
    FoldMetrics,
    GainFacts,
)
from arboleda.facts.model import CalibrationMethod, ReliabilityBin, SearchSeconds
from arboleda.scoring.evaluate import BINS
from arboleda.scoring.intervals import compute_fold_gain
from arboleda.study.plan import Plan
from arboleda.study.results.calibration import AS_IT_IS, METHODS

__all__ = ["NO_ROOM", "describe_calibration"]

# A proper score: the true probabilities minimize it.
SCORE = "log_loss"
SHOWN_METRICS = (SCORE, "brier")
NO_ROOM = "the time budget has no room for it"
Floats = npt.NDArray[np.float64]


def describe_calibration(
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
        Results of the folds in their order, then that of the test; none if there was no time.
    """
    if not results:
        return CalibrationFacts(
            model=model,
            error=NO_ROOM,
            metric=SCORE,
            chosen=None,
            gain=None,
            variants=[],
            timing=SearchSeconds(search_s=0.0),
        )
    *folds, test = results
    error = next((result["error"] for result in results if result["error"]), None)
    tried: list[CalibrationMethod] = (
        [] if error else [m for m in (AS_IT_IS, *METHODS) if _is_complete(m, folds)]
    )
    variants = [
        _describe_variant(
            plan.metric.key,
            method,
            [f["variants"][method] for f in folds],
            test["variants"].get(method),
        )
        for method in tried
    ]
    losses = {v.method: _get_losses(v) for v in variants}
    return CalibrationFacts(
        model=model,
        error=error,
        metric=SCORE,
        chosen=_choose_method(losses),
        gain=_compute_gain(plan, losses),
        variants=variants,
        timing=SearchSeconds(search_s=float(sum(sum(r["timing"].values()) for r in results))),
    )


def _is_complete(method: str, folds: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each fold has probabilities, none of them 0 for an observed class."""
    return all(
        method in fold["variants"] and fold["variants"][method]["metrics"][SCORE] is not None
        for fold in folds
    )


def _choose_method(
    losses: Mapping[CalibrationMethod, Floats],
) -> CalibrationMethod | None:
    if not losses:
        return None
    best = min(losses, key=lambda method: float(np.mean(losses[method])))
    if AS_IT_IS not in losses or best == AS_IT_IS:
        return best
    gain = np.subtract(losses[AS_IT_IS], losses[best])
    standard_error = float(np.std(gain, ddof=1)) / np.sqrt(len(gain))
    return best if float(np.mean(gain)) > standard_error else AS_IT_IS


def _compute_gain(plan: Plan, losses: Mapping[CalibrationMethod, Floats]) -> GainFacts | None:
    """Compute the gain of the best method over the model without calibration."""
    methods = {method: values for method, values in losses.items() if method != AS_IT_IS}
    if AS_IT_IS not in losses or not methods:
        return None
    best = min(methods.values(), key=lambda values: float(np.mean(values)))
    # In time order the first folds may lack rows to calibrate by.
    folds = plan.split.partition[-len(best) :]
    return compute_fold_gain(
        losses[AS_IT_IS].tolist(), best.tolist(), folds, greater_is_better=False
    )


def _describe_variant(
    metric: str,
    method: CalibrationMethod,
    folds: Sequence[Mapping[str, Any]],
    test: Mapping[str, Any] | None,
) -> CalibrationVariant:
    shown = dict.fromkeys([*SHOWN_METRICS, metric])
    error, bins = _pool_bins([fold["bins"] for fold in folds])
    return CalibrationVariant(
        method=method,
        cv=CalibrationFolds(
            metrics={name: _summarize_folds([f["metrics"][name] for f in folds]) for name in shown},
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


def _summarize_folds(scores: Sequence[float | None]) -> FoldMetrics:
    known = [score for score in scores if score is not None]
    if len(known) < len(scores):
        return FoldMetrics(folds=list(scores), mean=None, sd=None)
    sd = float(np.std(known, ddof=1))
    return FoldMetrics(folds=list(scores), mean=float(np.mean(known)), sd=sd)


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


def _get_losses(variant: CalibrationVariant) -> Floats:
    return np.array(variant.cv.metrics[SCORE].folds, dtype=np.float64)
