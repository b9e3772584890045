"""Weights of members by their quality on rows that they did not learn from."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._member_weights import (
    ScaledError,
    inverse_error_weights,
    log_odds,
    mean_squared_error,
)
from arboleda.bagging._votes import Floats, MemberOutput

__all__ = ["compute_quality_weights"]


def compute_quality_weights(
    outputs: Iterator[MemberOutput], target: npt.NDArray[Any], n_classes: int
) -> Floats | None:
    """Weights of the members, of sum 1.

    Of classifiers max(0, log(p / (1 - p)) + log(K - 1)), with p the accuracy and K the number of
    classes; of regressors 1 / mean squared error. A member that has no row to be measured on gets
    the mean weight of the others.

    Parameters
    ----------
    outputs : iterator of (rows, outputs)
        For each member rows that it did not learn from, and its votes or values for these.
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Numbers of classes, or values.
    n_classes : int
        0 for values.

    Returns
    -------
    weights : ndarray of shape (n_members,), or None
        None where nothing sets the members apart: they count the same.

    Warns
    -----
    UserWarning
        If no member has a row to be measured on, or none is better than chance.
    """
    raw = (
        _weigh_classifiers(outputs, target, n_classes)
        if n_classes
        else _weigh_regressors(outputs, target)
    )
    is_measured = ~np.isnan(raw)
    if not is_measured.any():
        warnings.warn(
            "no member left a row out, so that their quality is unknown and they count the same: "
            "give more rows or more members",
            stacklevel=2,
        )
        return None
    if not raw[is_measured].any():
        warnings.warn(
            "no member is better than chance on rows that it did not learn from, so that all "
            "weights would be 0: the members count the same",
            stacklevel=2,
        )
        return None
    filled = np.where(is_measured, raw, raw[is_measured].mean())
    weights: Floats = filled / filled.sum()
    return weights


def _weigh_classifiers(
    outputs: Iterator[MemberOutput], target: npt.NDArray[Any], n_classes: int
) -> Floats:
    """Log-odds of the accuracies above chance, NaN where there is no row."""
    n_right, n_rows = [], []
    for rows, votes in outputs:
        n_rows.append(len(rows))
        n_right.append(np.count_nonzero(votes.argmax(axis=1) == target[rows]) if len(rows) else 0)
    sizes = np.array(n_rows)
    weights = np.full(len(sizes), np.nan)
    measured = np.flatnonzero(sizes)
    accuracy = np.array(n_right)[measured] / sizes[measured]
    odds = log_odds(accuracy, sizes[measured]) + math.log(max(1, n_classes - 1))
    weights[measured] = np.maximum(odds, 0.0)
    return weights


def _weigh_regressors(outputs: Iterator[MemberOutput], target: npt.NDArray[Any]) -> Floats:
    """Inverse mean squared errors, in proportion; NaN where there is no row."""
    errors: list[ScaledError] = []
    measured = []
    n_members = 0
    for number, (rows, values) in enumerate(outputs):
        n_members = number + 1
        if not len(rows):
            continue
        if not np.isfinite(values).all():
            raise ValueError(
                f"member {number} predicts an infinite value or NaN for a row that it did not "
                "learn from, so that its error cannot be measured: set weights='uniform', or give "
                "another estimator"
            )
        errors.append(mean_squared_error(values, target[rows].reshape(values.shape), None))
        measured.append(number)
    weights = np.full(n_members, np.nan)
    if measured:
        weights[measured] = inverse_error_weights(errors)
    return weights
