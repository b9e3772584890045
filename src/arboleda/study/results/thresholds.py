"""Decisions between two classes by the threshold of the best model's probability.

The threshold is chosen on out-of-fold predictions of the training rows. The test rows, which take
no part in the choice, show how it does on new rows.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from arboleda.facts.rows import (
    DecisionThreshold,
    ThresholdCurve,
    ThresholdsFacts,
)
from arboleda.scoring.scores import are_probabilities
from arboleda.study.artifacts.rows import HeldOut
from arboleda.study.config.costs import matrix_of
from arboleda.study.plan import Plan
from arboleda.study.results.holdout_facts import ReadPredictions, held_out_predictions
from arboleda.study.runner import Outcome

__all__ = ["choose_threshold", "count_decisions", "describe_thresholds"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

DEFAULT = 0.5
GRID = tuple(round(0.01 * k, 2) for k in range(1, 100))
NO_PROBABILITIES = "the model predicts no probabilities"
NO_ROWS = "its out-of-fold predictions were not saved"


def describe_thresholds(
    plan: Plan, ranked: Sequence[Outcome], read_predictions: ReadPredictions
) -> ThresholdsFacts | None:
    """Return the ``thresholds`` part of the facts; None unless there are two classes."""
    if plan.target.positive is None or not ranked or ranked[0].error:
        return None
    best = ranked[0]
    if not best.model.learns:
        return None
    positive = plan.target.labels.index(plan.target.positive)
    given = plan.settings.cost_matrix
    matrix = matrix_of(given, plan.target.labels)
    # Only differences matter: what a wrong decision costs beyond the right one.
    costs = (
        float(matrix[1 - positive, positive] - matrix[1 - positive, 1 - positive]),
        float(matrix[positive, 1 - positive] - matrix[positive, positive]),
    )
    facts = ThresholdsFacts(
        model=best.model.key,
        skipped=None,
        positive=plan.target.positive,
        false_positive_cost=costs[0],
        false_negative_cost=costs[1],
        given_costs=given is not None,
        thresholds=[],
        held_out=None,
        test=None,
        chosen=None,
    )
    found = held_out_predictions(plan, best, read_predictions)
    if found is None:
        return facts.model_copy(update={"skipped": NO_ROWS})
    held_out = _read_probabilities(found, positive)
    if held_out is None:
        return facts.model_copy(update={"skipped": NO_PROBABILITIES})
    chosen = choose_threshold(*held_out, costs)
    thresholds = sorted({*GRID, chosen.threshold})
    tested = read_predictions(best, None)
    test = tested and _read_probabilities((plan.target.y[plan.split.test], tested), positive)
    return facts.model_copy(
        update={
            "thresholds": thresholds,
            "held_out": count_decisions(*held_out, thresholds, costs),
            "test": count_decisions(*test, thresholds, costs) if test else None,
            "chosen": chosen,
        }
    )


def _read_probabilities(found: HeldOut, positive: int) -> tuple[Flags, Floats] | None:
    """Return whether each row is positive, and its probability; None without probabilities."""
    y, predictions = found
    score = predictions.score
    if score is None or not np.all(np.isfinite(score)) or not are_probabilities(score):
        return None
    return y == positive, score[:, positive]


def choose_threshold(
    is_positive: Flags, p: Floats, costs: tuple[float, float]
) -> DecisionThreshold:
    """Choose the threshold of least cost.

    Of several with the same cost it is the one nearest to the best threshold of calibrated
    probabilities, c / (c + d) for the costs c of a false positive and d of a false negative. It has
    the fewest decimals that divide the rows in the same way.

    Parameters
    ----------
    is_positive : ndarray of shape (n,)
        Whether each row is of the positive class.
    p : ndarray of shape (n,)
        Predicted probability of the positive class.
    costs : (float, float)
        Costs of a false positive and of a false negative.

    Examples
    --------
    >>> rows = np.array([False, False, True, True]), np.array([0.1, 0.3, 0.35, 0.9])
    >>> choose_threshold(*rows, (1.0, 1.0)).threshold
    0.35
    """
    order = np.argsort(-p, kind="stable")
    scores, hit = p[order], is_positive[order]
    # After the first k rows, in descending order of probability, are predicted positive.
    positives = np.concatenate([[0], np.cumsum(hit)])
    negatives = np.concatenate([[0], np.cumsum(~hit)])
    total = costs[0] * negatives + costs[1] * (positives[-1] - positives)
    upper = np.concatenate([[1.0], scores])
    lower = np.concatenate([scores, [-1.0]])
    # A threshold lies above the next row and not above the last one included.
    possible = upper > lower
    ideal = costs[0] / sum(costs) if sum(costs) > 0 else DEFAULT
    least = np.flatnonzero(possible & (total <= total[possible].min() + 1e-12))
    distance = np.maximum(lower[least] - ideal, 0) + np.maximum(ideal - upper[least], 0)
    at = least[int(np.argmin(distance))]
    threshold = _shorten(float(lower[at]), float(upper[at]), ideal)
    saved = _cost_rows(is_positive, p, DEFAULT, costs) - _cost_rows(
        is_positive, p, threshold, costs
    )
    return DecisionThreshold(
        threshold=threshold,
        default=DEFAULT,
        saving=float(saved.mean()),
        standard_error=float(saved.std(ddof=1) / np.sqrt(len(saved))) if len(saved) > 1 else 0.0,
    )


def _shorten(low: float, high: float, ideal: float) -> float:
    """Return the number with the fewest decimals in (low, high], nearest to the ideal one."""
    wanted = min(max(ideal, low), high)
    for decimals in range(2, 16):
        step = 10.0**-decimals
        for value in (
            round(wanted, decimals),
            round(wanted + step, decimals),
            round(wanted - step, decimals),
        ):
            if low < value <= high and 0 <= value <= 1:
                return value
    return high


def _cost_rows(
    is_positive: Flags, p: Floats, threshold: float, costs: tuple[float, float]
) -> Floats:
    predicted = p >= threshold
    return np.where(
        predicted & ~is_positive, costs[0], np.where(~predicted & is_positive, costs[1], 0.0)
    )


def count_decisions(
    is_positive: Flags, p: Floats, thresholds: Sequence[float], costs: tuple[float, float]
) -> ThresholdCurve:
    """Count the decisions on the rows at each threshold, with the measures that follow.

    Examples
    --------
    >>> rows = np.array([False, False, True, True]), np.array([0.1, 0.6, 0.4, 0.9])
    >>> curve = count_decisions(*rows, [0.5], (1.0, 1.0))
    >>> curve.precision, curve.recall, curve.lift, curve.gain, curve.cost
    ([0.5], [0.5], [1.0], [0.0], [0.5])
    """
    n, n_positive = len(p), int(is_positive.sum())

    def count_above(scores: Floats) -> npt.NDArray[np.int64]:
        return len(scores) - np.searchsorted(np.sort(scores), thresholds, side="left")

    true, false = count_above(p[is_positive]), count_above(p[~is_positive])
    flagged = true + false
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = true / flagged
        recall = true / np.float64(n_positive)
        measures = {
            "precision": precision,
            "recall": recall,
            "lift": precision / (n_positive / np.float64(n)),
            "gain": recall - flagged / n,
        }
    missed = n_positive - true
    return ThresholdCurve(
        n_rows=n,
        n_positive=n_positive,
        true_positives=true.tolist(),
        false_positives=false.tolist(),
        cost=((costs[0] * false + costs[1] * missed) / n).tolist(),
        **{
            name: [float(v) if np.isfinite(v) else None for v in values]
            for name, values in measures.items()
        },
    )
