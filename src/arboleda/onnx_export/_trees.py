"""Trees as one node of ONNX: its operator TreeEnsembleRegressor.

https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleRegressor.html

A node that asks for categories becomes a chain of thresholds on their codes: from below, each run
of codes that go one way is one question, and what is above the last run is the last answer.

    {2, 3, 7}:  code <= 1.5 ? others : code <= 3.5 ? these : code <= 6.5 ? others : code <= 7.5 ? ..

Missing values go the way of the others, at the first question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.tree import Tree
from arboleda.onnx_export._graph import Graph

Floats = npt.NDArray[np.float64]

# Of powers of two: float32 ends at 127, and at -126 loses digits.
_WITHIN_FLOAT32 = 60


class TreeNodes:
    """Nodes of trees in the form of ONNX, whose leaves add to scores."""

    def __init__(self, n_outputs: int) -> None:
        self.n_outputs = n_outputs
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}
        self._n_trees = 0

    def add(self, tree: Tree, leaf_values: Floats, outputs: Sequence[int]) -> None:
        """Add a tree; ``leaf_values`` (n_nodes, k) count for these k outputs."""
        leaves = np.flatnonzero(tree.children_left < 0)
        k = len(outputs)
        self.keep(
            nodes_of(tree),
            np.repeat(leaves, k),
            np.tile(np.asarray(outputs), leaves.size),
            leaf_values[leaves].ravel(),
        )

    def keep(
        self,
        nodes: Nodes,
        leaves: npt.NDArray[np.intp],
        outputs: npt.NDArray[np.intp],
        weights: Floats,
    ) -> None:
        """Add the nodes of a tree; what a leaf adds to an output may be told in several entries."""
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

    def into(self, graph: Graph, matrix: str, start: npt.ArrayLike) -> str:
        """Add the trees to a graph and return the name of their scores, (n_rows, n_outputs)."""
        base = np.broadcast_to(np.asarray(start, dtype=np.float64), self.n_outputs)
        if not self._n_trees:
            first = graph.add("Mul", graph.columns(matrix, [0]), graph.constant(np.zeros((1, 1))))
            missing = graph.add("IsNaN", first)
            zero = graph.add("Where", missing, graph.constant(np.zeros((1, 1))), first)
            return graph.add("Add", zero, graph.constant(base[np.newaxis]))
        joined = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        leaf = joined.pop("is_leaf")
        values = joined.pop("nodes_values")
        weights, ids = joined["target_weights"], joined["target_ids"]
        powers = _powers(weights, ids, base)
        coarse, fine = self._in_two(np.ldexp(weights, -powers[ids]), ids)
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

    def _in_two(self, weights: Floats, ids: npt.NDArray[Any]) -> tuple[Floats, Floats]:
        """Part leaf values in multiples of a unit and what is left.

        The operator answers in float32. Sums of so few multiples are exact there, and those of
        what is left are so small that rounding them costs no more than 2^-24 of a unit a tree.
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


def _powers(weights: Floats, ids: npt.NDArray[Any], base: Floats) -> npt.NDArray[np.int32]:
    """Powers of two by which scores are divided, where float32 cannot hold leaf values and sums."""
    largest = np.abs(base)
    np.maximum.at(largest, ids, np.abs(weights))
    _, exponent = np.frexp(largest)
    return np.where(np.abs(exponent) > _WITHIN_FLOAT32, exponent - 1, 0).astype(np.int32)


class Nodes:
    """Nodes of a tree by their numbers: at most the threshold goes to ``yes``, else to ``no``."""

    def __init__(self, *arrays: npt.NDArray[Any]) -> None:
        (
            self.number, self.feature, self.threshold, self.yes, self.no, self.missing_yes,
            self.is_leaf,
        ) = arrays  # fmt: skip


def nodes_of(tree: Tree) -> Nodes:
    """The nodes of a tree; its own keep their numbers."""
    is_leaf = tree.children_left < 0
    nodes = Nodes(
        np.arange(tree.node_count),
        np.where(is_leaf, 0, tree.feature),
        np.where(is_leaf, 0.0, tree.threshold),
        np.where(is_leaf, 0, tree.children_left),
        np.where(is_leaf, 0, tree.children_right),
        tree.missing_go_to_left.astype(np.int64),
        is_leaf,
    )
    asking = [node for node in np.flatnonzero(~is_leaf).tolist() if tree.categories(node).size]
    return _with_chains(nodes, tree, asking) if asking else nodes


def _with_chains(nodes: Nodes, tree: Tree, asking: list[int]) -> Nodes:
    """Put a chain of thresholds in the place of each node that asks for categories."""
    more: list[tuple[int, int, float, int, int, int, bool]] = []
    following = nodes.number.size
    for node in asking:
        left, right = int(nodes.yes[node]), int(nodes.no[node])
        missing_left = bool(tree.missing_go_to_left[node])
        others, listed = (left, right) if missing_left else (right, left)
        bounds, ways = _runs(tree.categories(node).astype(np.int64), others, listed)
        column = int(nodes.feature[node])
        for i, (bound, way) in enumerate(zip(bounds, ways[:-1], strict=True)):
            last = i == len(bounds) - 1
            no = ways[-1] if last else following
            row = (column, bound, way, no, int(way == others))
            if i == 0:
                nodes.threshold[node], nodes.yes[node], nodes.no[node] = bound, way, no
                nodes.missing_yes[node] = 1
            else:
                more.append((following - 1, row[0], row[1], row[2], row[3], row[4], False))
            following += not last
    return with_more(nodes, more)


def with_more(nodes: Nodes, more: Sequence[tuple[int, int, float, int, int, int, bool]]) -> Nodes:
    """Nodes after those there are: number, feature, threshold, yes, no, missing_yes, is_leaf."""
    if not more:
        return nodes
    added = zip(*more, strict=True)
    old = (
        nodes.number, nodes.feature, nodes.threshold, nodes.yes, nodes.no, nodes.missing_yes,
        nodes.is_leaf,
    )  # fmt: skip
    return Nodes(*(np.concatenate([a, np.array(b)]) for a, b in zip(old, added, strict=True)))


def _runs(codes: npt.NDArray[np.int64], others: int, listed: int) -> tuple[list[float], list[int]]:
    """Upper ends of the runs from below, and the ways of these runs and of what is above."""
    breaks = np.flatnonzero(np.diff(codes) > 1)
    first = codes[np.concatenate([[0], breaks + 1])]
    last = codes[np.concatenate([breaks, [codes.size - 1]])]
    bounds = np.column_stack([first - 0.5, last + 0.5]).ravel().tolist()
    return bounds, [others, listed] * first.size + [others]
