"""The target of a selection: classes or numbers."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_y, column_or_1d

from arboleda._engine.target import read_target
from arboleda.tree._class_target import encode_classes

__all__ = ["Task", "read_classes_or_numbers"]

Task = Literal["auto", "classification", "regression"]


def read_classes_or_numbers(
    y: Any, task: Task, estimator: Any
) -> tuple[npt.NDArray[Any], Literal["classification", "regression"]]:
    """Check a target and tell what it is.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    task : {"auto", "classification", "regression"}
        "auto": numbers that are not all whole mean regression, anything else classification, as
        scikit-learn's ``type_of_target`` has it.
    estimator : object
        For messages.

    Returns
    -------
    target : ndarray of shape (n_samples,)
        Numbers of classes, or float64.
    task : {"classification", "regression"}

    Raises
    ------
    ValueError
        If a value is missing or infinite, or there are several targets, or their values are not
        those of the task.
    """
    read = read_target(y, numeric=task == "regression")
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds up and casts huge values
        if task == "auto":
            task = "regression" if type_of_target(read) == "continuous" else "classification"
        if task == "classification":
            return encode_classes(read, estimator)[1], task
        numbers = _check_y(read, y_numeric=True, estimator=estimator)
    if numbers.dtype.kind in "Mm":
        raise ValueError(
            f"y has values of type {numbers.dtype}: turn dates and durations into numbers first"
        )
    return column_or_1d(numbers, warn=True).astype(np.float64), task
