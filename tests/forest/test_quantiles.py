"""Quantile regression forests: Meinshausen (2006)."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from tests.conftest import shared_data

from arboleda import ExtraTreesRegressor, RandomForestRegressor

LEVELS = np.array([0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0])


def quantile(weights: Any, y: Any, level: float) -> float:
    """The smallest target up to which the weights add up to the level, up to rounding."""
    used = weights > 0
    order = np.argsort(y[used], kind="stable")
    reached = np.cumsum(weights[used][order]) >= level - 1e-9
    return y[used][order][reached.argmax()]


@pytest.mark.parametrize("leaf", [1, 10])
@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_quantiles_match_the_weighted_targets(kind: Any, leaf: int) -> None:
    X, y = load_diabetes(return_X_y=True)
    y = np.round(y, -1)  # ties
    forest = kind(20, min_samples_leaf=leaf, keep_rows=True, random_state=0).fit(X[:300], y[:300])
    weights = forest.neighbor_weights(X[300:]).toarray()
    found = forest.predict_quantiles(X[300:], LEVELS)
    expected = [[quantile(row, y[:300], level) for level in LEVELS] for row in weights]
    np.testing.assert_array_equal(found, expected)
    assert (np.diff(found, axis=1) >= 0).all()
    for row, (low, high) in zip(weights, found[:, [0, -1]], strict=True):
        assert low == y[:300][row > 0].min()
        assert high == y[:300][row > 0].max()


def test_shapes_follow_the_levels_and_the_targets() -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(5, keep_rows=True, random_state=0).fit(X, y)
    three = forest.predict_quantiles(X)
    assert three.shape == (len(X), 3)
    median = forest.predict_quantiles(X, 0.5)
    np.testing.assert_array_equal(median, three[:, 1])
    np.testing.assert_array_equal(forest.predict_quantiles(X, [0.9, 0.1]), three[:, [2, 0]])
    several = np.column_stack([y, -y])
    forest = RandomForestRegressor(5, keep_rows=True, random_state=0).fit(X, several)
    both = forest.predict_quantiles(X, [0.0, 1.0])
    assert both.shape == (len(X), 2, 2)
    np.testing.assert_array_equal(both[:, 0], -both[:, 1, ::-1])
    assert forest.predict_quantiles(X, 0.5).shape == (len(X), 2)
    assert forest.predict_interval(X, 0.8).shape == (len(X), 2, 2)


@pytest.mark.parametrize("wrong", [1.5, -0.1, [0.5, np.nan], [], [[0.5]], "all"])
def test_invalid_levels_are_refused(wrong: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(2, keep_rows=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="quantiles must be numbers from 0 to 1"):
        forest.predict_quantiles(X, wrong)


@pytest.mark.parametrize("wrong", [0.0, 1.0, 90, "0.9", None, [0.9]])
def test_coverage_lies_between_0_and_1(wrong: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(2, keep_rows=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="coverage must be between 0 and 1"):
        forest.predict_interval(X, wrong)


@settings(max_examples=30, deadline=None)
@given(
    y=st.lists(st.integers(-5, 5), min_size=2, max_size=30),
    seed=st.integers(0, 99),
    leaf=st.integers(1, 4),
)
def test_quantiles_never_cross_and_are_training_targets(y: list[int], seed: int, leaf: int) -> None:
    X = np.random.default_rng(seed).integers(0, 6, (len(y), 2))
    forest = RandomForestRegressor(4, min_samples_leaf=leaf, keep_rows=True, random_state=seed).fit(
        X, np.array(y, dtype=float)
    )
    found = forest.predict_quantiles(X, LEVELS)
    assert (np.diff(found, axis=1) >= 0).all()
    assert np.isin(found, y).all()
    weights = forest.neighbor_weights(X)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-13)
    mean = forest.predict(X)
    np.testing.assert_allclose(weights @ y, mean, rtol=1e-9, atol=1e-12)
    slack = 1e-9 * (1 + np.abs(mean))
    assert ((found[:, 0] <= mean + slack) & (mean <= found[:, -1] + slack)).all()


def test_intervals_on_california_houses_have_about_nominal_coverage() -> None:
    frame = pd.read_csv(shared_data("california_housing/cal_housing.csv.gz"))
    rows = np.random.default_rng(0).permutation(len(frame))
    train, test = frame.iloc[rows[:6000]], frame.iloc[rows[6000:9000]]
    target = "medianHouseValue"
    forest = RandomForestRegressor(
        100, max_features=1 / 3, min_samples_leaf=5, keep_rows=True, random_state=0
    ).fit(train.drop(columns=target), train[target])
    X, y = test.drop(columns=target), test[target].to_numpy()
    for coverage in (0.5, 0.8, 0.9):
        low, high = forest.predict_interval(X, coverage).T
        covered = np.mean((low <= y) & (y <= high))
        # Leaves of several rows spread wider than the target at a point: a little too much.
        assert coverage - 0.02 < covered < coverage + 0.15
    # Wide where prices differ much: the width shows where the forest is wrong.
    low, high = forest.predict_interval(X, 0.9).T
    error = np.abs(forest.predict(X) - y)
    wide = high - low > np.median(high - low)
    assert error[wide].mean() > 1.5 * error[~wide].mean()
