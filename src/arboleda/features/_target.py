"""Validation of targets: classes or numbers."""

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
    """Validate a target and infer its task.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    task : {"auto", "classification", "regression"}
        "auto": regression if y has fractional numbers, else classification, as in scikit-learn's
        ``type_of_target``.
    estimator : object
        Estimator named in error messages.

    Returns
    -------
    target : ndarray of shape (n_samples,)
        Class indices, or float64 numbers.
    task : {"classification", "regression"}

    Raises
    ------
    ValueError
        If a value is missing, infinite or invalid for the task, or there are several targets.
    """
    target = read_target(y, numeric=task == "regression")
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn sums and casts huge values
        if task == "auto":
            task = "regression" if type_of_target(target) == "continuous" else "classification"
        if task == "classification":
            return encode_classes(target, estimator)[1], task
        numbers = _check_y(target, y_numeric=True, estimator=estimator)
    if numbers.dtype.kind in "Mm":
        raise ValueError(
            f"y has values of type {numbers.dtype}: convert dates and durations to numbers first."
        )
    return column_or_1d(numbers, warn=True).astype(np.float64), task
