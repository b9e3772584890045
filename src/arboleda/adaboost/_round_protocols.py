"""Interfaces between the boosting rounds of regressors and the fitters of their members."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from arboleda.adaboost._density_rounds import DensityRounds

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class MemberResult(NamedTuple):
    """Weight and error of a member, and whether boosting ends with it.

    A weight of 0 means that the member is useless: its error is 1/2 or more.
    """

    weight: float
    error: float
    ends: bool = False


class RegressorFitter(Protocol):
    """Fitter of members, which it keeps."""

    def start_member(self, random: np.random.RandomState) -> None:
        """Create a member with its own random seeds."""

    def fit_on_drawn_rows(self, drawn: Indices) -> Floats:
        """Fit the member on drawn rows, with repeats, and return its predictions for all rows."""

    def fit_to_density(self, rounds: DensityRounds) -> Floats:
        """Fit the member to minimize the error under a density; return predictions for all rows."""


class RegressorRounds(Protocol):
    """Row weights that are updated in every round."""

    def fit_member(self, fitter: RegressorFitter, random: np.random.RandomState) -> Floats:
        """Fit a member and return its predictions for all rows."""

    def score_member(self, predictions: Floats) -> MemberResult:
        """Compute the weight of the last member and the row weights of the next round."""
