"""SAMME: Zhu, Zou, Rosset and Hastie (2009), algorithm 2; scikit-learn's AdaBoost."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from arboleda.adaboost._algorithms._algorithm import BoostingProblem, Floats, RoundOutcome, log_odds
from arboleda.adaboost._algorithms._vote_algorithm import VoteAlgorithm


class SAMME(VoteAlgorithm):
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
