"""Times to an event as the numbers that the engine's losses read."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arboleda._engine.all_shards import ALONE, AllShards
from arboleda._utils.survival_times import SurvivalTimes

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

# Parts of a number that sums are made of: whole multiples of 2^-30, 2^-60 and 2^-90.
_PARTS = 3
_PART_BITS = 30
_SMALLEST = 2.0 ** (-_PARTS * _PART_BITS)


def encode_times(times: SurvivalTimes) -> Floats:
    """Return the time of each row, negative (-0.0 too) if it was censored."""
    return np.where(times.event, times.time, -times.time)


def decode_times(target: Floats) -> SurvivalTimes:
    """Return the times that were encoded."""
    return SurvivalTimes(~np.signbit(target), np.abs(target))


def sum_from_the_end(values: Floats) -> Floats:
    """Return the sums of numbers between 0 and 1 from each place to the end.

    Sums are those of integers, so that they do not depend on the order of the numbers summed.
    """
    return _sum_parts(_split(values))


def _sum_groups_from_the_end(
    values: Floats, group: Places, n_groups: int, shards: AllShards
) -> Floats:
    """Return the same sums of the numbers of some groups, and of all later ones, in all shards."""
    sums = np.zeros((_PARTS, n_groups), dtype=np.int64)
    for part, whole in zip(sums, _split(values), strict=True):
        np.add.at(part, group, whole)
    return _sum_parts(shards.add(sums.ravel()).reshape(sums.shape))


def _split(values: Floats) -> npt.NDArray[np.int64]:
    """Return the parts of numbers between 0 and 1, of shape (_PARTS, n)."""
    parts = np.empty((_PARTS, len(values)), dtype=np.int64)
    for part in parts:
        values = np.ldexp(values, _PART_BITS)
        whole = np.floor(values)
        values = values - whole
        part[:] = whole
    return parts


def _sum_parts(parts: npt.NDArray[np.int64]) -> Floats:
    """Return the sums from each place to the end."""
    sums = np.zeros(parts.shape[1])
    for number, part in enumerate(parts, start=1):
        of_part = np.cumsum(part[::-1])[::-1]
        sums += np.ldexp(of_part.astype(np.float64), -number * _PART_BITS)
    return sums


def find_event_times(times: SurvivalTimes, shards: AllShards = ALONE) -> Floats:
    """Return the times of the events of all shards, ascending and unique."""
    return np.unique(shards.join(np.unique(times.time[times.event])))


def find_largest(values: Floats, shards: AllShards = ALONE) -> float:
    """Return the largest number of all shards; minus infinity if there is none."""
    return max(shards.gather(float(values.max(initial=-np.inf))))


def find_range(values: Floats, shards: AllShards = ALONE) -> Floats:
    """Return the smallest and the largest number of all shards."""
    return np.array([-find_largest(-values, shards), find_largest(values, shards)])


def compute_breslow_hazard(
    times: SurvivalTimes,
    log_hazard_ratio: Floats,
    weight: Floats | None,
    event_times: Floats,
    shards: AllShards = ALONE,
) -> Floats:
    """Return the cumulative hazard of a log hazard ratio of 0 at each event time.

    Breslow's estimate: the sum, over the event times up to then, of the weight of the events
    divided by the weighted sum of the hazard ratios of the rows at risk.

    Parameters
    ----------
    times : SurvivalTimes
    log_hazard_ratio : ndarray of shape (n_samples,)
    weight : ndarray of shape (n_samples,), or None
    event_times : ndarray of shape (n_times,)
        All times of events, ascending.
    shards : AllShards
        The shards among which the rows are divided.

    Returns
    -------
    hazard : ndarray of shape (n_times,)

    References
    ----------
    N. Breslow (1972), discussion of Cox (1972), JRSS B 34(2), page 216.
    """
    weight = np.ones(len(times)) if weight is None else weight / find_largest(weight, shards)
    largest = find_largest(log_hazard_ratio, shards)
    theta = np.maximum(weight * np.exp(log_hazard_ratio - largest), _SMALLEST)
    # Rows that are at risk at as many event times are a group: at k of them, the first k.
    n_at_risk = np.searchsorted(event_times, times.time, side="right")
    at_risk, events_from = (
        _sum_groups_from_the_end(values, n_at_risk, len(event_times) + 1, shards)[1:]
        for values in (theta, weight * times.event)
    )
    steps = -np.diff(events_from, append=0.0) / at_risk
    hazard: Floats = np.cumsum(steps) * np.exp(-largest)
    return hazard


def compute_martingale_residuals(
    times: SurvivalTimes, weight: Floats | None, shards: AllShards = ALONE
) -> Floats:
    """Return the number of events of each row, 0 or 1, less its cumulative hazard without columns.

    Larger residuals are those of rows whose event came early.
    """
    event_times = find_event_times(times, shards)
    hazard = compute_breslow_hazard(times, np.zeros(len(times)), weight, event_times, shards)
    at = np.searchsorted(event_times, times.time, side="right")
    residuals: Floats = times.event - np.append(0.0, hazard)[at]
    return residuals


def compute_partial_likelihood(
    times: SurvivalTimes, log_hazard_ratio: Floats, weight: Floats | None, *, is_efron: bool
) -> float:
    """Return the mean of Cox's log partial likelihood over the weight of the rows.

    Events at the same time count as by Efron (1977), or as by Breslow (1974).

    Parameters
    ----------
    times : SurvivalTimes
    log_hazard_ratio : ndarray of shape (n_samples,)
    weight : ndarray of shape (n_samples,), or None
    is_efron : bool

    Returns
    -------
    mean : float
        0 if no row has the event.
    """
    weight = np.ones(len(times)) if weight is None else weight / weight.max()
    order = np.lexsort((~times.event, times.time))
    time, event, w = times.time[order], times.event[order], weight[order]
    largest = log_hazard_ratio.max()
    shifted = log_hazard_ratio[order] - largest
    theta = np.maximum(w * np.exp(shifted), _SMALLEST)
    at_risk = sum_from_the_end(theta)
    rows = np.flatnonzero(event)
    begins = np.searchsorted(time, time[rows], side="left")  # of the events at the same time
    _, first, count = np.unique(time[rows], return_index=True, return_counts=True)
    group = np.repeat(np.arange(len(count)), count)
    mean_weight = np.add.reduceat(w[rows], first)[group] / count[group] if rows.size else w[rows]
    total = at_risk[begins]
    if is_efron and rows.size:
        share = (np.arange(len(rows)) - first[group]) / count[group]
        total = total - share * np.add.reduceat(theta[rows], first)[group]
    with np.errstate(divide="ignore"):
        likelihood = np.sum(w[rows] * shifted[rows]) - np.sum(mean_weight * np.log(total))
    return float(likelihood / weight.sum())
