"""What members learn: targets checked, labels as numbers of classes, parameters for each fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, _check_y

from arboleda._bridge.target import read_target

__all__ = ["check_held_out_weights", "read_classes", "read_values", "read_weights"]

Array = npt.NDArray[Any]


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
    y = column_or_1d(_check_y(y), warn=True)
    check_classification_targets(y)
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers.astype(np.intp)


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
    return values


def read_weights(sample_weight: Any, target: Array) -> npt.NDArray[np.float64]:
    """Check the weights of rows; all one if there are none.

    Raises
    ------
    ValueError
        If one is negative, missing or infinite.
    """
    weights: npt.NDArray[np.float64] = _check_sample_weight(
        sample_weight, target, dtype=np.float64, ensure_non_negative=True
    )
    return weights


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
