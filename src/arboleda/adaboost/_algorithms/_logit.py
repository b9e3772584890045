"""LogitBoost: Friedman, Hastie and Tibshirani (2000), algorithms 3 and 6."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax, softmax

from arboleda.adaboost._algorithms._algorithm import Algorithm, Floats, Lesson, Outcome, Problem
from arboleda.adaboost._algorithms._answers import numbers

# Responses are kept within this, and weights above the other, as the paper does (section 4.1).
MOST_RESPONSE = 4.0
_LEAST_WEIGHT = 2.0 * np.finfo(np.float64).eps


class Logit(Algorithm):
    """Members fit (y - p) / w by weighted least squares with weights w = p (1 - p): Newton steps.

    Two classes: F <- F + f / 2 and p = 1 / (1 + exp(-2 F)). K classes: one member each, f centred
    over the classes, F <- F + (K - 1) / K f and p the softmax of F. The state of a round is F; its
    normalizer the factor by which the deviance, in bits, changes: a row that errs has at least one.
    """

    name: ClassVar[str] = "logit"
    learns: ClassVar[Literal["classes", "numbers"]] = "numbers"
    span: ClassVar[float] = 2.0

    @property
    def width(self) -> int:
        """Numbers that the members of a round answer for a row."""
        return 1 if self.n_classes == 2 else self.n_classes

    def start(self, problem: Problem) -> Floats:
        """Scores of 0."""
        return np.zeros((len(problem.target), self.width))

    def lessons(self, problem: Problem, state: Floats) -> list[Lesson]:
        """Working responses and weights."""
        response, weight = self._working(problem, state)
        return [
            Lesson(response[:, k], weight[:, k] / weight[:, k].sum()) for k in range(self.width)
        ]

    def votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Values of the regressions."""
        return np.column_stack([numbers(member, X) for member in members])

    def step(self, problem: Problem, state: Floats, votes: Floats) -> Outcome:
        """Take the steps."""
        signs = problem.signs()[:, -self.width :]
        share = self._working(problem, state)[1]
        share /= share.sum()
        error = float(share[votes * signs < 0.0].sum() + share[votes == 0.0].sum() / 2.0)
        k = self.n_classes
        weight = self.learning_rate * (0.5 if self.width == 1 else (k - 1.0) / k)
        after = state + weight * votes
        before = self._deviance(problem, state)
        normalizer = self._deviance(problem, after) / before if before > 0.0 else 1.0
        return Outcome(weight, error, normalizer, after)

    def _working(self, problem: Problem, state: Floats) -> tuple[Floats, Floats]:
        """Responses, and weights of the rows times these of the sample."""
        p = self.probabilities(state, 1.0)[:, -self.width :]
        true = problem.is_true()[:, -self.width :]
        # (y - p) / (p (1 - p)) without its cancellation.
        response = np.where(true, 1.0, -1.0) / np.maximum(np.where(true, p, 1.0 - p), 1e-300)
        weight = np.maximum(p * (1.0 - p), _LEAST_WEIGHT) * problem.weight[:, np.newaxis]
        return np.clip(response, -MOST_RESPONSE, MOST_RESPONSE), weight

    def _deviance(self, problem: Problem, state: Floats) -> float:
        logs = log_softmax(self._both(state), axis=1)
        return -float((problem.weight * logs[problem.rows, problem.target]).sum())

    def _both(self, sums: Floats) -> Floats:
        """Logarithms of the probabilities but for a constant."""
        return np.column_stack([-sums[:, 0], sums[:, 0]]) if self.width == 1 else self.centred(sums)

    def centred(self, sums: Floats) -> Floats:
        """Sums around their mean over the classes, as centred members give."""
        return sums if self.width == 1 else sums - sums.mean(axis=1, keepdims=True)

    def decision(self, sums: Floats, total: float) -> Floats:
        """Half the logarithm of the odds, or the scores."""
        return sums[:, 0] if self.width == 1 else self.centred(sums)

    def probabilities(self, sums: Floats, total: float) -> Floats:
        """1 / (1 + exp(-2 F)), or the softmax of the scores."""
        if self.width == 1:
            second = expit(2.0 * sums[:, 0])
            return np.column_stack([expit(-2.0 * sums[:, 0]), second])
        found: Floats = softmax(self.centred(sums), axis=1)
        return found

    def bound_factor(self) -> float | None:
        """Bits of a row at the start."""
        return float(np.log2(self.n_classes))
