"""AdaBoost.MH: Schapire and Singer (1999), figure 3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from arboleda.adaboost._algorithms._algorithm import (
    Algorithm,
    Floats,
    Lesson,
    Outcome,
    Problem,
    log_odds,
)
from arboleda.adaboost._algorithms._answers import class_shares, hard_votes
from arboleda.adaboost._algorithms._line_search import MOST, minimize_normalizer

# Shares are kept from 0 and 1 by this: rows without a counterexample must not decide all alone
# (Schapire and Singer 1999, section 4.2).
_LEAST_SHARE = 1e-5
_SIDES = np.array([0, 1])  # the other classes, the class


class MH(Algorithm):
    """Weights D(i, k) of the question whether row i is of class k, one normalizer for all of them.

    D <- D exp(-Y(i, k) h(x_i, k)) / Z with Y = 1 for the class of a row, else -1. One member a
    class tells it from the others; two classes share one. Members with probabilities answer
    h = 1/2 log(p / (1 - p)), section 4.2; those without answer 1 or -1, and count by
    a = 1/2 log((1 - e) / e), with e their weighted error over all questions, section 3.1.
    """

    name: ClassVar[str] = "MH"
    span: ClassVar[float] = 2.0

    def start(self, problem: Problem) -> Floats:
        """A row's weight, spread over the classes."""
        return np.repeat(problem.weight[:, np.newaxis], problem.n_classes, axis=1) / float(
            problem.n_classes
        )

    def lessons(self, problem: Problem, state: Floats) -> list[Lesson]:
        """Each class against the others; of two classes the second."""
        asked = [1] if problem.n_classes == 2 else range(problem.n_classes)
        return [
            Lesson((problem.target == k).astype(np.intp), state[:, k] / state[:, k].sum())
            for k in asked
        ]

    def votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Answers to the questions of all classes."""
        columns = [_answer(member, X) for member in members]
        if len(members) == 1:
            columns = [-columns[0], columns[0]]
        return np.column_stack(columns)

    def step(self, problem: Problem, state: Floats, votes: Floats) -> Outcome:
        """Weigh questions more that are answered wrongly."""
        agreement = votes * problem.signs()
        error = float(state[agreement < 0.0].sum() + state[votes == 0.0].sum() / 2.0)
        weight = self.learning_rate * self.exponent(state, agreement, error)
        # A question without weight keeps none, however large its answer is.
        exponent = np.where(state > 0.0, -weight * agreement, 0.0)
        grown = state * np.exp(exponent)
        normalizer = float(grown.sum())
        return Outcome(weight, error, normalizer, grown / normalizer)

    def exponent(self, state: Floats, agreement: Floats, error: float) -> float:
        """Return the a of least Z: in closed form, or by line search.

        Where Z has no minimum, because all answers are right, a is such that the largest answer
        counts as that of a hard vote without error does.
        """
        if bool((np.abs(agreement) == 1.0).all()):
            return log_odds(error) / 2.0
        weighs = state > 0.0
        largest = float(np.abs(agreement[weighs]).max())
        if largest == 0.0:
            return 0.0
        most = MOST / largest
        return minimize_normalizer(state[weighs], agreement[weighs], -most, most)

    def decision(self, sums: Floats, total: float) -> Floats:
        """Answers summed; with two classes those to the question of the second."""
        return sums[:, 1] if self.n_classes == 2 else sums

    def probabilities(self, sums: Floats, total: float) -> Floats:
        """1 / (1 + exp(-2 F)) for each class, made to sum to 1."""
        return one_against_rest(sums)

    def bound_factor(self) -> float | None:
        """A row that errs has a false answer to two questions as large as a right one: 2 of K."""
        return self.n_classes / 2.0


def one_against_rest(sums: Floats) -> Floats:
    """Probabilities of classes of which each was told from the others, made to sum to 1."""
    found: Floats = expit(2.0 * sums)
    # A row that every class refuses by far has probabilities that are 0 in double precision.
    found = np.maximum(found, np.finfo(np.float64).tiny)
    found /= found.sum(axis=1, keepdims=True)
    return found


def _answer(member: Any, X: Any) -> Floats:
    if not hasattr(member, "predict_proba"):
        return 2.0 * hard_votes(member, X, _SIDES)[:, 1] - 1.0
    shares = np.clip(class_shares(member, X, _SIDES)[:, 1], _LEAST_SHARE, 1.0 - _LEAST_SHARE)
    found: Floats = np.log(shares / (1.0 - shares)) / 2.0
    return found
