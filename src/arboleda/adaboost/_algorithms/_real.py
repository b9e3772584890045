"""Real AdaBoost: Friedman, Hastie and Tibshirani (2000), algorithm 2; SAMME.R of Zhu et al."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from arboleda.adaboost._algorithms._algorithm import Algorithm, Floats, Outcome, Problem
from arboleda.adaboost._algorithms._answers import class_shares

# Shares are taken to be at least this, so that votes stay finite.
_LEAST_SHARE = float(np.finfo(np.float64).eps)
# Votes this close to 0 come from shares that are all the same.
_LEAST_VOTE = 1e-10


class Real(Algorithm):
    """Votes of (K - 1) (log p_k - mean log p): with two classes half the logarithm of the odds.

    D <- D exp(-vote for the true class / (K - 1)) / Z, Zhu et al. (2009), algorithm 4.
    """

    name: ClassVar[str] = "real"
    span: ClassVar[float] = 2.0
    needs_error: ClassVar[bool] = True

    def votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Logarithms of the class shares around their mean."""
        return votes_by_shares(class_shares(members[0], X, labels))

    def step(self, problem: Problem, state: Floats, votes: Floats) -> Outcome:
        """Weigh rows less whose class has a large share."""
        error = float(state[votes.argmax(axis=1) != problem.target].sum())
        own = votes[problem.rows, problem.target]
        grown = state * np.exp(-self.learning_rate * own / (self.n_classes - 1.0))
        normalizer = float(grown.sum())
        return Outcome(self.learning_rate, error, normalizer, grown / normalizer)

    def is_useless(self, outcome: Outcome, votes: Floats) -> bool:
        """Whether all classes have the same share in every row: the weights would not change."""
        return outcome.error > 0.0 and float(np.abs(votes).max()) < _LEAST_VOTE

    def decision(self, sums: Floats, total: float) -> Floats:
        """Half the logarithm of the odds, or the scores."""
        return sums[:, 1] if self.n_classes == 2 else sums

    def probabilities(self, sums: Floats, total: float) -> Floats:
        """Zhu et al. (2009), equation (15)."""
        found: Floats = softmax(sums / (self.n_classes - 1.0), axis=1)
        return found

    def bound_factor(self) -> float | None:
        """1 for two classes; with more an error may go with a small exponential loss."""
        return 1.0 if self.n_classes == 2 else None


def votes_by_shares(shares: Floats) -> Floats:
    """(K - 1) (log p_k - mean log p), of shape (n_rows, n_classes)."""
    logs = np.log(np.maximum(shares, _LEAST_SHARE))
    votes: Floats = (shares.shape[1] - 1.0) * (logs - logs.mean(axis=1, keepdims=True))
    return votes
