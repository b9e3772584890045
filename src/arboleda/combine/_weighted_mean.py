"""Combinations whose answer is a weighted mean of what the members say."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from arboleda.combine._learned import ClassCombination, LearnedCombination, ValueCombination

__all__ = ["WeightedMeanClassifier", "WeightedMeanRegressor"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


class WeightedMean(LearnedCombination):
    """Weights of the members; those of weight zero are not asked."""

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
