"""Misclassification costs of a study, and decisions of least expected cost."""

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.decide._costs import best_decisions, expected_costs
from arboleda.study.config.settings import Costs, Settings
from arboleda.study.data.target import Target
from arboleda.study.errors import StudyError
from arboleda.study.results.best_model_facts import CostsFacts
from arboleda.study.results.probabilities import are_probabilities

__all__ = [
    "REJECTED",
    "cheapest_classes",
    "check_costs",
    "cost_matrix",
    "costs_facts",
    "decide_by_cost",
    "row_costs",
]

# The decision for a rejected row, beside the numbers of classes.
REJECTED = -1
_SHOWN = 8

Floats = npt.NDArray[np.float64]


def check_costs(settings: Settings, target: Target) -> None:
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


def _check_order(given: tuple[tuple[float, ...], ...], target: Target) -> None:
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


def _first_labels(target: Target) -> str:
    shown = ", ".join(repr(name[:60]) for name in target.labels[:_SHOWN])
    return shown + (" and others" if len(target.labels) > _SHOWN else "")


def cost_matrix(settings: Settings, target: Target) -> Floats | None:
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


def costs_facts(settings: Settings, target: Target) -> CostsFacts | None:
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


def cheapest_classes(
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
    >>> cheapest_classes(p.argmax(axis=1), p, np.array([[0.0, 1.0], [5.0, 0.0]])).tolist()
    [1, 0]
    """
    if score is None or not are_probabilities(score):
        return np.asarray(predicted, dtype=np.int64)
    return decide_by_cost(score, matrix, None)


def row_costs(
    y: npt.NDArray[Any], predicted: npt.NDArray[Any], score: Floats | None, matrix: Floats
) -> Floats:
    """Return the cost of each row's `cheapest_classes`; ``y`` holds numbers of classes."""
    costs: Floats = matrix[y, cheapest_classes(predicted, score, matrix)]
    return costs
