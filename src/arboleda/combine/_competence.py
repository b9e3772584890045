"""How competent each member is near a row, and which members answer for it.

Shapes: q rows are asked for, each with k neighbours among the judged rows; there are L members and
K classes. ``hits[i, l]`` says whether member l is right on the judged row i.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import betainc

__all__ = [
    "above",
    "best",
    "consecutive_hits",
    "consensus",
    "inverse_weights",
    "local_accuracy",
    "local_class_accuracy",
    "local_hits",
    "potential_mean",
    "randomised_reference",
    "similar_behaviour_accuracy",
]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Booleans = npt.NDArray[np.bool_]
# Points at which the randomised reference classifier's supports are compared.
_POINTS = 20


def local_hits(hits: Booleans, neighbors: Indices) -> Floats:
    """KNORA-U: on how many of the neighbours a member is right (Ko 2008)."""
    return np.asarray(hits[neighbors].sum(axis=1), dtype=np.float64)


def local_accuracy(hits: Booleans, neighbors: Indices) -> Floats:
    """OLA, DES-P: on what share of the neighbours a member is right (Woods 1997)."""
    return np.asarray(local_hits(hits, neighbors) / neighbors.shape[1])


def local_class_accuracy(
    hits: Booleans, neighbors: Indices, target: Indices, choices: Indices
) -> Floats:
    """LCA: the same among the neighbours of the class that the member now predicts (Woods 1997).

    Parameters
    ----------
    hits : ndarray of shape (n, L)
    neighbors : ndarray of shape (q, k)
    target : ndarray of shape (n,)
        Classes of the judged rows.
    choices : ndarray of shape (q, L)
        Classes predicted for the rows asked for.

    Returns
    -------
    accuracy : ndarray of shape (q, L)
        Zero where no neighbour is of the class.
    """
    same = target[neighbors][:, :, None] == choices[:, None, :]
    return _mean_where(hits[neighbors], same)


def similar_behaviour_accuracy(
    hits: Booleans, neighbors: Indices, behaviour: Indices, choices: Indices, threshold: float
) -> Floats:
    """MCB: the same among the neighbours on which the members behave as now (Giacinto 2001).

    A neighbour is similar if more than a share ``threshold`` of the members predict for it what
    they predict for the row asked for; where none is, all neighbours count.

    Parameters
    ----------
    behaviour : ndarray of shape (n, L)
        Classes predicted for the judged rows.
    choices : ndarray of shape (q, L)
    """
    similar = (behaviour[neighbors] == choices[:, None, :]).mean(axis=2) > threshold
    similar[~similar.any(axis=1)] = True
    return _mean_where(hits[neighbors], similar[:, :, None])


def consecutive_hits(hits: Booleans, neighbors: Indices) -> Floats:
    """KNORA-E: how many neighbours in turn, nearest first, a member is right on (Ko 2008).

    The region shrinks until some member is right on all that is left of it: those with the longest
    run from the nearest neighbour on.
    """
    return np.asarray(np.cumprod(hits[neighbors], axis=1, dtype=np.int64).sum(axis=1), np.float64)


def randomised_reference(outputs: Floats, target: Indices) -> Floats:
    """RRC: probability that a random classifier with a member's supports on average is right.

    The supports of the K classes are beta variables with parameters K s_k and K (1 - s_k), so that
    their means are the member's s_k; C = integral of the density of the right class's support times
    the probability that every other one is smaller (Woloszynski & Kurzynski 2011), by the
    trapezoidal rule on 20 points.

    Parameters
    ----------
    outputs : ndarray of shape (L, n, K)
    target : ndarray of shape (n,)

    Returns
    -------
    competence : ndarray of shape (n, L)
    """
    n_members, n_rows, n_classes = outputs.shape
    points = np.linspace(0, 1, _POINTS)
    found = np.empty((n_rows, n_members))
    rows = np.arange(n_rows)
    for member, supports in enumerate(outputs):
        a = np.maximum(n_classes * supports, 1e-20)[:, :, None]
        b = np.maximum(n_classes * (1 - supports), 1e-20)[:, :, None]
        below = betainc(a, b, points)
        steps = np.diff(below[rows, target], axis=1)
        others = (below[:, :, 1:] + below[:, :, :-1]) / 2
        others[rows, target] = 1.0
        found[:, member] = (steps * others.prod(axis=1)).sum(axis=1)
    return found


def potential_mean(competence: Floats, neighbors: Indices, distances: Floats) -> Floats:
    """Mean of a row's competence over its neighbours, each weighing exp(-distance^2)."""
    squares = distances**2
    # A common factor leaves the mean and keeps far neighbours from vanishing all together.
    potential = np.exp(squares.min(axis=1, keepdims=True) - squares)
    potential /= potential.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("qkl,qk->ql", competence[neighbors], potential))


def consensus(behaviour: Indices, n_classes: int) -> Floats:
    """META-DES: share of the votes for the winning class less that for the second (Cruz 2015).

    Parameters
    ----------
    behaviour : ndarray of shape (n, L)
        Classes predicted for the judged rows.

    Returns
    -------
    consensus : ndarray of shape (n,)
        1 where all members agree, 0 where two classes have the most votes.
    """
    n_rows, n_members = behaviour.shape
    cells = (np.arange(n_rows)[:, None] * n_classes + behaviour).ravel()
    votes = np.sort(np.bincount(cells, minlength=n_rows * n_classes).reshape(n_rows, -1), axis=1)
    second = votes[:, -2] if n_classes > 1 else 0
    return np.asarray((votes[:, -1] - second) / n_members, dtype=np.float64)


def best(competence: Floats) -> Booleans:
    """Members that no other is more competent than: several if they are equal."""
    return np.asarray(competence >= competence.max(axis=1, keepdims=True))


def above(competence: Floats, threshold: float) -> Booleans:
    """Members more competent than that; all where none is."""
    chosen = competence > threshold
    chosen[~chosen.any(axis=1)] = True
    return np.asarray(chosen)


def _mean_where(hits: Booleans, counted: Booleans) -> Floats:
    """Mean over the neighbours that count; zero where none does."""
    times = np.broadcast_to(counted, hits.shape).sum(axis=1)
    return np.asarray((hits & counted).sum(axis=1) / np.maximum(times, 1), dtype=np.float64)


def inverse_weights(distances: Floats) -> Floats:
    """Weights in proportion to 1/distance, each row's sum one; where some are zero these alone.

    Parameters
    ----------
    distances : ndarray of shape (q, n)
    """
    zero = distances == 0
    # As shares of the smallest: 1 over a tiny distance would be infinite.
    nearest = np.where(zero, np.inf, distances).min(axis=1, keepdims=True)
    weights = np.where(
        zero.any(axis=1, keepdims=True), zero, nearest / np.where(zero, 1.0, distances)
    )
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
