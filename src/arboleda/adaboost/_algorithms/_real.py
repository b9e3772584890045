"""Real AdaBoost: Friedman, Hastie and Tibshirani (2000), algorithm 2; SAMME.R of Zhu et al."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from arboleda.adaboost._algorithms._algorithm import (
    Algorithm,
    BoostingProblem,
    Floats,
    RoundOutcome,
)
from arboleda.adaboost._algorithms._member_outputs import predict_class_shares

# Lower bound of class shares, which keeps votes finite.
_LEAST_SHARE = float(np.finfo(np.float64).eps)
# Votes this close to 0 are those of equal shares.
_LEAST_VOTE = 1e-10


class Real(Algorithm):
    """Real AdaBoost: votes (K - 1) (log p_k - mean log p), half the log-odds for two classes.

    D <- D exp(-vote for the true class / (K - 1)) / Z, Zhu et al. (2009), algorithm 4.
    """

    name: ClassVar[str] = "real"
    span: ClassVar[float] = 2.0
    needs_error: ClassVar[bool] = True

    def compute_votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Compute votes from the class probabilities of the member."""
        return compute_share_votes(predict_class_shares(members[0], X, labels))

    def step(self, problem: BoostingProblem, state: Floats, votes: Floats) -> RoundOutcome:
        """Decrease the weight of rows whose class has a large share."""
        error = float(state[votes.argmax(axis=1) != problem.target].sum())
        own = votes[problem.rows, problem.target]
        grown = state * np.exp(-self.learning_rate * own / (self.n_classes - 1.0))
        normalizer = float(grown.sum())
        return RoundOutcome(self.learning_rate, error, normalizer, grown / normalizer)

    def is_useless(self, outcome: RoundOutcome, votes: Floats) -> bool:
        """Return whether all class shares are equal, so the weights would not change."""
        return outcome.error > 0.0 and float(np.abs(votes).max()) < _LEAST_VOTE

    def compute_decision(self, sums: Floats, total: float) -> Floats:
        """Compute half the log-odds of two classes, else the scores."""
        return sums[:, 1] if self.n_classes == 2 else sums

    def compute_probabilities(self, sums: Floats, total: float) -> Floats:
        """Compute probabilities by Zhu et al. (2009), equation (15)."""
        probabilities: Floats = softmax(sums / (self.n_classes - 1.0), axis=1)
        return probabilities

    def compute_bound_factor(self) -> float | None:
        """Return 1 for two classes; the loss of more classes does not bound the error."""
        return 1.0 if self.n_classes == 2 else None


def compute_share_votes(shares: Floats) -> Floats:
    """Compute (K - 1) (log p_k - mean log p), of shape (n_rows, n_classes)."""
    logs = np.log(np.maximum(shares, _LEAST_SHARE))
    votes: Floats = (shares.shape[1] - 1.0) * (logs - logs.mean(axis=1, keepdims=True))
    return votes
