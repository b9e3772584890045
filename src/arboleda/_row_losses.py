"""What each prediction costs, by the kind of model or by a function that the user gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Loss = Callable[[Array, Array], Any]


def loss_of(estimator: Any, loss: Literal["auto"] | Loss) -> Loss:
    """Return the loss asked for; "auto" is that of wrong classes or squared errors."""
    if loss == "auto":
        return wrong_rows if is_classifier(estimator) else squared_errors
    if not callable(loss):
        raise TypeError(f"loss must be 'auto' or a callable; got {loss!r}")
    return loss


def row_losses(loss: Loss, target: Array, predicted: Array) -> Floats:
    """Return the loss of each row, checked."""
    found = np.asarray(loss(target, predicted), dtype=np.float64)
    if found.shape != (len(target),):
        raise ValueError(
            f"the loss returned an array of shape {found.shape} for {len(target)} rows: return one "
            "number a row"
        )
    if not np.isfinite(found).all():
        raise ValueError(
            f"the loss is {found[~np.isfinite(found)][0]} for a row: it must be finite"
        )
    return found


def wrong_rows(target: Array, predicted: Array) -> Array:
    """Tell which rows are wrong; of several outputs, those where one is."""
    wrong: Array = np.asarray(target != predicted)
    return np.asarray(wrong.reshape(len(target), -1).any(axis=1))


def squared_errors(target: Array, predicted: Array) -> Floats:
    """Return squared errors; of several outputs, their mean."""
    error: Floats = (target - predicted) ** 2
    return np.asarray(error.reshape(len(target), -1).mean(axis=1))
