"""Survival forests: curves, risks, threads, files."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from tests.survival.times import made, structured

import arboleda
from arboleda import ExtraSurvivalTrees, RandomSurvivalForest, SurvivalTree
from arboleda.metrics import concordance_index

KINDS = [
    SurvivalTree(),
    RandomSurvivalForest(12, random_state=0),
    ExtraSurvivalTrees(12, random_state=0, criterion="logrank_score"),
]


def test_one_leaf_holds_the_estimates_of_the_textbook() -> None:
    # Of 5 rows: event at 1, censored at 2, two events at 3, censored at 5.
    y = structured([True, False, True, True, False], [1.0, 2.0, 3.0, 3.0, 5.0])
    tree = SurvivalTree().fit(np.zeros((5, 1)), y)
    assert tree.unique_times_.tolist() == [1.0, 3.0]
    times = [0.0, 1.0, 2.5, 3.0, 5.0]
    survival = tree.predict_survival_function([[0.0]], times)
    np.testing.assert_allclose(survival[0], [1.0, 4 / 5, 4 / 5, 4 / 5 / 3, 4 / 5 / 3])
    hazard = tree.predict_cumulative_hazard_function([[0.0]], times)
    np.testing.assert_allclose(hazard[0], [0.0, 1 / 5, 1 / 5, 1 / 5 + 2 / 3, 1 / 5 + 2 / 3])
    np.testing.assert_allclose(tree.predict([[0.0]]), [1 / 5 + (1 / 5 + 2 / 3)])
    assert tree.predict_quantile([[0.0]], [0.1, 0.5, 0.9]).tolist() == [[1.0, 3.0, np.inf]]


@pytest.mark.parametrize("model", KINDS, ids=lambda m: type(m).__name__)
def test_curves(model: Any) -> None:
    X, y = made(200)
    model = clone(model).fit(X, y)
    survival = model.predict_survival_function(X)
    hazard = model.predict_cumulative_hazard_function(X)
    assert survival.shape == hazard.shape == (200, len(model.unique_times_))
    assert (np.diff(survival, axis=1) <= 0).all()
    assert (np.diff(hazard, axis=1) >= 0).all()
    assert survival.min() >= 0
    assert survival.max() <= 1
    np.testing.assert_allclose(hazard.sum(axis=1), model.predict(X), rtol=1e-9)
    times = [7.0, 0.0, 11.5]  # in any order
    at = np.searchsorted(model.unique_times_, times, side="right") - 1
    expected = np.where(at >= 0, survival[:, at], 1.0)
    np.testing.assert_allclose(model.predict_survival_function(X, times), expected, atol=1e-12)
    functions = model.predict_survival_function(X[:3], return_array=False)
    np.testing.assert_array_equal(functions[2](times), expected[2])
    assert np.isnan(functions[2](1e9))
    assert functions[2].domain[1] == y["time"].max()
    median = model.predict_quantile(X)
    reached = np.isfinite(median)
    at = np.searchsorted(model.unique_times_, median[reached])
    assert (survival[reached, at] <= 0.5 + 1e-9).all()
    assert (survival[~reached] > 0.5).all()


def test_curves_are_means_of_the_leaves_of_all_trees() -> None:
    X, y = made(150)
    forest = RandomSurvivalForest(8, random_state=1).fit(X, y)
    event, time = y["event"], y["time"]
    expected = np.zeros((len(X), len(forest.unique_times_)))
    for number, rows in enumerate(forest.estimators_samples_):
        leaves = forest.apply(X)[:, number]
        for leaf in np.unique(leaves[rows]):
            mine = rows[leaves[rows] == leaf]
            survival = np.ones(len(forest.unique_times_))
            for j, t in enumerate(forest.unique_times_):
                at_risk = np.count_nonzero(time[mine] >= t)
                dead = np.count_nonzero((time[mine] == t) & event[mine])
                survival[j:] *= 1 - dead / at_risk if at_risk else 1.0
            expected[leaves == leaf] += survival / 8
    np.testing.assert_allclose(forest.predict_survival_function(X), expected, atol=1e-12)


def test_trees_of_a_forest() -> None:
    X, y = made(120)
    forest = RandomSurvivalForest(5, random_state=0).fit(X, y)
    trees = list(forest.estimators_)
    assert all(type(tree) is SurvivalTree for tree in trees)
    mean = np.mean([tree.predict_survival_function(X) for tree in trees], axis=0)
    np.testing.assert_allclose(forest.predict_survival_function(X), mean, atol=1e-12)
    np.testing.assert_allclose(forest.predict(X), np.mean([t.predict(X) for t in trees], axis=0))


@pytest.mark.parametrize("model", KINDS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("criterion", ["logrank", "logrank_score"])
def test_threads_do_not_change_a_byte(model: Any, criterion: str) -> None:
    X, y = made(3000, n_features=6)
    states = []
    for n_jobs in (1, 2, 5):
        fitted = clone(model).set_params(n_jobs=n_jobs, criterion=criterion, random_state=3)
        fitted.fit(X, y)
        states.append(pickle.dumps((fitted.forest_, fitted.curves_.begins, fitted.curves_.hazard)))
    assert states[0] == states[1] == states[2]


@pytest.mark.parametrize("model", KINDS, ids=lambda m: type(m).__name__)
def test_files(model: Any, tmp_path: Path) -> None:
    X, y = made(120)
    model = clone(model).fit(X, y)
    path = tmp_path / "model.arboleda"
    model.save(path)
    loaded = arboleda.load(path)
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        np.testing.assert_array_equal(
            other.predict_survival_function(X, [3.0]), model.predict_survival_function(X, [3.0])
        )
    assert loaded.get_params() == model.get_params()


def test_damaged_curves_are_refused(tmp_path: Path) -> None:
    X, y = made(60)
    tree = SurvivalTree().fit(X, y)
    tree.curves_ = tree.curves_.of_nodes(0, 1)
    tree.save(tmp_path / "model.arboleda")
    with pytest.raises(arboleda.ModelFormatError, match="do not belong to the nodes"):
        arboleda.load(tmp_path / "model.arboleda")


def test_warm_start_continues_a_forest() -> None:
    X, y = made(100)
    forest = RandomSurvivalForest(4, random_state=0, warm_start=True).fit(X, y)
    forest.set_params(n_estimators=9).fit(X, y)
    at_once = RandomSurvivalForest(9, random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        forest.predict_survival_function(X), at_once.predict_survival_function(X)
    )
    with pytest.raises(ValueError, match="whose event times were others"):
        forest.set_params(n_estimators=12).fit(X, structured(y["event"], y["time"] + 1.0))


def test_out_of_bag_score() -> None:
    X, y = made(400)
    forest = RandomSurvivalForest(40, random_state=0, oob_score=True).fit(X, y)
    held_out = made(400, seed=1)
    assert abs(forest.oob_score_ - forest.score(*held_out)) < 0.05
    assert 0.6 < forest.oob_score_ < forest.score(X, y)
    voted = ~np.isnan(forest.oob_prediction_)
    expected = concordance_index(y[voted], forest.oob_prediction_[voted])
    assert forest.oob_score_ == pytest.approx(expected)
    assert not hasattr(forest, "oob_curve")
    assert not hasattr(forest, "oob_permutation_importance")


def test_curves_end_with_the_training_times() -> None:
    X, y = made(80)
    forest = RandomSurvivalForest(3, random_state=0).fit(X, y)
    last = y["time"].max()
    with pytest.warns(UserWarning, match="the curves end there"):
        survival = forest.predict_survival_function(X[:2], [last, last + 1.0])
    assert np.isfinite(survival[:, 0]).all()
    assert np.isnan(survival[:, 1]).all()
    with pytest.raises(ValueError, match="not negative"):
        forest.predict_survival_function(X, [-1.0])
    with pytest.raises(ValueError, match="between 0 and 1"):
        forest.predict_quantile(X, 1.5)


def test_rows_of_weight_zero_leave_no_trace() -> None:
    X, y = made(100)
    weight = np.ones(100)
    weight[y["time"] > 20.0] = 0.0
    tree = SurvivalTree().fit(X, y, weight)
    assert tree.unique_times_.max() <= 20.0
    assert tree.time_range_[1] <= 20.0
    other = SurvivalTree().fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(tree.predict(X), other.predict(X))
    only_censored = (~y["event"]).astype(float)
    with pytest.raises(ValueError, match="no row of positive weight has the event"):
        tree.fit(X, y, only_censored)


def test_missing_values_and_selection() -> None:
    X, y = made(300)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    scores = cross_val_score(RandomSurvivalForest(20, random_state=0), X, y, cv=3)
    assert scores.mean() > 0.6


def test_importances_find_the_column() -> None:
    X, y = made(500)
    importances = RandomSurvivalForest(20, random_state=0).fit(X, y).feature_importances_
    assert importances.argmax() == 0
    assert importances.sum() == pytest.approx(1.0)
