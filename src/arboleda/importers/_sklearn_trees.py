"""Decision trees and forests of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from arboleda._engine.forest import Forest, Measure
from arboleda._engine.tree import Tree
from arboleda.importers._columns import Columns
from arboleda.importers._fitted import checked, keep_columns
from arboleda.importers._float32 import rounded_at_most
from arboleda.importers._nodes import NodeTable, to_tree

Floats = npt.NDArray[np.float64]


def keep_tree(estimator: Any, model: Any) -> Any:
    """Give a decision tree the fitted state of scikit-learn's."""
    _keep_target(estimator, model)
    estimator.tree_ = read_tree(model.tree_, estimator._value_widths())
    estimator.missing_columns_ = missing_columns([model.tree_])
    estimator.max_features_ = int(model.max_features_)
    return checked(estimator)


def keep_forest(estimator: Any, model: Any) -> Any:
    """Give a forest the fitted state of scikit-learn's."""
    _keep_target(estimator, model)
    widths = estimator._value_widths()
    theirs = [tree.tree_ for tree in model.estimators_]
    estimator.forest_ = Forest.from_trees(
        [read_tree(tree, widths) for tree in theirs], _measure(estimator), widths
    )
    estimator.missing_columns_ = missing_columns(theirs)
    estimator.max_features_ = max(1, int(model.estimators_[0].max_features_))
    estimator.seed_ = 0
    estimator._bags = estimator.kept_ = None
    return checked(estimator)


def read_tree(tree: Any, widths: tuple[int, ...]) -> Tree:
    """Make a tree of scikit-learn's ``tree_``; ``widths``: numbers of each output in a leaf."""
    value = np.hstack([tree.value[:, k, :width] for k, width in enumerate(widths)])
    return to_tree(node_table(tree, value), int(tree.n_features)).with_widths(widths)


def node_table(tree: Any, value: Floats) -> NodeTable:
    """Nodes of scikit-learn's ``tree_``, with these values."""
    is_leaf = tree.children_left < 0
    return NodeTable(
        left=tree.children_left.astype(np.int64),
        right=tree.children_right.astype(np.int64),
        feature=tree.feature.astype(np.int64),
        threshold=np.where(is_leaf, 0.0, rounded_at_most(tree.threshold)),
        missing_left=_missing_left(tree),
        impurity=np.asarray(tree.impurity, dtype=np.float64),
        weight=np.asarray(tree.weighted_n_node_samples, dtype=np.float64),
        n_rows=tree.n_node_samples.astype(np.int64),
        value=value,
    )


def missing_columns(trees: list[Any]) -> npt.NDArray[np.int64]:
    """Columns whose missing values some node sends left: training must have had some."""
    asked = [tree.feature[_missing_left(tree) & (tree.feature >= 0)] for tree in trees]
    return np.unique(np.concatenate(asked)).astype(np.int64)


def plain_columns(model: Any) -> Columns:
    """Columns of numbers, with the names that the model has."""
    names = getattr(model, "feature_names_in_", None)
    n_columns = int(model.n_features_in_)
    return Columns(None if names is None else tuple(map(str, names)), (None,) * n_columns)


def _missing_left(tree: Any) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = np.asarray(tree.missing_go_to_left) != 0
    return found


def _keep_target(estimator: Any, model: Any) -> None:
    keep_columns(estimator, plain_columns(model))
    estimator.n_outputs_ = int(model.n_outputs_)
    if is_classifier(model):
        several = estimator.n_outputs_ > 1
        estimator.classes_ = list(model.classes_) if several else model.classes_
        estimator.n_classes_ = (
            [len(classes) for classes in model.classes_] if several else len(model.classes_)
        )


def _measure(estimator: Any) -> Measure:
    """How nodes were measured: what the values of inner nodes follow from."""
    if estimator.criterion == "absolute_error":
        return "medians"
    if estimator.n_outputs_ > 1:
        return "means"
    if estimator.criterion in {"entropy", "log_loss"}:
        return "entropy"
    if is_classifier(estimator):
        return "gini"
    return "poisson" if estimator.criterion == "poisson" else "squared_error"
