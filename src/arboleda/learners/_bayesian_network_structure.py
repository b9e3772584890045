"""The graph of a Bayesian network classifier: given by edges, naive, or tree-augmented.

The tree of maximum likelihood has the largest total mutual information between neighbours (Chow and
Liu 1968). Given the class, this is the conditional mutual information

    I(A; B | C) = sum_abc P(a, b, c) log [P(a, b | c) / (P(a | c) P(b | c))].

Joining two columns adds N times this to the log-likelihood of N rows, even by chance, and
(r_A - 1) (r_B - 1) r_C free parameters to the tables. The criterion of Akaike (1974) is the
difference. A tree maximises the likelihood and spans all columns, and joins those of many
categories to many others; a forest maximises the difference.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Name
from arboleda.learners._bayesian_network_tables import MISSING, Floats, Integers, States
from arboleda.learners._directed_graph import DirectedGraph

__all__ = [
    "Structure",
    "build_augmenting_tree",
    "build_graph",
    "compute_joining_gains",
    "node_names",
]

# Maximum entries of a table of two columns and the class; larger pairs are not joined.
_MOST_ENTRIES = 2**20
# Maximum size of a batch of pairs: rows times partners, and entries.
_AT_ONCE = 2**22


def build_augmenting_tree(
    states: States,
    sizes: tuple[int, ...],
    labels: npt.NDArray[np.integer[Any]],
    n_classes: int,
    weight: Floats,
    *,
    penalized: bool,
) -> list[tuple[int, int]]:
    """Return the edges (parent, child) of the tree, directed away from its first column.

    Parameters
    ----------
    states : ndarray of shape (n_rows, n_columns)
    sizes : tuple of int
        Number of states of each column.
    labels : ndarray of shape (n_rows,)
    n_classes : int
    weight : ndarray of shape (n_rows,)
    penalized : bool
        Whether the number of free parameters is subtracted from the gain, which gives a forest if
        some gains are negative.
    """
    worth = compute_joining_gains(states, sizes, labels, n_classes, weight, penalized=penalized)
    return _spanning_tree(worth, 0.0 if penalized else -math.inf)


def compute_joining_gains(
    states: States,
    sizes: tuple[int, ...],
    labels: npt.NDArray[np.integer[Any]],
    n_classes: int,
    weight: Floats,
    *,
    penalized: bool,
) -> Floats:
    """Return the gain in log-likelihood from joining two columns, minus the penalty.

    Rows with both values are counted; the penalty, if any, is the number of free parameters.

    Returns
    -------
    worth : ndarray of shape (n_columns, n_columns)
        Symmetric; minus infinity for pairs that must not be joined, since a column has a single
        state or the table would be too large.
    """
    n_columns = len(sizes)
    has_missing = [bool((states[:, j] == MISSING).any()) for j in range(n_columns)]
    worth = np.full((n_columns, n_columns), -np.inf)
    total = float(weight.sum())
    for i in range(n_columns):
        if sizes[i] == 1:
            continue
        own_state = np.where(states[:, i] == MISSING, sizes[i], states[:, i])
        own = labels.astype(np.intp) * (sizes[i] + 1) + own_state
        partners = [
            j
            for j in range(i + 1, n_columns)
            if sizes[j] > 1 and n_classes * (sizes[i] + 1) * (sizes[j] + 1) <= _MOST_ENTRIES
        ]
        for group in _groups(partners, sizes, n_classes * (sizes[i] + 1), len(labels)):
            widths = [sizes[j] + has_missing[j] for j in group]
            counts = _counts(states, own, group, widths, n_classes * (sizes[i] + 1), weight)
            table = counts.reshape(n_classes, sizes[i] + 1, -1)[:, : sizes[i]] / total
            partner_sizes = [sizes[j] for j in group]
            found = total * _information(table, partner_sizes, widths)
            if penalized:
                found -= n_classes * (sizes[i] - 1) * (np.array(partner_sizes) - 1)
            worth[i, group] = worth[group, i] = found
    return worth


def _counts(
    states: States,
    own: Integers,
    group: list[int],
    widths: list[int],
    n_own: int,
    weight: Floats,
) -> Floats:
    """Return the weight by the class and state of a column, and by the states of its partners."""
    starts = np.cumsum([0, *widths[:-1]])
    places = own[:, np.newaxis] * sum(widths)
    partner = states[:, group] + starts
    # Missing values of a partner have its last place.
    partner = np.where(states[:, group] == MISSING, starts + np.array(widths) - 1, partner)
    places = (places + partner).reshape(-1)
    each = np.repeat(weight, len(group))
    counts = np.bincount(places, each, n_own * sum(widths))
    return counts.astype(np.float64, copy=False)


def _information(table: Floats, sizes: list[int], widths: list[int]) -> Floats:
    """Return the mutual information with each partner, from shares (class, state, states)."""
    real = np.concatenate(
        [np.arange(width) < size for size, width in zip(sizes, widths, strict=True)]
    )
    table = table[:, :, real]
    starts = np.cumsum([0, *sizes[:-1]])
    of_own = np.add.reduceat(table, starts, axis=2)
    of_partner = table.sum(axis=1)
    of_class = np.add.reduceat(of_partner, starts, axis=1)
    joint = np.add.reduceat(_x_log_x(table).sum(axis=(0, 1)), starts)
    partner = np.add.reduceat(_x_log_x(of_partner).sum(axis=0), starts)
    found: Floats = (
        joint - _x_log_x(of_own).sum(axis=(0, 1)) - partner + _x_log_x(of_class).sum(axis=0)
    )
    return found


def _groups(
    partners: list[int], sizes: tuple[int, ...], n_own: int, n_rows: int
) -> list[list[int]]:
    """Return batches of partners that are counted together, of bounded memory."""
    groups: list[list[int]] = []
    room = 0.0
    for j in partners:
        entries = n_own * (sizes[j] + 1)
        if not groups or entries > room or n_rows * (len(groups[-1]) + 1) > _AT_ONCE:
            groups.append([])
            room = math.inf if entries > _AT_ONCE else _AT_ONCE
        groups[-1].append(j)
        room -= entries
    return groups


def _x_log_x(x: Floats) -> Floats:
    found: Floats = x * np.log(np.where(x > 0.0, x, 1.0))
    return found


def _spanning_tree(worth: Floats, least: float) -> list[tuple[int, int]]:
    """Return the edges of a maximum spanning forest with gains above `least`.

    This is Prim's algorithm; ties go to the first child, then to its first parent.
    """
    n_columns = len(worth)
    waiting = np.ones(n_columns, dtype=bool)
    best = np.full(n_columns, least)
    parent = np.zeros(n_columns, dtype=np.intp)
    edges = []
    for _ in range(n_columns):
        joined = int(np.where(waiting, best, -np.inf).argmax())
        if waiting[joined] and best[joined] > least:
            edges.append((int(parent[joined]), joined))
        else:  # the first column that no edge leads to
            joined = int(waiting.argmax())
        waiting[joined] = False
        closer = waiting & (worth[joined] > best)
        best[closer], parent[closer] = worth[joined, closer], joined
    return edges


Structure = Literal["fan", "tan", "naive"] | DirectedGraph | Collection[Sequence[Hashable]]


def node_names(
    names: tuple[Name, ...] | None, n_columns: int, target: Hashable | None, y: Any
) -> tuple[Hashable, ...]:
    """Return the names of the nodes: those of the columns, then the target's.

    Parameters
    ----------
    names : tuple or None
        Names of the columns; None: "x0", "x1" and so on.
    n_columns : int
    target : hashable or None
        Name of the target; None: the name of y, or "y" if it has none, followed by "_" if a column
        has this name.
    y : array-like

    Raises
    ------
    ValueError
        If a column has the name of the target.
    """
    columns: tuple[Hashable, ...] = names or tuple(f"x{j}" for j in range(n_columns))
    if target is None:
        own = getattr(y, "name", None)
        target = own if isinstance(own, Hashable) and own is not None else "y"
        while target in columns:
            target = f"{target}_"
    elif target in columns:
        raise ValueError(
            f"target={target!r} is the name of a column of X: give the target another name"
        )
    return (*columns, target)


def build_graph(
    structure: Structure,
    nodes: tuple[Hashable, ...],
    states: States,
    sizes: tuple[int, ...],
    weight: Floats,
) -> DirectedGraph:
    """Return the graph of the network; its last node is the target.

    Parameters
    ----------
    structure : {"fan", "tan", "naive"}, DirectedGraph or collection of (parent, child)
    nodes : tuple of hashable
        Names, the target's last.
    states : ndarray of shape (n_rows, n_nodes)
    sizes : tuple of int
        Number of states of each node.
    weight : ndarray of shape (n_rows,)

    Raises
    ------
    ValueError
        If the structure is unknown, an edge names an unknown column, edges form a cycle, or the
        target has no edge.
    """
    target = len(nodes) - 1
    if isinstance(structure, str):
        is_known = structure in {"fan", "tan", "naive"}
    else:
        is_known = isinstance(structure, DirectedGraph | Collection)
    if not is_known:
        raise ValueError(
            f"structure={structure!r}: give 'fan', 'tan', 'naive', a DirectedGraph or a list of "
            "edges (parent, child)"
        )
    if isinstance(structure, str):
        edges = [(target, column) for column in range(target)]
        if structure != "naive":
            columns, labels = states[:, :target], states[:, target]
            edges += build_augmenting_tree(
                columns, sizes[:target], labels, sizes[target], weight, penalized=structure == "fan"
            )
        return DirectedGraph([(nodes[parent], nodes[child]) for parent, child in edges], nodes)
    if isinstance(structure, DirectedGraph):
        structure = structure.edges
    graph = DirectedGraph(structure, nodes)
    if not graph.parent_places[target] and not graph.child_places[target]:
        raise ValueError(
            f"structure has no edge at {nodes[target]!r}, the target, and no column would be "
            "informative: add an edge with it, or set target= to the name that the edges use"
        )
    return graph
