"""SAMME: Zhu, Zou, Rosset and Hastie (2009), algorithm 2; scikit-learn's AdaBoost."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from arboleda.adaboost._algorithms._algorithm import Floats, Outcome, Problem, log_odds
from arboleda.adaboost._algorithms._by_votes import ByVotes


class SAMME(ByVotes):
    """Votes of log((1 - e) / e) + log(K - 1): a member need only be better than guessing."""

    name: ClassVar[str] = "SAMME"

    @property
    def worst_error(self) -> float:
        """Error of guessing among K classes."""
        return 1.0 - 1.0 / self.n_classes

    def offset(self) -> float:
        """Make the weight 0 at the error of guessing."""
        return float(np.log(max(1.0, self.n_classes - 1.0)))

    def step(self, problem: Problem, state: Floats, votes: Floats) -> Outcome:
        """Weigh rows that the member errs on more, with scikit-learn's arithmetic.

        The weights are thus its own to the last bit: trees break ties between splits by it. No
        positive weight falls below the precision of 1, and a member without error weighs 1.
        """
        wrong = votes[problem.rows, problem.target] == 0.0
        error = float(np.average(wrong, weights=state))
        weight = self.learning_rate * (log_odds(error) + self.offset())
        with np.errstate(divide="ignore"):  # of rows without weight, which keep none
            grown = np.exp(np.log(state) + weight * wrong)
        grown = np.clip(grown / grown.sum(), np.finfo(np.float64).eps, None)
        after = np.where(state > 0.0, grown, 0.0)
        normalizer = float(_normalizer(error, weight))
        return Outcome(weight if error > 0.0 else 1.0, error, normalizer, after)

    def last_without_error(self, outcome: Outcome, before: float) -> Outcome:
        """Leave its weight at 1."""
        return outcome

    def normalizers(self, errors: Floats, sums: Floats) -> Floats:
        """Those of factors exp(-a / 2) and exp(a / 2), whose product bounds the training error."""
        odds = np.array([log_odds(error) for error in errors])
        found: Floats = _normalizer(errors, self.learning_rate * (odds + self.offset()))
        return found

    def decision(self, sums: Floats, total: float) -> Floats:
        """Votes of 1 for a class and -1 / (K - 1) for the others, as a share of the total."""
        if self.n_classes == 2:
            return 2.0 * (sums[:, 1] - sums[:, 0]) / total
        return (sums - (total - sums) / (self.n_classes - 1.0)) / total

    def probabilities(self, sums: Floats, total: float) -> Floats:
        """Zhu et al. (2009), equation (15), of the decision as it is scaled."""
        decision = self.decision(sums, total)
        if self.n_classes == 2:
            scaled = np.column_stack([-decision, decision]) / 2.0
        else:
            scaled = decision / (self.n_classes - 1.0)
        found: Floats = softmax(scaled, axis=1)
        return found

    @property
    def has_edge_bound(self) -> bool:
        """With two classes it is AdaBoost."""
        return self.n_classes == 2


def _normalizer(error: Any, weight: Any) -> Any:
    return (1.0 - error) * np.exp(-weight / 2.0) + error * np.exp(weight / 2.0)
