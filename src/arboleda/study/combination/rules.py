r"""Fitted rules that combine the members' outputs: means, linear models, the textbook's rules.

The outputs are an array of members by rows by classes (probabilities), or of members by rows
(values). Every rule combines each row on its own.

J. Kittler, M. Hatef, R. Duin, J. Matas (1998), "On combining classifiers", IEEE PAMI 20, sections 3
and 4; L. Kuncheva (2014), "Combining Pattern Classifiers", chapters 4 and 5; of values J. Bates, C.
Granger (1969), "The combination of forecasts".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax, softmax

from arboleda.combine import CLASS_RULES, VALUE_RULES, FusionRule, MemberOutputs, NaiveBayes

__all__ = [
    "LEAST",
    "CombinationRule",
    "LinearRule",
    "MeanRule",
    "TextbookRule",
    "choose_best_few",
    "compute_losses",
    "make_textbook_fit",
    "scale_by_temperature",
]

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[np.int64] | Floats
# Probabilities are clipped to this minimum.
LEAST = np.finfo(np.float64).eps
# Maximum number of members of a textbook's rule.
VOTERS = 5
# Fraction of the members that a trimmed mean drops at each end.
TRIM = 0.25


class CombinationRule(Protocol):
    """A fitted rule that combines the members' outputs; ``kind`` is its name in the facts."""

    kind: ClassVar[str]

    def __call__(self, outputs: Floats) -> Floats:
        """Return one output per row, of shape (n_rows, n_classes) or (n_rows,)."""

    def shares(self, n_members: int) -> list[float]:
        """Return the weight of each member."""


@dataclass(frozen=True)
class MeanRule:
    """A weighted mean of the members' outputs.

    A temperature T turns probabilities p into p^(1/T), divided by their sum (Guo et al. 2017): T
    above 1 flattens them, T below 1 sharpens them; the order of the classes stays.

    Parameters
    ----------
    weights : tuple of float
        One for each member, none negative.
    temperature : float, default=1.0
        Above 0; without meaning for values.
    """

    kind: ClassVar[str] = "mean"
    weights: tuple[float, ...]
    temperature: float = 1.0

    def __call__(self, outputs: Floats) -> Floats:
        """Return one output per row, of shape (n_rows, n_classes) or (n_rows,)."""
        weights = np.asarray(self.weights)
        chosen = np.flatnonzero(weights)
        # Not by BLAS: the sum of a row does not depend on how many rows there are.
        mean = np.einsum("l,l...->...", weights[chosen], outputs[chosen])
        if outputs.ndim == 2 or self.temperature == 1.0:
            return np.asarray(mean)
        return scale_by_temperature(mean, self.temperature)

    def shares(self, n_members: int) -> list[float]:
        """Return the weight of each member."""
        return list(self.weights)

    def select_used(self) -> "tuple[list[int], MeanRule]":
        """Return the members with a weight, and the rule for these alone."""
        places = [place for place, weight in enumerate(self.weights) if weight]
        # If all weights are 0, one member is kept to define the number of rows.
        places = places or [0]
        return places, MeanRule(tuple(self.weights[i] for i in places), self.temperature)


@dataclass(frozen=True, eq=False)
class LinearRule:
    """A linear model of the members' outputs.

    Its columns are the outputs, member after member: values, the second class's probability for two
    classes, or the probabilities of all classes. In a regression it returns the weighted sum; in a
    classification the sums are log-odds, with one row of coefficients for two classes and one row
    per class for more.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, n_columns)
    intercept : ndarray of shape (n_outputs,)
    classes : tuple of int, default=()
        Numbers of the classes that the rule predicts, ascending; others have the probability 0.
        Empty in a regression.
    """

    kind: ClassVar[str] = "linear"
    coef: Floats
    intercept: Floats
    classes: tuple[int, ...] = ()

    def __call__(self, outputs: Floats) -> Floats:
        """Return one output per row, of shape (n_rows, n_classes) or (n_rows,)."""
        sums = np.einsum("nc,oc->no", self.make_columns(outputs), self.coef) + self.intercept
        if outputs.ndim == 2:
            return np.asarray(sums[:, 0])
        if len(self.coef) == 1:
            second = expit(sums[:, 0])
            known = np.column_stack([1.0 - second, second])
        else:
            known = softmax(sums, axis=1)
        full = np.zeros((len(sums), outputs.shape[2]))
        full[:, list(self.classes)] = known
        return full

    @staticmethod
    def make_columns(outputs: Floats) -> Floats:
        """Return the columns of an array of outputs, of shape (n_rows, n_columns)."""
        if outputs.ndim == 2:
            return outputs.T
        some = outputs[:, :, 1:] if outputs.shape[2] == 2 else outputs
        return np.asarray(some.transpose(1, 0, 2).reshape(outputs.shape[1], -1))

    def shares(self, n_members: int) -> list[float]:
        """Return each member's coefficient, or its part of the sum of absolute coefficients."""
        if not self.classes:
            return [float(value) for value in self.coef[0]]
        sizes = np.abs(self.coef).reshape(len(self.coef), n_members, -1).sum(axis=(0, 2))
        total = float(sizes.sum())
        return [float(size) / total if total else 0.0 for size in sizes]


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

    def select_used(self) -> "tuple[list[int], TextbookRule]":
        """Return the members that take part, and the rule for these alone."""
        return list(self.members), replace(self, members=tuple(range(len(self.members))))


def _make_rule(name: str, n_classes: int, weights: Floats | None = None) -> FusionRule:
    return (CLASS_RULES if n_classes else VALUE_RULES)[name](weights, TRIM)


def scale_by_temperature(probabilities: Floats, temperature: float) -> Floats:
    """Return probabilities to the power of 1 / temperature, divided by their sum."""
    logs = np.log(np.clip(probabilities, LEAST, 1.0)) / temperature
    return np.asarray(np.exp(log_softmax(logs, axis=1)))


def compute_losses(outputs: Floats, target: npt.NDArray[Any]) -> Floats:
    """Compute the log-loss or mean squared error of each member, of shape (n_members,).

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows) or (n_members, n_rows, n_classes)
    target : ndarray of shape (n_rows,)
        Values, or numbers of classes.
    """
    if outputs.ndim == 2:
        return np.asarray(np.mean((outputs - target) ** 2, axis=1))
    own = outputs[:, np.arange(len(target)), target]
    return -np.asarray(np.mean(np.log(np.clip(own, LEAST, 1.0)), axis=1))


def choose_best_few(outputs: Floats, target: Array) -> tuple[int, ...]:
    """Return the indices of the best few members by log-loss or squared error, ascending."""
    best = np.argsort(compute_losses(outputs, target), kind="stable")[:VOTERS]
    return tuple(sorted(best.tolist()))


def make_textbook_fit(name: str) -> Callable[[Floats, Array, int], TextbookRule]:
    """Return a function that fits the named rule to outputs, a target and a seed."""

    def fit_rule(outputs: Floats, target: Array, seed: int) -> TextbookRule:
        members = choose_best_few(outputs, target)
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

    return fit_rule
