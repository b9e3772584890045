"""Export of trees as one ONNX node, the operator TreeEnsembleRegressor.

https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleRegressor.html

A categorical split becomes a chain of thresholds on the codes: in ascending order, each run of
codes with the same child is one split, and codes above the last run take the last branch.

    {2, 3, 7}:  code <= 1.5 ? others : code <= 3.5 ? these : code <= 6.5 ? others : code <= 7.5 ? ..

Missing values take the branch of the others, at the first split.

A leaf with terms predicts, see `Ensemble.linear`,

    intercept + sum of coefficient * (min(max(x[feature], low), high) - low)

or its value if one of the features is missing. The exported trees sum slopes: a term adds to the
slope of its column and to a constant, and below low or above high to the constant only. The score
is the sum of slopes times columns, plus the constants. Each tree is exported several times, once
for the constants and once for the first, second, ... term of its leaves; splits replace its leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda._engine.ensemble import Ensemble
from arboleda._engine.tree import Tree
from arboleda.onnx_export._graph import Graph, LeafSums, TreeSums

Floats = npt.NDArray[np.float64]

# Largest exponent of two before scaling: float32 overflows at 127 and loses digits at -126.
_MAX_EXPONENT = 60


class TreeEnsembleBuilder:
    """Builder of an ONNX tree ensemble, whose leaves add to scores."""

    def __init__(self, n_outputs: int) -> None:
        self.n_outputs = n_outputs
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}
        self._n_trees = 0
        self._trees: list[LeafSums] = []

    def add(self, tree: Tree, leaf_values: Floats, first_output: int = 0) -> None:
        """Add a tree; ``leaf_values`` (n_nodes, k) are added to k consecutive outputs."""
        self._trees.append(LeafSums(tree, leaf_values[tree.children_left < 0], first_output))

    def _keep_tree(self, tree: Tree, leaf_values: Floats, first_output: int) -> None:
        leaves = np.flatnonzero(tree.children_left < 0)
        k = leaf_values.shape[1]
        self.keep(
            make_node_arrays(tree),
            np.repeat(leaves, k),
            np.tile(first_output + np.arange(k), leaves.size),
            leaf_values.ravel(),
        )

    def keep(
        self,
        nodes: TreeNodeArrays,
        leaves: npt.NDArray[np.intp],
        outputs: npt.NDArray[np.intp],
        weights: Floats,
    ) -> None:
        """Add the nodes of a tree; several entries may add to one output of a leaf."""
        number = self._n_trees
        self._n_trees += 1
        self._add("nodes_treeids", np.full(nodes.number.size, number))
        self._add("nodes_nodeids", nodes.number)
        self._add("nodes_featureids", nodes.feature)
        self._add("nodes_values", nodes.threshold)
        self._add("nodes_truenodeids", nodes.yes)
        self._add("nodes_falsenodeids", nodes.no)
        self._add("nodes_missing_value_tracks_true", nodes.missing_yes)
        self._add("is_leaf", nodes.is_leaf)
        self._add("target_treeids", np.full(leaves.size, number))
        self._add("target_nodeids", leaves)
        self._add("target_ids", outputs)
        self._add("target_weights", weights)

    def into(self, graph: Graph, matrix: str, start: npt.ArrayLike, divisor: float = 1.0) -> str:
        """Add the trees to a graph and return the name of their scores, (n_rows, n_outputs).

        The scores are the start plus the values of the leaves, divided by the divisor.
        """
        base = np.broadcast_to(np.asarray(start, dtype=np.float64), self.n_outputs)
        found = graph.add_tree_sums(TreeSums(self._trees, base, divisor), matrix)
        if found is not None:
            return found
        for added in self._trees:
            self._keep_tree(*added)
        scores = self._add_operator(graph, matrix, base)
        return scores if divisor == 1.0 else graph.add("Div", scores, graph.number(divisor))

    def _add_operator(self, graph: Graph, matrix: str, base: Floats) -> str:
        if not self._n_trees:
            first = graph.add("Mul", graph.columns(matrix, [0]), graph.constant(np.zeros((1, 1))))
            missing = graph.add("IsNaN", first)
            zero = graph.add("Where", missing, graph.constant(np.zeros((1, 1))), first)
            return graph.add("Add", zero, graph.constant(base[np.newaxis]))
        joined = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        leaf = joined.pop("is_leaf")
        values = joined.pop("nodes_values")
        weights, ids = joined["target_weights"], joined["target_ids"]
        powers = _compute_scale_powers(weights, ids, base)
        coarse, fine = self._split_weights(np.ldexp(weights, -powers[ids]), ids)
        for name in ("target_treeids", "target_nodeids"):
            joined[name] = np.tile(joined[name], 2)
        joined["target_ids"] = np.concatenate([ids, ids + self.n_outputs])
        del joined["target_weights"]
        sums = graph.add(
            "TreeEnsembleRegressor",
            matrix,
            domain="ai.onnx.ml",
            n_targets=2 * self.n_outputs,
            aggregate_function="SUM",
            nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
            nodes_values_as_tensor=graph.tensor(values),
            target_weights_as_tensor=graph.tensor(np.concatenate([coarse, fine])),
            **{name: array.tolist() for name, array in joined.items()},
        )
        both = graph.cast(sums, "float64")
        places = np.arange(self.n_outputs)
        scores = graph.add(
            "Add", graph.columns(both, places), graph.columns(both, places + self.n_outputs)
        )
        if base.any():
            scaled = np.ldexp(base, -powers)
            scores = graph.add("Add", scores, graph.constant(scaled[np.newaxis]))
        if not powers.any():
            return scores
        return graph.add("Mul", scores, graph.constant(np.ldexp(1.0, powers)[np.newaxis]))

    def _split_weights(self, weights: Floats, ids: npt.NDArray[Any]) -> tuple[Floats, Floats]:
        """Split leaf values into multiples of a unit and remainders.

        The operator computes in float32. Sums of the multiples are exact there, and sums of the
        remainders are so small that rounding costs at most 2^-24 of a unit per tree.
        """
        trees = np.concatenate(self._parts["target_treeids"])
        largest = np.zeros((self._n_trees, self.n_outputs))
        np.maximum.at(largest, (trees, ids), np.abs(weights))
        _, exponent = np.frexp(largest.sum(axis=0))
        unit = np.ldexp(1.0, np.clip(exponent - 23, -1000, 1000))[ids]
        coarse: Floats = np.rint(weights / unit) * unit
        return coarse, weights - coarse

    def _add(self, name: str, array: npt.NDArray[Any]) -> None:
        self._parts.setdefault(name, []).append(array)


def _compute_scale_powers(
    weights: Floats, ids: npt.NDArray[Any], base: Floats
) -> npt.NDArray[np.int32]:
    """Compute powers of two that scale scores into the range of float32; 0 if unnecessary."""
    largest = np.abs(base)
    np.maximum.at(largest, ids, np.abs(weights))
    _, exponent = np.frexp(largest)
    return np.where(np.abs(exponent) > _MAX_EXPONENT, exponent - 1, 0).astype(np.int32)


class TreeNodeArrays:
    """Node arrays of a tree: values up to the threshold go to ``yes``, others to ``no``."""

    def __init__(self, *arrays: npt.NDArray[Any]) -> None:
        (
            self.number, self.feature, self.threshold, self.yes, self.no, self.missing_yes,
            self.is_leaf,
        ) = arrays  # fmt: skip


def make_node_arrays(tree: Tree) -> TreeNodeArrays:
    """Make the node arrays of a tree, with its own node numbers."""
    is_leaf = tree.children_left < 0
    nodes = TreeNodeArrays(
        np.arange(tree.node_count),
        np.where(is_leaf, 0, tree.feature),
        np.where(is_leaf, 0.0, tree.threshold),
        np.where(is_leaf, 0, tree.children_left),
        np.where(is_leaf, 0, tree.children_right),
        tree.missing_go_to_left.astype(np.int64),
        is_leaf,
    )
    categorical_nodes = [
        node for node in np.flatnonzero(~is_leaf).tolist() if tree.categories(node).size
    ]
    return _add_category_chains(nodes, tree, categorical_nodes) if categorical_nodes else nodes


def _add_category_chains(
    nodes: TreeNodeArrays, tree: Tree, categorical_nodes: list[int]
) -> TreeNodeArrays:
    """Replace each categorical split by a chain of thresholds."""
    more: list[tuple[int, int, float, int, int, int, bool]] = []
    following = nodes.number.size
    for node in categorical_nodes:
        left, right = int(nodes.yes[node]), int(nodes.no[node])
        missing_left = bool(tree.missing_go_to_left[node])
        others, listed = (left, right) if missing_left else (right, left)
        bounds, ways = _find_code_runs(tree.categories(node).astype(np.int64), others, listed)
        column = int(nodes.feature[node])
        for i, (bound, target_node) in enumerate(zip(bounds, ways[:-1], strict=True)):
            last = i == len(bounds) - 1
            no = ways[-1] if last else following
            row = (column, bound, target_node, no, int(target_node == others))
            if i == 0:
                nodes.threshold[node], nodes.yes[node], nodes.no[node] = bound, target_node, no
                nodes.missing_yes[node] = 1
            else:
                more.append((following - 1, row[0], row[1], row[2], row[3], row[4], False))
            following += not last
    return append_nodes(nodes, more)


def append_nodes(
    nodes: TreeNodeArrays, more: Sequence[tuple[int, int, float, int, int, int, bool]]
) -> TreeNodeArrays:
    """Append nodes: number, feature, threshold, yes, no, missing_yes, is_leaf."""
    if not more:
        return nodes
    added = zip(*more, strict=True)
    old = (
        nodes.number, nodes.feature, nodes.threshold, nodes.yes, nodes.no, nodes.missing_yes,
        nodes.is_leaf,
    )  # fmt: skip
    return TreeNodeArrays(
        *(np.concatenate([a, np.array(b)]) for a, b in zip(old, added, strict=True))
    )


def _find_code_runs(
    codes: npt.NDArray[np.int64], others: int, listed: int
) -> tuple[list[float], list[int]]:
    """Return the ascending upper ends of the runs, and the children of these runs and above."""
    breaks = np.flatnonzero(np.diff(codes) > 1)
    first = codes[np.concatenate([[0], breaks + 1])]
    last = codes[np.concatenate([breaks, [codes.size - 1]])]
    bounds = np.column_stack([first - 0.5, last + 0.5]).ravel().tolist()
    return bounds, [others, listed] * first.size + [others]


class _Term(NamedTuple):
    feature: int
    coefficient: float
    low: float
    high: float


def add_linear_leaf_scores(
    ensemble: Ensemble, matrix: str, start: npt.ArrayLike, graph: Graph
) -> str:
    """Add the scores of an ensemble with linear leaves, (n_rows, n_outputs)."""
    found = graph.add_linear_trees(ensemble, np.asarray(start, dtype=np.float64), matrix)
    if found is not None:
        return found
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
