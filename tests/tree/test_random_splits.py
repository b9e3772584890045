"""Random splits: their distribution, and that only the seed decides them."""

import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn import tree as theirs
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

Array = npt.NDArray[Any]


def stump(X: Array, y: Array, seed: int, **parameters: Any) -> Any:
    model = DecisionTreeRegressor(
        splitter="random", max_depth=1, random_state=seed, **parameters
    ).fit(X, y)
    return model.tree_


def test_thresholds_are_uniform_between_the_extremes() -> None:
    # Almost all values lie near 0: a draw among values or bins would not be uniform in between.
    X = np.concatenate([np.linspace(0, 0.01, 98), [0.5, 1.0]])[:, None]
    y = np.arange(100.0)
    drawn = np.array([stump(X, y, seed).threshold[0] for seed in range(2000)])
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    # Kolmogorov's distance of 2,000 uniform draws is below 0.044 with probability 0.999
    distance = np.abs(np.sort(drawn) - (np.arange(2000) + 0.5) / 2000).max()
    assert distance < 0.044


def test_columns_and_nodes_draw_independently() -> None:
    """Equal columns, and equal children, would else be split at the same place again and again."""
    x = np.linspace(0, 1, 400)
    columns, children = [], []
    for seed in range(120):
        y = np.where(np.arange(400) % 2 == 0, x, -x)
        drawn = [stump(np.column_stack(X), y, seed).threshold[0] for X in ([x, 0 * x], [0 * x, x])]
        columns.append(drawn)
        model = DecisionTreeRegressor(splitter="random", max_depth=2, random_state=seed)
        half = np.repeat([0.0, 1.0], 400)
        tree = model.fit(np.column_stack([half, np.tile(x, 2)]), half * 100 + np.tile(y, 2)).tree_
        if tree.feature[0] == 0 and tree.feature[1] == tree.feature[4] == 1:
            children.append([tree.threshold[1], tree.threshold[4]])
    for pairs in (columns, children):
        assert len(pairs) > 40
        assert abs(np.corrcoef(np.transpose(pairs))[0, 1]) < 0.5


def test_many_distinct_values_are_drawn_uniformly() -> None:
    X = np.linspace(0, 1, 70_000)[:, None] ** 4
    y = X[:, 0]
    drawn = np.array([stump(X, y, seed).threshold[0] for seed in range(60)])
    assert np.abs(np.sort(drawn) - (np.arange(60) + 0.5) / 60).max() < 0.25
    tree = stump(X, y, 3)
    left = int((X[:, 0] <= tree.threshold[0]).sum())
    assert tree.n_node_samples[1] == left


def test_the_best_of_the_drawn_splits_is_kept() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    y = X[:, 1] + random.normal(size=200) / 9
    features = [stump(X, y, seed).feature[0] for seed in range(50)]
    assert features.count(1) > 40


def test_every_half_of_the_categories_can_be_drawn() -> None:
    X = np.arange(4).repeat(5)[:, None]
    y = np.arange(20.0)
    seen = set()
    for seed in range(300):
        tree = stump(X, y, seed, categorical_features=[0])
        listed = tree.categories(0).tolist()
        left = set(range(4)) - set(listed) if tree.missing_go_to_left[0] else set(listed)
        seen.add(frozenset(left))
    assert len(seen) == 2**4 - 2


@pytest.mark.parametrize("categorical", [False, True])
def test_missing_values_are_tried_on_both_sides(categorical: bool) -> None:
    X = np.array([[0.0], [1.0], [np.nan]] * 20)
    parameters = {"categorical_features": [0] if categorical else None}
    for low, high in ((0.0, 10.0), (10.0, 0.0)):
        for of_missing in (low, high):
            y = np.array([low, high, of_missing] * 20)
            tree = stump(X, y, 0, **parameters)
            assert sorted(tree.value[1:, 0, 0]) == [0.0, 10.0]
    only_one = np.array([[1.0], [np.nan]] * 10)
    tree = stump(only_one, np.array([0.0, 5.0] * 10), 0, **parameters)
    assert sorted(tree.value[1:, 0, 0]) == [0.0, 5.0]


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_the_tree_depends_only_on_the_seed(criterion: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    X = X.repeat(4, axis=0) + np.random.default_rng(0).normal(size=(4 * len(X), X.shape[1])) / 50
    y = y.repeat(4)

    def state(X: Array, y: Array, **parameters: Any) -> Any:
        model = DecisionTreeRegressor(criterion=criterion, splitter="random", **parameters)
        tree = model.fit(X, y).tree_
        return [tree.threshold.tobytes(), tree.feature.tobytes(), tree.value.tobytes()]

    one = state(X, y, random_state=1, n_jobs=1)
    assert one == state(X, y, random_state=1, n_jobs=8)
    order = np.random.default_rng(1).permutation(len(y))
    assert one == state(X[order], y[order], random_state=1)
    assert one != state(X, y, random_state=2)


def test_random_trees_score_like_scikit_learns() -> None:
    X, y = load_diabetes(return_X_y=True)
    scores = [
        np.mean(
            [
                cross_val_score(
                    module(splitter="random", max_depth=4, random_state=seed), X, y, cv=5
                ).mean()
                for seed in range(25)
            ]
        )
        for module in (DecisionTreeRegressor, theirs.DecisionTreeRegressor)
    ]
    assert scores[0] == pytest.approx(scores[1], abs=0.03)


def test_leaves_of_random_trees_are_pure() -> None:
    random = np.random.default_rng(4)
    X, y = random.normal(size=(500, 4)), random.integers(0, 3, 500)
    model = DecisionTreeClassifier(splitter="random", random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0


def test_small_nodes_of_columns_with_many_categories_are_cheap() -> None:
    """A node costs what its rows cost, not what all categories of the column do.

    Eight times as many rows then take about eight times as long, not sixty-four times.
    """

    def seconds(n_rows: int) -> float:
        random = np.random.default_rng(0)
        X = random.permutation(n_rows)[:, None].astype(float)
        y = random.integers(0, 2, n_rows)
        model = DecisionTreeClassifier(
            splitter="random", categorical_features=[0], random_state=0, n_jobs=1
        )
        start = time.process_time()
        model.fit(X, y)
        return time.process_time() - start

    assert min(seconds(48_000) for _ in range(3)) < 24 * min(seconds(6_000) for _ in range(5))
