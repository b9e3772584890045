"""Combination rules: votes, naive Bayes, means and order statistics."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from arboleda._base.held_out import inverse_error_weights, log_odds, mean_squared_error
from arboleda._engine.combine import (
    mean_of_members,
    order_statistic_of_members,
    sum_tables,
    sum_votes,
)
from arboleda.combine._outputs import MemberOutputs

__all__ = [
    "AccuracyWeights",
    "Floats",
    "FusionRule",
    "GeometricMean",
    "InverseErrorMean",
    "Majority",
    "Mean",
    "NaiveBayes",
    "OrderStatistic",
    "OutputArray",
    "accuracy_weights",
    "confusion_of",
]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
# Probabilities (members, rows, classes), values (members, rows), or predicted class numbers
# (members, rows).
OutputArray = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class FusionRule(ABC):
    """A rule that combines the outputs of the members for each row.

    Parameters
    ----------
    weights : ndarray of shape (n_members,) or None
        A member of weight 0 is left out. None: equal weights.
    """

    weights: Floats | None = None

    of_choices: ClassVar[bool] = False  # whether it combines predicted classes
    learns: ClassVar[bool] = False  # whether it must first learn from out-of-fold outputs

    def learned(self, outputs: MemberOutputs, target: Array, weight: Floats | None) -> Self:
        """Return the rule with parameters learned from out-of-fold outputs.

        Parameters
        ----------
        outputs : MemberOutputs
            Outputs for rows that the members have not seen.
        target : ndarray
            Class numbers or values of these rows.
        weight : ndarray or None
            Weights of these rows.
        """
        raise NotImplementedError(f"{type(self).__name__} has nothing to learn")

    @abstractmethod
    def scores(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return scores (rows, classes), the largest of which is the prediction, or values."""

    def shares(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the class probabilities: (rows, classes)."""
        return self.scores(outputs, n_classes, n_threads)

    def _kept(self, n_members: int) -> list[int]:
        """Return the indices of the members with non-zero weight."""
        if self.weights is None:
            return list(range(n_members))
        if len(self.weights) != n_members:
            raise ValueError(
                f"there are {len(self.weights)} weights for {n_members} members: set one weight "
                "for each member"
            )
        if not self.weights.any():
            raise ValueError("the weights of all members are 0: at least one must be non-zero")
        return np.flatnonzero(self.weights).tolist()

    def _kept_weights(self) -> Floats | None:
        """Return the non-zero weights, or None if they are all equal."""
        if self.weights is None:
            return None
        kept: Floats = self.weights[self.weights != 0]
        return None if (kept == kept[0]).all() and kept[0] > 0 else kept


@dataclass(frozen=True, eq=False)
class Majority(FusionRule):
    """The class with the most votes, or with the largest sum of vote weights."""

    of_choices = True

    def scores(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the number of votes for each class, or the sum of their weights."""
        kept = self._kept(len(outputs))
        weights = None if self.weights is None else self.weights[kept]
        return sum_votes(outputs, n_classes, kept, weights, n_threads=n_threads)

    def shares(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return each class's share of the votes."""
        return self.scores(outputs, n_classes, n_threads) / self.total(len(outputs))

    def total(self, n_members: int) -> float:
        """Return the total number, or weight, of the votes."""
        return float(n_members if self.weights is None else self.weights.sum())


@dataclass(frozen=True, eq=False)
class AccuracyWeights(FusionRule):
    """Votes weighted by log(p / (1 - p)), where p is a member's accuracy on held-out rows.

    If members err independently of each other, and all errors of a member are equally likely, then
    for classes of equal prior log P(k | choices) is, up to a constant, the sum over the members
    that choose k of log(p / (1 - p)) + log(K - 1). The second term is 0 for two classes.
    """

    of_choices = True
    learns = True

    def learned(
        self, outputs: MemberOutputs, target: Array, weight: Floats | None
    ) -> AccuracyWeights:
        """Return the rule with weights from out-of-fold accuracies."""
        return AccuracyWeights(accuracy_weights(outputs, target, weight))

    def scores(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the log-probability of each class, up to a constant."""
        return self._votes(outputs, n_classes, n_threads, shares_of_exp=False)

    def shares(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the probability of each class, assuming independent members."""
        return self._votes(outputs, n_classes, n_threads, shares_of_exp=True)

    def _votes(
        self, outputs: OutputArray, n_classes: int, n_threads: int, *, shares_of_exp: bool
    ) -> Floats:
        assert self.weights is not None
        whole = self.weights + math.log(max(1, n_classes - 1))
        return sum_votes(
            outputs,
            n_classes,
            range(len(outputs)),
            whole,
            shares_of_exp=shares_of_exp,
            n_threads=n_threads,
        )


@dataclass(frozen=True, eq=False)
class NaiveBayes(FusionRule):
    """Bayes' rule for members whose choices are independent given the class.

    P(k | choices) is proportional to P(k) prod_l P(choice of member l | k). If member l assigns
    N_k(s) of the N_k rows of class k to class s, then P(s | k) = (N_k(s) + 1/K) / (N_k + 1):
    Laplace's correction in the form of Titterington et al. (1981), after Kuncheva (2014).

    Parameters
    ----------
    confusion : ndarray of shape (n_members, n_classes, n_classes)
        Number of rows, or their weight, by true and by predicted class.
    """

    of_choices = True
    learns = True
    confusion: Floats | None = None

    def learned(self, outputs: MemberOutputs, target: Array, weight: Floats | None) -> NaiveBayes:
        """Return the rule with the confusion matrices of the out-of-fold choices."""
        return replace(self, confusion=confusion_of(outputs, target, weight))

    @property
    def prior(self) -> Floats:
        """P(k), the shares of the classes."""
        assert self.confusion is not None
        of_class = self.confusion[0].sum(axis=1)
        shares: Floats = of_class / of_class.sum()
        return shares

    @property
    def likelihood(self) -> Floats:
        """P(member l chooses s | k), of shape (n_members, n_classes k, n_classes s)."""
        assert self.confusion is not None
        n_classes = self.confusion.shape[1]
        of_class = self.confusion.sum(axis=2, keepdims=True)
        corrected: Floats = (self.confusion + 1 / n_classes) / (of_class + 1)
        return corrected

    def scores(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the logarithm of P(k) prod_l P(choice of l | k)."""
        return self._sums(outputs, n_threads, shares_of_exp=False)

    def shares(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the posterior probability of each class."""
        return self._sums(outputs, n_threads, shares_of_exp=True)

    def _sums(self, outputs: OutputArray, n_threads: int, *, shares_of_exp: bool) -> Floats:
        kept = self._kept(len(outputs))
        if self._kept_weights() is not None:
            raise ValueError(
                "rule='naive_bayes' supports only equal weights, or 0 to leave a member out, "
                "because it learns the weight of a member's choice from its errors"
            )
        with np.errstate(divide="ignore"):  # a class of weight 0 is never chosen
            start = np.maximum(np.log(self.prior), -1e300)
        by_choice = np.log(self.likelihood[kept]).transpose(0, 2, 1)
        return sum_tables(
            outputs, kept, start, by_choice, shares_of_exp=shares_of_exp, n_threads=n_threads
        )


def accuracy_weights(outputs: MemberOutputs, target: Array, weight: Floats | None = None) -> Floats:
    """Compute log(p / (1 - p)) of each member, where p is its accuracy.

    Parameters
    ----------
    outputs : MemberOutputs
    target : ndarray of shape (n_rows,)
        Class numbers.
    weight : ndarray of shape (n_rows,) or None

    Returns
    -------
    weights : ndarray of shape (n_members,)
        Finite, because p is kept half a row away from 0 and 1.
    """
    is_correct: Any = outputs.choices() == target
    p = np.average(is_correct, axis=1, weights=weight)
    return log_odds(p, is_correct.shape[1])


def confusion_of(outputs: MemberOutputs, target: Array, weight: Floats | None = None) -> Floats:
    """Compute the confusion matrix of each member, with counts or weights of rows.

    Parameters
    ----------
    outputs : MemberOutputs
    target : ndarray of shape (n_rows,)
        Class numbers.
    weight : ndarray of shape (n_rows,) or None

    Returns
    -------
    confusion : ndarray of shape (n_members, n_classes, n_classes)
    """
    assert outputs.classes is not None
    n = len(outputs.classes)
    counts = [
        np.bincount(target * n + chosen, weights=weight, minlength=n * n).reshape(n, n)
        for chosen in outputs.choices()
    ]
    return np.array(counts, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Mean(FusionRule):
    """Weighted mean; of probabilities, it minimises the average KL(P_l || P)."""

    def scores(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the mean of the members."""
        kept, weights = self._kept(len(outputs)), self._kept_weights()
        if weights is not None and weights.sum() == 0:
            raise ValueError(
                f"the weights {weights.tolist()} sum to 0: the weights of a mean must not"
            )
        return mean_of_members(outputs, kept, weights, n_threads=n_threads)


@dataclass(frozen=True, eq=False)
class GeometricMean(FusionRule):
    """Weighted geometric mean, the product rule; it minimises the average KL(P || P_l)."""

    def scores(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the geometric mean of the members, divided by its sum."""
        kept, weights = self._kept(len(outputs)), self._kept_weights()
        if weights is not None and (weights < 0).any():
            raise ValueError(
                f"the weights {weights.tolist()} are not all positive: a geometric mean needs "
                "weights >= 0"
            )
        return mean_of_members(outputs, kept, weights, geometric=True, n_threads=n_threads)


@dataclass(frozen=True, eq=False)
class OrderStatistic(FusionRule):
    """Minimum, maximum, median or trimmed mean; of probabilities, divided by the sum.

    Parameters
    ----------
    statistic : {"min", "max", "median", "trimmed"}
    trim : float
        Share of the members that a trimmed mean removes at each end, rounded down.
    """

    statistic: Literal["min", "max", "median", "trimmed"] = "median"
    trim: float = 0.0

    def scores(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the order statistic of the members."""
        kept = self._kept(len(outputs))
        if self._kept_weights() is not None:
            raise ValueError(
                f"rule={self.statistic!r} supports only equal weights, or 0 to leave a member out: "
                "use rule='mean', or drop members"
            )
        return order_statistic_of_members(
            outputs, kept, self.statistic, n_trimmed=int(self.trim * len(kept)), n_threads=n_threads
        )


@dataclass(frozen=True, eq=False)
class InverseErrorMean(Mean):
    """Mean of values weighted by 1 / mean squared error, optimal for uncorrelated errors.

    Bates, Granger (1969), "The combination of forecasts".
    """

    learns = True

    def learned(
        self, outputs: MemberOutputs, target: Array, weight: Floats | None
    ) -> InverseErrorMean:
        """Return the rule with weights from out-of-fold errors; their sum is 1."""
        errors = [mean_squared_error(predicted, target, weight) for predicted in outputs.outputs]
        return InverseErrorMean(inverse_error_weights(errors))
