"""Additive logistic regression: Friedman, Hastie and Tibshirani (2000)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax, softmax

from arboleda.adaboost._algorithms._algorithm import (
    Algorithm,
    BoostingProblem,
    Floats,
    MemberTask,
    RoundOutcome,
    predict_class_shares,
    predict_values,
)
from arboleda.adaboost._algorithms._pair_algorithms import normalize_one_vs_rest

# Lower bound of class shares, which keeps votes finite.
_LEAST_SHARE = float(np.finfo(np.float64).eps)
# Votes this close to 0 are those of equal shares.
_LEAST_VOTE = 1e-10


class RealAlgorithm(Algorithm):
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


class GentleAlgorithm(Algorithm):
    """Gentle AdaBoost: weighted least squares on y in {-1, 1}; F <- F + f, D <- D exp(-y f) / Z.

    With more than two classes, each is fitted against the rest, with weights D(i, k) under a common
    normalizer, as in the paper's AdaBoost.MH (algorithm 5).
    """

    name: ClassVar[str] = "gentle"
    learns: ClassVar[Literal["classes", "numbers"]] = "numbers"
    span: ClassVar[float] = 2.0

    @property
    def width(self) -> int:
        """Number of outputs per row of the members of a round."""
        return 1 if self.n_classes == 2 else self.n_classes

    def start(self, problem: BoostingProblem) -> Floats:
        """Return the row weights, spread evenly over the binary problems."""
        return np.repeat(problem.weight[:, np.newaxis], self.width, axis=1) / self.width

    def make_tasks(self, problem: BoostingProblem, state: Floats) -> list[MemberTask]:
        """Return targets of 1 and -1: one task for two classes, else one per class."""
        signs = self._signs(problem)
        return [
            MemberTask(signs[:, k], state[:, k] / state[:, k].sum()) for k in range(state.shape[1])
        ]

    def compute_votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Compute the predictions of the regressors."""
        return np.column_stack([predict_values(member, X) for member in members])

    def step(self, problem: BoostingProblem, state: Floats, votes: Floats) -> RoundOutcome:
        """Update the weights by the exponential loss of the votes."""
        signs = self._signs(problem)
        error = float(state[votes * signs < 0.0].sum() + state[votes == 0.0].sum() / 2.0)
        grown = state * np.exp(-self.learning_rate * signs * votes)
        normalizer = float(grown.sum())
        return RoundOutcome(self.learning_rate, error, normalizer, grown / normalizer)

    def _signs(self, problem: BoostingProblem) -> Floats:
        return problem.signs()[:, 1:] if self.width == 1 else problem.signs()

    def compute_decision(self, sums: Floats, total: float) -> Floats:
        """Return the sums of the predictions."""
        return sums[:, 0] if self.n_classes == 2 else sums

    def compute_probabilities(self, sums: Floats, total: float) -> Floats:
        """Compute 1 / (1 + exp(-2 F)), normalized to sum to 1 over more than two classes."""
        if self.width > 1:
            return normalize_one_vs_rest(sums)
        second = expit(2.0 * sums[:, 0])
        return np.column_stack([1.0 - second, second])

    def compute_bound_factor(self) -> float | None:
        """Return the factor of AdaBoost for two classes, else that of AdaBoost.MH: K / 2."""
        return self.n_classes / 2.0


# Bounds of the absolute responses and of the weights, as in the paper (section 4.1).
MOST_RESPONSE = 4.0
_LEAST_WEIGHT = 2.0 * np.finfo(np.float64).eps


class LogitAlgorithm(Algorithm):
    """LogitBoost: Newton steps, weighted least squares on (y - p) / w with weights w = p (1 - p).

    With two classes, F <- F + f / 2 and p = 1 / (1 + exp(-2 F)). With K classes, each has a member,
    f is centered over the classes, F <- F + (K - 1) / K f, and p is the softmax of F. The state of
    a round is F. Its normalizer is the factor by which the deviance in bits changes; the deviance
    of a misclassified row is at least one bit.
    """

    name: ClassVar[str] = "logit"
    learns: ClassVar[Literal["classes", "numbers"]] = "numbers"
    span: ClassVar[float] = 2.0

    @property
    def width(self) -> int:
        """Number of outputs per row of the members of a round."""
        return 1 if self.n_classes == 2 else self.n_classes

    def start(self, problem: BoostingProblem) -> Floats:
        """Return scores of 0."""
        return np.zeros((len(problem.target), self.width))

    def make_tasks(self, problem: BoostingProblem, state: Floats) -> list[MemberTask]:
        """Return working responses and weights."""
        response, weight = self._compute_responses(problem, state)
        return [
            MemberTask(response[:, k], weight[:, k] / weight[:, k].sum()) for k in range(self.width)
        ]

    def compute_votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Compute the predictions of the regressors."""
        return np.column_stack([predict_values(member, X) for member in members])

    def step(self, problem: BoostingProblem, state: Floats, votes: Floats) -> RoundOutcome:
        """Add the Newton steps to the scores."""
        signs = problem.signs()[:, -self.width :]
        share = self._compute_responses(problem, state)[1]
        share /= share.sum()
        error = float(share[votes * signs < 0.0].sum() + share[votes == 0.0].sum() / 2.0)
        k = self.n_classes
        weight = self.learning_rate * (0.5 if self.width == 1 else (k - 1.0) / k)
        after = state + weight * votes
        before = self._compute_deviance(problem, state)
        normalizer = self._compute_deviance(problem, after) / before if before > 0.0 else 1.0
        return RoundOutcome(weight, error, normalizer, after)

    def _compute_responses(self, problem: BoostingProblem, state: Floats) -> tuple[Floats, Floats]:
        """Compute working responses, and working weights times sample weights."""
        p = self.compute_probabilities(state, 1.0)[:, -self.width :]
        true = problem.is_true()[:, -self.width :]
        # (y - p) / (p (1 - p)) without cancellation.
        response = np.where(true, 1.0, -1.0) / np.maximum(np.where(true, p, 1.0 - p), 1e-300)
        weight = np.maximum(p * (1.0 - p), _LEAST_WEIGHT) * problem.weight[:, np.newaxis]
        return np.clip(response, -MOST_RESPONSE, MOST_RESPONSE), weight

    def _compute_deviance(self, problem: BoostingProblem, state: Floats) -> float:
        logs = log_softmax(self._compute_logits(state), axis=1)
        return -float((problem.weight * logs[problem.rows, problem.target]).sum())

    def _compute_logits(self, sums: Floats) -> Floats:
        """Compute log-probabilities up to a constant."""
        return np.column_stack([-sums[:, 0], sums[:, 0]]) if self.width == 1 else self.center(sums)

    def center(self, sums: Floats) -> Floats:
        """Subtract the mean over the classes, which centers the members."""
        return sums if self.width == 1 else sums - sums.mean(axis=1, keepdims=True)

    def compute_decision(self, sums: Floats, total: float) -> Floats:
        """Compute half the log-odds of two classes, else the scores."""
        return sums[:, 0] if self.width == 1 else self.center(sums)

    def compute_probabilities(self, sums: Floats, total: float) -> Floats:
        """Compute 1 / (1 + exp(-2 F)), or the softmax of the scores."""
        if self.width == 1:
            second = expit(2.0 * sums[:, 0])
            return np.column_stack([expit(-2.0 * sums[:, 0]), second])
        probabilities: Floats = softmax(self.center(sums), axis=1)
        return probabilities

    def compute_bound_factor(self) -> float | None:
        """Return the initial deviance of a row in bits."""
        return float(np.log2(self.n_classes))
