"""Algorithms whose members vote for one class, with a weight that depends on their error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from arboleda.adaboost._algorithms._algorithm import (
    Algorithm,
    BoostingProblem,
    Floats,
    RoundOutcome,
    log_odds,
)
from arboleda.adaboost._algorithms._member_outputs import predict_hard_votes


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
