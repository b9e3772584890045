"""Greedy selection of an ensemble from a library of members.

A scorer keeps the sum of the outputs of the selected members, so scoring a candidate costs one
addition. Greater scores are better, and agree with scikit-learn's values.

References
----------
R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes (2004), "Ensemble selection from libraries of
models", ICML.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["EnsembleScorer", "Scoring", "Selection", "make_ensemble_scorer", "select_greedily"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Scoring = str | Callable[..., float]


class EnsembleScorer(ABC):
    """The members selected so far, and the score of their mean."""

    @abstractmethod
    def clear(self) -> None:
        """Remove all members."""

    @abstractmethod
    def add(self, member: int) -> None:
        """Add a member, possibly again."""

    @abstractmethod
    def score_with(self, member: int) -> float:
        """Return the score of the mean with one more member."""


class MeanScorer(EnsembleScorer):
    """A scorer that keeps the sum of the outputs of the selected members."""

    def __init__(self, outputs: Floats, target: Array, weight: Floats) -> None:
        self._outputs = outputs
        self._target = target
        self._weight = weight / weight.sum()
        self.clear()

    def clear(self) -> None:
        """Remove all members."""
        self._sum = np.zeros(self._outputs.shape[1:])
        self._n_chosen = 0

    def add(self, member: int) -> None:
        """Add a member, possibly again."""
        self._sum += self._outputs[member]
        self._n_chosen += 1

    def score_with(self, member: int) -> float:
        """Return the score of the mean with one more member."""
        return self._score((self._sum + self._outputs[member]) / (self._n_chosen + 1))

    @abstractmethod
    def _score(self, mean: Floats) -> float:
        """Return the score of a mean."""


class AccuracyScorer(MeanScorer):
    """Share of the rows whose most probable class is the true one; ties go to the first."""

    def _score(self, mean: Floats) -> float:
        return float(self._weight[mean.argmax(axis=1) == self._target].sum())


# The product of so many probabilities, none of them below the relative precision of a double, is a
# normal number; one logarithm of it takes less time than one of each.
_FACTORS = 16


class LogLossScorer(MeanScorer):
    """Mean log-probability of the true classes; the other classes are not stored."""

    def __init__(self, outputs: Floats, target: Array, weight: Floats) -> None:
        super().__init__(outputs[:, np.arange(len(target)), target], target, weight)
        self._is_weighted = bool((weight != weight[0]).any())

    def _score(self, mean: Floats) -> float:
        probability = np.clip(mean, np.finfo(np.float64).eps, 1.0)
        if self._is_weighted:
            return float((self._weight * np.log(probability)).sum())
        first, rest = np.split(probability, [len(probability) // _FACTORS * _FACTORS])
        products = np.multiply.reduce(first.reshape(_FACTORS, -1), axis=0)
        return float((np.log(products).sum() + np.log(rest).sum()) * self._weight[0])


class AbsoluteErrorScorer(MeanScorer):
    """Mean absolute error, negative."""

    def _score(self, mean: Floats) -> float:
        return -float((self._weight * np.abs(mean - self._target)).sum())


class SquaredErrorScorer(EnsembleScorer):
    """Any score that is a function of a mean squared error, of values or of probabilities.

    Let c_l be the number of times that member l was selected, m their sum and e_l its errors. The
    squared error of the mean is sum_jl c_j c_l <e_j, e_l> / m^2, so once the inner products of the
    errors are known, the cost of a round does not depend on the number of rows.
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
        # Not by BLAS, whose sums depend on the number of threads.
        self._products = np.einsum("jr,lr->jl", errors, errors)
        self.clear()

    def clear(self) -> None:
        """Remove all members."""
        self._with_each = np.zeros(len(self._products))
        self._square = 0.0
        self._n_chosen = 0

    def add(self, member: int) -> None:
        """Add a member, possibly again."""
        self._square += 2 * self._with_each[member] + self._products[member, member]
        self._with_each += self._products[member]
        self._n_chosen += 1

    def score_with(self, member: int) -> float:
        """Return the score of the mean with one more member."""
        square = self._square + 2 * self._with_each[member] + self._products[member, member]
        return self._of_error(max(square, 0.0) / (self._n_chosen + 1) ** 2)


class SklearnScorer(MeanScorer):
    """Any scikit-learn scorer, called with an estimator that returns stored predictions."""

    def __init__(
        self, outputs: Floats, target: Array, weight: Floats, classes: Array | None, scorer: Any
    ) -> None:
        super().__init__(outputs, target, weight)
        self._classes = classes
        self._scorer = scorer
        # Many scorers do not accept weights, and equal weights are not needed.
        self._score_params = {} if (weight == weight[0]).all() else {"sample_weight": weight}

    def _score(self, mean: Floats) -> float:
        if self._classes is None:
            stored: Any = _StoredRegressor(mean)
            return float(self._scorer(stored, mean, self._target, **self._score_params))
        stored = _StoredClassifier(mean, self._classes)
        return float(self._scorer(stored, mean, self._classes[self._target], **self._score_params))


class _StoredClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier that returns stored probabilities for any X."""

    def __init__(self, probabilities: Floats, classes: Array) -> None:
        self.probabilities = probabilities
        self.classes_ = classes

    def predict_proba(self, X: Any) -> Floats:
        return self.probabilities

    def predict(self, X: Any) -> Array:
        return np.asarray(self.classes_[self.probabilities.argmax(axis=1)])


class _StoredRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted regressor that returns stored values for any X."""

    def __init__(self, values: Floats) -> None:
        self.values_ = values

    def predict(self, X: Any) -> Floats:
        return self.values_


