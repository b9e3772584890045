"""Directed acyclic graphs, and the independences that they imply."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from arboleda._utils.frames import new_frame
from arboleda._utils.results import Result

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["DirectedGraph"]

Node = Hashable


class DirectedGraph(Result):
    """A directed acyclic graph, such as that of a Bayesian network.

    Parameters
    ----------
    edges : iterable of (parent, child)
        Pairs of names, without duplicates.
    nodes : iterable of hashable, default=None
        Names of all nodes in the order of the graph, without duplicates; nodes without edges are
        allowed. None: the nodes of the edges, in the order in which they first occur.

    Attributes
    ----------
    nodes : tuple
        Names of the nodes.
    edges : tuple of tuple
        Pairs of parent and child, ordered by the child, then by the parent.

    Raises
    ------
    ValueError
        If an edge is not a pair, is given twice or names an unknown node, or edges form a cycle.
        The message names the edge.

    Examples
    --------
    A letter depends on the grade only. Given the grade, the difficulty of the course is informative
    about the intelligence of the student:

    >>> from arboleda import DirectedGraph
    >>> graph = DirectedGraph(
    ...     [("difficulty", "grade"), ("intelligence", "grade"), ("grade", "letter")]
    ... )
    >>> graph.d_separated("difficulty", "intelligence")
    True
    >>> graph.d_separated("difficulty", "intelligence", given="letter")
    False
    >>> graph.d_separated("difficulty", "letter", given="grade")
    True
    """

    def __init__(self, edges: Iterable[Sequence[Node]], nodes: Iterable[Node] | None = None):
        pairs = [_pair(edge) for edge in edges]
        named = dict.fromkeys(end for pair in pairs for end in pair) if nodes is None else nodes
        self.nodes: tuple[Node, ...] = tuple(named)
        self._places = {node: place for place, node in enumerate(self.nodes)}
        if len(self._places) < len(self.nodes):
            twice = next(
                node for place, node in enumerate(self.nodes) if self._places[node] > place
            )
            raise ValueError(f"the node {twice!r} is given twice")
        parents: list[set[int]] = [set() for _ in self.nodes]
        for pair in pairs:
            parent, child = (self._place(end, f"the edge {_arrow(pair)}") for end in pair)
            if parent in parents[child]:
                raise ValueError(f"the edge {_arrow(pair)} is given twice: once is enough")
            parents[child].add(parent)
        self.parent_places: tuple[tuple[int, ...], ...] = tuple(
            tuple(sorted(places)) for places in parents
        )
        self.order: tuple[int, ...] = self._topological_order()

    @property
    def edges(self) -> tuple[tuple[Node, Node], ...]:
        """Pairs of parent and child, ordered by the child, then by the parent."""
        return tuple(
            (self.nodes[parent], child)
            for child, places in zip(self.nodes, self.parent_places, strict=True)
            for parent in places
        )

    @property
    def child_places(self) -> tuple[tuple[int, ...], ...]:
        """Indices of each node's children in `nodes`."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for child, places in enumerate(self.parent_places):
            for parent in places:
                children[parent].append(child)
        return tuple(map(tuple, children))

    def parents(self, node: Node) -> tuple[Node, ...]:
        """Return the parents of a node, in the order of `nodes`.

        Parameters
        ----------
        node : hashable

        Returns
        -------
        parents : tuple
        """
        return tuple(
            self.nodes[p] for p in self.parent_places[self._place(node, "the argument node")]
        )

    def children(self, node: Node) -> tuple[Node, ...]:
        """Return the children of a node, in the order of `nodes`.

        Parameters
        ----------
        node : hashable

        Returns
        -------
        children : tuple
        """
        return tuple(
            self.nodes[p] for p in self.child_places[self._place(node, "the argument node")]
        )

    def d_separated(self, a: Any, b: Any, given: Any = ()) -> bool:
        """Return whether every path between two sets of nodes is blocked by a third one.

        A path is blocked by a given node at which its arrows meet head to tail or tail to tail, or
        by a node at which they meet head to head if neither the node nor any of its descendants is
        given. Then a and b are independent given the third set in every distribution that
        factorises along the graph (Pearl 1988, section 3.3).

        Parameters
        ----------
        a, b, given : hashable, or iterable of hashable
            One node, or several; no node may be in two of them.

        Returns
        -------
        separated : bool

        Raises
        ------
        ValueError
            If a node is unknown or in two of the sets, or a or b is empty.
        """
        start, end, known = (
            self._set(nodes, name) for nodes, name in ((a, "a"), (b, "b"), (given, "given"))
        )
        for one, other, names in (
            (start, end, "a and b"),
            (start | end, known, "given and a or b"),
        ):
            if one & other:
                node = self.nodes[min(one & other)]
                raise ValueError(f"{node!r} is in {names}: the sets must have no node in common")
        if not start or not end:
            raise ValueError(f"{'a' if not start else 'b'} is empty: give at least one node")
        return not self._reaches(start, end, known)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the graph in layers, parents above children.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure that fits all names.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        from arboleda.learners._graph_drawing import draw_graph

        return draw_graph(self, ax)

    def _summarize(self) -> dict[str, Any]:
        return {"nodes": self.nodes, "n_edges": len(self.edges)}

    def to_frame(self) -> pd.DataFrame:
        """Return the edges as a pandas data frame with the columns ``parent`` and ``child``."""
        return new_frame(self.edges, columns=["parent", "child"])

    def _place(self, node: Node, where: str) -> int:
        try:
            return self._places[node]
        except KeyError:
            listed = ", ".join(map(repr, self.nodes[:20])) or "none"
            more = ", ..." if len(self.nodes) > 20 else ""
            raise ValueError(
                f"{where} names {node!r}, which is not a node; the nodes are {listed}{more}"
            ) from None

    def _set(self, nodes: Any, name: str) -> set[int]:
        """Return the indices of one node or of several."""
        is_single = isinstance(nodes, str) or (
            isinstance(nodes, Hashable) and nodes in self._places
        )
        if not is_single and not isinstance(nodes, Iterable):
            is_single = True  # an unknown node, for which `_place` raises the error
        return {self._place(node, name) for node in ([nodes] if is_single else nodes)}

    def _reaches(self, start: set[int], end: set[int], known: set[int]) -> bool:
        """Return whether an open path connects two sets (Koller & Friedman 2009, algorithm 3.1)."""
        children = self.child_places
        opened = self._with_ancestors(known)  # nodes at which arrows may meet head to head
        seen: set[tuple[int, bool]] = set()
        todo = [(place, True) for place in start]
        while todo:
            place, from_child = step = todo.pop()
            if step in seen:
                continue
            seen.add(step)
            if place in end:
                return True
            if place not in known:
                todo += [(child, False) for child in children[place]]
            if place not in known if from_child else place in opened:
                todo += [(parent, True) for parent in self.parent_places[place]]
        return False

    def _with_ancestors(self, places: set[int]) -> set[int]:
        found: set[int] = set()
        todo = list(places)
        while todo:
            place = todo.pop()
            if place not in found:
                found.add(place)
                todo += self.parent_places[place]
        return found

    def _topological_order(self) -> tuple[int, ...]:
        """Return the indices of the nodes, each after its parents."""
        waits = [len(places) for places in self.parent_places]
        children = self.child_places
        order = [place for place, count in enumerate(waits) if count == 0]
        for place in order:  # grows as it is walked
            for child in children[place]:
                waits[child] -= 1
                if waits[child] == 0:
                    order.append(child)
        if len(order) < len(self.nodes):
            cycle = self._cycle({place for place, count in enumerate(waits) if count})
            raise ValueError(
                f"the edges form the cycle {' -> '.join(map(repr, cycle))}: remove one of them, "
                f"such as {_arrow(cycle[:2])}"
            )
        return tuple(order)

    def _cycle(self, stuck: set[int]) -> list[Node]:
        """Return the names along a cycle, the first one twice.

        Each of the nodes must have a parent among them.
        """
        path = [min(stuck)]
        while path[-1] not in path[:-1]:
            path.append(min(set(self.parent_places[path[-1]]) & stuck))
        around = path[path.index(path[-1]) :]
        return [self.nodes[place] for place in reversed(around)]


def _pair(edge: Any) -> tuple[Node, Node]:
    is_pair = isinstance(edge, Sequence) and not isinstance(edge, str) and len(edge) == 2
    if not is_pair or not all(isinstance(end, Hashable) for end in edge):
        raise ValueError(f"{edge!r} is not an edge: give a pair (parent, child) of names")
    return edge[0], edge[1]


def _arrow(pair: Sequence[Node]) -> str:
    return f"{pair[0]!r} -> {pair[1]!r}"
