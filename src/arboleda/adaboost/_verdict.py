"""What the rounds of boosted regressors ask of what fits their members, and what they say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from arboleda.adaboost._density_rounds import DensityRounds

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class Verdict(NamedTuple):
    """Weight and error of a member, and whether it is the last one.

    A weight of 0 means that it is of no use: its error is 1/2 or more.
    """

    weight: float
    error: float
    ends: bool = False


class RegressorTeacher(Protocol):
    """Fits members one after the other and keeps them."""

    def begin(self, random: np.random.RandomState) -> None:
        """Make a member, with seeds of its own."""

    def learn_drawn(self, drawn: Indices) -> Floats:
        """Fit it on drawn rows, those drawn twice twice, and return its answers to all rows."""

    def learn_density(self, rounds: DensityRounds) -> Floats:
        """Fit it so that the error under a density is small, and return its answers to all rows."""


class RegressorRounds(Protocol):
    """Weights of rows, from round to round."""

    def teach(self, teacher: RegressorTeacher, random: np.random.RandomState) -> Floats:
        """Fit a member and return its answers to all rows."""

    def judge(self, answers: Floats) -> Verdict:
        """Weigh the last member by its answers to all rows, and the rows for the next one."""
