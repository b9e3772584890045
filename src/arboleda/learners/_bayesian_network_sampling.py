"""Sampling from a network: each node is drawn after its parents (Henrion 1988)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arboleda.learners._bayesian_network_tables import Floats, Integers, Network

__all__ = ["draw_states"]


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
