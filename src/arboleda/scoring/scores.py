"""The scores of predictions, and decisions of least expected cost.

Chance scores and the .632+ estimate are for bags. Efron and Tibshirani (1997) estimate the mean of
a loss. A metric becomes such a loss by its sign, and the root mean squared error by its square;
``arboleda.model_selection`` contains the formula. The bags' metrics are averaged with the numbers
of out-of-bag rows as weights: the first of the two forms of the leave-one-out bootstrap (Efron
1983), which for a mean of losses is the mean over all pairs of a bag and an out-of-bag row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax

from arboleda.decide import best_decisions, expected_costs
from arboleda.metrics import classification_table, regression_table
from arboleda.model_selection import bootstrap_estimates
from arboleda.scoring.choice import COST, StudyMetric, find_metric
from arboleda.scoring.measures import ScoredOutputs

__all__ = [
    "REJECTED",
    "Predictions",
    "all_scores",
    "are_probabilities",
    "choose_cheapest_classes",
    "class_scores",
    "compute_chance_scores",
    "compute_row_costs",
    "cost_score",
    "decide_by_cost",
    "estimate_plus_632",
    "extra_score",
    "name_loss",
]

# Tolerance of the sum of a row of probabilities.
_SUM_TOLERANCE = 1e-4
# The decision for a rejected row, beside the numbers of classes.
REJECTED = -1
Floats = npt.NDArray[np.float64]
LossOf = Literal["gain", "root", "mean"]
# Maximum number of pairings of targets with predictions.
_SHIFTS = 50


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of a fitted model for some rows.

    ``predicted`` holds numbers of classes, or values; ``score`` is None, or of shape (n_rows,
    n_classes) as `class_scores` returns it: probabilities, or decision values.
    """

    predicted: npt.NDArray[Any]
    score: Floats | None

    def probabilities(self, n_classes: int) -> Floats:
        """Return probabilities of all classes for any classifier.

        They are the model's own, or the logistic function of its decision values (the softmax for
        several classes), or 1 for the predicted class.
        """
        if self.score is None:
            return np.asarray(self.predicted[:, None] == np.arange(n_classes), dtype=np.float64)
        if are_probabilities(self.score):
            return self.score
        known = np.flatnonzero(~np.isneginf(self.score).all(axis=0))
        if len(known) > 2:
            return np.asarray(softmax(self.score, axis=1))
        second = expit(self.score[:, known[-1]])
        full = np.zeros((len(second), n_classes))
        full[:, known[0]], full[:, known[-1]] = 1.0 - second, second
        return full


def class_scores(
    model: Any, x: npt.NDArray[np.float64], n_classes: int
) -> npt.NDArray[np.float64] | None:
    """Return probabilities, or decision values of models without, one column per class.

    A class that is absent from the model's training rows gets the probability 0.
    """
    if hasattr(model, "predict_proba"):
        score = np.asarray(model.predict_proba(x), dtype=np.float64)
        absent = 0.0
    elif hasattr(model, "decision_function"):
        score = np.asarray(model.decision_function(x), dtype=np.float64)
        absent = -np.inf
        if score.ndim == 1:
            # Moved out of [0, 1], so that margins are not mistaken for probabilities.
            score = np.column_stack([-1.0 - score, score])
    else:
        return None
    full = np.full((len(score), n_classes), absent)
    full[:, np.asarray(model.classes_, dtype=np.int64)] = score
    return full


def all_scores(
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: npt.NDArray[np.float64] | None,
    n_classes: int,
    costs: npt.NDArray[np.float64] | None = None,
    metric: StudyMetric | None = None,
) -> dict[str, float | None]:
    """Compute the usual metrics of predictions; ``n_classes`` is 0 in a regression.

    The study's ``metric`` is included, and with ``costs`` by true and predicted class the mean
    cost.
    """
    if metric is not None and metric.all_measures:
        outputs = ScoredOutputs(y, predicted, score, n_classes)
        return {key: measure.compute(outputs) for key, measure in metric.all_measures.items()}
    if n_classes == 0:
        found = regression_table(y, predicted).metrics
    else:
        table = classification_table(y, predicted, score, labels=range(n_classes))
        found = table.metrics | cost_score(y, predicted, score, costs)
    return found | extra_score(metric, found, ScoredOutputs(y, predicted, score, n_classes))


def extra_score(
    metric: StudyMetric | None, known: Mapping[str, float | None], outputs: ScoredOutputs
) -> dict[str, float | None]:
    """Compute the study's metric if it is not among the ``known`` ones."""
    if metric is None or metric.key in known or metric.measure is None:
        return {}
    score = outputs.score
    if metric.needs_probabilities and (score is None or not are_probabilities(score)):
        return {metric.key: None}
    return {metric.key: metric.measure.compute(outputs)}


def cost_score(
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: npt.NDArray[np.float64] | None,
    costs: npt.NDArray[np.float64] | None,
) -> dict[str, float | None]:
    """Compute the metric "cost", if there are costs: the mean cost of the cheapest decisions."""
    if costs is None:
        return {}
    return {COST: float(compute_row_costs(y, predicted, score, costs).mean())}


