"""Algorithms whose members vote for one class: discrete AdaBoost, AdaBoost.M1 and SAMME."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax

from arboleda.adaboost._algorithms._algorithm import (
    Algorithm,
    BoostingProblem,
    Floats,
    RoundOutcome,
    log_odds,
    predict_hard_votes,
)


class VoteAlgorithm(Algorithm):
    """Boosting of hard votes: the row weights become D exp(-a c / 2) / Z.

    c is 1 where a member is right and -1 where it is wrong; Z is the sum of the new weights. If the
    ensemble misclassifies a row, the votes for the true class weigh no more than the wrong votes,
    so the sum of a c is not positive. Hence the training error is at most the product of all Z.
    """

    needs_error: ClassVar[bool] = True
    weight_per_exponent: ClassVar[float] = 2.0  # weight of a vote divided by a / 2

    def compute_offset(self) -> float:
        """Return the term that is added to the log-odds."""
        return 0.0

    def compute_votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Compute one-hot votes for the predicted class."""
        return predict_hard_votes(members[0], X, labels)

    def step(self, problem: BoostingProblem, state: Floats, votes: Floats) -> RoundOutcome:
        """Increase the weight of misclassified rows."""
        right = votes[problem.rows, problem.target] > 0.0
        error = float(state[~right].sum())
        exponent = self.learning_rate * (log_odds(error) + self.compute_offset()) / 2.0
        grown = state * np.where(right, np.exp(-exponent), np.exp(exponent))
        normalizer = float(grown.sum())
        weight = self.weight_per_exponent * exponent
        return RoundOutcome(weight, error, normalizer, grown / normalizer)

    def weigh_last_without_error(self, outcome: RoundOutcome, before: float) -> RoundOutcome:
        """Let the member outvote all others, because its weight is infinite in theory."""
        return outcome._replace(weight=max(outcome.weight, 1.0 + before))


class DiscreteAlgorithm(VoteAlgorithm):
    """Discrete AdaBoost: a = 1/2 log((1 - e) / e), D <- D exp(-a y h) / Z, sign of sum a h."""

    name: ClassVar[str] = "discrete"
    weight_per_exponent: ClassVar[float] = 1.0

    def compute_probabilities(self, sums: Floats, total: float) -> Floats:
        """Compute 1 / (1 + exp(-2 F)): Friedman, Hastie and Tibshirani (2000), lemma 1."""
        second = expit(2.0 * self.compute_decision(sums, total))
        return np.column_stack([1.0 - second, second])

    @property
    def has_edge_bound(self) -> bool:
        """Whether edges bound the normalizers: Schapire and Singer (1999), corollary 1."""
        return True


class M1Algorithm(VoteAlgorithm):
    """AdaBoost.M1: beta = e / (1 - e); each member has log(1 / beta) votes for one class."""

    name: ClassVar[str] = "M1"

    def compute_probabilities(self, sums: Floats, total: float) -> Floats:
        """Compute the softmax of the votes; for two classes the probabilities of AdaBoost."""
        probabilities: Floats = softmax(sums, axis=1)
        return probabilities

    @property
    def has_edge_bound(self) -> bool:
        """Whether edges bound the normalizers: Freund and Schapire (1997), theorem 10."""
        return True


class SammeAlgorithm(VoteAlgorithm):
    """SAMME: vote weight log((1 - e) / e) + log(K - 1), for members better than guessing."""

    name: ClassVar[str] = "SAMME"

    @property
    def worst_error(self) -> float:
        """Error of random guessing among K classes."""
        return 1.0 - 1.0 / self.n_classes

    def compute_offset(self) -> float:
        """Return log(K - 1), which makes the weight 0 at the error of random guessing."""
        return float(np.log(max(1.0, self.n_classes - 1.0)))

    def step(self, problem: BoostingProblem, state: Floats, votes: Floats) -> RoundOutcome:
        """Increase the weight of misclassified rows, with scikit-learn's arithmetic.

        The row weights equal those of scikit-learn to the last bit, because trees break ties
        between splits by it. Positive weights stay above the machine epsilon, and a member without
        error has the weight 1.
        """
        wrong = votes[problem.rows, problem.target] == 0.0
        error = float(np.average(wrong, weights=state))
        weight = self.learning_rate * (log_odds(error) + self.compute_offset())
        with np.errstate(divide="ignore"):  # rows of weight 0 keep it
            grown = np.exp(np.log(state) + weight * wrong)
        grown = np.clip(grown / grown.sum(), np.finfo(np.float64).eps, None)
        after = np.where(state > 0.0, grown, 0.0)
        normalizer = float(_compute_normalizer(error, weight))
        return RoundOutcome(weight if error > 0.0 else 1.0, error, normalizer, after)

    def weigh_last_without_error(self, outcome: RoundOutcome, before: float) -> RoundOutcome:
        """Return the outcome unchanged: the weight stays 1."""
        return outcome

    def compute_normalizers(self, errors: Floats, sums: Floats) -> Floats:
        """Compute normalizers of the factors exp(-a / 2) and exp(a / 2).

        Their product bounds the training error.
        """
        odds = np.array([log_odds(error) for error in errors])
        normalizers: Floats = _compute_normalizer(
            errors, self.learning_rate * (odds + self.compute_offset())
        )
        return normalizers

    def compute_decision(self, sums: Floats, total: float) -> Floats:
        """Compute votes of 1 for a class and -1 / (K - 1) for the others, divided by the total."""
        if self.n_classes == 2:
            return 2.0 * (sums[:, 1] - sums[:, 0]) / total
        return (sums - (total - sums) / (self.n_classes - 1.0)) / total

    def compute_probabilities(self, sums: Floats, total: float) -> Floats:
        """Compute probabilities by Zhu et al. (2009), equation (15), from the scaled decision."""
        decision = self.compute_decision(sums, total)
        if self.n_classes == 2:
            scaled = np.column_stack([-decision, decision]) / 2.0
        else:
            scaled = decision / (self.n_classes - 1.0)
        probabilities: Floats = softmax(scaled, axis=1)
        return probabilities

    @property
    def has_edge_bound(self) -> bool:
        """Whether edges bound the normalizers: only for two classes, where SAMME is AdaBoost."""
        return self.n_classes == 2


def _compute_normalizer(error: Any, weight: Any) -> Any:
    return (1.0 - error) * np.exp(-weight / 2.0) + error * np.exp(weight / 2.0)
