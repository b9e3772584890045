"""Splits by category against the enumeration of all ways to part the categories."""

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.tree.naive import impurity, rows_of_nodes

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

Array = npt.NDArray[Any]
N_LEVELS = 6


def make_data(seed: int, n_rows: int, n_classes: int) -> tuple[Array, Array, Array]:
    """Two columns of categories, one of numbers, all with missing values; a target; weights."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [
            random.integers(0, N_LEVELS, n_rows),
            random.integers(0, 3, n_rows),
            random.integers(-3, 3, n_rows),
        ]
    ).astype(float)
    effect = random.normal(size=N_LEVELS + 1)
    signal = effect[X[:, 0].astype(int)] + (X[:, 1] == 1) * X[:, 2] / 2 + random.normal(size=n_rows)
    hole = random.random(X.shape) < 0.15
    signal += hole[:, 0]
    X[hole] = np.nan
    weight = random.integers(0, 4, n_rows) / 2.0
    if n_classes == 0:
        return X, np.round(signal * 8), weight
    edges = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    return X, np.digitize(signal, edges), weight


def split_decrease(y: Array, weight: Array, left: Array, criterion: str) -> float:
    """By how much a split lowers the impurity; minus infinity if a side is empty."""
    if left.all() or not left.any():
        return -np.inf
    sides = sum(
        weight[side].sum() * impurity(y[side], criterion, weight[side]) for side in (left, ~left)
    )
    return float(impurity(y, criterion, weight) - sides / weight.sum())


def best_partition(x: Array, y: Array, weight: Array, criterion: str) -> float:
    """Best decrease over all sets of categories, missing being one of them."""
    category = np.where(np.isnan(x), -1, x)
    levels = np.unique(category)
    sets = (c for size in range(1, len(levels)) for c in combinations(levels, size))
    return max(
        (split_decrease(y, weight, np.isin(category, c), criterion) for c in sets), default=-np.inf
    )


def best_threshold(x: Array, y: Array, weight: Array, criterion: str) -> float:
    """Best decrease over all thresholds and sides of missing values."""
    masks = [np.isnan(x)]
    for t in np.unique(x[~np.isnan(x)]):
        masks += [x <= t, (x <= t) | np.isnan(x)]
    return max(split_decrease(y, weight, left, criterion) for left in masks)


def node_decreases(model: Any) -> Array:
    """By how much each node's split lowered its impurity."""
    tree = model.tree_
    w, q = tree.weighted_n_node_samples, tree.impurity
    left, right = tree.children_left, tree.children_right
    return np.where(left < 0, 0.0, q - (w[left] * q[left] + w[right] * q[right]) / w)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rows", [25, 400])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification", "squared_error"])
def test_every_split_is_the_best_of_all_partitions(
    criterion: str, n_rows: int, weighted: bool
) -> None:
    regression = criterion == "squared_error"
    X, y, weight = make_data(n_rows, n_rows, 0 if regression else 2)
    if not weighted:
        weight = np.ones(n_rows)
    maker = DecisionTreeRegressor if regression else DecisionTreeClassifier
    model = maker(criterion=criterion, categorical_features=[0, 1]).fit(X, y, weight)
    gained = node_decreases(model)
    n_categorical = 0
    for node, rows in enumerate(rows_of_nodes(model, X)):
        here = rows[weight[rows] > 0]
        if model.tree_.children_left[node] < 0:
            continue
        data = y[here], weight[here], criterion
        best = max(
            best_partition(X[here, 0], *data),
            best_partition(X[here, 1], *data),
            best_threshold(X[here, 2], *data),
        )
        assert gained[node] == pytest.approx(best, rel=1e-9, abs=1e-12)
        n_categorical += model.tree_.categories(node).size > 0
    assert n_categorical >= 3


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_many_classes_try_the_order_by_each_class(criterion: str) -> None:
    X, y, weight = make_data(5, 600, 4)
    model = DecisionTreeClassifier(criterion=criterion, categorical_features=[0, 1], max_depth=4)
    model.fit(X[:, :2], y)
    gained = node_decreases(model)
    n_optimal = 0
    weight = np.ones(600)
    for node, rows in enumerate(rows_of_nodes(model, X[:, :2])):
        if model.tree_.children_left[node] < 0:
            continue
        one_class, all_sets = -np.inf, -np.inf
        for column in (0, 1):
            x = np.where(np.isnan(X[rows, column]), -1, X[rows, column])
            levels = np.unique(x)
            for k in np.unique(y[rows]):
                share = np.array([(y[rows][x == level] == k).mean() for level in levels])
                for cut in np.unique(share)[:-1]:
                    left = np.isin(x, levels[share <= cut])
                    gain = split_decrease(y[rows], weight[rows], left, criterion)
                    one_class = max(one_class, gain)
            all_sets = max(
                all_sets, best_partition(X[rows, column], y[rows], weight[rows], criterion)
            )
        assert gained[node] == pytest.approx(one_class, rel=1e-9)
        n_optimal += gained[node] == pytest.approx(all_sets, rel=1e-9)
    assert n_optimal >= 0.7 * (model.get_n_leaves() - 1)


