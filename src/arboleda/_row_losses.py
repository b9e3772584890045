"""Losses of single predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Loss = Callable[[Array, Array], Any]


def resolve_loss(estimator: Any, loss: Literal["auto"] | Loss) -> Loss:
    """Return the loss function; "auto" is the zero-one loss or the squared error."""
    if loss == "auto":
        return find_misclassified_rows if is_classifier(estimator) else squared_errors
    if not callable(loss):
        raise TypeError(f"loss must be 'auto' or a callable, got {loss!r}")
    return loss


def compute_row_losses(loss: Loss, target: Array, predicted: Array) -> Floats:
    """Compute and validate the loss of each row."""
    losses = np.asarray(loss(target, predicted), dtype=np.float64)
    if losses.shape != (len(target),):
        raise ValueError(
            f"the loss returned an array of shape {losses.shape} for {len(target)} rows: it must "
            "return one number per row"
        )
    if not np.isfinite(losses).all():
        raise ValueError(
            f"the loss must be finite for every row, got {losses[~np.isfinite(losses)][0]}"
        )
    return losses


def find_misclassified_rows(target: Array, predicted: Array) -> Array:
    """Return which rows are misclassified in any output."""
    wrong: Array = np.asarray(target != predicted)
    return np.asarray(wrong.reshape(len(target), -1).any(axis=1))


def squared_errors(target: Array, predicted: Array) -> Floats:
    """Return squared errors, averaged over outputs."""
    error: Floats = (target - predicted) ** 2
    return np.asarray(error.reshape(len(target), -1).mean(axis=1))
