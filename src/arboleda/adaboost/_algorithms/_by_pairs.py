"""Algorithms over pairs of a row and a wrong class: AdaBoost.M2 and AdaBoost.MR."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from arboleda.adaboost._algorithms._algorithm import Algorithm, Floats, Lesson, Outcome, Problem


class ByPairs(Algorithm):
    """Weights D(i, k) of row i against class k, which is not its own; they sum to 1.

    A member that gives classes votes q within [0, 1] has the advantage d = q(true) - q(wrong) on a
    pair; D <- D exp(-a d) / Z. Where the sums err some class has at least the votes of the true
    one, so that one of the row's K - 1 pairs has a product of the exponentials of at least 1.
    """

    needs_error: ClassVar[bool] = True

    def start(self, problem: Problem) -> Floats:
        """A row's weight, spread over the wrong classes."""
        pairs = np.where(problem.is_true(), 0.0, problem.weight[:, np.newaxis])
        return pairs / (problem.n_classes - 1.0)

    def lessons(self, problem: Problem, state: Floats) -> list[Lesson]:
        """The classes, each row with the weight of its pairs."""
        return [Lesson(problem.y, state.sum(axis=1))]

    @abstractmethod
    def exponent(self, state: Floats, advantage: Floats, error: float) -> float:
        """Return a, before shrinkage."""

    @abstractmethod
    def weight_of(self, exponent: float) -> float:
        """Weight of the votes."""

    def plausible(self, votes: Floats) -> Floats:
        """Votes on the scale of [0, 1]."""
        return votes

    def step(self, problem: Problem, state: Floats, votes: Floats) -> Outcome:
        """Weigh pairs more on which the wrong class has the more votes."""
        plausible = self.plausible(votes)
        own = plausible[problem.rows, problem.target][:, np.newaxis]
        advantage = own - plausible
        error = float((1.0 - (state * advantage).sum()) / 2.0)
        exponent = self.learning_rate * self.exponent(state, advantage, error)
        grown = state * np.exp(-exponent * advantage)
        normalizer = float(grown.sum())
        return Outcome(self.weight_of(exponent), error, normalizer, grown / normalizer)

    def probabilities(self, sums: Floats, total: float) -> Floats:
        """Softmax: what minimises the expected loss exp(-(F(true) - F(wrong)) / 2) over pairs."""
        found: Floats = softmax(sums, axis=1)
        return found

    def bound_factor(self) -> float | None:
        """Freund and Schapire (1997), theorem 11; Schapire and Singer (1999), theorem 6."""
        return self.n_classes - 1.0

    @property
    def has_edge_bound(self) -> bool:
        """The same theorems."""
        return True
