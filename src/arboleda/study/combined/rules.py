r"""What makes one answer of the members' answers, once it is learned: numbers, and how to use them.

The answers are a matrix of members by rows by classes (probabilities), or of members by rows
(values). Every rule looks at each row alone.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax, softmax

__all__ = ["LEAST", "LinearRule", "MeanRule", "Rule", "at_temperature"]

Floats = npt.NDArray[np.float64]
# Below it a probability is taken for rounding.
LEAST = np.finfo(np.float64).eps


class Rule(Protocol):
    """What makes one answer of the members' answers; ``kind`` names it in the facts."""

    kind: ClassVar[str]

    def __call__(self, outputs: Floats) -> Floats:
        """One answer for each row: of shape (n_rows, n_classes) or (n_rows,)."""

    def shares(self, n_members: int) -> list[float]:
        """How much each member counts."""


@dataclass(frozen=True)
class MeanRule:
    """A weighted mean of the members' answers.

    Of probabilities p the temperature T makes p^(1/T), divided by their sum (Guo et al. 2017):
    above 1 they move together, below 1 apart; the order of the classes stays.

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
        """One answer for each row: of shape (n_rows, n_classes) or (n_rows,)."""
        weights = np.asarray(self.weights)
        chosen = np.flatnonzero(weights)
        # Not by BLAS: the sum of a row does not depend on how many rows there are.
        mean = np.einsum("l,l...->...", weights[chosen], outputs[chosen])
        if outputs.ndim == 2 or self.temperature == 1.0:
            return np.asarray(mean)
        return at_temperature(mean, self.temperature)

    def shares(self, n_members: int) -> list[float]:
        """How much each member counts."""
        return list(self.weights)

    def used(self) -> "tuple[list[int], MeanRule]":
        """The members that count, and the rule for these alone."""
        places = [place for place, weight in enumerate(self.weights) if weight]
        # Where nothing helps, one member is kept to tell how many rows there are.
        places = places or [0]
        return places, MeanRule(tuple(self.weights[i] for i in places), self.temperature)


@dataclass(frozen=True, eq=False)
class LinearRule:
    """A linear model of the members' answers.

    Its columns are the answers, member after member: values, of two classes the second's
    probability, of more the probabilities of all. Of values it gives the sum; of classes the sums
    are log-odds: of two classes one row of coefficients, of more a row for each.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, n_columns)
    intercept : ndarray of shape (n_outputs,)
    classes : tuple of int, default=()
        Numbers of the classes that the rule can give, ascending, others have the probability 0;
        none where values are predicted.
    """

    kind: ClassVar[str] = "linear"
    coef: Floats
    intercept: Floats
    classes: tuple[int, ...] = ()

    def __call__(self, outputs: Floats) -> Floats:
        """One answer for each row: of shape (n_rows, n_classes) or (n_rows,)."""
        sums = np.einsum("nc,oc->no", self.columns_of(outputs), self.coef) + self.intercept
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
    def columns_of(outputs: Floats) -> Floats:
        """The columns of a matrix of answers, of shape (n_rows, n_columns)."""
        if outputs.ndim == 2:
            return outputs.T
        some = outputs[:, :, 1:] if outputs.shape[2] == 2 else outputs
        return np.asarray(some.transpose(1, 0, 2).reshape(outputs.shape[1], -1))

    def shares(self, n_members: int) -> list[float]:
        """How much each member counts: its coefficient, or its part of the sum of their sizes."""
        if not self.classes:
            return [float(value) for value in self.coef[0]]
        sizes = np.abs(self.coef).reshape(len(self.coef), n_members, -1).sum(axis=(0, 2))
        total = float(sizes.sum())
        return [float(size) / total if total else 0.0 for size in sizes]


def at_temperature(probabilities: Floats, temperature: float) -> Floats:
    """Probabilities to the power of one over the temperature, divided by their sum."""
    logs = np.log(np.clip(probabilities, LEAST, 1.0)) / temperature
    return np.asarray(np.exp(log_softmax(logs, axis=1)))
