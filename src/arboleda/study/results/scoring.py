"""The metrics of a study, the scores of predictions, and decisions of least expected cost.

Chance scores and the .632+ estimate are for bags. Efron and Tibshirani (1997) estimate the mean of
a loss. A metric becomes such a loss by its sign, and the root mean squared error by its square;
``arboleda.model_selection`` contains the formula. The bags' metrics are averaged with the numbers
of out-of-bag rows as weights: the first of the two forms of the leave-one-out bootstrap (Efron
1983), which for a mean of losses is the mean over all pairs of a bag and an out-of-bag row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.errors import StudyError
from arboleda.decide import best_decisions, expected_costs
from arboleda.metrics import classification_table, regression_table
from arboleda.model_selection import bootstrap_estimates
from arboleda.study.config.settings import Costs, Settings
from arboleda.study.results.best_model_facts import CostsFacts
from arboleda.tables.target import StudyTarget

__all__ = [
    "COST",
    "METRICS",
    "REJECTED",
    "StudyMetric",
    "all_scores",
    "are_probabilities",
    "check_costs",
    "choose_cheapest_classes",
    "choose_metric",
    "class_scores",
    "compute_chance_scores",
    "compute_row_costs",
    "cost_matrix",
    "cost_score",
    "decide_by_cost",
    "describe_costs",
    "estimate_plus_632",
]

# The metric that needs a matrix of costs.
COST = "cost"
# Tolerance of the sum of a row of probabilities.
_SUM_TOLERANCE = 1e-4
# The decision for a rejected row, beside the numbers of classes.
REJECTED = -1
_SHOWN = 8
Floats = npt.NDArray[np.float64]
# Metrics where greater is better; all others are losses.
_GAINS = frozenset(
    ("accuracy", "balanced_accuracy", "f1_macro", "mcc", "roc_auc", "average_precision", "r2")
)
# Maximum number of pairings of targets with predictions.
_SHIFTS = 50


@dataclass(frozen=True)
class StudyMetric:
    """A metric: its key in the facts, its name, its direction and its range."""

    key: str
    label: str
    greater_is_better: bool
    task: str
    range: tuple[float, float] = (0.0, 1.0)


METRICS = (
    StudyMetric("accuracy", "Accuracy", True, "classification"),
    StudyMetric("balanced_accuracy", "Balanced accuracy", True, "classification"),
    StudyMetric("f1_macro", "Macro F1", True, "classification"),
    StudyMetric("mcc", "Matthews correlation", True, "classification", (-1.0, 1.0)),
    StudyMetric("roc_auc", "ROC AUC", True, "classification"),
    StudyMetric("log_loss", "Log-loss", False, "classification", (0.0, np.inf)),
    StudyMetric(COST, "Mean cost", False, "classification", (-np.inf, np.inf)),
    StudyMetric("rmse", "RMSE", False, "regression", (0.0, np.inf)),
    StudyMetric("mae", "MAE", False, "regression", (0.0, np.inf)),
    StudyMetric("r2", "R²", True, "regression", (-np.inf, 1.0)),
)


def choose_metric(key: str | None, task: str, class_metric: str = "log_loss") -> StudyMetric:
    """Return the metric of a key, or the task's default: ``class_metric``, or RMSE.

    Raises
    ------
    StudyError
        If the task has no such metric.
    """
    kind = "regression" if task == "regression" else "classification"
    fitting = [m for m in METRICS if m.task == kind]
    if key is None:
        key = "rmse" if kind == "regression" else class_metric
    for metric in fitting:
        if metric.key == key:
            return metric
    raise StudyError(
        f"There is no metric {key!r} for {kind}; choose one of {', '.join(m.key for m in fitting)}."
    )


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
) -> dict[str, float | None]:
    """Compute every metric of predictions; ``n_classes`` is 0 in a regression.

    With ``costs`` by true and predicted class, the mean cost is included.
    """
    if n_classes == 0:
        return regression_table(y, predicted).metrics
    table = classification_table(y, predicted, score, labels=range(n_classes))
    return table.metrics | cost_score(y, predicted, score, costs)


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


def check_costs(settings: Settings, target: StudyTarget) -> None:
    """Check that costs fit the target.

    Raises
    ------
    StudyError
        If the target is a quantity, or a label is not one of its classes.
    """
    given = settings.cost_matrix
    if not target.labels and (given is not None or settings.reject_cost is not None):
        raise StudyError(
            f"Costs need classes, and the target {target.name!r} is a quantity; leave "
            "--cost-matrix and --reject-cost out, or use --task classification."
        )
    if isinstance(given, tuple):
        _check_order(given, target)
        return
    for true, row in (given or {}).items():
        for label in (true, *row):
            if label not in target.labels:
                raise StudyError(
                    f"The cost matrix names the class {label[:60]!r}, but the classes of "
                    f"{target.name!r} are {_first_labels(target)}."
                )


def _check_order(given: tuple[tuple[float, ...], ...], target: StudyTarget) -> None:
    """Check that a matrix without labels has a row and a column for each class."""
    n = len(target.labels)
    widths = {len(row) for row in given}
    if len(given) != n or widths != {n}:
        shown = f"{widths.pop()} columns" if len(widths) == 1 else "columns of different lengths"
        raise StudyError(
            f"The cost matrix has {len(given)} rows and {shown}, but {target.name!r} has {n} "
            f"classes, {_first_labels(target)}; give a row for each true class and a column for "
            "each predicted one in this order, or name the classes, as in "
            f'{{"{target.labels[0]}": {{"{target.labels[1]}": 5}}}}.'
        )


def _first_labels(target: StudyTarget) -> str:
    shown = ", ".join(repr(name[:60]) for name in target.labels[:_SHOWN])
    return shown + (" and others" if len(target.labels) > _SHOWN else "")


def cost_matrix(settings: Settings, target: StudyTarget) -> Floats | None:
    """Return the costs L[k, j] of predicting class j when the truth is k; None without costs.

    An absent pair costs 1, a correct prediction 0.
    """
    if settings.cost_matrix is None and settings.reject_cost is None:
        return None
    return matrix_of(settings.cost_matrix, target.labels)


def matrix_of(given: Costs | None, labels: tuple[str, ...]) -> Floats:
    """Return costs, given as a matrix or by pairs of labels, as a matrix of these classes."""
    if isinstance(given, tuple):
        return np.array(given, dtype=np.float64)
    matrix = 1.0 - np.eye(len(labels))
    place = {label: k for k, label in enumerate(labels)}
    for true, row in (given or {}).items():
        for predicted, cost in row.items():
            matrix[place[true], place[predicted]] = cost
    return matrix


def describe_costs(settings: Settings, target: StudyTarget) -> CostsFacts | None:
    """Return the ``costs`` part of the facts."""
    matrix = cost_matrix(settings, target)
    if matrix is None:
        return None
    return CostsFacts(
        labels=list(target.labels), matrix=matrix.tolist(), reject_cost=settings.reject_cost
    )


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
    metric: str, left_out: Sequence[float], weights: Sequence[int], training: float, chance: float
) -> float:
    """Compute the .632+ estimate of a metric.

    Parameters
    ----------
    metric : str
    left_out : sequence of float
        The metric on the out-of-bag rows of each bag.
    weights : sequence of int
        Numbers of out-of-bag rows.
    training : float
        The metric of a model fitted to all training rows, on these rows.
    chance : float
        The metric of predictions that are independent of the target.
    """
    losses = np.average([_as_loss(metric, value) for value in left_out], weights=weights)
    found = bootstrap_estimates(_as_loss(metric, training), float(losses), _as_loss(metric, chance))
    if metric == "rmse":
        return float(np.sqrt(found.plus_632))
    return -found.plus_632 if metric in _GAINS else found.plus_632


def _as_loss(metric: str, value: float) -> float:
    if metric == "rmse":
        return value**2
    return -value if metric in _GAINS else value


def compute_chance_scores(
    y: npt.NDArray[np.generic],
    predicted: npt.NDArray[np.generic],
    score: Floats | None,
    n_classes: int,
    costs: Floats | None = None,
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
        )
        for s in shifts
    ]
    return {name: _mean_score(name, [scores[name] for scores in found]) for name in found[0]}


def _mean_score(metric: str, values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if metric == "rmse":
        return float(np.sqrt(np.mean(np.square(known))))
    return float(np.mean(known))
