"""Combinations whose answer is a weighted mean of what the members say."""

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
    """Weights of the members; those of weight zero are not asked."""

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
            return "the header lists classes of values, or none of classes"
        if weights.shape != (len(self.estimators_),) or not (weights >= 0).all():
            return "the weights are not one number, not negative, for each member"
        return None if np.isfinite(weights).all() else "a weight is infinite"

    weights_: Floats

    def _mean(self, X: Any) -> Floats:
        check_is_fitted(self)
        chosen = np.flatnonzero(self.weights_)
        outputs = self._ask(X, chosen).outputs
        # Not by BLAS: the sum of a row does not depend on how many rows there are.
        return np.asarray(np.einsum("l,l...->...", self.weights_[chosen], outputs))


class WeightedMeanClassifier(WeightedMean, ClassCombination):
    """A weighted mean of probabilities."""

    def predict_proba(self, X: Any) -> Floats:
        """Weighted mean of the members' class probabilities.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return self._mean(X)

    def predict(self, X: Any) -> Array:
        """Label of the most probable class, the first of equals.

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
        """Weighted mean of the members' predictions.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        return self._mean(X)
