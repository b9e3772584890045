"""Algorithms over pairs of a row and a wrong class: AdaBoost.M2 and AdaBoost.MR."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from arboleda.adaboost._algorithms._algorithm import (
    Algorithm,
    BoostingProblem,
    Floats,
    MemberTask,
    RoundOutcome,
    log_odds,
    predict_plausibilities,
)
from arboleda.adaboost._algorithms._mh import MOST, minimize_normalizer


class PairAlgorithm(Algorithm):
    """Boosting with weights D(i, k) of row i and wrong class k, which sum to 1.

    A member with votes q in [0, 1] has the advantage d = q(true) - q(wrong) on a pair, and
    D <- D exp(-a d) / Z. If the ensemble misclassifies a row, some wrong class has at least as many
    votes as the true one, so the product of the exponentials is at least 1 for one of the K - 1
    pairs of the row.
    """

    needs_error: ClassVar[bool] = True

    def start(self, problem: BoostingProblem) -> Floats:
        """Return the row weights, spread evenly over the wrong classes."""
        pairs = np.where(problem.is_true(), 0.0, problem.weight[:, np.newaxis])
        return pairs / (problem.n_classes - 1.0)

    def make_tasks(self, problem: BoostingProblem, state: Floats) -> list[MemberTask]:
        """Return one task: the classes, with the sum of the pair weights of each row."""
        return [MemberTask(problem.y, state.sum(axis=1))]

    @abstractmethod
    def compute_exponent(self, state: Floats, advantage: Floats, error: float) -> float:
        """Return a, before shrinkage."""

    @abstractmethod
    def compute_vote_weight(self, exponent: float) -> float:
        """Compute the weight of the votes."""

    def scale_votes(self, votes: Floats) -> Floats:
        """Scale votes to [0, 1]."""
        return votes

    def step(self, problem: BoostingProblem, state: Floats, votes: Floats) -> RoundOutcome:
        """Increase the weight of pairs on which the wrong class has more votes."""
        plausible = self.scale_votes(votes)
        own = plausible[problem.rows, problem.target][:, np.newaxis]
        advantage = own - plausible
        error = float((1.0 - (state * advantage).sum()) / 2.0)
        exponent = self.learning_rate * self.compute_exponent(state, advantage, error)
        grown = state * np.exp(-exponent * advantage)
        normalizer = float(grown.sum())
        return RoundOutcome(
            self.compute_vote_weight(exponent), error, normalizer, grown / normalizer
        )

    def compute_probabilities(self, sums: Floats, total: float) -> Floats:
        """Compute the softmax, which minimizes the expected pairwise exponential loss."""
        # The loss of a pair is exp(-(F(true) - F(wrong)) / 2).
        probabilities: Floats = softmax(sums, axis=1)
        return probabilities

    def compute_bound_factor(self) -> float | None:
        """Return K - 1: Freund and Schapire (1997), thm. 11; Schapire and Singer (1999), thm. 6."""
        return self.n_classes - 1.0

    @property
    def has_edge_bound(self) -> bool:
        """Whether edges bound the normalizers; by the theorems of `compute_bound_factor`."""
        return True


class M2Algorithm(PairAlgorithm):
    """AdaBoost.M2: boosting by the pseudo-loss, with plausibilities h in [0, 1].

    The pseudo-loss is e = 1/2 sum D(i, k) (1 - h(x_i, y_i) + h(x_i, k)). With beta = e / (1 - e),
    D <- D beta^((1 + h(x_i, y_i) - h(x_i, k)) / 2) / Z, and the votes are log(1 / beta) h. Z is
    computed from the factor exp(-log(1 / beta) (h(x_i, y_i) - h(x_i, k)) / 2), because its product
    bounds the error; the weights are the same.
    """

    name: ClassVar[str] = "M2"

    def compute_votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Compute the plausibility of each class."""
        return predict_plausibilities(members[0], X, labels)

    def compute_exponent(self, state: Floats, advantage: Floats, error: float) -> float:
        """Return half of log(1 / beta)."""
        return log_odds(error) / 2.0

    def compute_vote_weight(self, exponent: float) -> float:
        """Return log(1 / beta)."""
        return 2.0 * exponent


class MRAlgorithm(PairAlgorithm):
    """AdaBoost.MR: D <- D exp(a (h(x_i, k) - h(x_i, y_i)) / 2) / Z, where a minimizes Z."""

    name: ClassVar[str] = "MR"
    span: ClassVar[float] = 2.0

    def compute_votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Compute probabilities, or hard votes, scaled to [-1, 1]."""
        return 2.0 * predict_plausibilities(members[0], X, labels) - 1.0

    def scale_votes(self, votes: Floats) -> Floats:
        """Scale votes to [0, 1], which halves their differences."""
        return (votes + 1.0) / 2.0

    def compute_exponent(self, state: Floats, advantage: Floats, error: float) -> float:
        """Minimize Z, which is convex in a."""
        return minimize_normalizer(state, advantage, 0.0, MOST)

    def compute_vote_weight(self, exponent: float) -> float:
        """Return a."""
        return exponent
