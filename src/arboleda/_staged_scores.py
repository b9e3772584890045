"""The score after each round, of any model that is built round by round."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any


class StagedScores:
    """`staged_score` for estimators that have `staged_predict`."""

    @abstractmethod
    def staged_predict(self, X: Any) -> Iterable[Any]:
        """The answers after each round."""

    @abstractmethod
    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        """What `score` says of these answers."""

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield `score` after each round: one fit judges every number of rounds.

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
