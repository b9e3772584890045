"""Gentle AdaBoost: Friedman, Hastie and Tibshirani (2000), algorithm 4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from arboleda.adaboost._algorithms._algorithm import (
    Algorithm,
    BoostingProblem,
    Floats,
    MemberTask,
    RoundOutcome,
)
from arboleda.adaboost._algorithms._member_outputs import predict_values
from arboleda.adaboost._algorithms._mh import normalize_one_vs_rest


class Gentle(Algorithm):
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
