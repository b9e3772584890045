"""Conversion of another library's nodes and trees to trees and a fitted estimator of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.ensemble import Ensemble
from arboleda._engine.tree import Tree
from arboleda._engine.tree_nodes import TreeNodes
from arboleda.boosting import (
    BoostedModel,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    Loss,
    TargetStatistics,
)
from arboleda.importers._columns import Columns

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


def set_columns(estimator: Any, columns: Columns) -> None:
    """Set the column attributes of an estimator."""
    estimator.schema_ = columns.schema
    estimator.n_features_in_ = columns.n_columns
    if columns.names is not None:
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)


def set_boosting_state(
    estimator: BoostedModel,
    columns: Columns,
    loss: Loss,
    start: npt.ArrayLike,
    trees: Sequence[Tree],
    missing_columns: npt.ArrayLike,
) -> None:
    """Set start values and trees, in the order of the rounds, of a boosting estimator.

    Raises
    ------
    ValueError
        If they are inconsistent.
    """
    set_columns(estimator, columns)
    estimator.ensemble_ = Ensemble.from_trees(start, trees)
    estimator.loss_ = loss
    estimator.history_ = {}
    estimator.missing_columns_ = np.array(missing_columns, dtype=np.int64)
    estimator.seed_ = 0
    estimator.statistics_ = TargetStatistics((), ())


def make_histogram_boosting(
    columns: Columns,
    loss: Loss,
    start: npt.ArrayLike,
    trees: Sequence[Tree],
    *,
    missing_columns: npt.ArrayLike,
    classes: npt.NDArray[Any] | list[npt.NDArray[Any]] | None,
    parameters: dict[str, Any],
) -> HistGradientBoostingClassifier | HistGradientBoostingRegressor:
    """Make a fitted boosting estimator; a classifier if there are classes.

    A list has the classes of each label of a multilabel model.

    Raises
    ------
    ValueError
        If its attributes are inconsistent.
    """
    rounds = max(1, len(trees) // max(1, loss.n_outputs))
    kind = HistGradientBoostingRegressor if classes is None else HistGradientBoostingClassifier
    estimator: Any = kind(max_iter=rounds, **parameters)
    if classes is not None:
        estimator.classes_ = classes
    set_boosting_state(estimator, columns, loss, start, trees, missing_columns)
    estimator.train_score_ = estimator.validation_score_ = np.empty(0)
    boosted: HistGradientBoostingClassifier | HistGradientBoostingRegressor = check_state(estimator)
    return boosted


def check_state(estimator: Any) -> Any:
    """Check that the attributes of an estimator are consistent, and return it.

    Raises
    ------
    ValueError
        If they are not.
    """
    defect = estimator._defect()
    if defect is not None:
        raise ValueError(defect)
    return estimator


def check_class_labels(
    classes: Any, own: npt.NDArray[Any] | None, n_classes: int
) -> npt.NDArray[Any]:
    """Return the labels of the classes: the argument, the model's own labels, or 0, 1, ...

    Raises
    ------
    ValueError
        If there is not exactly one distinct label for each class.
    """
    labels = np.arange(n_classes) if own is None else np.asarray(own)
    if classes is not None:
        labels = np.asarray(classes)
    if labels.ndim != 1 or len(labels) != n_classes or len(set(labels.tolist())) != n_classes:
        raise ValueError(
            f"the model has {n_classes} classes, so classes must hold {n_classes} distinct labels, "
            f"got {labels.tolist()!r}"
        )
    return labels


def repeat_label_classes(classes: npt.NDArray[Any], n_labels: int) -> list[npt.NDArray[Any]]:
    """Return the classes of every label of a multilabel model.

    Raises
    ------
    ValueError
        If they are not two ascending numbers.
    """
    are_numbers = classes.dtype.kind in "biuf" and np.isfinite(classes).all()
    if not (are_numbers and classes[0] < classes[1]):
        raise ValueError(
            f"the model has {n_labels} labels of each row, so classes must hold two ascending "
            f"numbers, which all labels share, got {classes.tolist()!r}"
        )
    return [classes] * n_labels


def refuse_classes(classes: Any, objective: str) -> None:
    """Refuse class labels for a model without classes.

    Raises
    ------
    ValueError
        If there are labels.
    """
    if classes is not None:
        raise ValueError(
            f"a model of the objective {objective} has no classes: set classes=None, got "
            f"{classes!r}"
        )
