"""Boosting that chooses its parameters, in shards: the model that is fitted to all rows."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from tests.boosting.test_sharded_fit import CLASSES, CUTS, NUMBERS, WEIGHTS, X, fit_all

from arboleda import BoostingClassifier, BoostingRegressor
from arboleda.persist import model_to_bytes

OPTIONS: dict[str, Any] = {"max_bins": 30, "random_state": 4}


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arboleda.boosting._auto.MAX_ROUNDS", 4)


def check_same(model: Any, y: Any, cuts: list[int], weight: Any = None, val: Any = None) -> Any:
    """Compare file, report and held-out predictions; return the model."""
    X_val, y_val = (None, None) if val is None else val
    whole = model.fit(X, y, weight, X_val=X_val, y_val=y_val)
    for fitted in fit_all(model, X, y, cuts, weight, val):
        assert model_to_bytes(fitted) == model_to_bytes(whole)
        assert str(fitted.report_) == str(whole.report_)
        np.testing.assert_array_equal(fitted.cv_predictions_, whole.cv_predictions_)
    return whole


@pytest.mark.parametrize("cuts", CUTS[1:])
def test_numbers(cuts: list[int]) -> None:
    whole = check_same(BoostingRegressor(**OPTIONS), NUMBERS, cuts)
    assert whole.crossed_columns_.size  # the product of two columns is a part of the target
    assert whole.cv_residuals_.shape == (len(X), 1)


@pytest.mark.parametrize("y", [CLASSES, CLASSES == "low"])
def test_classes(y: Any) -> None:
    check_same(BoostingClassifier(**OPTIONS), y, CUTS[3], WEIGHTS)


def test_high_effort() -> None:
    check_same(BoostingRegressor("high", **OPTIONS), NUMBERS, CUTS[2], WEIGHTS)


def test_validation_rows() -> None:
    val = X.iloc[:150], NUMBERS[:150]
    check_same(BoostingRegressor("quick", **OPTIONS), NUMBERS, CUTS[3], val=val)


def test_one_class() -> None:
    check_same(BoostingClassifier(**OPTIONS), np.full(len(X), "only"), CUTS[2])


def test_linear_leaves_are_tried() -> None:
    table, y = X[["few", "short"]], 3.0 * X["few"].to_numpy() + X["short"].to_numpy()
    model = BoostingRegressor(**OPTIONS, cross_columns=False)
    whole = clone(model).fit(table, y)
    assert whole.ensemble_.has_linear_leaves
    for fitted in fit_all(model, table, y, CUTS[2]):
        assert model_to_bytes(fitted) == model_to_bytes(whole)


def test_the_clock_of_the_first_shard_counts() -> None:
    models = fit_all(BoostingRegressor(**OPTIONS, time_budget=1e-9), X, NUMBERS, [300])
    assert len({model_to_bytes(model) for model in models}) == 1
    assert models[0].report_.n_members == 1
