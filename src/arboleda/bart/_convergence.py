"""Convergence of Markov chains."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def compute_split_r_hat(draws: Floats) -> float:
    """Compute the potential scale reduction factor of chains split in halves.

    With M half chains of n draws, W the mean of their variances and B / n the variance of their
    means, R-hat = sqrt(((n - 1) / n W + B / n) / W). It is near 1 if the halves of all chains
    agree. A. Gelman et al. (2013), "Bayesian Data Analysis", 3rd edition, section 11.4.

    Parameters
    ----------
    draws : ndarray of shape (n_chains, n_draws)
        Draws after the burn-in.

    Returns
    -------
    r_hat : float
        NaN for fewer than 4 draws per chain, 1 if all draws are equal.
    """
    n = draws.shape[1] // 2
    if n < 2:
        return math.nan
    halves = np.concatenate([draws[:, :n], draws[:, -n:]])
    within = float(halves.var(axis=1, ddof=1).mean())
    between = float(halves.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return 1.0 if between == 0.0 else math.inf
    return math.sqrt(((n - 1) / n * within + between) / within)
