"""What every rule of combination does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from arboleda.combine._outputs import MemberOutputs

__all__ = ["Floats", "Rule", "Said"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
# Probabilities (members, rows, classes), values (members, rows), or numbers of the classes that
# members choose (members, rows).
Said = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rule(ABC):
    """One answer of what the members say of each row.

    Parameters
    ----------
    weights : ndarray of shape (n_members,) or None
        A member of weight 0 takes no part. None: all are alike.
    """

    weights: Floats | None = None

    of_choices: ClassVar[bool] = False  # whether only the class counts that a member chooses
    learns: ClassVar[bool] = False  # whether it has to see out-of-fold outputs first

    def learned(self, outputs: MemberOutputs, target: Array, weight: Floats | None) -> Self:
        """Return the rule with what it needs to know of the members.

        Parameters
        ----------
        outputs : MemberOutputs
            Of rows that the members did not learn from.
        target : ndarray
            Numbers of classes, or values, of those rows.
        weight : ndarray or None
            Of those rows.
        """
        raise NotImplementedError(f"{type(self).__name__} has nothing to learn")

    @abstractmethod
    def scores(self, said: Said, n_classes: int, n_threads: int) -> Floats:
        """Numbers of which the largest tells the class: (rows, classes); of values the value."""

    def shares(self, said: Said, n_classes: int, n_threads: int) -> Floats:
        """Probabilities of the classes: (rows, classes)."""
        return self.scores(said, n_classes, n_threads)

    def _kept(self, n_members: int) -> list[int]:
        """Members that take part."""
        if self.weights is None:
            return list(range(n_members))
        if len(self.weights) != n_members:
            raise ValueError(
                f"there are {len(self.weights)} weights for {n_members} members: give one for each"
            )
        if not self.weights.any():
            raise ValueError("the weights of all members are 0: at least one must take part")
        return np.flatnonzero(self.weights).tolist()

    def _kept_weights(self) -> Floats | None:
        """Weights of the members that take part; None where they are all alike."""
        if self.weights is None:
            return None
        kept: Floats = self.weights[self.weights != 0]
        return None if (kept == kept[0]).all() and kept[0] > 0 else kept
