"""The textbook's rules of combination, for the best few of a study's models.

J. Kittler, M. Hatef, R. Duin, J. Matas (1998), "On combining classifiers", IEEE PAMI 20, sections 3
and 4; L. Kuncheva (2014), "Combining Pattern Classifiers", chapters 4 and 5; of values J. Bates, C.
Granger (1969), "The combination of forecasts".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from arboleda.combine import MemberOutputs
from arboleda.combine._choice_rules import NaiveBayes
from arboleda.combine._rule import Rule as Combination
from arboleda.combine._rules import CLASS_RULES, VALUE_RULES
from arboleda.study.combined.losses import losses

__all__ = ["TextbookRule", "best_few", "textbook"]

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[np.int64] | Floats
# Members that vote.
VOTERS = 5
# Share of the members that a trimmed mean leaves out at each end.
TRIM = 0.25


def _made(name: str, n_classes: int, weights: Floats | None = None) -> Combination:
    return (CLASS_RULES if n_classes else VALUE_RULES)[name](weights, TRIM)


@dataclass(frozen=True, eq=False)
class TextbookRule:
    """A rule by its name.

    Parameters
    ----------
    name : str
        Of `CLASS_RULES` or `VALUE_RULES`.
    members : tuple of int
        Places of those that take part.
    n_classes : int, default=0
        0 where values are combined.
    weights : tuple of float, optional
        One for each of these, where the name is "weighted".
    confusion : ndarray of shape (n_taking_part, n_classes, n_classes), optional
        Rows by class and by the class that each of these said, where the name is "naive_bayes".
    """

    kind: ClassVar[str] = "textbook"
    name: str
    members: tuple[int, ...]
    n_classes: int = 0
    weights: tuple[float, ...] | None = None
    confusion: Floats | None = None

    def __call__(self, outputs: Floats) -> Floats:
        """One answer for each row: of shape (n_rows, n_classes) or (n_rows,)."""
        said = outputs[list(self.members)]
        weights = None if self.weights is None else np.array(self.weights)
        rule = _made(self.name, self.n_classes, weights)
        if isinstance(rule, NaiveBayes):
            rule = replace(rule, confusion=self.confusion)
        return rule.shares(said.argmax(axis=2) if rule.of_choices else said, self.n_classes, 1)

    def shares(self, n_members: int) -> list[float]:
        """How much each member counts: its weight, where there are some, as a part of their sum."""
        sizes = np.ones(len(self.members))
        if self.weights is not None:
            # A weighted vote has as much more as there are classes to err towards.
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


def textbook(name: str) -> Callable[[Floats, Array, int], TextbookRule]:
    """What learns the rule of a name from answers, classes or values, and a seed."""

    def learn(outputs: Floats, target: Array, seed: int) -> TextbookRule:
        members = best_few(outputs, target)
        n_classes = outputs.shape[2] if outputs.ndim == 3 else 0
        rule = TextbookRule(name, members, n_classes)
        made = _made(name, n_classes)
        if not made.learns:
            return rule
        n_rows = outputs.shape[1]
        classes = np.arange(n_classes) if n_classes else None
        names, rows = [str(place) for place in members], np.arange(n_rows)
        seen = MemberOutputs(names, outputs[list(members)], classes, rows, n_rows)
        learned = made.learned(seen, target, None)
        if isinstance(learned, NaiveBayes):
            return replace(rule, confusion=learned.confusion)
        assert learned.weights is not None
        return replace(rule, weights=tuple(learned.weights.tolist()))

    return learn
