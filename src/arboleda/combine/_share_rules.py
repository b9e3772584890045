"""Rules that combine probabilities, or values: means and order statistics of the members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from arboleda._engine.combine import mean_of_members, order_statistic_of_members
from arboleda._member_weights import inverse_error_weights, mean_squared_error
from arboleda.combine._outputs import MemberOutputs
from arboleda.combine._rule import Array, Floats, Rule, Said

__all__ = ["GeometricMean", "InverseErrorMean", "Mean", "OrderStatistic"]


@dataclass(frozen=True, eq=False)
class Mean(Rule):
    """Weighted mean: of distributions, the one with the least average KL(P_l || P)."""

    def scores(self, said: Said, n_classes: int, n_threads: int) -> Floats:
        """Mean of the members."""
        kept, weights = self._kept(len(said)), self._kept_weights()
        if weights is not None and weights.sum() == 0:
            raise ValueError(
                f"the weights {weights.tolist()} sum to 0, and no mean has such weights"
            )
        return mean_of_members(said, kept, weights, n_threads=n_threads)


@dataclass(frozen=True, eq=False)
class GeometricMean(Rule):
    """Weighted geometric mean, the product rule: the least average KL(P || P_l)."""

    def scores(self, said: Said, n_classes: int, n_threads: int) -> Floats:
        """Geometric mean of the members, divided by its sum."""
        kept, weights = self._kept(len(said)), self._kept_weights()
        if weights is not None and (weights < 0).any():
            raise ValueError(
                f"the weights {weights.tolist()} are not all positive, as a geometric mean needs"
            )
        return mean_of_members(said, kept, weights, geometric=True, n_threads=n_threads)


@dataclass(frozen=True, eq=False)
class OrderStatistic(Rule):
    """Minimum, maximum, median or trimmed mean; of classes, divided by the sum.

    Parameters
    ----------
    statistic : {"min", "max", "median", "trimmed"}
    trim : float
        Share of the members that a trimmed mean leaves out at each end, rounded down.
    """

    statistic: Literal["min", "max", "median", "trimmed"] = "median"
    trim: float = 0.0

    def scores(self, said: Said, n_classes: int, n_threads: int) -> Floats:
        """Order statistic of the members."""
        kept = self._kept(len(said))
        if self._kept_weights() is not None:
            raise ValueError(
                f"rule={self.statistic!r} knows no weights but 0, which leaves a member out, and "
                "one other for all: use rule='mean', or drop members"
            )
        return order_statistic_of_members(
            said, kept, self.statistic, n_trimmed=int(self.trim * len(kept)), n_threads=n_threads
        )


@dataclass(frozen=True, eq=False)
class InverseErrorMean(Mean):
    """Mean of values by weights 1 / mean squared error: best where errors do not correlate.

    Bates, Granger (1969), "The combination of forecasts".
    """

    learns = True

    def learned(
        self, outputs: MemberOutputs, target: Array, weight: Floats | None
    ) -> InverseErrorMean:
        """Return the rule with the weights that out-of-fold errors give, of sum 1."""
        errors = [mean_squared_error(said, target, weight) for said in outputs.outputs]
        return InverseErrorMean(inverse_error_weights(errors))
