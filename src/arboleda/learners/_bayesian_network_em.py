"""Tables from rows with missing values: expectation-maximization.

Dempster, Laird and Rubin (1977), "Maximum likelihood from incomplete data via the EM algorithm";
Lauritzen (1995), "The EM algorithm for graphical association models with missing data".
Each iteration counts the rows with their missing values replaced by their distribution given the
observed ones, and estimates the tables from these counts. The objective never decreases.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from arboleda.learners._bayesian_network_gaps import find_gaps
from arboleda.learners._bayesian_network_inference import Sums, iter_sums
from arboleda.learners._bayesian_network_tables import (
    Floats,
    Network,
    States,
    count,
    estimate,
    logarithms,
)

# Added to the counts of the first tables, since a probability that starts at 0 would stay 0.
_START = 1.0


@dataclass(frozen=True)
class Learned:
    """Tables, and the history of their estimation.

    Parameters
    ----------
    tables : list of ndarray
    log_likelihood : ndarray of shape (n_iterations,)
        Log-likelihood of all observed values, after each iteration.
    log_posterior : ndarray of shape (n_iterations,)
        The same plus the logarithm of the prior density of the tables, up to a constant.
    """

    tables: list[Floats]
    log_likelihood: Floats
    log_posterior: Floats


def learn_tables(
    network: Network, states: States, weight: Floats, alpha: float, max_iter: int, tol: float
) -> Learned:
    """Return the most probable tables given the rows and a Dirichlet prior.

    Parameters
    ----------
    network : Network
    states : ndarray of shape (n_rows, n_nodes)
    weight : ndarray of shape (n_rows,)
    alpha : float
        See `estimate`.
    max_iter : int
        Maximum number of iterations.
    tol : float
        Stop when an iteration raises the log posterior by less than this per row.
    """
    counts = count(network, states, weight)
    gaps = _Gaps(network, states, weight)
    if not gaps.parts:
        tables = estimate(network, counts, alpha)
        likelihood, posterior = _scores(logarithms(tables), counts, alpha)
        return Learned(tables, np.array([likelihood]), np.array([posterior]))
    tables = estimate(network, counts, max(alpha, _START))
    log_tables = logarithms(tables)
    before = -np.inf
    history: list[tuple[float, float]] = []
    expected, gained = gaps.fill(counts, log_tables)
    least = tol * float(weight.sum())
    for _ in range(max_iter):
        tables = estimate(network, expected, alpha)
        log_tables = logarithms(tables)
        expected, gained = gaps.fill(counts, log_tables)
        likelihood, posterior = _scores(log_tables, counts, alpha)
        history.append((likelihood + gained, posterior + gained))
        if history[-1][1] - before < least:
            break
        before = history[-1][1]
    else:
        warnings.warn(
            f"the tables did not converge in max_iter={max_iter} iterations: raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=4,
        )
    return Learned(tables, *np.array(history).T)


class _Gaps:
    """The missing values of a table, prepared for replacement by their distribution."""

    def __init__(self, network: Network, states: States, weight: Floats) -> None:
        self.parts: list[tuple[Sums, Floats]] = []
        for gap in find_gaps(network, states):
            total = np.bincount(gap.case_of_row, weight[gap.rows], len(gap.cases)).astype(
                np.float64, copy=False
            )
            self.parts += [(sums, total[sums.cases]) for sums in iter_sums(network, gap)]

    def fill(
        self, counts: Sequence[Floats], log_tables: Sequence[Floats]
    ) -> tuple[list[Floats], float]:
        """Add the expected counts of the missing values, and return their log-likelihood.

        The log-likelihood is that of the rows that `counts` leaves out.
        """
        filled = [counted.copy() for counted in counts]
        likelihood = 0.0
        for sums, weight in self.parts:
            total, posteriors = sums.elimination.posteriors(sums.read(log_tables))
            likelihood += float((weight * total).sum())
            for owner, places, posterior in zip(sums.owners, sums.places, posteriors, strict=True):
                shares = posterior.reshape(len(posterior), -1)
                added = weight[:, np.newaxis] * shares
                if len(places) < len(added):
                    added = added.sum(axis=0, keepdims=True)
                np.add.at(filled[owner].reshape(-1), places, added)
        return filled, likelihood


def _scores(
    log_tables: Sequence[Floats], counts: Sequence[Floats], alpha: float
) -> tuple[float, float]:
    """Return the log-likelihood of counts, and the log posterior."""
    likelihood = prior = 0.0
    for log_table, counted in zip(log_tables, counts, strict=True):
        seen = counted > 0.0
        likelihood += float((counted[seen] * log_table[seen]).sum())
        if alpha > 0.0:
            prior += float(alpha * log_table.sum())
    return likelihood, likelihood + prior
