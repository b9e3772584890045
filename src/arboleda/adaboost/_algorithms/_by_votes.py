"""Algorithms whose members vote for one class, by a weight that their error decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from arboleda.adaboost._algorithms._algorithm import Algorithm, Floats, Outcome, Problem, log_odds
from arboleda.adaboost._algorithms._answers import hard_votes


class ByVotes(Algorithm):
    """With c = 1 where a member is right, else -1, weights become D exp(-a c / 2) / Z.

    Z is their sum. Where the votes err, those for the true class weigh no more than those that are
    wrong, so that the sum of a c is not positive: the training error is at most the product of Z.
    """

    needs_error: ClassVar[bool] = True
    weight_per_exponent: ClassVar[float] = 2.0  # the vote's weight, over a / 2

    def offset(self) -> float:
        """What is added to the logarithm of the odds."""
        return 0.0

    def votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """1 for the class that the member predicts."""
        return hard_votes(members[0], X, labels)

    def step(self, problem: Problem, state: Floats, votes: Floats) -> Outcome:
        """Weigh rows that the member errs on more."""
        right = votes[problem.rows, problem.target] > 0.0
        error = float(state[~right].sum())
        exponent = self.learning_rate * (log_odds(error) + self.offset()) / 2.0
        grown = state * np.where(right, np.exp(-exponent), np.exp(exponent))
        normalizer = float(grown.sum())
        weight = self.weight_per_exponent * exponent
        return Outcome(weight, error, normalizer, grown / normalizer)

    def last_without_error(self, outcome: Outcome, before: float) -> Outcome:
        """Let it outvote the others, as in theory it weighs infinitely much."""
        return outcome._replace(weight=max(outcome.weight, 1.0 + before))
