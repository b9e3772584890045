"""Import of scikit-learn's histogram-based gradient boosting."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from arboleda._engine.tree import Tree
from arboleda.importers._columns import Columns, as_labels, is_present
from arboleda.importers._fitted import check_state, set_boosting_state
from arboleda.importers._nodes import NodeTable, to_tree

Integers = npt.NDArray[np.int64]


def set_hist_gradient_boosting_state(estimator: Any, model: Any) -> Any:
    """Set the fitted state of an estimator from scikit-learn's model."""
    if is_classifier(model):
        estimator.classes_ = model.classes_
    columns, places = _columns(model)
    trees = [
        _tree(predictor, columns, places)
        for trees_of_round in model._predictors
        for predictor in trees_of_round
    ]
    start = np.ravel(model._baseline_prediction)
    every = np.arange(
        columns.n_columns
    )  # scikit-learn does not store which columns have missing values
    set_boosting_state(estimator, columns, estimator._make_loss(), start, trees, every)
    estimator.train_score_ = estimator.validation_score_ = np.empty(0)
    return check_state(estimator)


def _columns(model: Any) -> tuple[Columns, Integers]:
    """Return the columns, and the column of each feature index: categorical ones come first."""
    n_columns = int(model.n_features_in_)
    names = getattr(model, "feature_names_in_", None)
    labels: list[dict[int, Any] | None] = [None] * n_columns
    places = np.arange(n_columns)
    if model.is_categorical_ is not None:
        mask = np.asarray(model.is_categorical_)
        places = np.concatenate([np.flatnonzero(mask), np.flatnonzero(~mask)])
        encoder = model._preprocessor.named_transformers_["encoder"]
        for column, known in zip(np.flatnonzero(mask), encoder.categories_, strict=True):
            labels[column] = as_labels(filter(is_present, known), str(column))
    return Columns(None if names is None else tuple(map(str, names)), tuple(labels)), places


def _tree(predictor: Any, columns: Columns, places: Integers) -> Tree:
    nodes = predictor.nodes
    is_leaf = nodes["is_leaf"] != 0
    feature = places[np.where(is_leaf, 0, nodes["feature_idx"])]
    missing_left = nodes["missing_go_to_left"] != 0
    categories = {}
    for node in np.flatnonzero((nodes["is_categorical"] != 0) & ~is_leaf).tolist():
        column = int(feature[node])
        words = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]].astype("<u4")
        bits = np.flatnonzero(np.unpackbits(words.view("u1"), bitorder="little"))
        going_left = columns.encode_categories(column, bits.tolist())
        other = columns.other_categories(column, going_left)
        categories[node] = other if missing_left[node] else going_left
    count = nodes["count"].astype(np.int64)
    table = NodeTable(
        left=np.where(is_leaf, -1, nodes["left"].astype(np.int64)),
        right=np.where(is_leaf, -1, nodes["right"].astype(np.int64)),
        feature=feature,
        threshold=np.where(is_leaf, 0.0, nodes["num_threshold"]),
        missing_left=missing_left,
        impurity=np.where(is_leaf, 0.0, np.nan_to_num(nodes["gain"], posinf=0.0, neginf=0.0)),
        weight=count.astype(np.float64),
        n_rows=count,
        value=nodes["value"][:, np.newaxis],
        categories=categories,
    )
    return to_tree(table, columns.n_columns, mean_values=True)