def are_probabilities(score: npt.NDArray[np.float64]) -> bool:
    """Whether each row holds the probabilities of all classes."""
    inside = bool(np.all((score >= 0.0) & (score <= 1.0)))
    return inside and bool(np.all(np.abs(score.sum(axis=1) - 1.0) <= _SUM_TOLERANCE))


def decide_by_cost(
    probabilities: Floats, matrix: Floats, reject_cost: float | None
) -> npt.NDArray[np.int64]:
    """Return the class of least expected cost in each row, or ``REJECTED``.

    A row is rejected if even the least expected cost exceeds the cost of rejection (Chow 1970, with
    a cost matrix instead of errors).

    Parameters
    ----------
    probabilities : ndarray of shape (n, n_classes)
    matrix : ndarray of shape (n_classes, n_classes)
        Costs by true and predicted class.
    reject_cost : float or None
        None: no row is rejected.
    """
    decisions = best_decisions(probabilities, matrix).astype(np.int64)
    if reject_cost is not None:
        least = expected_costs(probabilities, matrix)[np.arange(len(decisions)), decisions]
        decisions[least > reject_cost] = REJECTED
    return decisions


def choose_cheapest_classes(
    predicted: npt.NDArray[Any], score: Floats | None, matrix: Floats
) -> npt.NDArray[np.int64]:
    """Return the class in each row that metric "cost" scores.

    It is the class of least expected cost by the model's uncalibrated probabilities, or the
    predicted class if the model has none.

    Parameters
    ----------
    predicted : ndarray of shape (n,)
        Numbers of classes.
    score : ndarray of shape (n, n_classes) or None
        Probabilities or decision values.
    matrix : ndarray of shape (n_classes, n_classes)
        Costs by true and predicted class.

    Examples
    --------
    >>> p = np.array([[0.7, 0.3], [0.9, 0.1]])
    >>> choose_cheapest_classes(p.argmax(axis=1), p, np.array([[0.0, 1.0], [5.0, 0.0]])).tolist()
    [1, 0]
    """
    if score is None or not are_probabilities(score):
        return np.asarray(predicted, dtype=np.int64)
    return decide_by_cost(score, matrix, None)


def compute_row_costs(
    y: npt.NDArray[Any], predicted: npt.NDArray[Any], score: Floats | None, matrix: Floats
) -> Floats:
    """Return the cost of each row's `choose_cheapest_classes`; ``y`` holds numbers of classes."""
    costs: Floats = matrix[y, choose_cheapest_classes(predicted, score, matrix)]
    return costs


def estimate_plus_632(
    loss: LossOf, left_out: Sequence[float], weights: Sequence[int], training: float, chance: float
) -> float:
    """Compute the .632+ estimate of a metric.

    Parameters
    ----------
    loss : {"gain", "root", "mean"}
        How the metric relates to the mean of a loss: `name_loss`.
    left_out : sequence of float
        The metric on the out-of-bag rows of each bag.
    weights : sequence of int
        Numbers of out-of-bag rows.
    training : float
        The metric of a model fitted to all training rows, on these rows.
    chance : float
        The metric of predictions that are independent of the target.
    """
    losses = np.average([_as_loss(loss, value) for value in left_out], weights=weights)
    found = bootstrap_estimates(_as_loss(loss, training), float(losses), _as_loss(loss, chance))
    if loss == "root":
        return float(np.sqrt(found.plus_632))
    return -found.plus_632 if loss == "gain" else found.plus_632


def name_loss(key: str, metric: StudyMetric | None = None) -> LossOf:
    """Return how a metric relates to the mean of a loss; ``metric`` is that of the study."""
    if metric is None or metric.key != key:
        metric = find_metric(key)
    return "gain" if metric.greater_is_better else "root" if metric.is_root else "mean"


def _as_loss(loss: LossOf, value: float) -> float:
    if loss == "root":
        return value**2
    return -value if loss == "gain" else value


def compute_chance_scores(
    y: npt.NDArray[np.generic],
    predicted: npt.NDArray[np.generic],
    score: Floats | None,
    n_classes: int,
    costs: Floats | None = None,
    metric: StudyMetric | None = None,
) -> dict[str, float | None]:
    """Compute every metric with predictions that are independent of the targets.

    It is the mean over evenly spaced shifts of the predictions against the targets; with all shifts
    every target is paired with every prediction.
    """
    n = len(y)
    shifts = np.unique(np.linspace(0, n, min(n, _SHIFTS), endpoint=False).astype(int))
    found = [
        all_scores(
            y,
            np.roll(predicted, s),
            None if score is None else np.roll(score, s, axis=0),
            n_classes,
            costs,
            metric,
        )
        for s in shifts
    ]
    return {
        name: _mean_score(name_loss(name, metric), [scores[name] for scores in found])
        for name in found[0]
    }


def _mean_score(loss: LossOf, values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if loss == "root":
        return float(np.sqrt(np.mean(np.square(known))))
    return float(np.mean(known))
