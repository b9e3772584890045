"""The graph of a Bayesian network classifier: given by edges, naive, or augmented."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Any, Literal

from arboleda._engine.schema import Name
from arboleda.learners._bayesian_network_tables import Floats, States
from arboleda.learners._directed_graph import DirectedGraph
from arboleda.learners._tree_augmented import build_augmenting_tree

__all__ = ["Structure", "build_graph", "node_names"]

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
