"""How good the mean of a growing ensemble is, and what it would be with each further member.

A judge keeps the sum of what the chosen members say, so that a further member costs one addition:
the ensemble is never asked again. Greater scores are better, and have scikit-learn's values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

__all__ = ["Judge", "Scoring", "judge_of"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Scoring = str | Callable[..., float]


class Judge(ABC):
    """The members chosen so far, and how good their mean is."""

    @abstractmethod
    def clear(self) -> None:
        """Choose no member."""

    @abstractmethod
    def add(self, member: int) -> None:
        """Choose a member, perhaps again."""

    @abstractmethod
    def score_with(self, member: int) -> float:
        """Score of the mean if a member were chosen next."""


class MeanJudge(Judge):
    """Keeps the sum of what the chosen members say."""

    def __init__(self, outputs: Floats, target: Array, weight: Floats) -> None:
        self._outputs = outputs
        self._target = target
        self._weight = weight / weight.sum()
        self.clear()

    def clear(self) -> None:
        """Choose no member."""
        self._sum = np.zeros(self._outputs.shape[1:])
        self._n_chosen = 0

    def add(self, member: int) -> None:
        """Choose a member, perhaps again."""
        self._sum += self._outputs[member]
        self._n_chosen += 1

    def score_with(self, member: int) -> float:
        """Score of the mean if a member were chosen next."""
        return self._score((self._sum + self._outputs[member]) / (self._n_chosen + 1))

    @abstractmethod
    def _score(self, mean: Floats) -> float:
        """Score of an answer."""


class AccuracyJudge(MeanJudge):
    """Share of the rows whose most probable class is theirs; the first of equals."""

    def _score(self, mean: Floats) -> float:
        return float(self._weight[mean.argmax(axis=1) == self._target].sum())


class LogLossJudge(MeanJudge):
    """Mean log of the probability of a row's own class: only that one is looked at."""

    def __init__(self, outputs: Floats, target: Array, weight: Floats) -> None:
        super().__init__(outputs[:, np.arange(len(target)), target], target, weight)

    def _score(self, mean: Floats) -> float:
        least = np.finfo(np.float64).eps
        return float((self._weight * np.log(np.clip(mean, least, 1.0))).sum())


class AbsoluteErrorJudge(MeanJudge):
    """Mean absolute error, negative."""

    def _score(self, mean: Floats) -> float:
        return -float((self._weight * np.abs(mean - self._target)).sum())


class SquaredErrorJudge(Judge):
    """Any score that follows from a mean squared error, of values or of probabilities.

    Where c_l counts how often a member was chosen, m times in all, and e_l are a member's errors,
    the mean's squared error is sum_jl c_j c_l <e_j, e_l> / m^2: with the products of the errors
    known, a round does not look at the rows at all.
    """

    def __init__(
        self, outputs: Floats, target: Array, weight: Floats, score: Callable[[float], float]
    ) -> None:
        self._of_error = score
        share = np.sqrt(weight / weight.sum())
        if outputs.ndim == 3:
            target = target[:, None] == np.arange(outputs.shape[2])
            share = share[:, None]
        errors = ((outputs - target) * share).reshape(len(outputs), -1)
        # Without BLAS, whose sums depend on the number of threads.
        self._products = np.einsum("jr,lr->jl", errors, errors)
        self.clear()

    def clear(self) -> None:
        """Choose no member."""
        self._with_each = np.zeros(len(self._products))
        self._square = 0.0
        self._n_chosen = 0

    def add(self, member: int) -> None:
        """Choose a member, perhaps again."""
        self._square += 2 * self._with_each[member] + self._products[member, member]
        self._with_each += self._products[member]
        self._n_chosen += 1

    def score_with(self, member: int) -> float:
        """Score of the mean if a member were chosen next."""
        square = self._square + 2 * self._with_each[member] + self._products[member, member]
        return self._of_error(max(square, 0.0) / (self._n_chosen + 1) ** 2)


class ScorerJudge(MeanJudge):
    """Any scorer of scikit-learn's kind, which is handed an estimator that has the answer ready."""

    def __init__(
        self, outputs: Floats, target: Array, weight: Floats, classes: Array | None, scorer: Any
    ) -> None:
        super().__init__(outputs, target, weight)
        self._classes = classes
        self._scorer = scorer
        # Most functions that score take no weights, and need none where all are equal.
        self._weighed = {} if (weight == weight[0]).all() else {"sample_weight": weight}

    def _score(self, mean: Floats) -> float:
        if self._classes is None:
            ready: Any = _ReadyRegressor(mean)
            return float(self._scorer(ready, mean, self._target, **self._weighed))
        ready = _ReadyClassifier(mean, self._classes)
        return float(self._scorer(ready, mean, self._classes[self._target], **self._weighed))


class _ReadyClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier that answers the same whatever it is asked."""

    def __init__(self, probabilities: Floats, classes: Array) -> None:
        self.probabilities = probabilities
        self.classes_ = classes

    def predict_proba(self, X: Any) -> Floats:
        return self.probabilities

    def predict(self, X: Any) -> Array:
        return np.asarray(self.classes_[self.probabilities.argmax(axis=1)])


class _ReadyRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted regressor that answers the same whatever it is asked."""

    def __init__(self, values: Floats) -> None:
        self.values_ = values

    def predict(self, X: Any) -> Floats:
        return self.values_


def judge_of(
    scoring: Scoring, outputs: Floats, target: Array, weight: Floats, classes: Array | None
) -> Judge:
    """Judge by a score: for the usual ones the quickest way, for any other scikit-learn's scorer.

    Parameters
    ----------
    scoring : str or callable
        A name that scikit-learn knows, or ``scorer(estimator, X, y)``; greater is better. X holds
        the answers, not the table.
    outputs : ndarray of shape (n_members, n_rows[, n_classes])
    target : ndarray of shape (n_rows,)
        Values, or numbers of classes.
    weight : ndarray of shape (n_rows,)
    classes : ndarray or None
        Labels that the numbers stand for.

    Raises
    ------
    ValueError
        If no score has the name.
    """
    if classes is not None:
        if scoring == "accuracy":
            return AccuracyJudge(outputs, target, weight)
        if scoring == "neg_log_loss":
            return LogLossJudge(outputs, target, weight)
        if scoring == "neg_brier_score":
            # Of two classes scikit-learn looks at one alone.
            half = 0.5 if len(classes) == 2 else 1.0
            return SquaredErrorJudge(outputs, target, weight, lambda error: -half * error)
    elif scoring == "neg_mean_absolute_error":
        return AbsoluteErrorJudge(outputs, target, weight)
    elif scoring in {"neg_mean_squared_error", "neg_root_mean_squared_error", "r2"}:
        return SquaredErrorJudge(
            outputs, target, weight, _of_squared_error(scoring, target, weight)
        )
    return ScorerJudge(outputs, target, weight, classes, get_scorer(scoring))


def _of_squared_error(scoring: Scoring, target: Floats, weight: Floats) -> Callable[[float], float]:
    if scoring == "neg_mean_squared_error":
        return lambda error: -error
    if scoring == "neg_root_mean_squared_error":
        return lambda error: -float(np.sqrt(error))
    mean = np.average(target, weights=weight)
    variance = float(np.average((target - mean) ** 2, weights=weight)) or 1.0
    return lambda error: 1.0 - error / variance
