"""Scores of each stage of models that are fitted in stages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any


class StagedScores:
    """Mixin with the method `staged_score` for estimators with `staged_predict`."""

    @abstractmethod
    def staged_predict(self, X: Any) -> Iterable[Any]:
        """Yield the predictions of each stage."""

    @abstractmethod
    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        """Compute the score of predictions."""

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the `score` of each stage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Yields
        ------
        score : float
        """
        for predicted in self.staged_predict(X):
            yield self._compute_score(y, predicted, sample_weight)
