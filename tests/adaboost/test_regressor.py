"""AdaBoost for regression: the algorithms of the papers, and the conventions of all estimators."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_friedman1
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

from arboleda import AdaBoostRegressor, DecisionTreeRegressor, RandomForestRegressor

Array = npt.NDArray[Any]
X, y = make_friedman1(300, noise=1.0, random_state=0)
ALGORITHMS = ["R", "R2"]


class Hidden(DecisionTreeRegressor):
    """Tree that the engine does not recognize."""


class Constant(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict the same number for all rows."""

    def __init__(self, predicted: float = 0.0) -> None:
        self.predicted = predicted

    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> "Constant":
        return self

    def predict(self, X: Array) -> Array:
        return np.full(len(X), self.predicted)


def test_rounds_of_adaboost_r_match_the_paper() -> None:
    """Figure 5, on a grid of 2,000 cells; least squares as the weak learner."""
    rows, target = X[:40], y[:40]
    model = AdaBoostRegressor(LinearRegression(), algorithm="R", n_estimators=4).fit(rows, target)
    span = np.ptp(target)
    share = (target - target.min()) / span
    grid = (np.arange(2000) + 0.5) / 2000
    weight = np.abs(grid - share[:, None])
    for member, error, vote in zip(
        model.estimators_, model.estimator_errors_, model.estimator_weights_, strict=True
    ):
        p = weight / weight.sum()
        by_row = p.sum(axis=1) / (share**2 + (1 - share) ** 2)
        expected = LinearRegression().fit(rows, target, sample_weight=by_row)
        np.testing.assert_allclose(member.coef_, expected.coef_, rtol=2e-2)
        predicted = ((member.predict(rows) - target.min()) / span).clip(0, 1)[:, None]
        wrong = (grid > np.minimum(share[:, None], predicted)) & (
            grid < np.maximum(share[:, None], predicted)
        )
        assert error == pytest.approx((p * wrong).sum(), rel=5e-3)
        beta = error / (1 - error)
        assert vote == pytest.approx(np.log(1 / beta))
        weight = np.where(wrong, weight, weight * beta)


def test_the_first_error_of_adaboost_r_is_the_mean_squared_error_over_2z() -> None:
    model = AdaBoostRegressor(Ridge(), algorithm="R", n_estimators=1).fit(X, y)
    share = (y - y.min()) / np.ptp(y)
    predicted = ((Ridge().fit(X, y).predict(X) - y.min()) / np.ptp(y)).clip(0, 1)
    z = (share**2 + (1 - share) ** 2).sum() / 2
    assert model.estimator_errors_[0] == pytest.approx(((predicted - share) ** 2).sum() / (2 * z))


def test_leaves_of_adaboost_r_have_less_error_than_least_squares() -> None:
    limits = {"max_depth": 3}
    models = [
        AdaBoostRegressor(member(**limits), algorithm="R", n_estimators=30, random_state=0)
        for member in (DecisionTreeRegressor, Hidden)
    ]
    exact, squares = (model.fit(X, y) for model in models)
    assert exact.estimator_errors_[0] == pytest.approx(squares.estimator_errors_[0])
    assert exact.estimator_errors_[1] < squares.estimator_errors_[1] - 0.01
    assert exact.training_error_bound_[-1] < 0.7 * squares.training_error_bound_[-1]


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_weighted_rounds_match_rounds_on_copied_rows(criterion: str) -> None:
    target = y - y.min()
    models = [
        AdaBoostRegressor(member(criterion=criterion, max_depth=5), n_estimators=10, random_state=2)
        for member in (DecisionTreeRegressor, Hidden)
    ]
    ours, copies = (model.fit(X, target) for model in models)
    np.testing.assert_array_equal(ours.estimator_weights_, copies.estimator_weights_)
    np.testing.assert_array_equal(ours.predict(X), copies.predict(X))
    for first, second in zip(ours.estimators_, copies.estimators_, strict=True):
        assert first.random_state == second.random_state
        np.testing.assert_array_equal(first.predict(X), second.predict(X))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("member", [None, KNeighborsRegressor()], ids=["trees", "neighbours"])
def test_the_last_stage_is_the_prediction(algorithm: Any, member: Any) -> None:
    model = AdaBoostRegressor(member, algorithm=algorithm, n_estimators=12, random_state=0)
    model.fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model) == model.best_iteration_ == len(model.estimator_weights_)
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    predictions = np.array([each.predict(X) for each in model.estimators_])
    if algorithm == "R":
        predictions = predictions.clip(y.min(), y.max())
    for number, stage in enumerate(stages, start=1):
        weight = model.estimator_weights_[:number]
        order = np.argsort(predictions[:number], axis=0)
        below = np.cumsum(weight[order], axis=0)
        place = (below >= 0.5 * below[-1]).argmax(axis=0)
        rows = np.arange(len(X))
        np.testing.assert_array_equal(stage, predictions[order[place, rows], rows])
    scores = list(model.staged_score(X, y))
    assert scores[-1] == model.score(X, y)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("member", [None, Ridge()], ids=["trees", "ridge"])
def test_rows_of_weight_0_are_ignored(algorithm: Any, member: Any) -> None:
    model = AdaBoostRegressor(member, algorithm=algorithm, n_estimators=8, random_state=0)
    odd = np.arange(len(y)) % 2 == 1
    wild = np.where(odd, y, 1e6)
    model.fit(X, wild, odd.astype(float))
    assert model.predict(X).max() <= 1.2 * y.max()
    if algorithm == "R":
        alone = AdaBoostRegressor(member, algorithm="R", n_estimators=8).fit(X[odd], y[odd])
        np.testing.assert_allclose(model.predict(X), alone.predict(X))
        np.testing.assert_allclose(model.training_error_bound_, alone.training_error_bound_)


