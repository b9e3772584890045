"""Base class of the combination rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from arboleda.combine._outputs import MemberOutputs

__all__ = ["Floats", "OutputArray", "Rule"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
# Probabilities (members, rows, classes), values (members, rows), or predicted class numbers
# (members, rows).
OutputArray = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rule(ABC):
    """A rule that combines the outputs of the members for each row.

    Parameters
    ----------
    weights : ndarray of shape (n_members,) or None
        A member of weight 0 is left out. None: equal weights.
    """

    weights: Floats | None = None

    of_choices: ClassVar[bool] = False  # whether it combines predicted classes
    learns: ClassVar[bool] = False  # whether it must first learn from out-of-fold outputs

    def learned(self, outputs: MemberOutputs, target: Array, weight: Floats | None) -> Self:
        """Return the rule with parameters learned from out-of-fold outputs.

        Parameters
        ----------
        outputs : MemberOutputs
            Outputs for rows that the members have not seen.
        target : ndarray
            Class numbers or values of these rows.
        weight : ndarray or None
            Weights of these rows.
        """
        raise NotImplementedError(f"{type(self).__name__} has nothing to learn")

    @abstractmethod
    def scores(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return scores (rows, classes), the largest of which is the prediction, or values."""

    def shares(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the class probabilities: (rows, classes)."""
        return self.scores(outputs, n_classes, n_threads)

    def _kept(self, n_members: int) -> list[int]:
        """Return the indices of the members with non-zero weight."""
        if self.weights is None:
            return list(range(n_members))
        if len(self.weights) != n_members:
            raise ValueError(
                f"there are {len(self.weights)} weights for {n_members} members: set one weight "
                "for each member"
            )
        if not self.weights.any():
            raise ValueError("the weights of all members are 0: at least one must be non-zero")
        return np.flatnonzero(self.weights).tolist()

    def _kept_weights(self) -> Floats | None:
        """Return the non-zero weights, or None if they are all equal."""
        if self.weights is None:
            return None
        kept: Floats = self.weights[self.weights != 0]
        return None if (kept == kept[0]).all() and kept[0] > 0 else kept
