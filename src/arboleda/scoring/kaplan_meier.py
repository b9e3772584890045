r"""Kaplan-Meier estimates with intervals, and the log-rank test of several groups.

With d_j events among n_j rows at risk at time t_j, Greenwood's variance of log S(t) is

    v(t) = sum over t_j <= t of d_j / (n_j (n_j - d_j)).

The interval is S(t)^exp(+-z sqrt(v) / log S(t)): that of log(-log S), whose ends stay between 0 and
1 (Kalbfleisch and Prentice 2002, section 1.4).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from arboleda._utils.survival_times import SurvivalTimes

__all__ = ["LEVEL", "SurvivalEstimate", "compute_log_rank_p", "estimate_survival"]

LEVEL = 0.95

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SurvivalEstimate:
    """The estimate at each distinct time, ascending, and from it on.

    Attributes
    ----------
    time, survival, low, high : ndarray of shape (n_times,)
    at_risk : ndarray of shape (n_times,)
        Rows whose time is not earlier.
    """

    time: Floats
    survival: Floats
    low: Floats
    high: Floats
    at_risk: npt.NDArray[np.int64]

    def find(self, time: float) -> tuple[float, float, float]:
        """Return the estimate at a time, with its interval."""
        place = int(np.searchsorted(self.time, time, side="right")) - 1
        if place < 0:
            return 1.0, 1.0, 1.0
        return float(self.survival[place]), float(self.low[place]), float(self.high[place])

    def count_at_risk(self, time: float) -> int:
        """Return the number of rows whose time is not earlier."""
        place = int(np.searchsorted(self.time, time, side="left"))
        return int(self.at_risk[place]) if place < len(self.time) else 0

    @property
    def median(self) -> float | None:
        """First time at which at least half of the rows have had the event; None if none."""
        reached = np.flatnonzero(self.survival <= 0.5 + 1e-12)
        return float(self.time[reached[0]]) if reached.size else None


def estimate_survival(rows: SurvivalTimes, level: float = LEVEL) -> SurvivalEstimate:
    """Estimate the survival of rows, with pointwise intervals.

    Examples
    --------
    >>> rows = SurvivalTimes(np.array([True, False, True]), np.array([1.0, 2.0, 3.0]))
    >>> found = estimate_survival(rows)
    >>> found.survival.round(3).tolist(), found.low.round(3).tolist()
    ([0.667, 0.667, 0.0], [0.054, 0.054, 0.0])
    """
    distinct, at = np.unique(rows.time, return_inverse=True)
    events = np.bincount(at, rows.event, len(distinct))
    leaving = np.bincount(at, minlength=len(distinct))
    at_risk = len(rows) - np.cumsum(leaving) + leaving
    survival = np.cumprod(1.0 - events / at_risk, dtype=np.float64)
    rest = at_risk - events
    # After the last row has had the event, nothing is left to be uncertain about.
    terms = np.divide(events, at_risk * rest, out=np.zeros(len(rest)), where=rest > 0)
    z = float(stats.norm.ppf((1 + level) / 2))
    inside = (survival > 0.0) & (survival < 1.0)
    reach = np.zeros(len(distinct))
    log = np.log(survival, out=np.full(len(distinct), -1.0), where=inside)
    reach[inside] = z * np.sqrt(np.cumsum(terms)[inside]) / -log[inside]
    low = np.where(inside, survival ** np.exp(reach), survival)
    high = np.where(inside, survival ** np.exp(-reach), survival)
    return SurvivalEstimate(distinct, survival, low, high, at_risk.astype(np.int64))


def compute_log_rank_p(groups: Sequence[SurvivalTimes]) -> float | None:
    """Return the p-value of equal hazards in all groups (Mantel 1966); None if it is undefined.

    Examples
    --------
    >>> early = SurvivalTimes(np.ones(4, dtype=bool), np.arange(1.0, 5.0))
    >>> late = SurvivalTimes(np.ones(4, dtype=bool), np.arange(11.0, 15.0))
    >>> round(compute_log_rank_p([early, late]), 4)
    0.0067
    """
    if len(groups) < 2:
        return None
    times = np.unique(np.concatenate([rows.time[rows.event] for rows in groups]))
    events = np.array([[np.sum(g.event & (g.time == t)) for t in times] for g in groups], float)
    at_risk = np.array([[np.sum(g.time >= t) for t in times] for g in groups], float)
    d, n = events.sum(axis=0), at_risk.sum(axis=0)
    share = at_risk / n
    difference = (events - d * share).sum(axis=1)
    factor = np.divide(d * (n - d), n - 1.0, out=np.zeros(len(n)), where=n > 1)
    covariance = np.diag(share @ factor) - (share * factor) @ share.T
    # The sums over the groups are 0: the last one is redundant.
    kept = covariance[:-1, :-1]
    if len(times) == 0 or np.linalg.matrix_rank(kept) < len(kept):
        return None
    statistic = float(difference[:-1] @ np.linalg.solve(kept, difference[:-1]))
    return float(stats.chi2.sf(statistic, len(kept)))
