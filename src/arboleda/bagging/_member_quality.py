"""Weights of members by their quality on rows they were not trained on."""

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
    """Compute weights of the members, which sum to 1.

    The weight of a classifier is max(0, log(p / (1 - p)) + log(K - 1)), where p is the accuracy and
    K the number of classes; that of a regressor is 1 / mean squared error. Both are normalized. A
    member without evaluation rows gets the mean weight of the others.

    Parameters
    ----------
    outputs : iterator of (rows, outputs)
        For each member, rows it was not trained on, and its votes or values for these.
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Class indices, or values.
    n_classes : int
        0 for regression.

    Returns
    -------
    weights : ndarray of shape (n_members,), or None
        None if the members cannot be ranked and have the same weight.

    Warns
    -----
    UserWarning
        If no member has evaluation rows, or none is better than random guessing.
    """
    raw = (
        _weigh_classifiers(outputs, target, n_classes)
        if n_classes
        else _weigh_regressors(outputs, target)
    )
    is_measured = ~np.isnan(raw)
    if not is_measured.any():
        warnings.warn(
            "No member left a row out, so their quality is unknown and all have the same weight: "
            "use more rows or more members.",
            stacklevel=2,
        )
        return None
    if not raw[is_measured].any():
        warnings.warn(
            "No member is better than random guessing on rows it was not trained on, so all "
            "weights would be 0: the members get the same weight.",
            stacklevel=2,
        )
        return None
    filled = np.where(is_measured, raw, raw[is_measured].mean())
    weights: Floats = filled / filled.sum()
    return weights


def _weigh_classifiers(
    outputs: Iterator[MemberOutput], target: npt.NDArray[Any], n_classes: int
) -> Floats:
    """Compute log-odds of the accuracies, NaN for members without rows."""
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
    """Compute inverse mean squared errors up to a factor, NaN for members without rows."""
    errors: list[ScaledError] = []
    measured = []
    n_members = 0
    for number, (rows, values) in enumerate(outputs):
        n_members = number + 1
        if not len(rows):
            continue
        if not np.isfinite(values).all():
            raise ValueError(
                f"Member {number} predicts an infinite value or NaN for a row it was not trained "
                "on, so its error is undefined: set weights='uniform', or use another estimator."
            )
        errors.append(mean_squared_error(values, target[rows].reshape(values.shape), None))
        measured.append(number)
    weights = np.full(n_members, np.nan)
    if measured:
        weights[measured] = inverse_error_weights(errors)
    return weights
