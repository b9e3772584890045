"""Monotone columns over 100,000 random pairs of rows, whatever else the model is."""

from typing import Any

import numpy as np
import pytest
from tests.boosting.test_constraints import meetings

from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor

RANDOM = np.random.default_rng(3)
N = 1200
N_PAIRS = 100_000
DIRECTIONS = np.array([1, -1, 0, 0, 1, 0])
CATEGORIES = [3]


def table(n: int, missing: float) -> Any:
    X = RANDOM.normal(size=(n, 6))
    X[:, 1] = np.round(X[:, 1] * 3)
    X[:, 3] = RANDOM.integers(0, 9, n)
    X[:, 4] = np.round(X[:, 4] * 20)
    X[RANDOM.random(X.shape) < missing] = np.nan
    return X


X = table(N, 0.1)
WAVE = np.nan_to_num(np.sin(3 * X[:, 0]) + 0.3 * X[:, 0] - np.abs(X[:, 1]) + np.cos(X[:, 4] / 8))
SCORE = WAVE + (np.nan_to_num(X[:, 3]) % 3) * np.nan_to_num(X[:, 2]) + RANDOM.normal(size=N)
AMOUNT = np.exp(SCORE / 2)
WEIGHT = RANDOM.integers(0, 4, N).astype(float)

# Pairs that differ only in the monotonic columns: the second row's values are at least as high in
# rising columns and at least as low in falling ones. Wider than the training rows.
LOW = table(N_PAIRS, 0.1)
LOW[:, DIRECTIONS != 0] *= 1.5
HIGH = LOW.copy()
for column in np.flatnonzero(DIRECTIONS):
    moved = RANDOM.random(N_PAIRS) < 0.7
    step = RANDOM.choice([0.01, 0.3, 1.0, 7.0], N_PAIRS) * RANDOM.random(N_PAIRS)
    HIGH[moved, column] += DIRECTIONS[column] * step[moved]

CASES: dict[str, dict[str, Any]] = {
    "squared": {},
    "squared, level": {"growth": "level_wise", "max_depth": 7, "weight": WEIGHT},
    "squared, symmetric": {"growth": "symmetric", "max_depth": 6},
    "many leaves": {"max_leaf_nodes": 300, "min_samples_leaf": 2, "learning_rate": 0.5},
    "L1": {"l1_regularization": 5.0, "growth": "level_wise", "max_depth": 6},
    "L1, bounded": {"l1_regularization": 3.0, "max_delta_step": 0.05, "max_leaf_nodes": 80},
    "bounded, symmetric": {"max_delta_step": 0.02, "growth": "symmetric", "max_depth": 6},
    "L2": {"l2_regularization": 30.0, "min_split_gain": 0.1, "colsample_bylevel": 0.7},
    "stopping early": {"early_stopping": True, "n_iter_no_change": 3},
    "part of the rows": {"subsample": 0.4, "max_features": 0.6},
    "one-sided": {"sampling": "goss"},
    "by gradient": {"sampling": "gradient", "subsample": 0.3, "max_leaf_nodes": 100},
    "random thresholds": {"extra_trees": True, "max_leaf_nodes": 60},
    "dropped trees": {"drop_rate": 0.4, "skip_drop": 0.0},
    "absolute": {"loss": "absolute_error", "weight": WEIGHT},
    "absolute, one-sided": {"loss": "absolute_error", "sampling": "goss", "max_leaf_nodes": 90},
    "absolute, symmetric": {"loss": "absolute_error", "growth": "symmetric", "max_depth": 6},
    "absolute, bounded": {"loss": "absolute_error", "max_delta_step": 0.03, "growth": "level_wise"},
    "huber": {"loss": "huber", "subsample": 0.5},
    "quantiles": {"loss": "quantile", "quantile": [0.1, 0.5, 0.9], "max_leaf_nodes": 70},
    "quantile, level": {"loss": "quantile", "quantile": 0.9, "growth": "level_wise"},
    "poisson": {"loss": "poisson", "y": AMOUNT, "weight": WEIGHT},
    "gamma": {"loss": "gamma", "y": AMOUNT, "growth": "symmetric", "min_samples_leaf": 1},
    "tweedie": {"loss": "tweedie", "y": AMOUNT, "growth": "level_wise"},
    "log loss": {"y": SCORE > 0, "weight": WEIGHT},
    "log loss, symmetric": {"y": SCORE > 0, "growth": "symmetric", "max_depth": 7},
    "log loss, bounded": {"y": SCORE > 0, "max_delta_step": 0.1, "max_leaf_nodes": 100},
    "exponential": {"y": SCORE > 0, "loss": "exponential", "growth": "level_wise"},
    "no missing values": {"table": np.nan_to_num(X), "max_leaf_nodes": 90},
}


@pytest.mark.parametrize("name", CASES)
def test_no_pair_breaks_its_direction(name: str) -> None:
    options = dict(CASES[name])
    y, weight = options.pop("y", SCORE), options.pop("weight", None)
    rows = options.pop("table", X)
    defaults = {"max_iter": 15, "categorical_features": CATEGORIES, "random_state": 0}
    two_classes = y.dtype == bool
    maker = HistGradientBoostingClassifier if two_classes else HistGradientBoostingRegressor
    model = maker(**defaults, monotonic_cst=DIRECTIONS.tolist(), **options).fit(rows, y, weight)
    assert model.n_iter_ > 3
    output = model.decision_function if two_classes else model.predict
    steps = output(HIGH) - output(LOW)
    assert steps.min() >= 0.0
    assert (steps > 0.0).mean() > 0.01
    if options.get("loss") != "quantile":
        free = maker(**defaults, **options).fit(rows, y, weight)
        output = free.decision_function if two_classes else free.predict
        assert (output(HIGH) - output(LOW)).min() < 0.0


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("growth", ["leaf_wise", "level_wise", "symmetric"])
def test_no_path_mixes_groups(growth: str, loss: str) -> None:
    """With samples, categories, missing values, monotone columns and early stopping at once."""
    groups = [{0, 3}, {1, 2, 3}, {4}]
    model = HistGradientBoostingRegressor(
        loss=loss,
        growth=growth,
        max_iter=40,
        early_stopping=True,
        subsample=0.6,
        max_features=0.7,
        max_leaf_nodes=40,
        categorical_features=CATEGORIES,
        interaction_cst=[*groups],
        monotonic_cst=DIRECTIONS.tolist(),
        random_state=0,
    ).fit(X, AMOUNT)
    found = meetings(model)
    assert all(any(path <= group for group in [*groups, {5}]) for path in found)
    assert {frozenset({0, 3})} <= found or loss == "absolute_error"
