"""Weights, errors and normalizers of the rounds of a fit."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RoundRecords:
    """Results of the boosting rounds, one entry per round.

    Attributes
    ----------
    weight : ndarray of float
        Weights of the votes in the weighted sums.
    error : ndarray of float
        Errors of the members under their training weights.
    normalizer : ndarray of float
        Factors of the bound on the training error.
    reset : ndarray of float
        1 where the row weights were redrawn before the round, else 0.
    """

    weight: Floats
    error: Floats
    normalizer: Floats
    reset: Floats

    @classmethod
    def of(cls, rounds: list[tuple[float, float, float, float]]) -> RoundRecords:
        """Create records from tuples of the four fields, one per round."""
        table = np.array(rounds, dtype=np.float64).reshape(-1, 4)
        return cls(*(np.ascontiguousarray(column) for column in table.T))

    def __len__(self) -> int:
        return len(self.weight)

    def first(self, n_rounds: int) -> RoundRecords:
        """Return the first rounds."""
        return RoundRecords(*(getattr(self, field.name)[:n_rounds] for field in fields(self)))
