"""The costs of wrong predictions that a study is given: their checks, and their matrix."""

import numpy as np
import numpy.typing as npt

from arboleda._utils.errors import StudyError
from arboleda.facts.best_model import CostsFacts
from arboleda.study.config.settings import Costs, Settings
from arboleda.tables.target import StudyTarget

__all__ = ["check_costs", "cost_matrix", "describe_costs", "matrix_of"]

_SHOWN = 8
Floats = npt.NDArray[np.float64]


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
    matrix = matrix_of(settings.cost_matrix, target.labels)
    # A matrix has the classes in sorted order.
    is_reversed = target.is_reversed and isinstance(settings.cost_matrix, tuple)
    return matrix[::-1, ::-1].copy() if is_reversed else matrix


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
