"""Checks of targets and weights, and encoding of labels as class numbers."""

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
# The sum of squares of greater values over many rows overflows.
_GREATEST = 1e145


def read_classes(y: Any) -> tuple[Array, npt.NDArray[np.intp]]:
    """Check labels, and return the sorted classes and the class number of each row.

    Raises
    ------
    ValueError
        If a label is missing, or y is continuous.
    NotImplementedError
        If y has several outputs.
    """
    y = read_target(y, numeric=False)
    kind = type_of_target(y, input_name="y")
    if kind.startswith("multi") and kind != "multiclass":
        raise NotImplementedError(
            f"y is {kind}: only one label for each row is supported; combine each output separately"
        )
    y = _check_not_empty(column_or_1d(_check_y(y), warn=True))
    check_classification_targets(y)
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers.astype(np.intp)


def read_multilabel(y: Any) -> tuple[list[Array], npt.NDArray[np.intp]] | None:
    """Check multilabel targets, and return the classes and class numbers of each output.

    Parameters
    ----------
    y : array-like of shape (n_samples, n_outputs)

    Returns
    -------
    classes : list of ndarray
        Sorted labels of each output.
    numbers : ndarray of shape (n_samples, n_outputs)
        Class numbers. The result is None if y is not a multilabel indicator, with two values and
        more than one column.

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
    outputs = [np.unique(column, return_inverse=True) for column in _check_not_empty(y).T]
    numbers = np.column_stack([places for _, places in outputs]).astype(np.intp)
    return [labels for labels, _ in outputs], numbers


def read_values(y: Any) -> npt.NDArray[np.float64]:
    """Check the target of a regression.

    Raises
    ------
    ValueError
        If a value is missing, infinite or not a number, or there are several columns.
    """
    values: npt.NDArray[np.float64] = column_or_1d(
        _check_y(read_target(y, numeric=True), y_numeric=True), dtype=np.float64, warn=True
    )
    return _check_not_empty(values)


def _check_not_empty(y: Array) -> Array:
    if not len(y):
        raise ValueError(
            "Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required: y has no "
            "rows"
        )
    return y


def read_weights(sample_weight: Any, target: Array) -> npt.NDArray[np.float64]:
    """Check the weights of rows, and return ones if there are none.

    Raises
    ------
    ValueError
        If a weight is negative, missing or infinite, all are zero, or their number is wrong.
    """
    rows: Any = target
    weights = read_weight(sample_weight, rows)
    return np.ones(len(target)) if weights is None else weights


def check_held_out_weights(weights: npt.NDArray[np.float64]) -> None:
    """Refuse held-out rows whose weights are all 0.

    Raises
    ------
    ValueError
        If no row has a positive weight.
    """
    if not weights.any():
        raise ValueError(
            "sample_weight is 0 for all rows that members predict out of fold, so the members "
            "cannot be scored: set a positive weight for some of these rows, or use other folds"
        )


def check_squares(values: npt.NDArray[np.float64], what: str) -> None:
    """Refuse values whose sum of squares over rows would overflow.

    Raises
    ------
    ValueError
        If a value is beyond 1e145.
    """
    for extreme in (values.max(), values.min()):
        if abs(extreme) > _GREATEST:
            raise ValueError(
                f"{what} {float(extreme):.3g}, whose squared errors overflow: divide y by a "
                "constant, and multiply the predictions by it"
            )
