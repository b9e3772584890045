"""How little each class conforms to what a classifier says of a row: the scores of sets."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda.explain._conformal import Floats

__all__ = ["Method", "adaptive_scores", "least_ambiguous_scores", "scores_of"]

Method = Literal["lac", "aps"]


def scores_of(method: Method, probabilities: Floats, seed: int | None) -> Floats:
    """Scores of all classes; for "aps" with a seed, less a random part of the class's own.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
    seed : int or None
        Draws one number a row.
    """
    if method == "lac":
        return least_ambiguous_scores(probabilities)
    n_rows = len(probabilities)
    draws = np.zeros(n_rows) if seed is None else check_random_state(seed).random_sample(n_rows)
    return adaptive_scores(probabilities, draws)


def least_ambiguous_scores(probabilities: Floats) -> Floats:
    """1 - p_k: sets of them are the smallest on average (Sadinle, Lei, Wasserman 2019)."""
    return 1.0 - probabilities


def adaptive_scores(probabilities: Floats, draws: npt.NDArray[np.float64]) -> Floats:
    """Sum of the probabilities from the largest down to the class's own, less u times that.

    Romano, Sesia and Candes (2020), equation (5): the least tau whose set holds the class. Equal
    probabilities count in the order of the classes.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
    draws : ndarray of shape (n_rows,)
        u of each row, from 0 (the whole class counts) to 1.

    Examples
    --------
    >>> adaptive_scores(np.array([[0.25, 0.5, 0.25]]), np.array([0.5]))
    array([[0.625, 0.25 , 0.875]])
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    descending = np.take_along_axis(probabilities, order, axis=1)
    sums = np.cumsum(descending, axis=1) - draws[:, np.newaxis] * descending
    scores = np.empty_like(sums)
    np.put_along_axis(scores, order, sums, axis=1)
    return scores
