"""Rules that combine probabilities or values: means and order statistics of the members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from arboleda._engine.combine import mean_of_members, order_statistic_of_members
from arboleda._member_weights import inverse_error_weights, mean_squared_error
from arboleda.combine._outputs import MemberOutputs
from arboleda.combine._rule import Array, Floats, OutputArray, Rule

__all__ = ["GeometricMean", "InverseErrorMean", "Mean", "OrderStatistic"]


@dataclass(frozen=True, eq=False)
class Mean(Rule):
    """Weighted mean; of probabilities, it minimises the average KL(P_l || P)."""

    def scores(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the mean of the members."""
        kept, weights = self._kept(len(outputs)), self._kept_weights()
        if weights is not None and weights.sum() == 0:
            raise ValueError(
                f"the weights {weights.tolist()} sum to 0: the weights of a mean must not"
            )
        return mean_of_members(outputs, kept, weights, n_threads=n_threads)


@dataclass(frozen=True, eq=False)
class GeometricMean(Rule):
    """Weighted geometric mean, the product rule; it minimises the average KL(P || P_l)."""

    def scores(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the geometric mean of the members, divided by its sum."""
        kept, weights = self._kept(len(outputs)), self._kept_weights()
        if weights is not None and (weights < 0).any():
            raise ValueError(
                f"the weights {weights.tolist()} are not all positive: a geometric mean needs "
                "weights >= 0"
            )
        return mean_of_members(outputs, kept, weights, geometric=True, n_threads=n_threads)


@dataclass(frozen=True, eq=False)
class OrderStatistic(Rule):
    """Minimum, maximum, median or trimmed mean; of probabilities, divided by the sum.

    Parameters
    ----------
    statistic : {"min", "max", "median", "trimmed"}
    trim : float
        Share of the members that a trimmed mean removes at each end, rounded down.
    """

    statistic: Literal["min", "max", "median", "trimmed"] = "median"
    trim: float = 0.0

    def scores(self, outputs: OutputArray, n_classes: int, n_threads: int) -> Floats:
        """Return the order statistic of the members."""
        kept = self._kept(len(outputs))
        if self._kept_weights() is not None:
            raise ValueError(
                f"rule={self.statistic!r} supports only equal weights, or 0 to leave a member out: "
                "use rule='mean', or drop members"
            )
        return order_statistic_of_members(
            outputs, kept, self.statistic, n_trimmed=int(self.trim * len(kept)), n_threads=n_threads
        )


@dataclass(frozen=True, eq=False)
class InverseErrorMean(Mean):
    """Mean of values weighted by 1 / mean squared error, optimal for uncorrelated errors.

    Bates, Granger (1969), "The combination of forecasts".
    """

    learns = True

    def learned(
        self, outputs: MemberOutputs, target: Array, weight: Floats | None
    ) -> InverseErrorMean:
        """Return the rule with weights from out-of-fold errors; their sum is 1."""
        errors = [mean_squared_error(predicted, target, weight) for predicted in outputs.outputs]
        return InverseErrorMean(inverse_error_weights(errors))
