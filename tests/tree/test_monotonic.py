"""Predictions that follow the order of a column, and agree with those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.tree

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

N_ROWS, N_COLUMNS = 400, 6
DIRECTIONS = [1, -1, 0, 1, -1, 0]


def noisy_table(seed):
    """Columns of many and of two values, some missing, and targets that partly contradict them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_COLUMNS)).round(2)
    X[:, 3:5] = X[:, 3:5] > 0.3
    X[rng.random((N_ROWS, N_COLUMNS)) < [0.1, 0, 0, 0, 0, 0.1]] = np.nan
    filled = np.nan_to_num(X)
    y = np.sin(2 * filled[:, 0]) - filled[:, 1] ** 2 + filled[:, 3] - 2 * filled[:, 4]
    return X, y + rng.normal(size=N_ROWS) - y.min()


def assert_follows(predict, X, rng):
    """Raise one constrained column of every row, and see where the prediction goes."""
    for column, direction in enumerate(DIRECTIONS):
        if direction == 0:
            continue
        present = X[~np.isnan(X[:, column])]
        for _ in range(3):
            higher = present.copy()
            other = rng.permutation(present[:, column])
            higher[:, column] = np.maximum(present[:, column], other)
            steps = direction * (predict(higher) - predict(present))
            assert steps.min() >= 0.0, (column, steps.min())


GROWTH = [
    {},
    {"max_leaf_nodes": 20},
    {"splitter": "random"},
    {"max_features": 2},
    {"min_samples_leaf": 5},
    {"max_depth": 4, "ccp_alpha": 1e-3},
]


@pytest.mark.parametrize("growth", GROWTH, ids=str)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_regression_follows_its_columns(criterion, growth):
    X, y = noisy_table(1)
    weight = np.random.default_rng(2).integers(0, 4, N_ROWS)
    for sample_weight in (None, weight):
        tree = DecisionTreeRegressor(
            criterion=criterion, monotonic_cst=DIRECTIONS, random_state=0, **growth
        ).fit(X, np.maximum(y, 0), sample_weight)
        assert tree.get_n_leaves() > 5
        assert_follows(tree.predict, X, np.random.default_rng(3))


@pytest.mark.parametrize("growth", GROWTH, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_the_second_class_follows_its_columns(criterion, growth):
    X, y = noisy_table(4)
    labels = np.where(y > np.median(y), "late", "early")
    tree = DecisionTreeClassifier(
        criterion=criterion, monotonic_cst=DIRECTIONS, random_state=0, **growth
    ).fit(X, labels)
    assert tree.get_n_leaves() > 2
    shares = tree.predict_proba(X)
    np.testing.assert_array_equal(shares.sum(axis=1), 1.0)
    assert_follows(lambda rows: tree.predict_proba(rows)[:, 1], X, np.random.default_rng(5))


def test_without_constraints_a_tree_does_not_follow():
    X, y = noisy_table(1)
    tree = DecisionTreeRegressor().fit(X, y)
    with pytest.raises(AssertionError):
        assert_follows(tree.predict, X, np.random.default_rng(3))


def test_no_direction_changes_nothing():
    X, y = noisy_table(6)
    free = DecisionTreeRegressor().fit(X, y)
    zeros = DecisionTreeRegressor(monotonic_cst=[0] * N_COLUMNS).fit(X, y)
    np.testing.assert_array_equal(free.tree_.threshold, zeros.tree_.threshold)
    np.testing.assert_array_equal(free.predict(X), zeros.predict(X))


@pytest.mark.parametrize("max_depth", [1, 2, 4, None])
@pytest.mark.parametrize("seed", range(5))
def test_sklearn_grows_the_same_trees(seed, max_depth):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4)).astype(np.float32)
    y = X[:, 0] ** 2 - X[:, 1] + rng.normal(size=150)
    parameters = {"max_depth": max_depth, "monotonic_cst": [1, -1, 0, 1], "min_samples_leaf": 3}
    ours = DecisionTreeRegressor(**parameters).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(**parameters, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


def test_sklearn_grows_the_same_classes():
    # Integers as targets tie splits, which scikit-learn decides at random: only the first are few.
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    y = X[:, 0] + rng.normal(size=300) > 0
    parameters = {"max_depth": 2, "monotonic_cst": [1, -1, 0]}
    ours = DecisionTreeClassifier(**parameters).fit(X, y)
    theirs = sklearn.tree.DecisionTreeClassifier(**parameters, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def test_directions_by_name_and_any_number_of_threads():
    pd = pytest.importorskip("pandas")
    X, y = noisy_table(7)
    X, y = np.tile(X, (8, 1)), np.tile(y, 8)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    by_name = {"a": 1, "b": -1, "d": 1, "e": -1}
    one = DecisionTreeRegressor(monotonic_cst=by_name, n_jobs=1).fit(frame, y)
    two = DecisionTreeRegressor(monotonic_cst=DIRECTIONS, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.tree_.threshold, two.tree_.threshold)
    np.testing.assert_array_equal(one.tree_.value, two.tree_.value)


@pytest.mark.parametrize(
    ("directions", "target", "message"),
    [
        ([1, 0], "numbers", "has shape .2,. but the input data X has 6 features"),
        ([2, 0, 0, 0, 0, 0], "numbers", "-1, 0 or 1"),
        (DIRECTIONS, "two targets", "not supported with multiple outputs"),
        (DIRECTIONS, "classes", "not supported with multiclass"),
    ],
)
def test_invalid_constraints_are_refused(directions, target, message):
    X, y = noisy_table(8)
    targets = {
        "numbers": y,
        "two targets": np.column_stack([y, -y]),
        "classes": np.digitize(y, np.quantile(y, [0.3, 0.6])),
    }
    kind = DecisionTreeClassifier if target == "classes" else DecisionTreeRegressor
    with pytest.raises(ValueError, match=message):
        kind(monotonic_cst=directions).fit(X, targets[target])
