"""The partial likelihood of Cox regression, with its derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from arboleda._utils.survival_times import SurvivalTimes

__all__ = ["PartialLikelihood"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PartialLikelihood:
    """The partial likelihood of rows from the latest to the earliest.

    Each event k has the denominator D_k: the sum of the hazards of the rows at risk, less a share
    of the hazards of the events at the same time.

    Parameters
    ----------
    x : ndarray of shape (n_rows, n_columns)
    event : ndarray of bool, shape (n_rows,)
    event_time : ndarray of shape (n_events,)
    n_at_risk : ndarray of int, shape (n_events,)
        The first rows are at risk at an event.
    tie : ndarray of int, shape (n_events,)
        The group of events at the same time; groups have successive events.
    share : ndarray of shape (n_events,)
        Share l / d of the group's hazards that is subtracted; 0 for Breslow's ties.
    last_event : ndarray of int, shape (n_rows,)
        The events from this one on are at times at which the row is at risk.
    weight : ndarray of shape (n_rows,)
        Positive.
    tie_weight : ndarray of shape (n_events,)
        Mean weight of the events at the same time.
    """

    x: Floats
    event: npt.NDArray[np.bool_]
    event_time: Floats
    n_at_risk: npt.NDArray[np.intp]
    tie: npt.NDArray[np.intp]
    share: Floats
    last_event: npt.NDArray[np.intp]
    weight: Floats
    tie_weight: Floats

    @classmethod
    def of(cls, x: Floats, times: SurvivalTimes, ties: str, weight: Floats | None = None) -> Self:
        """Sort the rows by time; without weights all are 1."""
        order = np.argsort(-times.time, kind="stable")
        time, event = times.time[order], times.event[order]
        event_time = time[event]
        n_at_risk = np.searchsorted(-time, -event_time, side="right")
        _, tie, sizes = np.unique(-event_time, return_inverse=True, return_counts=True)
        starts = np.cumsum(sizes) - sizes
        share = (np.arange(len(event_time)) - starts[tie]) / sizes[tie]
        if ties == "breslow":
            share = np.zeros(len(event_time))
        first = np.searchsorted(-event_time, -time, side="left")
        weight = np.ones(len(order)) if weight is None else weight[order]
        tie_weight = (np.add.reduceat(weight[event], starts) / sizes)[tie]
        return cls(x[order], event, event_time, n_at_risk, tie, share, first, weight, tie_weight)

    def compute_jumps(self, beta: Floats) -> Floats:
        """Return m_k / D_k for each event: the steps of the baseline hazard."""
        hazard, top = self._compute_hazards(beta)
        jumps: Floats = self.tie_weight * np.exp(-top) / self._compute_denominators(hazard)
        return jumps

    def _compute_hazards(self, beta: Floats) -> tuple[Floats, float]:
        """Return weight times exp(x' b - top), and top: the largest x' b."""
        score = self.x @ beta
        top = float(score.max())
        return self.weight * np.exp(score - top), top

    def _sum_ties(self, values: Floats) -> Floats:
        """Return the sum over the events at the same time, for each event."""
        starts = np.flatnonzero(np.diff(self.tie, prepend=-1))
        return np.asarray(np.add.reduceat(values[self.event], starts, axis=0)[self.tie])

    def _compute_denominators(self, hazard: Floats) -> Floats:
        at_risk = np.cumsum(hazard)[self.n_at_risk - 1]
        return np.asarray(at_risk - self.share * self._sum_ties(hazard))

    def evaluate(self, beta: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient and the negative Hessian.

        With h = exp(x' b) times the weight, the Hessian of log D_k is a weighted covariance of the
        rows at risk. The first part, summed over k with the mean weights m_k of ties, is
        X' diag(h c) X, where c adds up m_k / D_k over the events at which a row is at risk, less
        the shares of its own ties.
        """
        hazard, top = self._compute_hazards(beta)
        denominator = self._compute_denominators(hazard)
        if not (denominator > 0.0).all():
            return -np.inf, np.zeros_like(beta), np.eye(len(beta))
        own, m = self.weight[self.event], self.tie_weight
        value = own * (self.x[self.event] @ beta) - m * (np.log(denominator) + top)
        weighted = hazard[:, np.newaxis] * self.x
        sums = np.cumsum(weighted, axis=0)[self.n_at_risk - 1]
        sums -= self.share[:, np.newaxis] * self._sum_ties(weighted)
        means = sums / denominator[:, np.newaxis]
        counted = m[:, np.newaxis] * means
        gradient = (own[:, np.newaxis] * self.x[self.event]).sum(axis=0) - counted.sum(axis=0)
        # Of events from a place on, by adding up from the last.
        later = np.append(np.cumsum((m / denominator)[::-1])[::-1], 0.0)
        times = later[self.last_event]
        starts = np.flatnonzero(np.diff(self.tie, prepend=-1))
        times[self.event] -= np.add.reduceat(m * self.share / denominator, starts)[self.tie]
        information = weighted.T @ (times[:, np.newaxis] * self.x) - means.T @ counted
        return float(value.sum()), gradient, information
