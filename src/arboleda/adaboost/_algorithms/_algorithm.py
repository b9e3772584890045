"""Base class of the boosting algorithms, and the predictions of members that they read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

# Lower bound of errors, which keeps votes finite: a member without error has a weight of about
# 11.5 (half of 23, the logarithm of its odds).
LEAST_ERROR = 1e-10

# Tolerance of the error of random guessing, a sum that rounding may make slightly smaller.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class BoostingProblem:
    """Training rows: class indices, and weights that sum to 1."""

    target: Indices
    labels: npt.NDArray[Any]  # class labels, in the order of the indices
    weight: Floats

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @property
    def y(self) -> npt.NDArray[Any]:
        """Class labels of the rows."""
        labels: npt.NDArray[Any] = self.labels[self.target]
        return labels

    @property
    def rows(self) -> Indices:
        """Row indices."""
        return np.arange(len(self.target))

    def is_true(self) -> npt.NDArray[np.bool_]:
        """Return the one-hot encoded target, of shape (n_rows, n_classes)."""
        one_hot: npt.NDArray[np.bool_] = self.target[:, np.newaxis] == np.arange(self.n_classes)
        return one_hot

    def signs(self) -> Floats:
        """Return 1 for the class of a row and -1 for the others, of shape (n_rows, n_classes)."""
        return np.where(self.is_true(), 1.0, -1.0)


class MemberTask(NamedTuple):
    """Target of one member of a round, and row weights that sum to 1."""

    target: npt.NDArray[Any]  # class labels, binary labels of one class against the rest, or values
    weight: Floats


class RoundOutcome(NamedTuple):
    """Result of a boosting round."""

    weight: float  # of the votes in the weighted sums
    error: float  # of the members under their training weights
    normalizer: float  # factor of the bound on the training error
    state: Floats  # start of the next round


class Algorithm(ABC):
    """Boosting algorithm without fitted state.

    In each round, `make_tasks` returns the targets and weights of the members, `compute_votes`
    their votes, and `step` the outcome. `compute_decision`, `compute_probabilities` and
    `compute_margins` turn sums of the weighted votes, of shape (n_rows, width), into outputs.

    Parameters
    ----------
    n_classes : int
        At least two.
    learning_rate : float
        Shrinkage factor of the weight of each vote.
    """

    name: ClassVar[str]
    learns: ClassVar[Literal["classes", "numbers"]] = "classes"
    # Range of the votes of a member, as a multiple of the largest vote.
    span: ClassVar[float] = 1.0
    # Whether boosting stops at a member without error, or no better than guessing (`is_useless`).
    needs_error: ClassVar[bool] = False

    def __init__(self, n_classes: int, learning_rate: float) -> None:
        self.n_classes = n_classes
        self.learning_rate = learning_rate

    @property
    def worst_error(self) -> float:
        """Error of random guessing; a member must have a smaller one."""
        return 0.5

    def start(self, problem: BoostingProblem) -> Floats:
        """Return the state of the first round: the weights of the rows."""
        return problem.weight

    def make_tasks(self, problem: BoostingProblem, state: Floats) -> list[MemberTask]:
        """Return the tasks of the members of a round."""
        return [MemberTask(problem.y, state)]

    @abstractmethod
    def compute_votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Compute the votes of the members of one round, of shape (n_rows, width).

        ``labels`` are the sorted class labels that the members were fitted with.
        """

    @abstractmethod
    def step(self, problem: BoostingProblem, state: Floats, votes: Floats) -> RoundOutcome:
        """Compute the outcome of a round and the new row weights from the votes."""

    def is_useless(self, outcome: RoundOutcome, votes: Floats) -> bool:
        """Return whether a member is no better than random guessing."""
        return self.needs_error and outcome.error > self.worst_error - _ROUNDING

    def weigh_last_without_error(self, outcome: RoundOutcome, before: float) -> RoundOutcome:
        """Set the weight of a last member without error; earlier weights sum to ``before``."""
        return outcome

    def compute_normalizers(self, errors: Floats, sums: Floats) -> Floats:
        """Compute normalizers from the errors and sums of new weights that the engine returns."""
        return sums

    # Sums of votes to outputs

    def center(self, sums: Floats) -> Floats:
        """Return the sums in the form that `compute_decision` uses."""
        return sums

    def compute_decision(self, sums: Floats, total: float) -> Floats:
        """Compute the score of each class, or one score of the second of two classes.

        ``total`` is the sum of the rounds' weights.
        """
        return sums[:, 1] - sums[:, 0] if self.n_classes == 2 else sums

    @abstractmethod
    def compute_probabilities(self, sums: Floats, total: float) -> Floats:
        """Compute class probabilities, of shape (n_rows, n_classes)."""

    def compute_margins(self, sums: Floats, target: Indices, max_votes: float) -> Floats:
        """Compute the margins of the rows, scaled to [-1, 1].

        The margin is the vote for the class of a row minus the largest vote for another class.
        ``max_votes`` is the sum of the largest votes of all rounds.
        """
        if sums.shape[1] == 1:
            return np.where(target == 1, sums[:, 0], -sums[:, 0]) / max_votes
        others = sums.copy()
        rows = np.arange(len(target))
        others[rows, target] = -np.inf
        margins: Floats = (sums[rows, target] - others.max(axis=1)) / (self.span * max_votes)
        return margins

    def compute_bound_factor(self) -> float | None:
        """Return the factor of the bound on the training error.

        The training error is at most this factor times the product of the normalizers. None where
        there is no such bound.
        """
        return 1.0

    @property
    def has_edge_bound(self) -> bool:
        """Whether ``exp(-2 sum of squared edges)`` bounds the product of the normalizers."""
        return False


def log_odds(error: float) -> float:
    """Compute log((1 - error) / error), kept finite."""
    error = min(max(error, LEAST_ERROR), 1.0 - LEAST_ERROR)
    return float(np.log((1.0 - error) / error))


def predict_hard_votes(member: Any, X: Any, labels: npt.NDArray[Any]) -> Floats:
    """Return the one-hot encoded predictions, of shape (n_rows, n_classes)."""
    predicted = np.asarray(member.predict(X))
    votes: Floats = (predicted[:, np.newaxis] == labels).astype(np.float64)
    return votes


def predict_class_shares(member: Any, X: Any, labels: npt.NDArray[Any]) -> Floats:
    """Return class probabilities; 0 for classes that the member was not fitted on."""
    known = np.asarray(member.predict_proba(X), dtype=np.float64)
    if known.shape[1] == len(labels):
        return known
    shares = np.zeros((len(known), len(labels)))
    shares[:, np.searchsorted(labels, member.classes_)] = known
    return shares


def predict_plausibilities(member: Any, X: Any, labels: npt.NDArray[Any]) -> Floats:
    """Return class probabilities, or hard votes if the member has no ``predict_proba``."""
    has_shares = hasattr(member, "predict_proba")
    return (predict_class_shares if has_shares else predict_hard_votes)(member, X, labels)


def predict_values(member: Any, X: Any) -> Floats:
    """Return the predictions of a regressor as a flat array."""
    values: Floats = np.asarray(member.predict(X), dtype=np.float64).reshape(-1)
    return values
