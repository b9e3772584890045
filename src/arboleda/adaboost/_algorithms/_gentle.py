"""Gentle AdaBoost: Friedman, Hastie and Tibshirani (2000), algorithm 4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from arboleda.adaboost._algorithms._algorithm import Algorithm, Floats, Lesson, Outcome, Problem
from arboleda.adaboost._algorithms._answers import numbers
from arboleda.adaboost._algorithms._mh import one_against_rest


class Gentle(Algorithm):
    """Members fit y in {-1, 1} by weighted least squares: F <- F + f; D <- D exp(-y f) / Z.

    More than two classes are told from the others one by one, with weights D(i, k) under one
    normalizer, as in the paper's AdaBoost.MH (algorithm 5).
    """

    name: ClassVar[str] = "gentle"
    learns: ClassVar[Literal["classes", "numbers"]] = "numbers"
    span: ClassVar[float] = 2.0

    @property
    def width(self) -> int:
        """Numbers that the members of a round answer for a row."""
        return 1 if self.n_classes == 2 else self.n_classes

    def start(self, problem: Problem) -> Floats:
        """A row's weight, spread over the questions."""
        return np.repeat(problem.weight[:, np.newaxis], self.width, axis=1) / self.width

    def lessons(self, problem: Problem, state: Floats) -> list[Lesson]:
        """1 and -1, once for two classes, else for each class."""
        signs = self._signs(problem)
        return [Lesson(signs[:, k], state[:, k] / state[:, k].sum()) for k in range(state.shape[1])]

    def votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Values of the regressions."""
        return np.column_stack([numbers(member, X) for member in members])

    def step(self, problem: Problem, state: Floats, votes: Floats) -> Outcome:
        """Weigh rows by how far the sums are from the right side."""
        signs = self._signs(problem)
        error = float(state[votes * signs < 0.0].sum() + state[votes == 0.0].sum() / 2.0)
        grown = state * np.exp(-self.learning_rate * signs * votes)
        normalizer = float(grown.sum())
        return Outcome(self.learning_rate, error, normalizer, grown / normalizer)

    def _signs(self, problem: Problem) -> Floats:
        return problem.signs()[:, 1:] if self.width == 1 else problem.signs()

    def decision(self, sums: Floats, total: float) -> Floats:
        """Sums of the regressions."""
        return sums[:, 0] if self.n_classes == 2 else sums

    def probabilities(self, sums: Floats, total: float) -> Floats:
        """1 / (1 + exp(-2 F)), for more than two classes made to sum to 1."""
        if self.width > 1:
            return one_against_rest(sums)
        second = expit(2.0 * sums[:, 0])
        return np.column_stack([1.0 - second, second])

    def bound_factor(self) -> float | None:
        """As of AdaBoost, or of AdaBoost.MH."""
        return self.n_classes / 2.0
