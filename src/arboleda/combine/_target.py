"""What members learn: targets checked, labels as numbers of classes, parameters for each fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_y

from arboleda._engine.target import read_target, read_weight

__all__ = [
    "check_held_out_weights",
    "check_squares",
    "read_classes",
    "read_multilabel",
    "read_values",
    "read_weights",
]

Array = npt.NDArray[Any]
# Greater ones have squares whose sum over many rows is no number.
_GREATEST = 1e145


def read_classes(y: Any) -> tuple[Array, npt.NDArray[np.intp]]:
    """Check labels and return the classes, sorted, and the number of each row's class.

    Raises
    ------
    ValueError
        If a label is missing, or y holds quantities.
    NotImplementedError
        If a row has several labels.
    """
    y = read_target(y, numeric=False)
    kind = type_of_target(y, input_name="y")
    if kind.startswith("multi") and kind != "multiclass":
        raise NotImplementedError(
            f"y is {kind}: only one label for each row can be combined; combine each output by "
            "itself"
        )
    y = _not_empty(column_or_1d(_check_y(y), warn=True))
    check_classification_targets(y)
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers.astype(np.intp)


def read_multilabel(y: Any) -> tuple[list[Array], npt.NDArray[np.intp]] | None:
    """Check labels of several outputs and return the classes of each, and their numbers.

    Parameters
    ----------
    y : array-like of shape (n_samples, n_outputs)

    Returns
    -------
    classes : list of ndarray
        Labels of each output, sorted.
    numbers : ndarray of shape (n_samples, n_outputs)
        The places of each row's labels among them. The result is None if y is no indicator of
        labels, with two values in more than one column.

    Raises
    ------
    ValueError
        If a label is missing, or y has no rows.
    """
    y = read_target(y, numeric=False)
    if not isinstance(y, np.ndarray) or y.ndim != 2 or y.shape[1] < 2:
        return None
    if type_of_target(y, input_name="y") != "multilabel-indicator":
        return None
    outputs = [np.unique(column, return_inverse=True) for column in _not_empty(y).T]
    numbers = np.column_stack([places for _, places in outputs]).astype(np.intp)
    return [labels for labels, _ in outputs], numbers


def read_values(y: Any) -> npt.NDArray[np.float64]:
    """Check the numbers that a regression predicts.

    Raises
    ------
    ValueError
        If one is missing, infinite or no number, or there are several columns.
    """
    values: npt.NDArray[np.float64] = column_or_1d(
        _check_y(read_target(y, numeric=True), y_numeric=True), dtype=np.float64, warn=True
    )
    return _not_empty(values)


def _not_empty(y: Array) -> Array:
    if not len(y):
        raise ValueError(
            "Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required: y has no "
            "rows to learn from"
        )
    return y


def read_weights(sample_weight: Any, target: Array) -> npt.NDArray[np.float64]:
    """Check the weights of rows; all one if there are none.

    Raises
    ------
    ValueError
        If one is negative, missing or infinite, all are zero, or there are too many or few.
    """
    rows: Any = target
    weights = read_weight(sample_weight, rows)
    return np.ones(len(target)) if weights is None else weights


def check_held_out_weights(weights: npt.NDArray[np.float64]) -> None:
    """Refuse weights of rows held out that are all 0.

    Raises
    ------
    ValueError
        If no row has weight.
    """
    if not weights.any():
        raise ValueError(
            "sample_weight is 0 for all rows that members answer for out of fold: nothing can be "
            "learned of how good the members are; give some of these rows weight, or use other "
            "folds"
        )


def check_squares(values: npt.NDArray[np.float64], what: str) -> None:
    """Refuse values whose squares, summed over rows, would be no numbers.

    Raises
    ------
    ValueError
        If a value is beyond 1e145.
    """
    for extreme in (values.max(), values.min()):
        if abs(extreme) > _GREATEST:
            raise ValueError(
                f"{what} {float(extreme):.3g}: squared errors of such numbers are none; divide y "
                "by a constant, and multiply the predictions by it"
            )
