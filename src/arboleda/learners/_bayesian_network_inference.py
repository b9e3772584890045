"""Inference, sampling and expectation-maximization in a Bayesian network.

Dempster, Laird and Rubin (1977), "Maximum likelihood from incomplete data via the EM algorithm";
Lauritzen (1995), "The EM algorithm for graphical association models with missing data".
Each iteration counts the rows with their missing values replaced by their distribution given the
observed ones, and estimates the tables from these counts. The objective never decreases.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from arboleda.learners._bayesian_network_tables import (
    MISSING,
    Floats,
    Integers,
    Network,
    States,
    count,
    estimate,
    logarithms,
)
from arboleda.learners._variable_elimination import Elimination, Gap, find_gaps

__all__ = ["draw_states"]

# Maximum entries of a product of tables: for one row, and for rows that are computed together.
_MOST_ENTRIES = 2**26
_AT_ONCE = 2**20


@dataclass(frozen=True)
class Sums:
    """Plan for summing out the missing values of a gap, for some of its cases.

    Parameters
    ----------
    owners : tuple of int
        Nodes whose tables are multiplied.
    places : list of ndarray of shape (n_cases or 1, n_combinations)
        Indices of the cases in these tables.
    shapes : list of tuple of int
        Numbers of states of the missing values in these tables.
    elimination : Elimination
    cases : slice
        The cases.
    """

    owners: tuple[int, ...]
    places: list[Integers]
    shapes: list[tuple[int, ...]]
    elimination: Elimination
    cases: slice

    def read(self, tables: Sequence[Floats]) -> list[Floats]:
        """Return the entries of the tables for the cases."""
        return [
            tables[owner].reshape(-1)[places].reshape(-1, *shape)
            for owner, places, shape in zip(self.owners, self.places, self.shapes, strict=True)
        ]


def iter_sums(network: Network, gap: Gap, open_node: int | None = None) -> Iterator[Sums]:
    """Yield the plans for summing out the missing values of a gap, for batches of cases.

    Raises
    ------
    ValueError
        If a product of tables would have too many entries. The message names the missing columns.
    """
    free = (*gap.nodes,) if open_node is None else (*gap.nodes, open_node)
    scopes = [tuple(m for m in network.family(owner) if m in free) for owner in gap.owners]
    elimination = Elimination(gap.nodes, scopes)
    largest = elimination.largest(network.sizes)
    if largest > _MOST_ENTRIES:
        names = [repr(network.graph.nodes[node]) for node in gap.nodes]
        listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise ValueError(
            f"a row of X misses {listed}: summing over their values needs a table "
            f"of {largest:,} entries, more than {_MOST_ENTRIES:,}; use a structure with fewer "
            "parents, or impute these columns"
        )
    shapes = [tuple(network.sizes[m] for m in scope) for scope in scopes]
    step = max(1, _AT_ONCE // largest)
    for start in range(0, len(gap.cases), step):
        cases = slice(start, start + step)
        places = [
            network.places(owner, gap.cases[cases], scope)
            for owner, scope in zip(gap.owners, scopes, strict=True)
        ]
        yield Sums(gap.owners, places, shapes, elimination, cases)


def log_joint(
    network: Network, log_tables: Sequence[Floats], states: States, open_node: int
) -> Floats:
    """Return the logarithm of P(open node, known values of the row), up to a constant of the row.

    Missing values are summed out, exactly.

    Parameters
    ----------
    network : Network
    log_tables : list of ndarray
    states : ndarray of shape (n_rows, n_nodes)
        The column of the open node is not read.
    open_node : int

    Returns
    -------
    log_p : ndarray of shape (n_rows, n_states)
    """
    known = states != MISSING
    known[:, open_node] = True
    joint = np.zeros((len(states), network.sizes[open_node]))
    for owner in (open_node, *network.graph.child_places[open_node]):
        rows = known[:, network.family(owner)].all(axis=1)
        if rows.all():
            _add_known(joint, network, log_tables[owner], owner, states, open_node)
        elif rows.any():
            part = joint[rows]
            _add_known(part, network, log_tables[owner], owner, states[rows], open_node)
            joint[rows] = part
    for gap in find_gaps(network, states, open_node):
        if not any(open_node in network.family(owner) for owner in gap.owners):
            continue
        found = [
            sums.elimination.sum_out(sums.read(log_tables))
            for sums in iter_sums(network, gap, open_node)
        ]
        joint[gap.rows] += np.concatenate(found)[gap.case_of_row]
    return joint


def _add_known(
    joint: Floats,
    network: Network,
    log_table: Floats,
    owner: int,
    states: States,
    open_node: int,
) -> None:
    """Add the logarithms of a table to rows in which its family, but the open node, is observed."""
    family = network.family(owner)
    axis = family.index(open_node)
    # With the axis of the open node last, the entries of a row are contiguous in memory.
    pieces = np.ascontiguousarray(np.moveaxis(log_table, axis, -1)).reshape(-1, joint.shape[1])
    place = np.zeros(len(joint) if len(family) > 1 else 1, dtype=np.intp)
    for member in family:
        if member != open_node:
            place *= network.sizes[member]
            place += states[:, member]
    joint += pieces[place]


def draw_states(
    network: Network, tables: Sequence[Floats], n_rows: int, random: np.random.RandomState
) -> Integers:
    """Draw rows of states.

    Parameters
    ----------
    network : Network
    tables : sequence of ndarray
        Table of each node; the first axes are its parents, ascending, the last one is the node.
    n_rows : int
    random : RandomState

    Returns
    -------
    states : ndarray of shape (n_rows, n_nodes)
    """
    states = np.zeros((n_rows, network.n_nodes), dtype=np.intp)
    for node in network.graph.order:
        table = tables[node].reshape(-1, network.sizes[node])
        line = np.zeros(n_rows, dtype=np.intp)
        for parent in network.graph.parent_places[node]:
            line = line * network.sizes[parent] + states[:, parent]
        chance = random.random_sample(n_rows)
        order = np.argsort(line, kind="stable")
        lines, starts = np.unique(line[order], return_index=True)
        for number, rows in zip(lines, np.split(order, starts[1:]), strict=True):
            up_to = np.cumsum(table[number])
            drawn = np.searchsorted(up_to, chance[rows] * up_to[-1], side="right")
            last = np.flatnonzero(table[number])[-1]  # in case a product rounds up to the total
            states[rows, node] = np.minimum(drawn, last)
    return states


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
