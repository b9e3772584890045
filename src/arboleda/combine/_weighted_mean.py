"""Combinations that predict a weighted mean of the members' outputs.

The linear combination of members f_1..f_L with the least squared error against a target t,

    minimise over a:  sum_i w_i sum_k (t_ik - sum_l a_l f_l,ik)^2,

subject to a >= 0 (Breiman 1996), or to a >= 0 and sum a = 1 (the simplex). Without constraints, the
weights of similar members grow large with opposite signs; with them, most weights are zero.

The simplex problem is reduced to the non-negative one. If sum a = 1, the residual is R a with the
columns r_l = f_l - t, so |R a|^2 is to be minimised. For u = s a with s > 0,

    |R u|^2 + (sum u - 1)^2 = s^2 q + (s - 1)^2,   q = |R a|^2,

has its minimum q/(1 + q) at s = 1/(1 + q), which increases with q. The u >= 0 that minimises the
left side, divided by its sum, is therefore the a on the simplex that minimises q.

References
----------
L. Breiman (1996), "Stacked regressions", Machine Learning 24, 49-64.
C. L. Lawson, R. J. Hanson (1974), "Solving least squares problems", chapter 23.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from arboleda.combine._combination import (
    ClassCombination,
    LearnedCombination,
    SavedCombination,
    ValueCombination,
)
from arboleda.persist import Field, Labels, Maybe, SavedArray

__all__ = ["Constraint", "WeightedMeanClassifier", "WeightedMeanRegressor", "constrained_weights"]

Constraint = Literal["simplex", "nonnegative"]
Floats = npt.NDArray[np.float64]
# Number of equations held in memory at a time.
_BLOCK = 65_536


def constrained_weights(
    outputs: Floats,
    target: npt.NDArray[Any],
    constraint: Constraint,
    sample_weight: Floats | None = None,
) -> Floats:
    """Compute the weights of the best linear combination of the members under a constraint.

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows) or (n_members, n_rows, n_classes)
        Values, or probabilities.
    target : ndarray of shape (n_rows,)
        Values, or class numbers, which are one-hot encoded.
    constraint : {"simplex", "nonnegative"}
    sample_weight : ndarray of shape (n_rows,), default=None

    Returns
    -------
    weights : ndarray of shape (n_members,)
        All zero if no member helps and the sum is not constrained.
    """
    n_members = len(outputs)
    if constraint == "nonnegative":
        factor = _compute_triangular_factor(outputs, target, sample_weight, _make_equations)
        return np.asarray(_nnls(factor[:, :n_members], factor[:, n_members]))
    factor = _compute_triangular_factor(outputs, target, sample_weight, _make_difference_equations)
    # Scaling gives the sum the same importance as a member's error, whatever the target's units.
    size = np.sqrt((factor**2).sum() / n_members)
    equations = np.vstack([factor / (size or 1.0), np.ones(n_members)])
    weights = _nnls(equations, np.append(np.zeros(len(factor)), 1.0))
    return np.asarray(weights / weights.sum())


def _nnls(equations: Floats, right: Floats) -> Floats:
    """Solve non-negative least squares; iterations are cheap compared to fitting members."""
    weights: Floats = nnls(equations, right, maxiter=100 * (equations.shape[1] + 1))[0]
    return weights


def _compute_triangular_factor(
    outputs: Floats,
    target: npt.NDArray[Any],
    sample_weight: Floats | None,
    columns_of: Callable[[Floats, Floats], Floats],
) -> Floats:
    """Compute the triangular QR factor of all equations, block by block.

    The factor preserves the norm of every vector, so it reduces a problem with millions of rows to
    one with a row for each member. Products of the columns are never formed, because they would
    lose half of the digits.
    """
    n_rows = len(target)
    n_each = 1 if outputs.ndim == 2 else outputs.shape[2]
    step = max(1, _BLOCK // n_each)
    factor = np.zeros((0, len(outputs) + (columns_of is _make_equations)))
    for first in range(0, n_rows, step):
        rows = slice(first, first + step)
        block_target = np.asarray(target[rows], dtype=np.float64)
        if outputs.ndim == 3:
            block_target = (target[rows, None] == np.arange(n_each)).astype(np.float64)
        block_outputs = outputs[:, rows].reshape(len(outputs), -1)
        block = columns_of(block_outputs, block_target.ravel())
        if sample_weight is not None:
            block *= np.sqrt(np.repeat(sample_weight[rows], n_each))[:, None]
        factor = np.asarray(np.linalg.qr(np.vstack([factor, block]), mode="r"))
    return factor


def _make_equations(outputs: Floats, target: Floats) -> Floats:
    return np.column_stack([*outputs, target])


def _make_difference_equations(outputs: Floats, target: Floats) -> Floats:
    return np.column_stack([values - target for values in outputs])


Array = npt.NDArray[Any]


class WeightedMean(SavedCombination, LearnedCombination):
    """Base class of weighted means; members of weight zero do not predict."""

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **SavedCombination._fitted_attributes,
        "classes_": Maybe(Labels()),
        "weights_": Maybe(SavedArray(np.float64)),
    }

    def _defect(self) -> str | None:
        defect = super()._defect()
        weights = getattr(self, "weights_", None)
        if defect is not None or weights is None:
            return defect
        if hasattr(self, "classes_") != isinstance(self, ClassifierMixin):
            return "the header lists classes of a regressor, or lacks those of a classifier"
        if weights.shape != (len(self.estimators_),) or not (weights >= 0).all():
            return "there is not one non-negative weight for each member"
        return None if np.isfinite(weights).all() else "a weight is infinite"

    weights_: Floats

    def _compute_mean(self, X: Any) -> Floats:
        check_is_fitted(self)
        chosen = np.flatnonzero(self.weights_)
        outputs = self._predict_members(X, chosen).outputs
        # Not by BLAS, so that the sum of a row does not depend on the number of rows.
        return np.asarray(np.einsum("l,l...->...", self.weights_[chosen], outputs))


class WeightedMeanClassifier(WeightedMean, ClassCombination):
    """A weighted mean of probabilities."""

    def predict_proba(self, X: Any) -> Floats:
        """Predict the weighted mean of the members' class probabilities.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return self._compute_mean(X)

    def predict(self, X: Any) -> Array:
        """Predict the label of the most probable class; ties go to the first.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class WeightedMeanRegressor(WeightedMean, ValueCombination):
    """A weighted mean of values."""

    def predict(self, X: Any) -> Floats:
        """Predict the weighted mean of the members' predictions.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        return self._compute_mean(X)
