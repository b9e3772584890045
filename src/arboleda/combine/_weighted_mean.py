"""Combinations that predict a weighted mean of the members' outputs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from arboleda.combine._combination import SavedCombination
from arboleda.combine._learned import ClassCombination, LearnedCombination, ValueCombination
from arboleda.persist import Array as SavedArray
from arboleda.persist import Field, Labels, Maybe

__all__ = ["WeightedMeanClassifier", "WeightedMeanRegressor"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


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
