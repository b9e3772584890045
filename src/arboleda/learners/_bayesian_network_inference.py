"""Inference in a network: the distribution of an open node and of missing values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from arboleda.learners._bayesian_network_gaps import Gap, find_gaps
from arboleda.learners._bayesian_network_tables import MISSING, Floats, Integers, Network, States
from arboleda.learners._variable_elimination import Elimination

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
