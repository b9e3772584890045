"""Conversion of another library's nodes, in any order, to a tree of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.tree import Tree
from arboleda._engine.tree_nodes import TreeNodes

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Weight of a node without training rows, so that relative weights are finite.
_LEAST_WEIGHT = 1e-300


@dataclass(frozen=True, eq=False)
class NodeTable:
    """Nodes of a tree by number, with root 0; some of them may be unreachable.

    Parameters
    ----------
    left, right : ndarray of int
        Children; negative in a leaf.
    feature : ndarray of int
        Column of the split; ignored in a leaf, as are the next two.
    threshold : ndarray of float
        A row goes left if its value is at most the threshold.
    missing_left : ndarray of bool
    impurity, weight : ndarray of float
        Negative values are read as 0.
    n_rows : ndarray of int
    value : ndarray of float of shape (n_nodes, n_outputs)
    categories : dict of int to ndarray of int
        For categorical nodes, the ascending categories that do not go the way of missing values and
        all other categories. A node with an empty array sends all rows the way of missing values.
    """

    left: Integers
    right: Integers
    feature: Integers
    threshold: Floats
    missing_left: npt.NDArray[np.bool_]
    impurity: Floats
    weight: Floats
    n_rows: Integers
    value: Floats
    categories: Mapping[int, Integers] = field(default_factory=dict)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, reached or not."""
        return self.left.size

    def scaled(self, factor: float) -> NodeTable:
        """Return the nodes with values multiplied by a factor."""
        return self if factor == 1.0 else replace(self, value=factor * self.value)


def to_tree(nodes: NodeTable, n_features: int, *, mean_values: bool = False) -> Tree:
    """Make a tree of the nodes that are reachable from node 0.

    With ``mean_values``, the value of an inner node is the weighted mean of its leaves.

    Raises
    ------
    ValueError
        If they are not a tree, or have invalid values.
    """
    root, nodes = _remove_idle_nodes(nodes)
    levels = _find_levels(nodes, root)
    place, order = _order_nodes(nodes, levels, root)
    weight = np.maximum(nodes.weight, _LEAST_WEIGHT)
    value = _compute_inner_values(nodes, levels, weight) if mean_values else nodes.value
    is_leaf = nodes.left[order] < 0
    feature = np.where(is_leaf, -1, nodes.feature[order])
    if (feature[~is_leaf] < 0).any() or (feature >= n_features).any():
        raise ValueError(f"a node splits on a column that is none of the {n_features}")
    has_threshold = ~is_leaf & ~np.isin(order, list(nodes.categories))
    return Tree.from_nodes(
        TreeNodes(
            n_features=n_features,
            feature=feature,
            threshold=np.where(has_threshold, nodes.threshold[order], 0.0),
            right=np.where(is_leaf, -1, place[np.where(is_leaf, root, nodes.right[order])]),
            missing_left=~is_leaf & nodes.missing_left[order],
            impurity=np.maximum(nodes.impurity[order], 0.0),
            weight=weight[order],
            n_node_samples=np.maximum(nodes.n_rows[order], 1),
            value=value[order],
            categories={
                int(place[node]): listed
                for node, listed in nodes.categories.items()
                if place[node] >= 0 and nodes.left[node] >= 0
            },
        )
    )


def _remove_idle_nodes(nodes: NodeTable) -> tuple[int, NodeTable]:
    """Remove nodes that send all rows one way; return the root and the nodes."""
    idle = [node for node, listed in nodes.categories.items() if not listed.size]
    if not idle:
        return 0, nodes
    instead = np.arange(nodes.n_nodes)
    for node in idle:
        if nodes.left[node] >= 0:
            child = nodes.left[node] if nodes.missing_left[node] else nodes.right[node]
            instead[node] = _check_child(child, nodes.n_nodes)
    for _ in range(nodes.n_nodes.bit_length()):  # follows chains, doubling the distance
        instead = instead[instead]

    def redirect(children: Integers) -> Integers:
        inner = (children >= 0) & (children < nodes.n_nodes)
        return np.where(inner, instead[np.where(inner, children, 0)], children)

    kept = {node: listed for node, listed in nodes.categories.items() if listed.size}
    left, right = redirect(nodes.left), redirect(nodes.right)
    return int(instead[0]), replace(nodes, left=left, right=right, categories=kept)


def _check_child(child: Any, n_nodes: int) -> Any:
    if not 0 <= child < n_nodes:
        raise ValueError(f"a node has the child {child}, which is none of the {n_nodes} nodes")
    return child


def _find_levels(nodes: NodeTable, root: int) -> list[Integers]:
    """Return the nodes of each depth."""
    seen = np.zeros(nodes.n_nodes, dtype=bool)
    level = np.array([root])
    levels = []
    while level.size:
        if seen[level].any() or np.unique(level).size < level.size:
            raise ValueError("a node is the child of two nodes, or of itself")
        seen[level] = True
        levels.append(level)
        inner = level[(nodes.left[level] >= 0) | (nodes.right[level] >= 0)]
        level = np.column_stack([nodes.left[inner], nodes.right[inner]]).ravel()
        if level.size:
            _check_child(level.min(), nodes.n_nodes)
            _check_child(level.max(), nodes.n_nodes)
    return levels


def _order_nodes(
    nodes: NodeTable, levels: list[Integers], root: int
) -> tuple[Integers, npt.NDArray[np.intp]]:
    """Return the place of each node in preorder (-1: not reached), and the node of each place."""
    size = np.zeros(nodes.n_nodes, dtype=np.int64)
    for level in reversed(levels):
        inner = level[nodes.left[level] >= 0]
        size[level] = 1
        size[inner] += size[nodes.left[inner]] + size[nodes.right[inner]]
    place = np.full(nodes.n_nodes, -1, dtype=np.int64)
    place[root] = 0
    for level in levels:
        inner = level[nodes.left[level] >= 0]
        place[nodes.left[inner]] = place[inner] + 1
        place[nodes.right[inner]] = place[inner] + 1 + size[nodes.left[inner]]
    reached = np.concatenate(levels)
    order = np.empty(reached.size, dtype=np.intp)
    order[place[reached]] = reached
    return place, order


def _compute_inner_values(nodes: NodeTable, levels: list[Integers], weight: Floats) -> Floats:
    """Return the values, where inner nodes have the weighted means of their children."""
    value = nodes.value.copy()
    for level in reversed(levels):
        inner = level[nodes.left[level] >= 0]
        left, right = nodes.left[inner], nodes.right[inner]
        larger = np.maximum(weight[left], weight[right])  # their sum may overflow
        share = weight[left] / larger
        share = (share / (share + weight[right] / larger))[:, np.newaxis]
        value[inner] = share * value[left] + (1.0 - share) * value[right]
    return value
