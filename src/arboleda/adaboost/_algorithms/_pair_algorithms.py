"""Algorithms over pairs of a row and a class: AdaBoost.MH, AdaBoost.M2 and AdaBoost.MR.

Schapire and Singer (1999), "Improved boosting algorithms using confidence-rated predictions",
section 3.2.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, softmax

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
    predict_plausibilities,
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


class PairAlgorithm(Algorithm):
    """Boosting with weights D(i, k) of row i and wrong class k, which sum to 1.

    A member with votes q in [0, 1] has the advantage d = q(true) - q(wrong) on a pair, and
    D <- D exp(-a d) / Z. If the ensemble misclassifies a row, some wrong class has at least as many
    votes as the true one, so the product of the exponentials is at least 1 for one of the K - 1
    pairs of the row.
    """

    needs_error: ClassVar[bool] = True

    def start(self, problem: BoostingProblem) -> Floats:
        """Return the row weights, spread evenly over the wrong classes."""
        pairs = np.where(problem.is_true(), 0.0, problem.weight[:, np.newaxis])
        return pairs / (problem.n_classes - 1.0)

    def make_tasks(self, problem: BoostingProblem, state: Floats) -> list[MemberTask]:
        """Return one task: the classes, with the sum of the pair weights of each row."""
        return [MemberTask(problem.y, state.sum(axis=1))]

    @abstractmethod
    def compute_exponent(self, state: Floats, advantage: Floats, error: float) -> float:
        """Return a, before shrinkage."""

    @abstractmethod
    def compute_vote_weight(self, exponent: float) -> float:
        """Compute the weight of the votes."""

    def scale_votes(self, votes: Floats) -> Floats:
        """Scale votes to [0, 1]."""
        return votes

    def step(self, problem: BoostingProblem, state: Floats, votes: Floats) -> RoundOutcome:
        """Increase the weight of pairs on which the wrong class has more votes."""
        plausible = self.scale_votes(votes)
        own = plausible[problem.rows, problem.target][:, np.newaxis]
        advantage = own - plausible
        error = float((1.0 - (state * advantage).sum()) / 2.0)
        exponent = self.learning_rate * self.compute_exponent(state, advantage, error)
        grown = state * np.exp(-exponent * advantage)
        normalizer = float(grown.sum())
        return RoundOutcome(
            self.compute_vote_weight(exponent), error, normalizer, grown / normalizer
        )

    def compute_probabilities(self, sums: Floats, total: float) -> Floats:
        """Compute the softmax, which minimizes the expected pairwise exponential loss."""
        # The loss of a pair is exp(-(F(true) - F(wrong)) / 2).
        probabilities: Floats = softmax(sums, axis=1)
        return probabilities

    def compute_bound_factor(self) -> float | None:
        """Return K - 1: Freund and Schapire (1997), thm. 11; Schapire and Singer (1999), thm. 6."""
        return self.n_classes - 1.0

    @property
    def has_edge_bound(self) -> bool:
        """Whether edges bound the normalizers; by the theorems of `compute_bound_factor`."""
        return True


class M2Algorithm(PairAlgorithm):
    """AdaBoost.M2: boosting by the pseudo-loss, with plausibilities h in [0, 1].

    The pseudo-loss is e = 1/2 sum D(i, k) (1 - h(x_i, y_i) + h(x_i, k)). With beta = e / (1 - e),
    D <- D beta^((1 + h(x_i, y_i) - h(x_i, k)) / 2) / Z, and the votes are log(1 / beta) h. Z is
    computed from the factor exp(-log(1 / beta) (h(x_i, y_i) - h(x_i, k)) / 2), because its product
    bounds the error; the weights are the same.
    """

    name: ClassVar[str] = "M2"

    def compute_votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Compute the plausibility of each class."""
        return predict_plausibilities(members[0], X, labels)

    def compute_exponent(self, state: Floats, advantage: Floats, error: float) -> float:
        """Return half of log(1 / beta)."""
        return log_odds(error) / 2.0

    def compute_vote_weight(self, exponent: float) -> float:
        """Return log(1 / beta)."""
        return 2.0 * exponent


class MRAlgorithm(PairAlgorithm):
    """AdaBoost.MR: D <- D exp(a (h(x_i, k) - h(x_i, y_i)) / 2) / Z, where a minimizes Z."""

    name: ClassVar[str] = "MR"
    span: ClassVar[float] = 2.0

    def compute_votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Compute probabilities, or hard votes, scaled to [-1, 1]."""
        return 2.0 * predict_plausibilities(members[0], X, labels) - 1.0

    def scale_votes(self, votes: Floats) -> Floats:
        """Scale votes to [0, 1], which halves their differences."""
        return (votes + 1.0) / 2.0

    def compute_exponent(self, state: Floats, advantage: Floats, error: float) -> float:
        """Minimize Z, which is convex in a."""
        return minimize_normalizer(state, advantage, 0.0, MOST)

    def compute_vote_weight(self, exponent: float) -> float:
        """Return a."""
        return exponent
