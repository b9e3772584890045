"""Dynamic selection: the competence of members near each row.

Shapes: q query rows, each with k neighbours among the n validation rows; L members and K classes.
``hits[i, l]`` is whether member l is right on validation row i.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import betainc
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples

from arboleda._engine.shared_binning import take_rows
from arboleda._utils.sparse import check_sparse
from arboleda.combine._combination import FitInputs, LearnedCombination
from arboleda.combine._outputs import MemberOutputs

__all__ = [
    "DynamicSelection",
    "Region",
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
    """Count the neighbours on which a member is right: KNORA-U (Ko 2008)."""
    return np.asarray(hits[neighbors].sum(axis=1), dtype=np.float64)


def local_accuracy(hits: Booleans, neighbors: Indices) -> Floats:
    """Compute the accuracy of a member on the neighbours: OLA, DES-P (Woods 1997)."""
    return np.asarray(local_hits(hits, neighbors) / neighbors.shape[1])


def local_class_accuracy(
    hits: Booleans, neighbors: Indices, target: Indices, choices: Indices
) -> Floats:
    """Compute the accuracy on neighbours of the class that the member predicts: LCA (Woods 1997).

    Parameters
    ----------
    hits : ndarray of shape (n, L)
    neighbors : ndarray of shape (q, k)
    target : ndarray of shape (n,)
        Classes of the validation rows.
    choices : ndarray of shape (q, L)
        Classes predicted for the query rows.

    Returns
    -------
    accuracy : ndarray of shape (q, L)
        Zero where no neighbour has the class.
    """
    same = target[neighbors][:, :, None] == choices[:, None, :]
    return _mean_where(hits[neighbors], same)


def similar_behaviour_accuracy(
    hits: Booleans, neighbors: Indices, behaviour: Indices, choices: Indices, threshold: float
) -> Floats:
    """Compute the accuracy on neighbours with similar member behaviour: MCB (Giacinto 2001).

    A neighbour is similar if more than a share ``threshold`` of the members predict the same class
    for it as for the query row; where no neighbour is similar, all of them count.

    Parameters
    ----------
    behaviour : ndarray of shape (n, L)
        Classes predicted for the validation rows.
    choices : ndarray of shape (q, L)
    """
    similar = (behaviour[neighbors] == choices[:, None, :]).mean(axis=2) > threshold
    similar[~similar.any(axis=1)] = True
    return _mean_where(hits[neighbors], similar[:, :, None])


def consecutive_hits(hits: Booleans, neighbors: Indices) -> Floats:
    """Count the neighbours, nearest first, before a member's first error: KNORA-E (Ko 2008).

    KNORA-E shrinks the region until some member is right on all that remains of it; these are the
    members with the longest run of hits from the nearest neighbour on.
    """
    return np.asarray(np.cumprod(hits[neighbors], axis=1, dtype=np.int64).sum(axis=1), np.float64)


def randomised_reference(outputs: Floats, target: Indices) -> Floats:
    """Compute the probability that the randomised reference classifier of a member is right: RRC.

    The supports of the K classes are beta variables with parameters K s_k and K (1 - s_k), and
    means equal to the member's supports s_k. The competence is the integral of the density of the
    true class's support times the probability that all other supports are smaller (Woloszynski &
    Kurzynski 2011), computed by the trapezoidal rule on 20 points.

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
    competence = np.empty((n_rows, n_members))
    rows = np.arange(n_rows)
    for member, supports in enumerate(outputs):
        a = np.maximum(n_classes * supports, 1e-20)[:, :, None]
        b = np.maximum(n_classes * (1 - supports), 1e-20)[:, :, None]
        below = betainc(a, b, points)
        steps = np.diff(below[rows, target], axis=1)
        others = (below[:, :, 1:] + below[:, :, :-1]) / 2
        others[rows, target] = 1.0
        competence[:, member] = (steps * others.prod(axis=1)).sum(axis=1)
    return competence


def potential_mean(competence: Floats, neighbors: Indices, distances: Floats) -> Floats:
    """Average the competence over the neighbours, with weights exp(-distance^2)."""
    squares = distances**2
    # A common factor does not change the mean, and prevents underflow of all weights.
    potential = np.exp(squares.min(axis=1, keepdims=True) - squares)
    potential /= potential.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("qkl,qk->ql", competence[neighbors], potential))


