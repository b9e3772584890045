"""Curves over time of boosted scores: proportional hazards, accelerated times, discrete times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr, ndtri

from arboleda.boosting import Loss

Floats = npt.NDArray[np.float64]


def compute_proportional_hazards(
    log_hazard_ratio: Floats, baseline: Floats, event_times: Floats, times: Floats
) -> Floats:
    """Return cumulative hazards of shape (n_samples, n_times) of Cox's model.

    Parameters
    ----------
    log_hazard_ratio : ndarray of shape (n_samples,)
    baseline : ndarray of shape (n_event_times,)
        Cumulative hazard of a ratio of 1 from each event time on.
    event_times : ndarray of shape (n_event_times,)
        Ascending.
    times : ndarray of shape (n_times,)
    """
    at = np.searchsorted(event_times, times, side="right")
    steps = np.append(0.0, baseline)[at]
    with np.errstate(over="ignore", invalid="ignore"):
        hazard = np.exp(log_hazard_ratio)[:, np.newaxis] * steps
    return np.where(steps > 0.0, hazard, 0.0)


def compute_accelerated_hazards(score: Floats, loss: Loss, times: Floats) -> Floats:
    """Return cumulative hazards of shape (n_samples, n_times) of accelerated failure times.

    Parameters
    ----------
    score : ndarray of shape (n_samples,)
        Minus the location of the logarithm of the time.
    loss : Loss
        With the distribution of the logarithm of the time in its name, and its scale.
    times : ndarray of shape (n_times,)
    """
    with np.errstate(divide="ignore", over="ignore"):
        z = (np.log(times) + score[:, np.newaxis]) / loss.scale
        if loss.name == "aft_normal":
            hazard: Floats = -log_ndtr(-z)
        elif loss.name == "aft_logistic":
            hazard = np.logaddexp(0.0, z)
        else:
            hazard = np.exp(z)
    return hazard


def compute_accelerated_quantiles(score: Floats, loss: Loss, levels: Floats) -> Floats:
    """Return the times by which the event took place with some probabilities.

    Parameters
    ----------
    score : ndarray of shape (n_samples,)
    loss : Loss
        As in `compute_accelerated_hazards`.
    levels : ndarray of shape (n_quantiles,)

    Returns
    -------
    times : ndarray of shape (n_samples, n_quantiles)
    """
    if loss.name == "aft_normal":
        z = ndtri(levels)
    elif loss.name == "aft_logistic":
        z = np.log(levels) - np.log1p(-levels)
    else:
        z = np.log(-np.log1p(-levels))
    with np.errstate(over="ignore"):
        times: Floats = np.exp(loss.scale * z - score[:, np.newaxis])
    return times


def compute_discrete_hazards(scores: Floats, periods: Floats, times: Floats) -> Floats:
    """Return cumulative hazards of shape (n_samples, n_times), which rise at the ends of periods.

    Minus the logarithm of the probability of no event in the periods that ended by each time.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_periods)
        Log-odds of the event in each period.
    periods : ndarray of shape (n_periods,)
        Their ends, ascending.
    times : ndarray of shape (n_times,)
    """
    ended = np.searchsorted(periods, times, side="right")
    steps = np.zeros((len(scores), len(periods) + 1))
    np.cumsum(np.logaddexp(0.0, scores), axis=1, out=steps[:, 1:])
    return steps[:, ended]
