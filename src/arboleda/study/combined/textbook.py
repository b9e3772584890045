"""The textbook's rules of combination, for the best few of a study's models.

J. Kittler, M. Hatef, R. Duin, J. Matas (1998), "On combining classifiers", IEEE PAMI 20, sections 3
and 4; L. Kuncheva (2014), "Combining Pattern Classifiers", chapters 4 and 5; of values J. Bates, C.
Granger (1969), "The combination of forecasts".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from arboleda.combine import MemberOutputs
from arboleda.combine._choice_rules import AccuracyWeights, Majority, NaiveBayes
from arboleda.combine._rule import Rule as Combination
from arboleda.combine._share_rules import GeometricMean, InverseErrorMean, OrderStatistic
from arboleda.study.combined.losses import losses

__all__ = [
    "NAMES",
    "OF_CLASSES",
    "OF_VALUES",
    "WEIGHTED",
    "Name",
    "TextbookRule",
    "best_few",
    "textbook",
]

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[np.int64] | Floats
Name = Literal[
    "majority",
    "accuracy_weights",
    "inverse_errors",
    "geometric",
    "median",
    "min",
    "max",
    "trimmed",
    "naive_bayes",
]
# Members that vote.
VOTERS = 5
# Share of the members that a trimmed mean leaves out at each end.
TRIM = 0.25
# With these a member has a weight, which is learned.
WEIGHTED: tuple[Name, ...] = ("accuracy_weights", "inverse_errors")
# Those that combine nothing but classes, and nothing but values.
OF_CLASSES: tuple[Name, ...] = ("majority", "accuracy_weights", "geometric", "naive_bayes")
OF_VALUES: tuple[Name, ...] = ("inverse_errors",)
_MADE: dict[Name, Callable[[Floats | None, Floats | None], Combination]] = {
    "majority": lambda weights, confusion: Majority(),
    "accuracy_weights": lambda weights, confusion: AccuracyWeights(weights),
    "inverse_errors": lambda weights, confusion: InverseErrorMean(weights),
    "geometric": lambda weights, confusion: GeometricMean(),
    "median": lambda weights, confusion: OrderStatistic(None, "median"),
    "min": lambda weights, confusion: OrderStatistic(None, "min"),
    "max": lambda weights, confusion: OrderStatistic(None, "max"),
    "trimmed": lambda weights, confusion: OrderStatistic(None, "trimmed", TRIM),
    "naive_bayes": lambda weights, confusion: NaiveBayes(confusion=confusion),
}
NAMES: tuple[Name, ...] = tuple(_MADE)


@dataclass(frozen=True, eq=False)
class TextbookRule:
    """A rule by its name.

    Parameters
    ----------
    name : str
        Of `NAMES`.
    members : tuple of int
        Places of those that take part.
    n_classes : int, default=0
        0 where values are combined.
    weights : tuple of float, optional
        One for each of these, where the name is one of `WEIGHTED`.
    confusion : ndarray of shape (n_taking_part, n_classes, n_classes), optional
        Rows by class and by the class that each of these said, where the name is "naive_bayes".
    """

    kind: ClassVar[str] = "textbook"
    name: Name
    members: tuple[int, ...]
    n_classes: int = 0
    weights: tuple[float, ...] | None = None
    confusion: Floats | None = None

    def __call__(self, outputs: Floats) -> Floats:
        """One answer for each row: of shape (n_rows, n_classes) or (n_rows,)."""
        said = outputs[list(self.members)]
        weights = None if self.weights is None else np.array(self.weights)
        rule = _MADE[self.name](weights, self.confusion)
        return rule.shares(said.argmax(axis=2) if rule.of_choices else said, self.n_classes, 1)

    def shares(self, n_members: int) -> list[float]:
        """How much each member counts: its weight, where there are some, as a part of their sum."""
        sizes = np.ones(len(self.members))
        if self.weights is not None:
            # A vote of accuracy weights has as much more as there are classes to err towards.
            sizes = np.abs(np.array(self.weights) + np.log(max(1, self.n_classes - 1)))
        found = np.zeros(n_members)
        found[list(self.members)] = sizes / (sizes.sum() or 1.0)
        return [float(share) for share in found]

    def used(self) -> "tuple[list[int], TextbookRule]":
        """The members that take part, and the rule for these alone."""
        return list(self.members), replace(self, members=tuple(range(len(self.members))))


def best_few(outputs: Floats, target: Array) -> tuple[int, ...]:
    """Places of the best few members, by log-loss or squared error, in their order."""
    best = np.argsort(losses(outputs, target), kind="stable")[:VOTERS]
    return tuple(sorted(best.tolist()))


def textbook(name: Name) -> Callable[[Floats, Array, int], TextbookRule]:
    """What learns the rule of a name from answers, classes or values, and a seed."""

    def learn(outputs: Floats, target: Array, seed: int) -> TextbookRule:
        members = best_few(outputs, target)
        n_classes = outputs.shape[2] if outputs.ndim == 3 else 0
        rule = TextbookRule(name, members, n_classes)
        if name not in (*WEIGHTED, "naive_bayes"):
            return rule
        n_rows = outputs.shape[1]
        classes = np.arange(n_classes) if n_classes else None
        names, rows = [str(place) for place in members], np.arange(n_rows)
        seen = MemberOutputs(names, outputs[list(members)], classes, rows, n_rows)
        learned = _MADE[name](None, None).learned(seen, target, None)
        if isinstance(learned, NaiveBayes):
            return replace(rule, confusion=learned.confusion)
        assert learned.weights is not None
        return replace(rule, weights=tuple(learned.weights.tolist()))

    return learn
