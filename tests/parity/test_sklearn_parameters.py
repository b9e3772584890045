"""Every stopping parameter and every kind of weight, against scikit-learn on tie-free tables.

With real targets, or with classes under real weights, two splits of a node are equally good only if
they part its rows alike; then both libraries must reach the same leaves.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn import tree as theirs
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.utils import compute_sample_weight

import arboleda as ours

Array = npt.NDArray[Any]

_PARAMETERS: list[dict[str, Any]] = [
    {},
    {"max_depth": 1},
    {"max_depth": 3},
    {"max_leaf_nodes": 2},
    {"max_leaf_nodes": 9},
    {"max_leaf_nodes": 20, "max_depth": 5, "min_samples_leaf": 4},
    {"max_leaf_nodes": 15, "min_impurity_decrease": 0.01},
    {"min_samples_split": 30},
    {"min_samples_split": 0.11},
    {"min_samples_leaf": 7},
    {"min_samples_leaf": 0.043},
    {"min_samples_leaf": 12, "min_samples_split": 13},
    {"min_weight_fraction_leaf": 0.037},
    {"min_weight_fraction_leaf": 0.5},
    {"min_impurity_decrease": 0.004},
    {"min_impurity_decrease": 1e9},
]
_RANDOM = np.random.default_rng(5)


def _float32(X: Array) -> Array:
    return X.astype(np.float32).astype(np.float64)


def _classes(load: Any) -> tuple[Array, Array]:
    X, y = load(return_X_y=True)
    return _float32(X), np.array(["b", "c", "a"])[y]


def _regression() -> tuple[Array, Array]:
    X, y = load_diabetes(return_X_y=True)
    return _float32(X), (y + np.random.default_rng(1).normal(size=len(y))) / 77


def assert_same_leaves(mine: Any, other: Any, X: Array) -> None:
    """Assert that two trees divide the rows alike and predict the same for each leaf."""
    pairs = np.unique(np.column_stack([mine.apply(X), other.apply(X)]), axis=0)
    assert len(pairs) == mine.get_n_leaves() == other.get_n_leaves()
    assert mine.get_depth() == other.get_depth()
    a, b = mine.tree_, other.tree_
    for mine_array, other_array in (
        (a.impurity, b.impurity),
        (a.value[:, 0], b.value[:, 0]),
        (a.n_node_samples, b.n_node_samples),
        (a.weighted_n_node_samples, b.weighted_n_node_samples),
    ):
        np.testing.assert_allclose(
            mine_array[pairs[:, 0]], other_array[pairs[:, 1]], rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("parameters", _PARAMETERS, ids=str)
@pytest.mark.parametrize("weights", ["none", "integers", "reals"])
def test_regression_parameters_match(parameters: dict[str, Any], weights: str) -> None:
    X, y = _regression()
    random = np.random.default_rng(2)
    weight = {
        "none": None,
        "integers": random.integers(1, 5, len(y)).astype(float),
        "reals": random.random(len(y)) + 0.01,
    }[weights]
    mine = ours.DecisionTreeRegressor(**parameters).fit(X, y, weight)
    other = theirs.DecisionTreeRegressor(random_state=0, **parameters).fit(X, y, weight)
    assert_same_leaves(mine, other, X)
    np.testing.assert_allclose(mine.predict(X), other.predict(X), rtol=1e-9)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer], ids=["wine", "breast_cancer"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize("parameters", _PARAMETERS, ids=str)
def test_classifiers_with_real_weights_match(
    load: Any, criterion: str, parameters: dict[str, Any]
) -> None:
    X, y = _classes(load)
    # Multiples of 1/512 have exact sums: rounding would make pure nodes impure in scikit-learn.
    weight = np.random.default_rng(3).integers(1, 1000, len(y)) / 512
    parameters = {"criterion": criterion, **parameters}
    mine = ours.DecisionTreeClassifier(**parameters).fit(X, y, weight)
    other = theirs.DecisionTreeClassifier(random_state=0, **parameters).fit(X, y, weight)
    assert_same_leaves(mine, other, X)
    np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(mine.predict(X), other.predict(X))


@pytest.mark.parametrize(
    "class_weight", ["balanced", {"a": 0.3, "b": 5.0, "c": 1.0}, {"b": 2.0, "a": 1.5, "c": 0.0}]
)
@pytest.mark.parametrize("weighted", [True, False])
def test_class_weights_match(class_weight: Any, weighted: bool) -> None:
    X, y = _classes(load_wine)
    weight = np.random.default_rng(4).random(len(y)) + 0.01 if weighted else None
    mine = ours.DecisionTreeClassifier(class_weight=class_weight, max_depth=2)
    mine.fit(X, y, sample_weight=weight)
    other = theirs.DecisionTreeClassifier(max_depth=2, random_state=0)
    all_weights = compute_sample_weight(class_weight, y) * (1 if weight is None else weight)
    keep = all_weights > 0  # scikit-learn counts rows of weight 0, we do not
    other.fit(X[keep], y[keep], sample_weight=all_weights[keep])
    assert_same_leaves_of_common_classes(mine, other, X[keep])


def assert_same_leaves_of_common_classes(mine: Any, other: Any, X: Array) -> None:
    columns = np.searchsorted(mine.classes_, other.classes_)
    shares = mine.predict_proba(X)
    np.testing.assert_allclose(shares[:, columns], other.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(
        mine.tree_.weighted_n_node_samples[0], other.tree_.weighted_n_node_samples[0]
    )


def test_balanced_class_weights_match() -> None:
    X, y = _classes(load_wine)
    model = ours.DecisionTreeClassifier(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.tree_.value[0, 0], 1 / 3)


@pytest.mark.parametrize("max_leaf_nodes", range(2, 40))
def test_best_first_growth_splits_leaves_in_scikit_learns_order(max_leaf_nodes: int) -> None:
    X, y = _regression()
    mine = ours.DecisionTreeRegressor(max_leaf_nodes=max_leaf_nodes).fit(X, y)
    other = theirs.DecisionTreeRegressor(max_leaf_nodes=max_leaf_nodes, random_state=0).fit(X, y)
    assert mine.get_n_leaves() == max_leaf_nodes
    assert_same_leaves(mine, other, X)


def test_importances_paths_and_leaves_match() -> None:
    X, y = _regression()
    mine = ours.DecisionTreeRegressor(max_leaf_nodes=12).fit(X, y)
    other = theirs.DecisionTreeRegressor(max_leaf_nodes=12, random_state=0).fit(X, y)
    np.testing.assert_allclose(mine.feature_importances_, other.feature_importances_, rtol=1e-9)
    np.testing.assert_allclose(
        mine.tree_.compute_feature_importances(normalize=False),
        other.tree_.compute_feature_importances(normalize=False),
        rtol=1e-9,
    )
    fresh = _float32(_RANDOM.normal(size=(200, X.shape[1])) / 20)
    pairs = np.unique(np.column_stack([mine.apply(fresh), other.apply(fresh)]), axis=0)
    assert len(pairs) == len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1]))
    ours_depth = np.asarray(mine.decision_path(fresh).sum(axis=1)).ravel()
    theirs_depth = np.asarray(other.decision_path(fresh).sum(axis=1)).ravel()
    np.testing.assert_array_equal(ours_depth, theirs_depth)
    assert (mine.n_features_in_, mine.max_features_) == (other.n_features_in_, other.max_features_)


@pytest.mark.parametrize("max_features", ["sqrt", "log2", 3, 0.4, 0.01, 1.0, None])
def test_max_features_counts_like_scikit_learn(max_features: Any) -> None:
    X, y = _regression()
    mine = ours.DecisionTreeRegressor(max_features=max_features, max_depth=2).fit(X, y)
    other = theirs.DecisionTreeRegressor(max_features=max_features, max_depth=2).fit(X, y)
    assert mine.max_features_ == other.max_features_
