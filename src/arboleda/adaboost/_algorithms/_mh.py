"""AdaBoost.MH: Schapire and Singer (1999), figure 3.

Schapire and Singer (1999), "Improved boosting algorithms using confidence-rated predictions",
section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit

from arboleda.adaboost._algorithms._algorithm import (
    LEAST_ERROR,
    Algorithm,
    BoostingProblem,
    Floats,
    MemberTask,
    RoundOutcome,
    log_odds,
    predict_class_shares,
    predict_hard_votes,
)

# Largest weight of votes in [-1, 1]: half the logarithm of the largest odds.
MOST = log_odds(LEAST_ERROR) / 2.0


def minimize_normalizer(weights: Floats, agreement: Floats, lowest: float, highest: float) -> float:
    """Minimize Z(a) = sum D exp(-a u) over an interval.

    Z is convex, so its derivative ``-sum D u exp(-a u)`` increases: it is 0 at the minimum, or has
    the same sign on the whole interval, and one of the ends is returned. If all u of positive
    weight have the same sign, Z has no minimum, and the end of the interval is returned.

    Parameters
    ----------
    weights : ndarray
        D, not negative.
    agreement : ndarray of the same shape
        u: positive where a vote is right.
    lowest, highest : float
        Ends of the interval; exp(-a u) must not overflow within it.

    Returns
    -------
    a : float
    """

    def slope(a: float) -> float:
        return -float((weights * agreement * np.exp(-a * agreement)).sum())

    if slope(highest) < 0.0:
        return highest
    return lowest if slope(lowest) >= 0.0 else float(brentq(slope, lowest, highest, xtol=1e-14))


# Smoothing: class shares stay this far from 0 and 1, so pure leaves do not get infinite votes
# (Schapire and Singer 1999, section 4.2).
_LEAST_SHARE = 1e-5
_SIDES = np.array([0, 1])  # the rest, the class


class MHAlgorithm(Algorithm):
    """AdaBoost.MH: weights D(i, k) of row i and class k, with a common normalizer.

    D <- D exp(-Y(i, k) h(x_i, k)) / Z, where Y is 1 for the class of a row and -1 for the others.
    Each class has a member that separates it from the rest; two classes share one. Members with
    probabilities have the votes h = 1/2 log(p / (1 - p)), section 4.2. Members without have votes
    of 1 or -1 and the weight a = 1/2 log((1 - e) / e), where e is their weighted error over all
    pairs, section 3.1.
    """

    name: ClassVar[str] = "MH"
    span: ClassVar[float] = 2.0

    def start(self, problem: BoostingProblem) -> Floats:
        """Return the row weights, spread evenly over the classes."""
        return np.repeat(problem.weight[:, np.newaxis], problem.n_classes, axis=1) / float(
            problem.n_classes
        )

    def make_tasks(self, problem: BoostingProblem, state: Floats) -> list[MemberTask]:
        """Return one task per class against the rest; for two classes only the second."""
        classes = [1] if problem.n_classes == 2 else range(problem.n_classes)
        return [
            MemberTask((problem.target == k).astype(np.intp), state[:, k] / state[:, k].sum())
            for k in classes
        ]

    def compute_votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Compute the votes for and against each class."""
        columns = [_predict_confidence(member, X) for member in members]
        if len(members) == 1:
            columns = [-columns[0], columns[0]]
        return np.column_stack(columns)

    def step(self, problem: BoostingProblem, state: Floats, votes: Floats) -> RoundOutcome:
        """Increase the weight of pairs with wrong votes."""
        agreement = votes * problem.signs()
        error = float(state[agreement < 0.0].sum() + state[votes == 0.0].sum() / 2.0)
        weight = self.learning_rate * self.compute_exponent(state, agreement, error)
        # A pair of weight 0 keeps it, however large its vote is.
        exponent = np.where(state > 0.0, -weight * agreement, 0.0)
        grown = state * np.exp(exponent)
        normalizer = float(grown.sum())
        return RoundOutcome(weight, error, normalizer, grown / normalizer)

    def compute_exponent(self, state: Floats, agreement: Floats, error: float) -> float:
        """Compute the weight a that minimizes Z, in closed form or by line search.

        If all votes are right, Z has no minimum; a then gives the largest vote the weight of a hard
        vote without error.
        """
        if bool((np.abs(agreement) == 1.0).all()):
            return log_odds(error) / 2.0
        weighs = state > 0.0
        largest = float(np.abs(agreement[weighs]).max())
        if largest == 0.0:
            return 0.0
        most = MOST / largest
        return minimize_normalizer(state[weighs], agreement[weighs], -most, most)

    def compute_decision(self, sums: Floats, total: float) -> Floats:
        """Return the sums of the votes; for two classes only those of the second."""
        return sums[:, 1] if self.n_classes == 2 else sums

    def compute_probabilities(self, sums: Floats, total: float) -> Floats:
        """Compute 1 / (1 + exp(-2 F)) for each class, normalized to sum to 1."""
        return normalize_one_vs_rest(sums)

    def compute_bound_factor(self) -> float | None:
        """Return K / 2, as exp(-F(true)) + exp(F(wrong)) >= 2 for a misclassified row."""
        return self.n_classes / 2.0


def normalize_one_vs_rest(sums: Floats) -> Floats:
    """Compute the probability of each class against the rest, normalized to sum to 1."""
    probabilities: Floats = expit(2.0 * sums)
    # All probabilities of a row may underflow to 0.
    probabilities = np.maximum(probabilities, np.finfo(np.float64).tiny)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return probabilities


def _predict_confidence(member: Any, X: Any) -> Floats:
    if not hasattr(member, "predict_proba"):
        return 2.0 * predict_hard_votes(member, X, _SIDES)[:, 1] - 1.0
    shares = np.clip(
        predict_class_shares(member, X, _SIDES)[:, 1], _LEAST_SHARE, 1.0 - _LEAST_SHARE
    )
    probabilities: Floats = np.log(shares / (1.0 - shares)) / 2.0
    return probabilities
