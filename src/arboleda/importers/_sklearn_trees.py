"""Import of scikit-learn's decision trees and forests."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from arboleda._engine.forest import Forest, Measure
from arboleda._engine.tree import Tree
from arboleda.importers._columns import Columns
from arboleda.importers._fitted import check_state, set_columns
from arboleda.importers._float32 import rounded_at_most
from arboleda.importers._nodes import NodeTable, to_tree

Floats = npt.NDArray[np.float64]


def set_tree_state(estimator: Any, model: Any) -> Any:
    """Set the fitted state of a decision tree from scikit-learn's model."""
    _set_target(estimator, model)
    estimator.tree_ = read_tree(model.tree_, estimator._value_widths())
    estimator.missing_columns_ = missing_columns([model.tree_])
    estimator.max_features_ = int(model.max_features_)
    return check_state(estimator)


def set_forest_state(estimator: Any, model: Any) -> Any:
    """Set the fitted state of a forest from scikit-learn's model."""
    _set_target(estimator, model)
    widths = estimator._value_widths()
    theirs = [tree.tree_ for tree in model.estimators_]
    estimator.forest_ = Forest.from_trees(
        [read_tree(tree, widths) for tree in theirs], _get_measure(estimator), widths
    )
    estimator.missing_columns_ = missing_columns(theirs)
    estimator.max_features_ = max(1, int(model.estimators_[0].max_features_))
    estimator.seed_ = 0
    estimator._bags = estimator.kept_ = None
    return check_state(estimator)


def read_tree(tree: Any, widths: tuple[int, ...]) -> Tree:
    """Convert scikit-learn's ``tree_``; ``widths``: the number of values of each output."""
    value = np.hstack([tree.value[:, k, :width] for k, width in enumerate(widths)])
    return to_tree(make_node_table(tree, value), int(tree.n_features)).with_widths(widths)


def make_node_table(tree: Any, value: Floats) -> NodeTable:
    """Return the nodes of scikit-learn's ``tree_``, with the given values."""
    is_leaf = tree.children_left < 0
    return NodeTable(
        left=tree.children_left.astype(np.int64),
        right=tree.children_right.astype(np.int64),
        feature=tree.feature.astype(np.int64),
        threshold=np.where(is_leaf, 0.0, rounded_at_most(tree.threshold)),
        missing_left=_goes_left_if_missing(tree),
        impurity=np.asarray(tree.impurity, dtype=np.float64),
        weight=np.asarray(tree.weighted_n_node_samples, dtype=np.float64),
        n_rows=tree.n_node_samples.astype(np.int64),
        value=value,
    )


def missing_columns(trees: list[Any]) -> npt.NDArray[np.int64]:
    """Return the columns with missing values in training: those that a node sends left."""
    features = [tree.feature[_goes_left_if_missing(tree) & (tree.feature >= 0)] for tree in trees]
    return np.unique(np.concatenate(features)).astype(np.int64)


def make_numeric_columns(model: Any) -> Columns:
    """Return numeric columns with the names of the model."""
    names = getattr(model, "feature_names_in_", None)
    n_columns = int(model.n_features_in_)
    return Columns(None if names is None else tuple(map(str, names)), (None,) * n_columns)


def _goes_left_if_missing(tree: Any) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = np.asarray(tree.missing_go_to_left) != 0
    return found


def _set_target(estimator: Any, model: Any) -> None:
    set_columns(estimator, make_numeric_columns(model))
    estimator.n_outputs_ = int(model.n_outputs_)
    if is_classifier(model):
        several = estimator.n_outputs_ > 1
        estimator.classes_ = list(model.classes_) if several else model.classes_
        estimator.n_classes_ = (
            [len(classes) for classes in model.classes_] if several else len(model.classes_)
        )


def _get_measure(estimator: Any) -> Measure:
    """Return the measure that the values of inner nodes are computed from."""
    if estimator.criterion == "absolute_error":
        return "medians"
    if estimator.n_outputs_ > 1:
        return "means"
    if estimator.criterion in {"entropy", "log_loss"}:
        return "entropy"
    if is_classifier(estimator):
        return "gini"
    return "poisson" if estimator.criterion == "poisson" else "squared_error"
