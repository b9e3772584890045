"""What is known of the rounds of a fit."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RoundRecords:
    """One entry a round.

    Attributes
    ----------
    weight : ndarray of float
        Of the round's votes in the sums.
    error : ndarray of float
        Of the members, on the weights that they learned from.
    normalizer : ndarray of float
        By what the bound of the training error was multiplied.
    reset : ndarray of float
        1 where the weights were drawn anew before the round, else 0.
    """

    weight: Floats
    error: Floats
    normalizer: Floats
    reset: Floats

    @classmethod
    def of(cls, rounds: list[tuple[float, float, float, float]]) -> RoundRecords:
        """Gather rounds, each the four numbers in their order."""
        table = np.array(rounds, dtype=np.float64).reshape(-1, 4)
        return cls(*(np.ascontiguousarray(column) for column in table.T))

    def __len__(self) -> int:
        return len(self.weight)

    def first(self, n_rounds: int) -> RoundRecords:
        """Return the first of them."""
        return RoundRecords(*(getattr(self, field.name)[:n_rounds] for field in fields(self)))
