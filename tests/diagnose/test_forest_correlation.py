"""The correlation of a forest's trees, beside numbers known from theory and a naive twin."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestRegressor as OtherForest

from arboleda import (
    BaggingRegressor,
    ClassSwitchingClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.diagnose import forest_correlation

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1200, 6))
y = X.sum(axis=1) + RNG.normal(size=1200)
POINTS = RNG.normal(size=(40, 6))


def test_trees_of_bootstrap_means_have_the_known_correlation() -> None:
    # Without columns to split by, a tree is the mean of a bootstrap sample of n normal targets:
    # its variance is 1/n between and (1 - 1/n)/n within training sets, so rho = 1/(2 - 1/n).
    n, n_sets = 20, 300
    targets = np.random.default_rng(1).normal(size=n * n_sets)
    found = forest_correlation(
        RandomForestRegressor(10, n_jobs=1), np.zeros((n * n_sets, 1)), targets, [[0.0]],
        n_sets=n_sets, set_size=n, random_state=0,
    )  # fmt: skip
    assert found.between[0, 0] == pytest.approx(1 / n, rel=0.25)
    assert found.within[0, 0] == pytest.approx((1 - 1 / n) / n, rel=0.1)
    assert found.rho[0, 0] == pytest.approx(1 / (2 - 1 / n), abs=0.08)
    assert found.forest_variance[0, 0] == pytest.approx(1 / n + (1 - 1 / n) / n / 10, rel=0.25)


def test_components_match_the_analysis_of_variance() -> None:
    forest = RandomForestRegressor(5, random_state=3)
    found = forest_correlation(forest, X, y, POINTS, n_sets=4, set_size=300, random_state=7)
    random = np.random.RandomState(7)
    seeds = random.randint(np.iinfo(np.int32).max, size=4)
    order = random.permutation(len(y))
    predictions = []
    for k, seed in enumerate(seeds):
        rows = order[300 * k : 300 * (k + 1)]
        fitted = RandomForestRegressor(5, random_state=int(seed)).fit(X[rows], y[rows])
        predictions.append([tree.predict(POINTS) for tree in fitted.estimators_])
    predictions = np.array(predictions)  # (sets, trees, points)
    within = predictions.var(axis=1, ddof=1).mean(axis=0)
    between = np.maximum(predictions.mean(axis=1).var(axis=0, ddof=1) - within / 5, 0)
    np.testing.assert_allclose(found.within[0], within, rtol=1e-12)
    np.testing.assert_allclose(found.between[0], between, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.rho * found.variance, found.between)
    np.testing.assert_allclose(
        found.forest_variance, found.rho * found.variance + (1 - found.rho) / 5 * found.variance
    )


def test_fewer_columns_reduce_the_correlation() -> None:
    forest = RandomForestRegressor(20)
    found = forest_correlation(
        forest, X, y, POINTS, max_features=[1, 3, 6], n_sets=12, set_size=100, random_state=0
    )
    frame = found.to_frame()
    assert frame["max_features"].tolist() == [1, 3, 6]
    assert frame["rho"].is_monotonic_increasing
    assert frame["rho"].between(0, 1).all()
    axes = found.plot()
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "3", "6"]
    plt.close(axes.figure)


def test_the_same_random_state_gives_the_same_numbers() -> None:
    forest = RandomForestRegressor(3)
    first, second = (
        forest_correlation(forest, X, y, POINTS, n_sets=3, random_state=1) for _ in range(2)
    )
    np.testing.assert_array_equal(first.rho, second.rho)


def test_classes_frames_bagging_and_other_libraries_are_supported() -> None:
    table, labels = load_iris(return_X_y=True, as_frame=True)
    found = forest_correlation(
        RandomForestClassifier(5), table, labels, table[:30], n_sets=3, random_state=0
    )
    assert found.variance.shape == (1, 30)
    for model in (OtherForest(5), BaggingRegressor(n_estimators=5, max_features=0.5)):
        assert forest_correlation(
            model, X, y, POINTS, n_sets=3, set_size=0.2, random_state=0
        ).n_trees == 5  # fmt: skip
    frame = pd.DataFrame(X, columns=list("abcdef"))
    points = pd.DataFrame(POINTS, columns=list("abcdef"))
    of_frame, of_array = (
        forest_correlation(RandomForestRegressor(3), *each, n_sets=3, random_state=0)
        for each in ((frame, y, points), (X, y, POINTS))
    )
    np.testing.assert_array_equal(of_frame.rho, of_array.rho)


def test_members_that_draw_no_columns_have_one_setting() -> None:
    switched = ClassSwitchingClassifier(n_estimators=5)
    found = forest_correlation(switched, X, y > 0, POINTS, n_sets=3, random_state=0)
    assert found.max_features == (None,)
    assert np.nanmin(found.rho) >= 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_sets": 1}, "n_sets must be at least 2"),
        ({"set_size": 5000}, "set_size must be a share or a number of the 1200 rows; got 5000"),
        ({"set_size": 0.0}, "set_size must be a share"),
        ({"max_features": []}, "max_features must be None or hold at least one setting"),
    ],
)
def test_invalid_arguments_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        forest_correlation(RandomForestRegressor(3), X, y, POINTS, **options)


@pytest.mark.parametrize("setting", [3, "sqrt"])
def test_settings_must_be_a_list(setting: Any) -> None:
    with pytest.raises(TypeError, match=r"max_features must be a list of settings, such as \["):
        forest_correlation(RandomForestRegressor(3), X, y, POINTS, max_features=setting)


def test_one_tree_or_several_targets_are_refused() -> None:
    several = np.column_stack([y, y])
    for forest, target in (
        (RandomForestRegressor(1), y),
        (RandomForestRegressor(3), several),
        (DecisionTreeRegressor(), y),
    ):
        with pytest.raises(ValueError, match="two trees of one target"):
            forest_correlation(forest, X, target, POINTS, n_sets=2, random_state=0)


@pytest.mark.parametrize(
    ("forest", "value"), [(RandomForestRegressor(3), 2.5), (RandomForestClassifier(3), "ham")]
)
def test_a_constant_target_is_refused(forest: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"y is {value!r} in all 1200 rows.*no correlation"):
        forest_correlation(forest, X, np.full(1200, value), POINTS, random_state=0)


@pytest.mark.filterwarnings("error")
def test_constant_trees_have_no_correlation() -> None:
    # Far to the left every tree of every setting predicts 0; far to the right trees differ.
    table = np.linspace(-1, 1, 400)[:, np.newaxis]
    target = np.where(table[:, 0] < 0.5, 0.0, RNG.normal(size=400))
    forest = RandomForestRegressor(4, random_state=0)
    found = forest_correlation(forest, table, target, [[-1.0], [1.0]], n_sets=4, random_state=0)
    assert np.isnan(found.rho[0, 0])
    assert found.to_frame()["rho"][0] == found.rho[0, 1]
    nowhere = forest_correlation(forest, table, target, [[-1.0]], n_sets=4, random_state=0)
    assert nowhere.to_frame()["rho"].isna().all()
    assert (nowhere.to_frame()["variance"] == 0).all()
    axes = nowhere.plot()
    assert len(axes.get_xticklabels()) == 1
    plt.close(axes.figure)
