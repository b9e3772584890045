"""Kaplan-Meier estimates, of the event and of the censoring."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arboleda._utils.survival_times import SurvivalTimes

__all__ = ["CensoringCurve", "kaplan_meier"]

Floats = npt.NDArray[np.float64]


def kaplan_meier(times: SurvivalTimes, *, of_censoring: bool = False) -> tuple[Floats, Floats]:
    """Estimate the probability of no event up to each distinct time.

    Parameters
    ----------
    times : SurvivalTimes
    of_censoring : bool, default=False
        True: estimate the probability of not being censored. Events at the same time count as
        earlier, so that these rows are not at risk.

    Returns
    -------
    time, survival : ndarray of shape (n_times,)
        Distinct times, ascending, and the estimate from each of them on.
    """
    distinct, at = np.unique(times.time, return_inverse=True)
    n_events = np.bincount(at, times.event, len(distinct))
    n_leaving = np.bincount(at, minlength=len(distinct))
    at_risk = len(times) - np.concatenate([[0], np.cumsum(n_leaving)[:-1]])
    jumps = n_events
    if of_censoring:
        at_risk, jumps = at_risk - n_events, n_leaving - n_events
    share = np.divide(jumps, at_risk, out=np.zeros(len(distinct)), where=jumps > 0)
    return distinct, np.cumprod(1.0 - share)


@dataclass(frozen=True, eq=False)
class CensoringCurve:
    """Kaplan-Meier estimate G(t) of the probability of not being censored up to t."""

    time: Floats
    probability: Floats

    @classmethod
    def fit(cls, times: SurvivalTimes) -> CensoringCurve:
        """Estimate it from times."""
        return cls(*kaplan_meier(times, of_censoring=True))

    def predict(self, time: Floats) -> Floats:
        """Return G at each time.

        Raises
        ------
        ValueError
            If a time is after the last one of the curve and G is not 0 there.
        """
        if len(time) and time.max() > self.time[-1] and self.probability[-1] > 0.0:
            raise ValueError(
                f"time {time.max():g} is after the last time of y_train, {self.time[-1]:g}, so the "
                "probability of being censored by then is unknown: evaluate earlier times only "
                "(tau)"
            )
        padded = np.append(1.0, self.probability)
        return padded[np.searchsorted(self.time, time, side="right")]

    def compute_inverse(self, time: Floats) -> Floats:
        """Return 1 / G at the times of events.

        Raises
        ------
        ValueError
            If G is 0 or unknown at a time.
        """
        probability = self.predict(time)
        if (probability == 0.0).any():
            raise ValueError(
                f"all rows of y_train are censored by time {time[probability == 0.0].min():g}, so "
                "later events have no weight: evaluate earlier times only (tau)"
            )
        return 1.0 / probability
