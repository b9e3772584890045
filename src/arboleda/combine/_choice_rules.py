"""Rules that combine the classes that members choose: votes, weighted votes, naive Bayes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arboleda._engine.combine import sum_tables, sum_votes
from arboleda._member_weights import log_odds
from arboleda.combine._outputs import MemberOutputs
from arboleda.combine._rule import Array, Floats, Rule, Said

__all__ = ["AccuracyWeights", "Majority", "NaiveBayes", "accuracy_weights", "confusion_of"]


@dataclass(frozen=True, eq=False)
class Majority(Rule):
    """The class that most members choose, or that the largest weight of members does."""

    of_choices = True

    def scores(self, said: Said, n_classes: int, n_threads: int) -> Floats:
        """Number of the members that choose a class, or their weight."""
        kept = self._kept(len(said))
        weights = None if self.weights is None else self.weights[kept]
        return sum_votes(said, n_classes, kept, weights, n_threads=n_threads)

    def shares(self, said: Said, n_classes: int, n_threads: int) -> Floats:
        """Share of the votes."""
        return self.scores(said, n_classes, n_threads) / self.total(len(said))

    def total(self, n_members: int) -> float:
        """All votes that there are."""
        return float(n_members if self.weights is None else self.weights.sum())


@dataclass(frozen=True, eq=False)
class AccuracyWeights(Rule):
    """Votes weighted by log(p / (1 - p)), p being a member's accuracy on rows it did not see.

    If members err independently of each other, each with the same probability on every class and
    towards every other class, then log P(k | choices) is, for classes of equal prior and but for a
    constant, the sum over the members that choose k of log(p / (1 - p)) + log(K - 1). The second
    part is 0 for two classes.
    """

    of_choices = True
    learns = True

    def learned(
        self, outputs: MemberOutputs, target: Array, weight: Floats | None
    ) -> AccuracyWeights:
        """Return the rule with the weights that out-of-fold accuracies give."""
        return AccuracyWeights(accuracy_weights(outputs, target, weight))

    def scores(self, said: Said, n_classes: int, n_threads: int) -> Floats:
        """Log-probability of each class but for a constant."""
        return self._votes(said, n_classes, n_threads, shares_of_exp=False)

    def shares(self, said: Said, n_classes: int, n_threads: int) -> Floats:
        """Probability of each class if the members are independent."""
        return self._votes(said, n_classes, n_threads, shares_of_exp=True)

    def _votes(self, said: Said, n_classes: int, n_threads: int, *, shares_of_exp: bool) -> Floats:
        assert self.weights is not None
        whole = self.weights + math.log(max(1, n_classes - 1))
        return sum_votes(
            said,
            n_classes,
            range(len(said)),
            whole,
            shares_of_exp=shares_of_exp,
            n_threads=n_threads,
        )


@dataclass(frozen=True, eq=False)
class NaiveBayes(Rule):
    """Bayes rule for members that choose independently of each other, given the class.

    P(k | choices) is proportional to P(k) prod_l P(member l chooses what it does | k). Of N_k rows
    of class k of which member l gave N_k(s) to class s, P(s | k) = (N_k(s) + 1/K) / (N_k + 1):
    Laplace's correction in the form of Titterington et al. (1981), after Kuncheva (2014).

    Parameters
    ----------
    confusion : ndarray of shape (n_members, n_classes, n_classes)
        Rows, or their weight, by class and by the class that the member chose.
    """

    of_choices = True
    learns = True
    confusion: Floats | None = None

    def learned(self, outputs: MemberOutputs, target: Array, weight: Floats | None) -> NaiveBayes:
        """Return the rule with the confusion matrices of the out-of-fold choices."""
        return replace(self, confusion=confusion_of(outputs, target, weight))

    @property
    def prior(self) -> Floats:
        """P(k): shares of the classes."""
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

    def scores(self, said: Said, n_classes: int, n_threads: int) -> Floats:
        """Logarithm of P(k) prod_l P(choice of l | k)."""
        return self._sums(said, n_threads, shares_of_exp=False)

    def shares(self, said: Said, n_classes: int, n_threads: int) -> Floats:
        """Posterior probability of each class."""
        return self._sums(said, n_threads, shares_of_exp=True)

    def _sums(self, said: Said, n_threads: int, *, shares_of_exp: bool) -> Floats:
        kept = self._kept(len(said))
        if self._kept_weights() is not None:
            raise ValueError(
                "rule='naive_bayes' knows no weights but 0, which leaves a member out, and one "
                "other for all: what a member's choice tells is learned from its errors"
            )
        with np.errstate(divide="ignore"):  # a class of weight 0 is never chosen
            start = np.maximum(np.log(self.prior), -1e300)
        by_choice = np.log(self.likelihood[kept]).transpose(0, 2, 1)
        return sum_tables(
            said, kept, start, by_choice, shares_of_exp=shares_of_exp, n_threads=n_threads
        )


def accuracy_weights(outputs: MemberOutputs, target: Array, weight: Floats | None = None) -> Floats:
    """log(p / (1 - p)) of each member, p being its accuracy.

    Parameters
    ----------
    outputs : MemberOutputs
    target : ndarray of shape (n_rows,)
        Numbers of the rows' classes.
    weight : ndarray of shape (n_rows,) or None

    Returns
    -------
    weights : ndarray of shape (n_members,)
        p is kept half a row away from 0 and 1, so that no weight is infinite.
    """
    right: Any = outputs.choices() == target
    p = np.average(right, axis=1, weights=weight)
    return log_odds(p, right.shape[1])


def confusion_of(outputs: MemberOutputs, target: Array, weight: Floats | None = None) -> Floats:
    """Rows, or their weight, by class and by the class that a member chose.

    Parameters
    ----------
    outputs : MemberOutputs
    target : ndarray of shape (n_rows,)
        Numbers of the rows' classes.
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
