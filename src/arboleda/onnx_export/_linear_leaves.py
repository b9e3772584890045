"""Linear leaves in ONNX, whose leaves add numbers and nothing else.

A leaf with terms answers, see `Ensemble.linear`,

    intercept + sum of coefficient * (min(max(x[feature], low), high) - low)

or its value where a row lacks one of the features. So the trees add up slopes: a term adds to the
slope of its column and to a constant, and below low or beyond high to the constant alone. What the
slopes make of the columns, and the constants, is the score. Each tree stands there several times,
once for what needs no column and once for the first, second, .. term of its leaves; tests follow in
the place of a leaf.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda._engine.ensemble import Ensemble
from arboleda._engine.tree import Tree
from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._trees import TreeNodes, nodes_of, with_more


class _Term(NamedTuple):
    feature: int
    coefficient: float
    low: float
    high: float


def linear_scores(ensemble: Ensemble, matrix: str, start: npt.ArrayLike, graph: Graph) -> str:
    """Scores of an ensemble with linear leaves, (n_rows, n_outputs)."""
    linear = {name.removeprefix("linear."): array for name, array in ensemble.linear.items()}
    columns = np.unique(linear["feature"])
    n_outputs, width = ensemble.n_outputs, columns.size
    nodes = TreeNodes(n_outputs * (1 + width))
    first = 0
    for number, tree in enumerate(ensemble.trees):
        output = number % n_outputs
        ends = linear["start"][first : first + tree.node_count + 1].tolist()
        intercepts = linear["intercept"][first : first + tree.node_count]
        terms = [
            [_Term(*(linear[part][e].item() for part in _Term._fields)) for e in range(begin, end)]
            for begin, end in pairwise(ends)
        ]
        slopes = {int(j): n_outputs + output * width + k for k, j in enumerate(columns)}
        _add_constants(nodes, tree, terms, intercepts.tolist(), output)
        for k in range(max(map(len, terms))):
            _add_terms(nodes, tree, terms, k, output, slopes)
        first += tree.node_count
    base = np.zeros(n_outputs * (1 + width))
    base[:n_outputs] = start
    sums = nodes.into(graph, matrix, base)
    x = graph.columns(matrix, columns)
    known = graph.add("Where", graph.add("IsNaN", x), graph.number(0.0), x)
    parts = []
    for output in range(n_outputs):
        slope = graph.columns(sums, n_outputs + output * width + np.arange(width))
        parts.append(graph.summed(graph.add("Mul", slope, known)))
    constants = graph.columns(sums, np.arange(n_outputs))
    return graph.add("Add", constants, graph.side_by_side(parts))


def _add_constants(
    nodes: TreeNodes, tree: Tree, terms: list[list[_Term]], intercepts: list[float], output: int
) -> None:
    """The intercept of each leaf, or its value where it has no terms or a row lacks a feature."""
    grown = _Grown(tree)
    for leaf in grown.leaves:
        value = float(tree.value_rows[leaf, 0])
        if not terms[leaf]:
            grown.add(leaf, output, value)
            continue
        lacking, following = grown.leaf(output, value), grown.leaf(output, intercepts[leaf])
        for term in terms[leaf]:
            following = grown.ask_missing(term.feature, lacking, following)
        grown.move(following, leaf)
    grown.into(nodes)


def _add_terms(
    nodes: TreeNodes,
    tree: Tree,
    terms: list[list[_Term]],
    k: int,
    output: int,
    slopes: dict[int, int],
) -> None:
    """The k-th term of each leaf; ``slopes``: where the slopes of columns are added up."""
    grown = _Grown(tree)
    for leaf in grown.leaves:
        if len(terms[leaf]) <= k:
            grown.add(leaf, output, 0.0)
            continue
        term, nothing = terms[leaf][k], grown.leaf(output, 0.0)
        within = grown.leaf(output, -term.coefficient * term.low)
        grown.add(within, slopes[term.feature], term.coefficient)
        beyond = grown.leaf(output, term.coefficient * (term.high - term.low))
        following = grown.ask(term.feature, term.high, within, beyond)
        following = grown.ask(term.feature, term.low, nothing, following, missing=nothing)
        for other in terms[leaf]:
            if other is not term:
                following = grown.ask_missing(other.feature, nothing, following)
        grown.move(following, leaf)
    grown.into(nodes)


class _Grown:
    """A tree with nodes in the place of some of its leaves."""

    def __init__(self, tree: Tree) -> None:
        self.leaves = np.flatnonzero(tree.children_left < 0).tolist()
        self._nodes = nodes_of(tree)
        self._more: list[tuple[int, int, float, int, int, int, bool]] = []
        self._entries: list[tuple[int, int, float]] = []

    def add(self, leaf: int, output: int, weight: float) -> None:
        """What a leaf adds to an output."""
        self._entries.append((leaf, output, weight))

    def leaf(self, output: int, weight: float) -> int:
        """A new leaf; gives its number."""
        number = self._new(0, 0.0, 0, 0, 0, is_leaf=True)
        self.add(number, output, weight)
        return number

    def ask(
        self, feature: int, threshold: float, yes: int, no: int, missing: int | None = None
    ) -> int:
        """A new question; gives its number. Several may share what follows a yes, not a no."""
        return self._new(feature, threshold, yes, no, int(missing == yes), is_leaf=False)

    def ask_missing(self, feature: int, yes: int, no: int) -> int:
        """Whether a feature is missing, as a new question."""
        return self.ask(feature, -np.inf, yes, no, missing=yes)

    def move(self, question: int, leaf: int) -> None:
        """Put the question that was asked last in the place of a leaf of the tree."""
        number, *row = self._more.pop()
        assert number == question
        nodes = self._nodes
        parts = (nodes.feature, nodes.threshold, nodes.yes, nodes.no, nodes.missing_yes)
        for part, value in zip((*parts, nodes.is_leaf), row, strict=True):
            part[leaf] = value

    def into(self, nodes: TreeNodes) -> None:
        """Add the tree to others."""
        leaves, outputs, weights = (np.array(part) for part in zip(*self._entries, strict=True))
        nodes.keep(with_more(self._nodes, self._more), leaves, outputs, weights)

    def _new(
        self, feature: int, threshold: float, yes: int, no: int, missing: int, *, is_leaf: bool
    ) -> int:
        number = len(self._nodes.number) + len(self._more)
        self._more.append((number, feature, threshold, yes, no, missing, is_leaf))
        return number
