"""ONNX export of linear leaves, expressed by constant leaves.

A leaf with terms predicts, see `Ensemble.linear`,

    intercept + sum of coefficient * (min(max(x[feature], low), high) - low)

or its value if one of the features is missing. The exported trees sum slopes: a term adds to the
slope of its column and to a constant, and below low or above high to the constant only. The score
is the sum of slopes times columns, plus the constants. Each tree is exported several times, once
for the constants and once for the first, second, ... term of its leaves; splits replace its leaves.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda._engine.ensemble import Ensemble
from arboleda._engine.tree import Tree
from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._trees import TreeEnsembleBuilder, append_nodes, make_node_arrays


class _Term(NamedTuple):
    feature: int
    coefficient: float
    low: float
    high: float


def add_linear_leaf_scores(
    ensemble: Ensemble, matrix: str, start: npt.ArrayLike, graph: Graph
) -> str:
    """Add the scores of an ensemble with linear leaves, (n_rows, n_outputs)."""
    linear = {name.removeprefix("linear."): array for name, array in ensemble.linear.items()}
    columns = np.unique(linear["feature"])
    n_outputs, width = ensemble.n_outputs, columns.size
    nodes = TreeEnsembleBuilder(n_outputs * (1 + width))
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
        parts.append(graph.add_row_sums(graph.add("Mul", slope, known)))
    constants = graph.columns(sums, np.arange(n_outputs))
    return graph.add("Add", constants, graph.concat_columns(parts))


def _add_constants(
    nodes: TreeEnsembleBuilder,
    tree: Tree,
    terms: list[list[_Term]],
    intercepts: list[float],
    output: int,
) -> None:
    """Add the intercept of each leaf, or its value without terms or with a missing feature."""
    grown = _EditableTree(tree)
    for leaf in grown.leaves:
        value = float(tree.value_rows[leaf, 0])
        if not terms[leaf]:
            grown.add(leaf, output, value)
            continue
        lacking, following = grown.leaf(output, value), grown.leaf(output, intercepts[leaf])
        for term in terms[leaf]:
            following = grown.add_missing_split(term.feature, lacking, following)
        grown.move(following, leaf)
    grown.into(nodes)


def _add_terms(
    nodes: TreeEnsembleBuilder,
    tree: Tree,
    terms: list[list[_Term]],
    k: int,
    output: int,
    slopes: dict[int, int],
) -> None:
    """Add the k-th term of each leaf; ``slopes``: the outputs that sum the slopes of columns."""
    grown = _EditableTree(tree)
    for leaf in grown.leaves:
        if len(terms[leaf]) <= k:
            grown.add(leaf, output, 0.0)
            continue
        term, nothing = terms[leaf][k], grown.leaf(output, 0.0)
        within = grown.leaf(output, -term.coefficient * term.low)
        grown.add(within, slopes[term.feature], term.coefficient)
        beyond = grown.leaf(output, term.coefficient * (term.high - term.low))
        following = grown.add_split(term.feature, term.high, within, beyond)
        following = grown.add_split(term.feature, term.low, nothing, following, missing=nothing)
        for other in terms[leaf]:
            if other is not term:
                following = grown.add_missing_split(other.feature, nothing, following)
        grown.move(following, leaf)
    grown.into(nodes)


class _EditableTree:
    """A tree whose leaves can be replaced by splits."""

    def __init__(self, tree: Tree) -> None:
        self.leaves = np.flatnonzero(tree.children_left < 0).tolist()
        self._nodes = make_node_arrays(tree)
        self._more: list[tuple[int, int, float, int, int, int, bool]] = []
        self._entries: list[tuple[int, int, float]] = []

    def add(self, leaf: int, output: int, weight: float) -> None:
        """Set what a leaf adds to an output."""
        self._entries.append((leaf, output, weight))

    def leaf(self, output: int, weight: float) -> int:
        """Add a leaf and return its number."""
        number = self._new(0, 0.0, 0, 0, 0, is_leaf=True)
        self.add(number, output, weight)
        return number

    def add_split(
        self, feature: int, threshold: float, yes: int, no: int, missing: int | None = None
    ) -> int:
        """Add a split and return its number; splits may share a ``yes`` node, not a ``no`` node."""
        return self._new(feature, threshold, yes, no, int(missing == yes), is_leaf=False)

    def add_missing_split(self, feature: int, yes: int, no: int) -> int:
        """Add a split on whether a feature is missing."""
        return self.add_split(feature, -np.inf, yes, no, missing=yes)

    def move(self, split: int, leaf: int) -> None:
        """Replace a leaf of the tree by the split added last."""
        number, *row = self._more.pop()
        assert number == split
        nodes = self._nodes
        parts = (nodes.feature, nodes.threshold, nodes.yes, nodes.no, nodes.missing_yes)
        for part, value in zip((*parts, nodes.is_leaf), row, strict=True):
            part[leaf] = value

    def into(self, nodes: TreeEnsembleBuilder) -> None:
        """Add the tree to an ensemble."""
        leaves, outputs, weights = (np.array(part) for part in zip(*self._entries, strict=True))
        nodes.keep(append_nodes(self._nodes, self._more), leaves, outputs, weights)

    def _new(
        self, feature: int, threshold: float, yes: int, no: int, missing: int, *, is_leaf: bool
    ) -> int:
        number = len(self._nodes.number) + len(self._more)
        self._more.append((number, feature, threshold, yes, no, missing, is_leaf))
        return number