def test_a_split_matches_values_by_hand() -> None:
    # means: a 1, b 5, c 2, d 5; the best cut of the order a c | b d leaves 0.25 of variance
    x = list("aabbccdd")
    y = [1, 1, 5, 5, 2, 2, 5, 5]
    tree = DecisionTreeRegressor(max_depth=1, categorical_features=[0])
    tree.fit(np.array(x, dtype=object)[:, None], y)
    side = tree.apply([["a"], ["c"], ["b"], ["d"]])
    assert side[0] == side[1] != side[2] == side[3]
    np.testing.assert_array_equal(tree.tree_.value[1:, 0, 0], [1.5, 5.0])
    assert node_decreases(tree)[0] == pytest.approx(np.var(y) - 0.125)


def test_unseen_categories_follow_missing_values() -> None:
    X, y, _ = make_data(3, 300, 2)
    model = DecisionTreeClassifier(categorical_features=[0, 1], max_depth=6).fit(X, y)
    unseen, missing = X.copy(), X.copy()
    unseen[:, 0], missing[:, 0] = 77, np.nan
    np.testing.assert_array_equal(model.apply(unseen), model.apply(missing))
    # Missing values of a column without any in training go with the larger child.
    full = np.where(np.isnan(X), 0, X)
    model = DecisionTreeClassifier(categorical_features=[0, 1], max_depth=1).fit(full, y)
    left, right = model.tree_.n_node_samples[1:3]
    assert model.tree_.missing_go_to_left[0] == (left > right)


def test_categories_with_equal_targets_stay_together() -> None:
    # a, b and d have the same mean, so no cut may part them, whatever its position
    x = np.array(list("aabbccdd"), dtype=object)[:, None]
    y = [0, 1, 0, 1, 1, 1, 1, 0]
    for labels in ("abcd", "dcba", "cadb"):
        renamed = np.array([[labels["abcd".index(v)]] for v in x[:, 0]], dtype=object)
        model = DecisionTreeClassifier(max_depth=1, categorical_features=[0]).fit(renamed, y)
        leaf = dict(zip(x[:, 0], model.apply(renamed), strict=True))
        assert leaf["a"] == leaf["b"] == leaf["d"] != leaf["c"]


def test_jointly_informative_columns_are_found() -> None:
    a, b = np.meshgrid(np.arange(4), np.arange(4))
    X = np.column_stack([a.ravel(), b.ravel()]).repeat(3, axis=0)
    y = (X[:, 0] % 2) ^ (X[:, 1] % 2)
    model = DecisionTreeClassifier(categorical_features=[0, 1]).fit(X, y)
    assert model.score(X, y) == 1.0


def test_min_samples_leaf_and_pruning_are_respected() -> None:
    X, y, _ = make_data(8, 500, 2)
    model = DecisionTreeClassifier(categorical_features=[0, 1], min_samples_leaf=20).fit(X, y)
    assert np.bincount(model.apply(X))[np.unique(model.apply(X))].min() >= 20
    pruned = DecisionTreeClassifier(categorical_features=[0, 1], ccp_alpha=0.01).fit(X, y)
    assert 1 < pruned.get_n_leaves() < model.get_n_leaves() * 2
    path = model.cost_complexity_pruning_path(X, y)
    assert (np.diff(path.ccp_alphas) >= 0).all()


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("n_levels", [255, 256, 257, 5000, 65_535])
def test_any_number_of_categories_up_to_the_limit_is_split(n_levels: int, splitter: str) -> None:
    random = np.random.default_rng(n_levels)
    x = np.concatenate([np.arange(n_levels), random.integers(0, n_levels, 3000)])
    good = random.random(n_levels) < 0.5
    y = good[x]
    model = DecisionTreeClassifier(categorical_features=[0], splitter=splitter, random_state=0)
    model.fit(x[:, None].astype(np.int32), y)
    assert model.score(x[:, None].astype(np.int32), y) == 1.0
    if splitter == "best":
        assert model.get_n_leaves() == 2
