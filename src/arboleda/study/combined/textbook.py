"""The textbook's combination rules for the best few of a study's models.

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
# Maximum number of members.
VOTERS = 5
# Fraction of the members that a trimmed mean drops at each end.
TRIM = 0.25


def _make_rule(name: str, n_classes: int, weights: Floats | None = None) -> Combination:
    return (CLASS_RULES if n_classes else VALUE_RULES)[name](weights, TRIM)


@dataclass(frozen=True, eq=False)
class TextbookRule:
    """A rule by its name.

    Parameters
    ----------
    name : str
        A key of `CLASS_RULES` or `VALUE_RULES`.
    members : tuple of int
        Indices of the members that take part.
    n_classes : int, default=0
        0 in a regression.
    weights : tuple of float, optional
        One per member, if the name is "weighted".
    confusion : ndarray of shape (n_taking_part, n_classes, n_classes), optional
        Counts by true and predicted class of each member, if the name is "naive_bayes".
    """

    kind: ClassVar[str] = "textbook"
    name: str
    members: tuple[int, ...]
    n_classes: int = 0
    weights: tuple[float, ...] | None = None
    confusion: Floats | None = None

    def __call__(self, outputs: Floats) -> Floats:
        """Return one output per row, of shape (n_rows, n_classes) or (n_rows,)."""
        own = outputs[list(self.members)]
        weights = None if self.weights is None else np.array(self.weights)
        rule = _make_rule(self.name, self.n_classes, weights)
        if isinstance(rule, NaiveBayes):
            rule = replace(rule, confusion=self.confusion)
        return rule.shares(own.argmax(axis=2) if rule.of_choices else own, self.n_classes, 1)

    def shares(self, n_members: int) -> list[float]:
        """Return each member's share of the sum of weights, or equal shares."""
        sizes = np.ones(len(self.members))
        if self.weights is not None:
            # The weights of a weighted vote also grow with the number of wrong classes.
            sizes = np.abs(np.array(self.weights) + np.log(max(1, self.n_classes - 1)))
        found = np.zeros(n_members)
        found[list(self.members)] = sizes / (sizes.sum() or 1.0)
        return [float(share) for share in found]

    def used(self) -> "tuple[list[int], TextbookRule]":
        """Return the members that take part, and the rule for these alone."""
        return list(self.members), replace(self, members=tuple(range(len(self.members))))


def best_few(outputs: Floats, target: Array) -> tuple[int, ...]:
    """Return the indices of the best few members by log-loss or squared error, ascending."""
    best = np.argsort(losses(outputs, target), kind="stable")[:VOTERS]
    return tuple(sorted(best.tolist()))


def textbook(name: str) -> Callable[[Floats, Array, int], TextbookRule]:
    """Return a function that fits the named rule to outputs, a target and a seed."""

    def learn(outputs: Floats, target: Array, seed: int) -> TextbookRule:
        members = best_few(outputs, target)
        n_classes = outputs.shape[2] if outputs.ndim == 3 else 0
        rule = TextbookRule(name, members, n_classes)
        combination = _make_rule(name, n_classes)
        if not combination.learns:
            return rule
        n_rows = outputs.shape[1]
        classes = np.arange(n_classes) if n_classes else None
        names, rows = [str(place) for place in members], np.arange(n_rows)
        seen = MemberOutputs(names, outputs[list(members)], classes, rows, n_rows)
        learned = combination.learned(seen, target, None)
        if isinstance(learned, NaiveBayes):
            return replace(rule, confusion=learned.confusion)
        assert learned.weights is not None
        return replace(rule, weights=tuple(learned.weights.tolist()))

    return learn
