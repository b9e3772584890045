"""Scores of every round on sets that are passed to `fit`."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from tests.survival.times import made

from arboleda import (
    BoostingRegressor,
    DistributionalBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    HistGradientBoostingSurvival,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 3))
Y = X[:, 0] + RANDOM.normal(size=300)
TRAIN, TEST = (X[:200], Y[:200]), (X[200:], Y[200:])
METRICS = ["neg_mean_absolute_error", "r2"]


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRegressor(max_iter=6),
        HistGradientBoostingRegressor(max_iter=60, early_stopping=True, n_iter_no_change=3),
        DistributionalBoostingRegressor(max_iter=4),
        BoostingRegressor("quick", random_state=0),
    ],
)
def test_fit_records_what_evals_result_computes(model: Any) -> None:
    model = clone(model).set_params(random_state=0)
    sets = {"train": TRAIN, "test": TEST}
    model.fit(*TRAIN, eval_set=sets, eval_metric=METRICS)
    expected = model.evals_result(sets, METRICS)
    assert list(model.evals_result_) == ["train", "test"]
    for name, scores in expected.items():
        assert list(model.evals_result_[name]) == METRICS
        for metric, values in scores.items():
            np.testing.assert_array_equal(model.evals_result_[name][metric], values)
            assert values.shape == (model.n_iter_,)
    # The sets have no influence, and the next fit does not keep their scores.
    predicted = model.predict(X)
    model.fit(*TRAIN)
    np.testing.assert_array_equal(model.predict(X), predicted)
    assert not hasattr(model, "evals_result_")


def test_sets_without_names() -> None:
    model = HistGradientBoostingClassifier(max_iter=3)
    y = Y > 0.0
    weight = np.linspace(0.5, 1.5, 300)
    model.fit(X, y, eval_set=[(X, y), (X, y, weight)])
    assert list(model.evals_result_) == ["valid_0", "valid_1"]
    last = model.evals_result_["valid_1"]["score"][-1]
    assert last == pytest.approx(model.score(X, y, weight))
    model.fit(X, y, eval_set=(X, y), eval_metric="neg_log_loss")
    assert list(model.evals_result_) == ["valid_0"]


@pytest.mark.parametrize("loss", ["cox", "discrete_time"])
def test_models_of_times_record_the_concordance(loss: Any) -> None:
    table, times = made(80)
    weight = np.linspace(0.5, 2.0, 80)
    model = HistGradientBoostingSurvival(loss, max_iter=4, min_samples_leaf=5)
    model.fit(table, times, eval_set=[(table, times), (table, times, weight)])
    last = model.evals_result_["valid_1"]["score"]
    assert last.shape == (4,)
    assert last[-1] == model.score(table, times, weight)
    assert model.evals_result_["valid_0"]["score"][-1] == model.score(table, times)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eval_set": [X]}, "'valid_0' is a ndarray"),
        ({"eval_set": {"test": X}}, "'test' is a ndarray"),
        ({"eval_set": [TEST], "eval_metric": "no_such_metric"}, "no_such_metric"),
        ({"eval_metric": "r2"}, "eval_metric needs eval_set"),
    ],
)
def test_errors_come_before_the_fit(arguments: Any, message: str) -> None:
    rounds: list[int] = []
    model = HistGradientBoostingRegressor(callbacks=[lambda each: rounds.append(each.n_rounds)])
    with pytest.raises(ValueError, match=message):
        model.fit(*TRAIN, **arguments)
    assert not rounds
