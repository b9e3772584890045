"""Weights of columns: how often columns are drawn, how weights are given, and errors."""

import pickle
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.survival.times import made

import arboleda
from arboleda import (
    BoostingRegressor,
    DistributionalBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRanker,
    HistGradientBoostingRegressor,
    HistGradientBoostingSurvival,
)

RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(RANDOM.normal(size=(120, 4)), columns=list("abcd"))
SCORE = FRAME["a"].to_numpy() + RANDOM.normal(size=120)
WEIGHTS = np.array([1.0, 2.0, 4.0, 0.0])
TREES: Any = {"max_leaf_nodes": 2, "min_samples_leaf": 1, "random_state": 0}


def root_features(model: Any) -> np.ndarray:
    return np.array([tree.feature[0] for tree in model.ensemble_.trees])


@pytest.mark.parametrize("share", ["max_features", "colsample_bytree", "colsample_bylevel"])
@pytest.mark.parametrize("growth", ["leaf_wise", "symmetric"])
def test_stumps_of_one_drawn_column_are_in_proportion_to_the_weights(
    share: str, growth: Any
) -> None:
    model = HistGradientBoostingRegressor(
        max_iter=1500, feature_weights=WEIGHTS, growth=growth, **{share: 0.25}, **TREES
    ).fit(FRAME, SCORE)
    counts = np.bincount(root_features(model), minlength=4)
    expected = 1500 * WEIGHTS / WEIGHTS.sum()
    assert counts[3] == 0
    assert (np.abs(counts - expected) <= 4.5 * np.sqrt(expected)).all()


def test_columns_are_drawn_without_replacement() -> None:
    """The best of two drawn columns: its probability is the sum over all ordered pairs."""
    columns = np.eye(4)[RANDOM.integers(0, 4, size=400)]  # column j is 1 in its rows only
    y = columns @ [8.0, 4.0, 2.0, 1.0] + 0.01 * RANDOM.normal(size=400)
    weights = [1.0, 2.0, 3.0, 4.0]
    model = HistGradientBoostingRegressor(
        max_iter=800, learning_rate=1e-9, max_features=0.5, feature_weights=weights, **TREES
    ).fit(columns, y)
    alone = HistGradientBoostingRegressor(
        max_iter=200, learning_rate=1e-9, max_features=0.25, **TREES
    ).fit(columns, y)
    gains = {tree.feature[0]: tree.impurity[0] for tree in alone.ensemble_.trees}
    share = np.zeros(4)
    for pair in permutations(range(4), 2):
        first, second = (weights[j] for j in pair)
        share[max(pair, key=lambda j: gains[j])] += first / 10 * second / (10 - first)
    counts = np.bincount(root_features(model), minlength=4)
    sd = np.sqrt(800 * share * (1 - share))
    assert (np.abs(counts - 800 * share) <= 4.5 * sd).all()


def test_equal_weights_are_no_weights() -> None:
    options: Any = {"max_iter": 20, "max_features": 0.5, "random_state": 3}
    plain = HistGradientBoostingRegressor(**options).fit(FRAME, SCORE)
    for equal in ([3.0] * 4, {}, {"b": 1}):
        model = HistGradientBoostingRegressor(feature_weights=equal, **options).fit(FRAME, SCORE)
        assert pickle.dumps(model.ensemble_) == pickle.dumps(plain.ensemble_)
    # Nothing is drawn, and nothing would be uneven.
    HistGradientBoostingRegressor(max_iter=1, feature_weights=[2.0] * 4).fit(FRAME, SCORE)


def test_names_and_positions_and_scales_are_alike() -> None:
    options: Any = {"max_iter": 20, "max_features": 0.5, "random_state": 3}
    models = [
        HistGradientBoostingRegressor(feature_weights=weights, **options).fit(FRAME, SCORE)
        for weights in ([1, 1, 5, 0], {"c": 5.0, "d": 0.0}, {2: 5, 3: 0}, [0.25, 0.25, 1.25, 0.0])
    ]
    assert len({pickle.dumps(model.ensemble_) for model in models}) == 1
    assert models[0].feature_importances_[3] == 0.0
    assert (models[0].feature_importances_[:3] > 0.0).all()


