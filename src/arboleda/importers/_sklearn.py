"""Import of scikit-learn's trees and tree ensembles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import check_is_fitted

from arboleda._engine.forest import Forest, Measure
from arboleda._engine.tree import Tree
from arboleda._utils.float32 import rounded_at_most
from arboleda.boosting import Loss
from arboleda.importers._columns import Columns, as_labels, is_present
from arboleda.importers._trees import (
    NodeTable,
    check_state,
    set_boosting_state,
    set_columns,
    to_tree,
)

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


# scikit-learn clips prior probabilities at this distance from 0 and 1 before it takes logarithms.
_NEAREST = float(np.finfo(np.float32).eps)


def set_gradient_boosting_state(estimator: Any, model: Any) -> Any:
    """Set the fitted state of an estimator from scikit-learn's model.

    Raises
    ------
    ValueError
        If the model starts from another estimator.
    """
    if is_classifier(model):
        estimator.classes_ = model.classes_
    loss = estimator._make_loss()
    rate = float(model.learning_rate)
    theirs = [tree.tree_ for tree in model.estimators_.ravel()]
    tables = [make_node_table(tree, tree.value[:, 0, :]).scaled(rate) for tree in theirs]
    columns = make_numeric_columns(model)
    set_boosting_state(
        estimator,
        columns,
        loss,
        _compute_start(model, loss),
        [to_tree(table, columns.n_columns, mean_values=True) for table in tables],
        missing_columns(theirs),
    )
    estimator.init_ = None
    estimator.max_features_ = max(1, int(model.max_features_))
    return check_state(estimator)


def _compute_start(model: Any, loss: Loss) -> npt.NDArray[np.float64]:
    """Return the raw scores before the first tree."""
    if isinstance(model.init_, str):  # "zero"
        return np.zeros(loss.n_outputs)
    nothing = np.zeros((1, model.n_features_in_))
    if isinstance(model.init_, DummyRegressor):
        means: npt.NDArray[np.float64] = loss.scores(model.init_.predict(nothing))[0]
        return means
    if isinstance(model.init_, DummyClassifier) and model.init_.strategy == "prior":
        shares = model.init_.predict_proba(nothing)
        odds: npt.NDArray[np.float64]
        odds = loss.scores(np.clip(shares, _NEAREST, 1.0 - _NEAREST))[0]
        return odds
    raise ValueError(
        f"the model starts from a {type(model.init_).__name__}, which is not supported: fit it "
        "with init=None or init='zero'"
    )


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


# Class of scikit-learn -> our class, its package, and the function that sets the fitted state.
_KNOWN: Mapping[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "DecisionTreeClassifier": ("DecisionTreeClassifier", "tree", set_tree_state),
    "DecisionTreeRegressor": ("DecisionTreeRegressor", "tree", set_tree_state),
    "ExtraTreeClassifier": ("DecisionTreeClassifier", "tree", set_tree_state),
    "ExtraTreeRegressor": ("DecisionTreeRegressor", "tree", set_tree_state),
    "RandomForestClassifier": ("RandomForestClassifier", "forest", set_forest_state),
    "RandomForestRegressor": ("RandomForestRegressor", "forest", set_forest_state),
    "ExtraTreesClassifier": ("ExtraTreesClassifier", "forest", set_forest_state),
    "ExtraTreesRegressor": ("ExtraTreesRegressor", "forest", set_forest_state),
    "GradientBoostingClassifier": (
        "GradientBoostingClassifier", "boosting", set_gradient_boosting_state,
    ),
    "GradientBoostingRegressor": (
        "GradientBoostingRegressor", "boosting", set_gradient_boosting_state,
    ),
    "HistGradientBoostingClassifier": (
        "HistGradientBoostingClassifier", "boosting", set_hist_gradient_boosting_state,
    ),
    "HistGradientBoostingRegressor": (
        "HistGradientBoostingRegressor", "boosting", set_hist_gradient_boosting_state,
    ),
}  # fmt: skip


def from_sklearn(model: Any) -> Any:
    """Convert a fitted scikit-learn tree or tree ensemble.

    Its predictions are equal to scikit-learn's, up to the rounding of sums. The result supports
    everything that our estimators do: ``save``, explanations, rules of single trees.

    Parameters
    ----------
    model : estimator
        A fitted ``DecisionTree*``, ``ExtraTree*``, ``RandomForest*``, ``ExtraTrees*``,
        ``GradientBoosting*`` or ``HistGradientBoosting*``, as ``Classifier`` or ``Regressor``.

    Returns
    -------
    model : estimator
        Estimator of the class of the same name, with its parameters; an ``ExtraTree*`` becomes a
        ``DecisionTree*``.

    Raises
    ------
    TypeError
        If it is not such an estimator.
    NotFittedError
        If it is not fitted.
    ValueError
        If it has unsupported features: boosting that starts from another estimator (``init=``).

    Notes
    -----
    scikit-learn's exact trees round a value to float32 before they compare it. The thresholds are
    converted to equivalent float64 thresholds, so predictions agree for data of both types. The
    bootstrap samples of a forest are not converted: there is no out-of-bag error, and no
    ``estimators_samples_``.

    Examples
    --------
    >>> import arboleda
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = RandomForestClassifier(random_state=0).fit(X, y)
    >>> ours = arboleda.from_sklearn(theirs)
    >>> bool((ours.predict(X) == theirs.predict(X)).all())
    True
    """
    name = type(model).__name__
    if not type(model).__module__.startswith("sklearn.") or name not in _KNOWN:
        raise TypeError(
            "model must be one of scikit-learn's trees and tree ensembles "
            f"({', '.join(_KNOWN)}), got {type(model).__module__}.{name}"
        )
    check_is_fitted(model)
    ours, package, set_state = _KNOWN[name]
    estimator_class = getattr(import_module(f"arboleda.{package}"), ours)
    return set_state(_make_estimator(estimator_class, model), model)


def _make_estimator(estimator_class: Any, model: Any) -> Any:
    """Return an estimator with those parameters of a model that it accepts."""
    estimator = estimator_class()
    defaults = estimator.get_params(deep=False)
    for name, value in model.get_params(deep=False).items():
        if name not in defaults:
            continue
        setattr(estimator, name, value)
        try:
            estimator._validate_params()
        except InvalidParameterError:
            setattr(estimator, name, defaults[name])
    return estimator
