"""What the rounds of boosted regressors ask of what fits their members, and what they say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from arboleda.adaboost._density_rounds import DensityRounds

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class MemberResult(NamedTuple):
    """Weight and error of a member, and whether it is the last one.

    A weight of 0 means that it is of no use: its error is 1/2 or more.
    """

    weight: float
    error: float
    ends: bool = False


class RegressorFitter(Protocol):
    """Fits members one after the other and keeps them."""

    def start_member(self, random: np.random.RandomState) -> None:
        """Make a member, with seeds of its own."""

    def fit_on_drawn_rows(self, drawn: Indices) -> Floats:
        """Fit it on drawn rows, those drawn twice twice, and return its answers to all rows."""

    def fit_to_density(self, rounds: DensityRounds) -> Floats:
        """Fit it so that the error under a density is small, and return its answers to all rows."""


class RegressorRounds(Protocol):
    """Weights of rows, from round to round."""

    def fit_member(self, fitter: RegressorFitter, random: np.random.RandomState) -> Floats:
        """Fit a member and return its answers to all rows."""

    def score_member(self, predictions: Floats) -> MemberResult:
        """Weigh the last member by its answers to all rows, and the rows for the next one."""