def test_the_weights_are_in_the_model_file(tmp_path: Any) -> None:
    model = HistGradientBoostingRegressor(
        max_iter=2, max_features=0.5, feature_weights={"a": 2.0}, forced_splits=None
    ).fit(FRAME, SCORE)
    model.save(tmp_path / "model")
    assert arboleda.load(tmp_path / "model").feature_weights == {"a": 2.0}


def test_statistics_of_categories_have_the_weight_of_their_column() -> None:
    levels = np.array(list("uvwxyz"))[RANDOM.integers(0, 6, size=300)]
    X = pd.DataFrame({"n": RANDOM.normal(size=300), "k": pd.Categorical(levels)})
    y = np.array([0, 1, 2])[np.unique(levels, return_inverse=True)[1] // 2]
    options: Any = {"category_encoding": "ordered", "max_iter": 10, "max_features": 0.5}
    model = HistGradientBoostingClassifier(feature_weights=[1.0, 0.0], **options).fit(X, y)
    assert model.statistics_.columns
    np.testing.assert_array_equal(model.feature_importances_, [1.0, 0.0])


@pytest.mark.parametrize("multi", [False, True])
def test_every_estimator_draws_by_weights(multi: bool) -> None:
    options: Any = {"max_iter": 5, "max_features": 0.5, "feature_weights": WEIGHTS}
    if multi:
        options["multi_strategy"] = "multi_output_tree"
        y = np.digitize(SCORE, [-0.5, 0.5])
        model: Any = HistGradientBoostingClassifier(**options).fit(FRAME, y)
        assert model.feature_importances_[3] == 0.0
        return
    times = made(120)[1]
    distributional = DistributionalBoostingRegressor(**options).fit(FRAME, SCORE)
    ranker = HistGradientBoostingRanker(**options, min_samples_leaf=5)
    ranker.fit(FRAME, np.digitize(SCORE, [0.0, 1.0]), qid=np.arange(120) // 12)
    survival = HistGradientBoostingSurvival(**options).fit(FRAME, times)
    automatic = BoostingRegressor("quick", feature_weights=WEIGHTS).fit(FRAME, SCORE)
    for model in (distributional, ranker, survival, automatic):
        assert model.feature_importances_[3] == 0.0
        assert model.feature_importances_[2] > 0.0
    assert automatic.crossed_columns_.size == 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], "2 weights, and X has 4 columns"),
        (3.0, "1 weights|array-like"),
        ([1.0, -1.0, 1.0, 1.0], "not negative, got -1.0 for column 'b'"),
        ([1.0, np.nan, 1.0, 1.0], "finite"),
        ([1.0, np.inf, 1.0, 1.0], "finite"),
        (["x", 1.0, 1.0, 1.0], "got 'x' for column 'a'"),
        ({"z": 1.0}, "'z', which is not a column of X"),
        ({"a": None}, "got None"),
        ([0.0] * 4, "all 0"),
    ],
)
def test_bad_weights(weights: Any, message: str) -> None:
    model = HistGradientBoostingRegressor(max_features=0.5, feature_weights=weights)
    with pytest.raises(ValueError, match=message):
        model.fit(FRAME, SCORE)


def test_weights_without_a_draw_and_with_crosses_are_errors() -> None:
    with pytest.raises(ValueError, match=r"no effect with max_features=1\.0"):
        HistGradientBoostingRegressor(feature_weights=WEIGHTS).fit(FRAME, SCORE)
    automatic = BoostingRegressor("quick", feature_weights=WEIGHTS, cross_columns=True)
    with pytest.raises(ValueError, match="cross_columns=True does not support feature_weights"):
        automatic.fit(FRAME, SCORE)
