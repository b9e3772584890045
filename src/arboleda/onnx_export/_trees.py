"""Export of trees as one ONNX node, the operator TreeEnsembleRegressor.

https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsembleRegressor.html

A categorical split becomes a chain of thresholds on the codes: in ascending order, each run of
codes with the same child is one split, and codes above the last run take the last branch.

    {2, 3, 7}:  code <= 1.5 ? others : code <= 3.5 ? these : code <= 6.5 ? others : code <= 7.5 ? ..

Missing values take the branch of the others, at the first split.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.tree import Tree
from arboleda.onnx_export._graph import Graph

Floats = npt.NDArray[np.float64]

# Largest exponent of two before scaling: float32 overflows at 127 and loses digits at -126.
_MAX_EXPONENT = 60


class TreeEnsembleBuilder:
    """Builder of an ONNX tree ensemble, whose leaves add to scores."""

    def __init__(self, n_outputs: int) -> None:
        self.n_outputs = n_outputs
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}
        self._n_trees = 0

    def add(self, tree: Tree, leaf_values: Floats, outputs: Sequence[int]) -> None:
        """Add a tree; ``leaf_values`` (n_nodes, k) are added to the k outputs."""
        leaves = np.flatnonzero(tree.children_left < 0)
        k = len(outputs)
        self.keep(
            make_node_arrays(tree),
            np.repeat(leaves, k),
            np.tile(np.asarray(outputs), leaves.size),
            leaf_values[leaves].ravel(),
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
