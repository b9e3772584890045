"""Trees as tables: one entry per node, in preorder, so that the left child of node i is i + 1.

Thresholds are numbers of a list of distinct ones. Weights of training rows are those of leaves; a
page adds them up to those of inner nodes, which Shapley values need.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.ensemble import Ensemble
from arboleda.onnx_export import LeafSums, TreeSums
from arboleda.page_export._tables import Tables

Integers = npt.NDArray[np.int64]

_MISSING_LEFT, _CATEGORIES = 1, 2


def write_trees(sums: TreeSums, tables: Tables) -> dict[str, Any]:
    """Write sums of trees as tables and return the numbers of the tables.

    Inner nodes have a column, the distance to the right child, a threshold or a list of categories,
    and the way of missing values. Leaves have the column -1, values and a weight.
    """
    nodes = _Nodes()
    for added in sums.trees:
        nodes.add(added)
    thresholds, at = np.unique(nodes.join("threshold"), return_inverse=True)
    width = sums.trees[0].leaf_values.shape[1] if sums.trees else 1
    return {
        "start": tables.add_floats(sums.start),
        "divisor": sums.divisor,
        "width": width,
        "sizes": tables.add_integers(nodes.join("size")),
        "outputs": tables.add_integers(nodes.join("output")),
        "feature": tables.add_integers(nodes.join("feature")),
        "right": tables.add_integers(nodes.join("right")),
        "ways": tables.add_integers(nodes.join("ways")),
        "at": tables.add_integers(at),
        "thresholds": tables.add_floats(thresholds),
        "values": tables.add_floats(nodes.join("value")),
        "weights": _add_weights(nodes.join("weight"), tables),
        "list_sizes": tables.add_integers(nodes.join("list_size")),
        "categories": tables.add_integers(nodes.join("category")),
    }


def write_linear_leaves(ensemble: Ensemble, tables: Tables) -> dict[str, int]:
    """Write the terms of linear leaves as tables, leaf by leaf."""
    linear = ensemble.linear
    is_leaf = np.concatenate([tree.children_left < 0 for tree in ensemble.trees])
    start = linear["linear.start"]
    # Inner nodes have no terms.
    return {
        "term_counts": tables.add_integers(np.diff(start)[is_leaf]),
        "term_features": tables.add_integers(linear["linear.feature"]),
        "intercepts": tables.add_floats(linear["linear.intercept"][is_leaf]),
        **{
            name: tables.add_floats(linear[f"linear.{name}"])
            for name in ("coefficient", "low", "high")
        },
    }


def _add_weights(weights: npt.NDArray[Any], tables: Tables) -> int:
    is_whole = np.all(weights == np.rint(weights)) and np.all(weights < 2**31)
    return tables.add_integers(weights.astype(np.int64)) if is_whole else tables.add_floats(weights)


class _Nodes:
    """Arrays of the nodes of several trees."""

    def __init__(self) -> None:
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}

    def add(self, added: LeafSums) -> None:
        """Add the nodes of a tree."""
        tree = added.tree
        is_leaf = tree.children_left < 0
        inner = np.flatnonzero(~is_leaf)
        ways = _MISSING_LEFT * tree.missing_go_to_left.astype(np.int64)
        threshold = np.asarray(tree.threshold, dtype=np.float64).copy()
        lists = {node: tree.categories(node) for node in inner.tolist()}
        for node, listed in lists.items():
            if listed.size:
                ways[node] += _CATEGORIES
                threshold[node] = 0.0
        listed_nodes = [listed for listed in lists.values() if listed.size]
        self._keep("size", np.array([tree.node_count]))
        self._keep("output", np.array([added.first_output]))
        self._keep("feature", np.where(is_leaf, -1, tree.feature))
        self._keep("right", (tree.children_right - np.arange(tree.node_count))[inner])
        self._keep("ways", ways[inner])
        self._keep("threshold", threshold[inner])
        self._keep("value", added.leaf_values.ravel())
        self._keep("weight", tree.weighted_n_node_samples[is_leaf])
        self._keep("list_size", np.array([listed.size for listed in listed_nodes], dtype=np.int64))
        for listed in listed_nodes:
            self._keep("category", listed.astype(np.int64))

    def join(self, name: str) -> npt.NDArray[Any]:
        """Return the array of all trees."""
        parts = self._parts.get(name, [])
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

    def _keep(self, name: str, array: npt.NDArray[Any]) -> None:
        self._parts.setdefault(name, []).append(array)
