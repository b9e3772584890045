"""What the algorithms have in common: a round's lesson, its judgement, and how sums are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

# Errors are taken to be at least this, so that votes stay finite: a member without error weighs
# about 11.5 (half of 23, the logarithm of its odds).
LEAST_ERROR = 1e-10

# The error of guessing is a sum that may come out a little smaller.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class Problem:
    """Rows to learn from: numbers of their classes, and weights that sum to 1."""

    target: Indices
    labels: npt.NDArray[Any]  # the classes, by number
    weight: Floats

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @property
    def y(self) -> npt.NDArray[Any]:
        """Classes of the rows."""
        found: npt.NDArray[Any] = self.labels[self.target]
        return found

    @property
    def rows(self) -> Indices:
        """Numbers of the rows."""
        return np.arange(len(self.target))

    def is_true(self) -> npt.NDArray[np.bool_]:
        """Whether a row is of a class, of shape (n_rows, n_classes)."""
        found: npt.NDArray[np.bool_] = self.target[:, np.newaxis] == np.arange(self.n_classes)
        return found

    def signs(self) -> Floats:
        """1 for the class of a row, -1 for the others, of shape (n_rows, n_classes)."""
        return np.where(self.is_true(), 1.0, -1.0)


class Lesson(NamedTuple):
    """What one member of a round learns: a target, and weights of the rows that sum to 1."""

    target: npt.NDArray[Any]  # classes, 0 and 1 for the others and one class, or values
    weight: Floats


class Outcome(NamedTuple):
    """What a round comes to."""

    weight: float  # of the votes in the sums
    error: float  # of the members under the weights that they learned from
    normalizer: float  # by what a bound of the training error is multiplied
    state: Floats  # where the next round begins


class Algorithm(ABC):
    """One algorithm of the family; it keeps nothing of a fit.

    A round: `lessons` tells the members what to learn, `votes` what they answer for rows, `step`
    what comes of it. The sums of the weighted votes, of shape (n_rows, width), are then read by
    `decision`, `probabilities` and `margins`.

    Parameters
    ----------
    n_classes : int
        At least two.
    learning_rate : float
        The votes' weight is multiplied by it: shrinkage.
    """

    name: ClassVar[str]
    learns: ClassVar[Literal["classes", "numbers"]] = "classes"
    # From the smallest vote that a member can give to its largest, in units of the latter.
    span: ClassVar[float] = 1.0
    # Whether a member without error ends boosting, and one that guesses (`is_useless`) too.
    needs_error: ClassVar[bool] = False

    def __init__(self, n_classes: int, learning_rate: float) -> None:
        self.n_classes = n_classes
        self.learning_rate = learning_rate

    @property
    def worst_error(self) -> float:
        """Error of guessing, at and beyond which a member is of no use."""
        return 0.5

    def start(self, problem: Problem) -> Floats:
        """Where the first round begins: the weights of the rows."""
        return problem.weight

    def lessons(self, problem: Problem, state: Floats) -> list[Lesson]:
        """What the members of a round learn."""
        return [Lesson(problem.y, state)]

    @abstractmethod
    def votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Votes of the members of one round for rows, of shape (n_rows, width).

        ``labels`` are the classes as the members know them, sorted.
        """

    @abstractmethod
    def step(self, problem: Problem, state: Floats, votes: Floats) -> Outcome:
        """Judge the votes for the training rows, and weigh the rows anew."""

    def is_useless(self, outcome: Outcome, votes: Floats) -> bool:
        """Whether a member is no better than guessing."""
        return self.needs_error and outcome.error > self.worst_error - _ROUNDING

    def last_without_error(self, outcome: Outcome, before: float) -> Outcome:
        """Weigh a last member without error, after others of total weight ``before``."""
        return outcome

    def normalizers(self, errors: Floats, sums: Floats) -> Floats:
        """Normalizers of rounds made by the engine, which tells errors and sums of new weights."""
        return sums

    # Reading the sums of votes

    def centred(self, sums: Floats) -> Floats:
        """Sums as `decision` and the others read them."""
        return sums

    def decision(self, sums: Floats, total: float) -> Floats:
        """Score of each class, or with two classes one score: positive for the second.

        ``total`` is the sum of the rounds' weights.
        """
        return sums[:, 1] - sums[:, 0] if self.n_classes == 2 else sums

    @abstractmethod
    def probabilities(self, sums: Floats, total: float) -> Floats:
        """Probabilities of the classes, of shape (n_rows, n_classes)."""

    def margins(self, sums: Floats, target: Indices, reach: float) -> Floats:
        """Vote for the class of a row, less the largest for another, as a share of the possible.

        ``reach`` is the sum over the rounds of the largest votes.
        """
        if sums.shape[1] == 1:
            return np.where(target == 1, sums[:, 0], -sums[:, 0]) / reach
        others = sums.copy()
        rows = np.arange(len(target))
        others[rows, target] = -np.inf
        found: Floats = (sums[rows, target] - others.max(axis=1)) / (self.span * reach)
        return found

    def bound_factor(self) -> float | None:
        """How much larger the training error may be than the product of the normalizers.

        None where they do not bound it.
        """
        return 1.0

    @property
    def has_edge_bound(self) -> bool:
        """Whether ``exp(-2 sum of squared edges)`` bounds the product of the normalizers."""
        return False


def log_odds(error: float) -> float:
    """Logarithm of the odds against an error, finite."""
    error = min(max(error, LEAST_ERROR), 1.0 - LEAST_ERROR)
    return float(np.log((1.0 - error) / error))
