"""Losses of members' outputs."""

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.study.combined.rules import LEAST

__all__ = ["losses"]

Floats = npt.NDArray[np.float64]


def losses(outputs: Floats, target: npt.NDArray[Any]) -> Floats:
    """Compute the log-loss or mean squared error of each member, of shape (n_members,).

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows) or (n_members, n_rows, n_classes)
    target : ndarray of shape (n_rows,)
        Values, or numbers of classes.
    """
    if outputs.ndim == 2:
        return np.asarray(np.mean((outputs - target) ** 2, axis=1))
    own = outputs[:, np.arange(len(target)), target]
    return -np.asarray(np.mean(np.log(np.clip(own, LEAST, 1.0)), axis=1))
