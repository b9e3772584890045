"""Groups of missing values: the parts of a network that are summed out for a row.

Given the observed values of a row, the missing ones form parts that are independent of each other.
Few distinct parts occur, many rows share each of them, and rows with the same observed values
around a part are one case:

    a -> b -> c -> d -> e      a row without b and d has the gaps {b} and {d}, since c is observed;
         ?         ?           {b} depends on a and c only, {d} on c and e only
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arboleda.learners._bayesian_network_tables import MISSING, Integers, Network, States

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Gap:
    """Nodes that are missing together, and the rows in which they are missing.

    Parameters
    ----------
    nodes : tuple of int
        The missing nodes.
    owners : tuple of int
        Nodes whose tables contain them.
    rows : ndarray
        Indices of the rows.
    cases : ndarray of shape (n_cases, n_nodes)
        Rows of states that differ in the tables of the owners.
    case_of_row : ndarray
        Index of the case of each row.
    """

    nodes: tuple[int, ...]
    owners: tuple[int, ...]
    rows: Integers
    cases: States
    case_of_row: Integers


def find_gaps(network: Network, states: States, open_node: int | None = None) -> list[Gap]:
    """Return the gaps in a table of states.

    Parameters
    ----------
    network : Network
    states : ndarray of shape (n_rows, n_nodes)
    open_node : int or None
        The node to predict: it is neither observed nor summed out, and nodes that only sum to 1
        are left out. None: the tables of all nodes are needed.
    """
    missing = states == MISSING
    if open_node is not None:
        missing[:, open_node] = False
    rows = np.flatnonzero(missing.any(axis=1))
    if rows.size == 0:
        return []
    missing = missing[rows]
    idle = _idle(network, missing, open_node)
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Integers]] = {}
    neighbours = _neighbours(network, open_node)
    for pattern, members in _patterns(missing):
        unread = {int(node) for node in np.flatnonzero(idle[members[0]])}
        for part in _parts(set(np.flatnonzero(pattern).tolist()) - unread, neighbours):
            readers = {
                reader for node in part for reader in (node, *network.graph.child_places[node])
            }
            key = tuple(sorted(part)), tuple(sorted(readers - unread))
            found.setdefault(key, []).append(members)
    gaps = []
    for (nodes, owners), groups in found.items():
        shared = np.sort(rows[np.concatenate(groups)])
        gaps.append(_gap(network, states, nodes, owners, shared, open_node))
    return gaps


def _gap(
    network: Network,
    states: States,
    nodes: tuple[int, ...],
    owners: tuple[int, ...],
    rows: Integers,
    open_node: int | None,
) -> Gap:
    """Return a gap, with rows that have the same values around it as one case."""
    around = sorted({m for owner in owners for m in network.family(owner)} - {*nodes, open_node})
    seen = states[rows][:, around]
    if math.prod(network.sizes[node] for node in around) < 2**62:
        keys = np.zeros(len(rows), dtype=np.int64)
        for column, node in zip(seen.T, around, strict=True):
            keys = keys * network.sizes[node] + column
        _, first, case_of_row = np.unique(keys, return_index=True, return_inverse=True)
    else:
        _, first, case_of_row = np.unique(seen, axis=0, return_index=True, return_inverse=True)
    return Gap(nodes, owners, rows, states[rows[first]], case_of_row.reshape(-1))


def _patterns(missing: Bools) -> Iterator[tuple[Bools, Integers]]:
    """Yield each set of missing nodes that occurs, with the rows that miss exactly these."""
    packed = np.packbits(missing, axis=1)
    lines = packed.view([("", packed.dtype)] * packed.shape[1]).reshape(-1)
    _, first, number = np.unique(lines, return_index=True, return_inverse=True)
    order = np.argsort(number.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(number.reshape(-1)))
    for row, members in zip(first, np.split(order, ends[:-1]), strict=True):
        yield missing[row], members


def _idle(network: Network, missing: Bools, open_node: int | None) -> Bools:
    """Return the missing nodes without observed or open descendants, whose tables sum to 1."""
    idle = np.zeros_like(missing)
    if open_node is None:
        return idle
    children = network.graph.child_places
    for node in reversed(network.graph.order):
        idle[:, node] = missing[:, node] & idle[:, children[node]].all(axis=1)
    return idle


def _neighbours(network: Network, open_node: int | None) -> list[set[int]]:
    """Return the nodes that share a table with each node."""
    found: list[set[int]] = [set() for _ in range(network.n_nodes)]
    for owner in range(network.n_nodes):
        family = set(network.family(owner)) - {open_node}
        for node in family:
            found[node] |= family - {node}
    return found


def _parts(nodes: set[int], neighbours: Sequence[set[int]]) -> Iterator[set[int]]:
    """Yield the connected components of a set of nodes."""
    left = set(nodes)
    while left:
        part: set[int] = set()
        todo = [left.pop()]
        while todo:
            node = todo.pop()
            part.add(node)
            reached = neighbours[node] & left
            left -= reached
            todo += reached
        yield part