def make_ensemble_scorer(
    scoring: Scoring, outputs: Floats, target: Array, weight: Floats, classes: Array | None
) -> EnsembleScorer:
    """Make the scorer for a score: a fast one for common scores, else scikit-learn's.

    Parameters
    ----------
    scoring : str or callable
        A scorer name of scikit-learn, or ``scorer(estimator, X, y)``; greater is better. X holds
        the predictions, not the table.
    outputs : ndarray of shape (n_members, n_rows[, n_classes])
    target : ndarray of shape (n_rows,)
        Values, or class numbers.
    weight : ndarray of shape (n_rows,)
    classes : ndarray or None
        Labels of the class numbers.

    Raises
    ------
    ValueError
        If there is no score of this name.
    """
    if classes is not None:
        if scoring == "accuracy":
            return AccuracyScorer(outputs, target, weight)
        if scoring == "neg_log_loss":
            return LogLossScorer(outputs, target, weight)
        if scoring == "neg_brier_score":
            # For two classes, scikit-learn scores only one of them.
            half = 0.5 if len(classes) == 2 else 1.0
            return SquaredErrorScorer(outputs, target, weight, lambda error: -half * error)
    elif scoring == "neg_mean_absolute_error":
        return AbsoluteErrorScorer(outputs, target, weight)
    elif scoring in {"neg_mean_squared_error", "neg_root_mean_squared_error", "r2"}:
        return SquaredErrorScorer(
            outputs, target, weight, _make_squared_error_score(scoring, target, weight)
        )
    return SklearnScorer(outputs, target, weight, classes, get_scorer(scoring))


def _make_squared_error_score(
    scoring: Scoring, target: Floats, weight: Floats
) -> Callable[[float], float]:
    if scoring == "neg_mean_squared_error":
        return lambda error: -error
    if scoring == "neg_root_mean_squared_error":
        return lambda error: -float(np.sqrt(error))
    mean = np.average(target, weights=weight)
    variance = float(np.average((target - mean) ** 2, weights=weight)) or 1.0
    return lambda error: 1.0 - error / variance


class _SelectionFields(NamedTuple):
    chosen: list[int]
    scores: list[float]


class Selection(Result, _SelectionFields):
    """Members in order of selection, up to the best round, and the scores of all rounds.

    Parameters
    ----------
    chosen : list of int
        Numbers of the members, with repeats.
    scores : list of float
        The score of the mean after each added member, in all rounds.
    """

    __slots__ = ()

    def _summarize(self) -> dict[str, Any]:
        return {
            "n_members": len(set(self.chosen)),
            "chosen": self.chosen,
            "score": self.scores[len(self.chosen) - 1],
            "n_rounds": len(self.scores),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the score of each round as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``n_members``, counted with repeats, ``score`` and ``is_chosen``, which is false
            in the rounds after the best one.
        """
        size = np.arange(1, len(self.scores) + 1)
        return new_frame(
            {"n_members": size, "score": self.scores, "is_chosen": size <= len(self.chosen)}
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the score over the number of selected members; a ring marks the best round.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        size = np.arange(1, len(self.scores) + 1)
        ax.plot(size, self.scores, "o-", ms=3, lw=1.2)
        best = len(self.chosen)
        ax.plot(best, self.scores[best - 1], "o", ms=10, mfc="none", color="C3", zorder=3)
        ax.set_xlabel("selected members, with repeats")
        ax.set_ylabel("score")
        return ax

    def shares(self, n_members: int) -> npt.NDArray[np.float64]:
        """Return the weight of each member in the mean of the selected ones."""
        return np.asarray(np.bincount(self.chosen, minlength=n_members) / len(self.chosen))


def select_greedily(
    scorer: EnsembleScorer, library: Sequence[int], n_initial: int | None, n_rounds: int
) -> Selection:
    """Add the member that improves the mean of the selected members most, repeatedly.

    The selection starts with the best single members. Then each round adds the member that helps
    most (or harms least), possibly again. The best round is kept; ties go to the smallest ensemble.

    Parameters
    ----------
    scorer : EnsembleScorer
    library : sequence of int
        Indices of the members to choose from.
    n_initial : int or None
        Number of best members to start with; None: the number with the best mean.
    n_rounds : int
        Number of rounds, each of which adds a member.
    """
    scorer.clear()
    alone = np.array([scorer.score_with(member) for member in library])
    # Sorted, because of members with equal gains the better single member is selected.
    ranked = [library[place] for place in np.argsort(-alone, kind="stable")]
    scores = []
    for member in ranked if n_initial is None else ranked[:n_initial]:
        scores.append(scorer.score_with(member))
        scorer.add(member)
    n_first = len(scores) if n_initial is not None else _first_best(scores) + 1
    chosen, scores = ranked[:n_first], scores[:n_first]
    scorer.clear()
    for member in chosen:
        scorer.add(member)
    for _ in range(n_rounds):
        gains = [scorer.score_with(member) for member in ranked]
        best = _first_best(gains)
        chosen.append(ranked[best])
        scores.append(gains[best])
        scorer.add(ranked[best])
    first = 0 if n_initial is None else n_first - 1
    n_kept = first + _first_best(scores[first:]) + 1
    return Selection(chosen[:n_kept], scores)


def _first_best(scores: Sequence[float]) -> int:
    """Return the position of the largest score; ties within rounding go to the first."""
    values = np.asarray(scores)
    greatest = values.max()
    return int(np.argmax(values >= greatest - 1e-12 * max(1.0, abs(greatest))))