def test_weights_of_adaboost_r_count_rows() -> None:
    times = 1 + np.arange(len(y)) % 3
    by_weight = AdaBoostRegressor(algorithm="R", n_estimators=6).fit(X, y, times)
    by_copy = AdaBoostRegressor(algorithm="R", n_estimators=6)
    by_copy.fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(by_weight.predict(X), by_copy.predict(X))
    np.testing.assert_allclose(by_weight.estimator_errors_, by_copy.estimator_errors_)


def test_members_without_weights_learn_from_drawn_rows() -> None:
    model = AdaBoostRegressor(KNeighborsRegressor(), algorithm="R", n_estimators=5, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.6


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_boosting_stops_when_the_holdout_score_stops_improving(algorithm: Any) -> None:
    model = AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=6),
        algorithm=algorithm,
        n_estimators=200,
        n_iter_no_change=5,
        validation_fraction=0.3,
        random_state=0,
    ).fit(X, y)
    assert 1 <= model.best_iteration_ < 195
    assert len(model.estimators_) == model.best_iteration_ == len(model.estimator_errors_)
    if algorithm == "R":
        assert len(model.training_error_bound_) == model.best_iteration_


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_member_without_error_decides_alone(algorithm: Any) -> None:
    line = X[:, :1]
    model = AdaBoostRegressor(DecisionTreeRegressor(), algorithm=algorithm, random_state=0)
    if algorithm == "R":
        model.fit(line, y)
        assert len(model) == 1
        assert model.training_error_bound_[0] == 0.0
        np.testing.assert_array_equal(model.predict(line), y)
    else:
        model.fit(np.repeat(line[:2], 20, axis=0), np.repeat(y[:2], 20))
        assert len(model) == 1
        assert model.estimator_weights_.tolist() == [1.0]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_useless_first_member_is_kept_with_a_warning(algorithm: Any) -> None:
    target = np.where(np.arange(50) < 49, 0.0, 1.0)
    model = AdaBoostRegressor(Constant(1.0), algorithm=algorithm)
    with pytest.warns(UserWarning, match="error of the first Constant is .* not below 1/2"):
        model.fit(X[:50], target)
    assert len(model) == 1
    np.testing.assert_array_equal(model.predict(X), 1.0)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_constant_target_is_learned(algorithm: Any) -> None:
    model = AdaBoostRegressor(algorithm=algorithm).fit(X, np.full(len(X), 7.5))
    assert len(model) == 1
    np.testing.assert_array_equal(model.predict(X), 7.5)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_frames_with_missing_values_and_categories_are_fitted(algorithm: Any) -> None:
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    frame["kind"] = pd.Categorical(np.where(y > np.median(y), "high", "low"))
    frame.loc[::5, "a"] = np.nan
    frame.loc[::7, "kind"] = None
    model = AdaBoostRegressor(algorithm=algorithm, n_estimators=10, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.7
    np.testing.assert_array_equal(
        model.predict(frame[["kind", "d", "c", "b", "a"]]), model.predict(frame)
    )
    with pytest.raises(ValueError, match="lacks 'kind'"):
        model.predict(frame.drop(columns="kind"))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_result_depends_on_the_number_of_threads(algorithm: Any) -> None:
    wide, target = make_friedman1(3000, noise=1.0, random_state=1)
    one, two = (
        AdaBoostRegressor(algorithm=algorithm, n_estimators=5, random_state=0, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(
        one.fit(wide, target).predict(wide), two.fit(wide, target).predict(wide)
    )


def test_importances_are_the_weighted_mean_of_the_members() -> None:
    for member in (None, RandomForestRegressor(5, max_depth=3)):
        model = AdaBoostRegressor(member, n_estimators=4, random_state=0).fit(X, y)
        shares = np.array([each.feature_importances_ for each in model.estimators_])
        expected = model.estimator_weights_ @ shares / model.estimator_weights_.sum()
        np.testing.assert_allclose(model.feature_importances_, expected)
        assert set(np.argsort(model.feature_importances_)[-3:]) == {0, 1, 3}
    assert not hasattr(
        AdaBoostRegressor(KNeighborsRegressor(), n_estimators=2).fit(X, y), "feature_importances_"
    )


def test_refusals_name_the_remedy() -> None:
    with pytest.raises(ValueError, match="loss='square' is for algorithm='R2'"):
        AdaBoostRegressor(algorithm="R", loss="square").fit(X, y)
    with pytest.raises(ValueError, match="divide y by a number"):
        AdaBoostRegressor().fit(X[:2], [-1e308, 1e308])
    with pytest.raises(ValueError, match="predicted an array of shape .* 300 infinite"):
        AdaBoostRegressor(Constant(np.nan)).fit(X, y)
    with pytest.raises(ValueError, match="zero for every row"):
        AdaBoostRegressor().fit(X, y, np.zeros(len(y)))


def test_a_failed_fit_leaves_the_model_unchanged() -> None:
    model = AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="row 3 is nan"):
        model.fit(X, np.where(np.arange(len(y)) == 3, np.nan, y))
    np.testing.assert_array_equal(model.predict(X), before)


def test_dummy_members_can_be_boosted() -> None:
    model = AdaBoostRegressor(DummyRegressor(), algorithm="R").fit(X, y)
    assert model.estimator_errors_[0] < 0.5