def consensus(behaviour: Indices, n_classes: int) -> Floats:
    """Compute the difference of the vote shares of the first and second class (Cruz 2015).

    Parameters
    ----------
    behaviour : ndarray of shape (n, L)
        Classes predicted for the validation rows.

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
    """Select the most competent members, all of them in case of ties."""
    return np.asarray(competence >= competence.max(axis=1, keepdims=True))


def above(competence: Floats, threshold: float) -> Booleans:
    """Select the members with competence above a threshold; all members where none is."""
    chosen = competence > threshold
    chosen[~chosen.any(axis=1)] = True
    return np.asarray(chosen)


def _mean_where(hits: Booleans, counted: Booleans) -> Floats:
    """Average over the neighbours that count; zero where none does."""
    times = np.broadcast_to(counted, hits.shape).sum(axis=1)
    return np.asarray((hits & counted).sum(axis=1) / np.maximum(times, 1), dtype=np.float64)


def inverse_weights(distances: Floats) -> Floats:
    """Compute weights proportional to 1/distance, which sum to one in each row.

    If some distances of a row are zero, only these get weight.

    Parameters
    ----------
    distances : ndarray of shape (q, n)
    """
    zero = distances == 0
    # Relative to the smallest distance: 1 over a tiny distance would overflow.
    nearest = np.where(zero, np.inf, distances).min(axis=1, keepdims=True)
    weights = np.where(
        zero.any(axis=1, keepdims=True), zero, nearest / np.where(zero, 1.0, distances)
    )
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


class Region:
    """A nearest-neighbour index of the validation rows.

    Parameters
    ----------
    rows : array-like of shape (n_rows, n_columns)
    n_neighbors : int or None
        None: all rows.
    n_jobs : int or None
    """

    def __init__(self, rows: Any, n_neighbors: int | None, n_jobs: int | None) -> None:
        self._index = NearestNeighbors(n_jobs=n_jobs).fit(rows)
        n_rows = self._index.n_samples_fit_
        self.n_neighbors = n_rows if n_neighbors is None else min(n_neighbors, n_rows)

    def around(self, X: Any) -> tuple[Floats, Indices]:
        """Return distances and indices of the rows nearest to each row of X, nearest first."""
        return self._find_nearest(X, self.n_neighbors)

    def around_itself(self) -> tuple[Floats, Indices]:
        """Return the neighbours of each validation row, excluding the row itself."""
        n_others = min(self.n_neighbors, self._index.n_samples_fit_ - 1)
        return self._find_nearest(None, n_others)

    def _find_nearest(self, X: Any, n_neighbors: int) -> tuple[Floats, Indices]:
        distances, indices = self._index.kneighbors(X, n_neighbors)
        if not np.isfinite(distances).all():
            raise ValueError(
                "the distances of some rows are not finite, because the squares of a column's "
                "values overflow: scale the columns, for example with StandardScaler"
            )
        return distances, indices


# Rows predicted at a time, because data of their neighbours are held in memory for all members.
_BATCH = 2048


class DynamicSelection(LearnedCombination):
    """Base class of dynamic selection: validation rows, and a nearest-neighbour index of them."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LearnedCombination._parameter_constraints,
        "n_neighbors": [None, Interval(Integral, 1, None, closed="left")],
    }

    n_neighbors: int | None
    n_judged_: int
    _region: Region

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False  # distances need numbers, even if the members accept NaN
        return tags

    def _index_held_out_rows(self, inputs: FitInputs) -> MemberOutputs:
        """Predict held-out rows with the members, and index these rows."""
        held_out = self._held_out(inputs)
        X = inputs.training.X
        rows = X if not held_out.n_left_out else take_rows(X, held_out.rows)
        try:
            self._region = Region(rows, self.n_neighbors, self.n_jobs)
        except ValueError as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise ValueError(
                f"distances between rows need columns of finite numbers: {reason}. Preprocess the "
                "columns, for example with scikit-learn's make_pipeline(preprocessing, model)"
            ) from error
        self.n_judged_ = len(held_out.rows)
        return held_out

    def _iter_batches(self, X: Any) -> Iterator[tuple[Floats, npt.NDArray[np.intp], Floats]]:
        """Iterate over batches of rows: distances and indices of neighbours, and member outputs."""
        check_sparse(X)
        n_rows = _num_samples(X)
        is_single_batch = n_rows <= _BATCH
        for batch in gen_batches(max(n_rows, 1), _BATCH):  # without rows, the members raise
            rows = X if is_single_batch else take_rows(X, np.arange(batch.start, batch.stop))
            outputs = self._predict_members(rows, range(len(self.estimators_))).outputs
            yield *self._region.around(rows), outputs
