"""Nonconformity scores of prediction sets."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda.explain._conformal import Floats

__all__ = ["Method", "compute_adaptive_scores", "compute_least_ambiguous_scores", "compute_scores"]

Method = Literal["lac", "aps"]


def compute_scores(method: Method, probabilities: Floats, seed: int | None) -> Floats:
    """Compute the scores of all classes; "aps" with a seed is randomized.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
    seed : int or None
        Seed of one random number per row; None: not randomized.
    """
    if method == "lac":
        return compute_least_ambiguous_scores(probabilities)
    n_rows = len(probabilities)
    draws = np.zeros(n_rows) if seed is None else check_random_state(seed).random_sample(n_rows)
    return compute_adaptive_scores(probabilities, draws)


def compute_least_ambiguous_scores(probabilities: Floats) -> Floats:
    """Compute 1 - p_k, whose sets are smallest on average (Sadinle, Lei, Wasserman 2019)."""
    return 1.0 - probabilities


def compute_adaptive_scores(probabilities: Floats, draws: npt.NDArray[np.float64]) -> Floats:
    """Sum the probabilities from the largest down to the class's own, minus u times the latter.

    Romano, Sesia and Candes (2020), equation (5): the least tau whose set contains the class. Ties
    are ordered by class.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
    draws : ndarray of shape (n_rows,)
        u of each row, from 0 (the whole probability of the class counts) to 1.

    Examples
    --------
    >>> compute_adaptive_scores(np.array([[0.25, 0.5, 0.25]]), np.array([0.5]))
    array([[0.625, 0.25 , 0.875]])
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    descending = np.take_along_axis(probabilities, order, axis=1)
    sums = np.cumsum(descending, axis=1) - draws[:, np.newaxis] * descending
    scores = np.empty_like(sums)
    np.put_along_axis(scores, order, sums, axis=1)
    return scores
