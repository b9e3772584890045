"""LogitBoost: Friedman, Hastie and Tibshirani (2000), algorithms 3 and 6."""

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
)
from arboleda.adaboost._algorithms._member_outputs import predict_values

# Bounds of the absolute responses and of the weights, as in the paper (section 4.1).
MOST_RESPONSE = 4.0
_LEAST_WEIGHT = 2.0 * np.finfo(np.float64).eps


class Logit(Algorithm):
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
