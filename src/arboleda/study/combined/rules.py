r"""Fitted rules that combine the members' outputs.

The outputs are an array of members by rows by classes (probabilities), or of members by rows
(values). Every rule combines each row on its own.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax, softmax

__all__ = ["LEAST", "LinearRule", "MeanRule", "Rule", "at_temperature"]

Floats = npt.NDArray[np.float64]
# Probabilities are clipped to this minimum.
LEAST = np.finfo(np.float64).eps


class Rule(Protocol):
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
        return at_temperature(mean, self.temperature)

    def shares(self, n_members: int) -> list[float]:
        """Return the weight of each member."""
        return list(self.weights)

    def used(self) -> "tuple[list[int], MeanRule]":
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


def at_temperature(probabilities: Floats, temperature: float) -> Floats:
    """Return probabilities to the power of 1 / temperature, divided by their sum."""
    logs = np.log(np.clip(probabilities, LEAST, 1.0)) / temperature
    return np.asarray(np.exp(log_softmax(logs, axis=1)))
