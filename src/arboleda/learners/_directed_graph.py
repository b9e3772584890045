"""Directed graphs without cycles: who depends on whom, and which independences that implies."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DirectedGraph"]

Node = Hashable


class DirectedGraph:
    """A directed graph without cycles, as that of a Bayesian network.

    Parameters
    ----------
    edges : iterable of (parent, child)
        Pairs of names; each pair once.
    nodes : iterable of hashable, default=None
        Names of all nodes, each once, in the order in which the graph is to keep them; it may hold
        nodes without edges. None: those of the edges, in the order in which they are named first.

    Attributes
    ----------
    nodes : tuple
        Names of the nodes.
    edges : tuple of tuple
        Pairs of parent and child, ordered by the child, then by the parent.

    Raises
    ------
    ValueError
        If an edge is no pair, is given twice or names an unknown node, or edges form a cycle. The
        message names the edge.

    Examples
    --------
    Whether a letter is good depends on the grade alone; once the grade is known, how difficult the
    course was tells something of the student's intelligence:

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
        self.parent_places = tuple(tuple(sorted(places)) for places in parents)
        self.order = self._topological_order()

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
        """Places of each node's children in `nodes`."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for child, places in enumerate(self.parent_places):
            for parent in places:
                children[parent].append(child)
        return tuple(map(tuple, children))

    def parents(self, node: Node) -> tuple[Node, ...]:
        """Parents of a node, in the order of `nodes`.

        Parameters
        ----------
        node : hashable

        Returns
        -------
        parents : tuple
        """
        return tuple(self.nodes[p] for p in self.parent_places[self._place(node, "the question")])

    def children(self, node: Node) -> tuple[Node, ...]:
        """Children of a node, in the order of `nodes`.

        Parameters
        ----------
        node : hashable

        Returns
        -------
        children : tuple
        """
        return tuple(self.nodes[p] for p in self.child_places[self._place(node, "the question")])

    def d_separated(self, a: Any, b: Any, given: Any = ()) -> bool:
        """Whether every path between two sets of nodes is blocked by a third one.

        A path is blocked if on it there is a node where arrows meet head to tail or tail to tail
        and which is given, or one where they meet head to head and neither it nor any of its
        descendants is given. Then a and b are independent given the third set in every distribution
        that factorises along the graph (Pearl 1988, section 3.3).

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
            raise ValueError(f"{'a' if not start else 'b'} is empty: give it a node at least")
        return not self._reaches(start, end, known)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the graph in layers, parents above children.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: on axes of a new figure, large enough for all names.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        from arboleda.learners._graph_drawing import draw_graph

        return draw_graph(self, ax)

    def __repr__(self) -> str:
        return f"<DirectedGraph of {len(self.nodes)} nodes and {len(self.edges)} edges>"

    def _place(self, node: Node, where: str) -> int:
        try:
            return self._places[node]
        except KeyError:
            listed = ", ".join(map(repr, self.nodes[:20])) or "none"
            more = ", ..." if len(self.nodes) > 20 else ""
            raise ValueError(
                f"{where} names {node!r}, which is no node; there are {listed}{more}"
            ) from None

    def _set(self, nodes: Any, name: str) -> set[int]:
        """Places of one node or of several."""
        one = isinstance(nodes, str) or (isinstance(nodes, Hashable) and nodes in self._places)
        if not one and not isinstance(nodes, Iterable):
            one = True  # it is unknown, and reported so
        return {self._place(node, name) for node in ([nodes] if one else nodes)}

    def _reaches(self, start: set[int], end: set[int], known: set[int]) -> bool:
        """Whether an open path leads from start to end (Koller & Friedman 2009, algorithm 3.1)."""
        children = self.child_places
        opened = self._with_ancestors(known)  # where heads may meet
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
        """Places of the nodes, each after its parents."""
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
                f"the edges form the cycle {' -> '.join(map(repr, cycle))}: take out one of them, "
                f"as {_arrow(cycle[:2])}"
            )
        return tuple(order)

    def _cycle(self, stuck: set[int]) -> list[Node]:
        """Names along a cycle among nodes each of which has a parent there, the first one twice."""
        path = [min(stuck)]
        while path[-1] not in path[:-1]:
            path.append(min(set(self.parent_places[path[-1]]) & stuck))
        around = path[path.index(path[-1]) :]
        return [self.nodes[place] for place in reversed(around)]


def _pair(edge: Any) -> tuple[Node, Node]:
    is_pair = isinstance(edge, Sequence) and not isinstance(edge, str) and len(edge) == 2
    if not is_pair or not all(isinstance(end, Hashable) for end in edge):
        raise ValueError(f"{edge!r} is no edge: give a pair (parent, child) of names")
    return edge[0], edge[1]


def _arrow(pair: Sequence[Node]) -> str:
    return f"{pair[0]!r} -> {pair[1]!r}"
