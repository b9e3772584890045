"""Decisions of least cost: worked thresholds, brute force, scikit-learn's tuned threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.decide.models import GivenPosteriors, Logistic

from arboleda import (
    CostSensitiveClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RejectOptionClassifier,
    StackingClassifier,
)

_TEN = [[0.0, 1.0], [10.0, 0.0]]


def _rare(n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n, 6, weights=[0.85], flip_y=0.05, random_state=seed)
    return X, y


def test_the_loss_matrix_of_the_course_moves_the_threshold_to_one_in_eleven() -> None:
    # Rows are the truth: to call the ill (class 1) healthy costs 10, the reverse 1.
    X = np.column_stack([1 - np.array(p := [0.05, 0.09, 0.0910, 0.5]), p])
    model = CostSensitiveClassifier(GivenPosteriors(), cost_matrix=_TEN).fit(X, [0, 1, 0, 1])
    assert model.threshold_ == pytest.approx(1 / 11)
    assert model.predict(X).tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(model.expected_cost(X), [[10 * q, 1 - q] for q in p])
    # Costs of right predictions count too: Elkan 2001, equation (2).
    elkan = CostSensitiveClassifier(GivenPosteriors(), cost_matrix=[[-1, 2], [5, 1]]).fit(
        X, [0, 1, 0, 1]
    )
    assert elkan.threshold_ == pytest.approx((2 - -1) / (2 - -1 + 5 - 1))


def test_the_boundary_of_a_logistic_posterior_moves_by_the_logarithm_of_the_odds() -> None:
    X = np.linspace(-4, 4, 801)[:, np.newaxis]
    model = CostSensitiveClassifier(Logistic(2.0), cost_matrix=_TEN).fit(X, X[:, 0] > 0)
    np.testing.assert_array_equal(model.predict(X), X[:, 0] > -np.log(10) / 2)


def test_each_decision_has_the_least_expected_cost() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    costs = {(a, b): 1 + 3 * (a > b) for a in set(names) for b in set(names) if a != b}
    model = CostSensitiveClassifier(GaussianNB(), cost_matrix=costs).fit(X, names)
    posteriors = GaussianNB().fit(X, names).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), posteriors)
    for i, p in enumerate(posteriors):
        expected = {
            b: sum(costs.get((a, b), 0) * p[k] for k, a in enumerate(model.classes_))
            for b in model.classes_
        }
        assert model.predict(X[i : i + 1])[0] == min(expected, key=lambda b: expected[b])
    paid = [costs.get(pair, 0) for pair in zip(names, model.predict(X), strict=True)]
    assert model.mean_cost(X, names) == pytest.approx(np.mean(paid))
    assert model.score(X, names) == -model.mean_cost(X, names)
    weight = np.arange(150.0)
    assert model.mean_cost(X, names, weight) == pytest.approx(np.average(paid, weights=weight))


def test_without_costs_decisions_are_those_of_the_model() -> None:
    X, y = load_iris(return_X_y=True)
    model = CostSensitiveClassifier(GaussianNB()).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), GaussianNB().fit(X, y).predict(X))
    assert not hasattr(model, "threshold_")
    assert model.score(X, y) == pytest.approx(GaussianNB().fit(X, y).score(X, y) - 1)


def test_costs_of_rows_decide_row_by_row() -> None:
    X, y = _rare()
    amounts = np.random.default_rng(0).lognormal(3, 1, len(y))
    costs = np.zeros((len(y), 2, 2))
    costs[:, 0, 1], costs[:, 1, 0] = 20.0, amounts
    model = CostSensitiveClassifier(GaussianNB(), cost_matrix=[[0, 20], [1, 0]]).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    expected = (p * amounts > (1 - p) * 20).astype(int)
    np.testing.assert_array_equal(model.predict(X, costs), expected)
    np.testing.assert_array_equal(model.predict(X, {(1, 0): amounts}), expected)
    paid = costs[np.arange(len(y)), y, expected]
    assert model.score(X, y, costs=costs) == pytest.approx(-paid.mean())
    assert paid.mean() < costs[np.arange(len(y)), y, model.predict(X)].mean()
    np.testing.assert_allclose(
        model.expected_cost(X, costs), np.column_stack([p * amounts, 20 * (1 - p)])
    )


def test_the_threshold_minimizes_the_out_of_fold_cost() -> None:
    X, y = _rare()
    model = CostSensitiveClassifier(GaussianNB(), cost_matrix=_TEN, method="threshold", cv=4)
    model.fit(X, y)
    p = cross_val_predict(GaussianNB(), X, y, cv=4, method="predict_proba")[:, 1]

    def cost(threshold: float) -> float:
        table = confusion_matrix(y, p > threshold)
        return float((table * np.array(_TEN)).sum() / len(y))

    assert cost(model.threshold_) <= min(cost(t) for t in np.append(p, 0.0)) + 1e-12
    np.testing.assert_array_equal(
        model.predict(X), GaussianNB().fit(X, y).predict_proba(X)[:, 1] > model.threshold_
    )
    assert cost(model.threshold_) <= cost(1 / 11)


def test_scikit_learns_tuned_threshold_finds_no_better() -> None:
    X, y = _rare(seed=1)
    fitted = GaussianNB().fit(X[:300], y[:300])
    X, y = X[300:], y[300:]

    def gain(true: Any, predicted: Any) -> float:
        return -float((confusion_matrix(true, predicted) * np.array(_TEN)).mean())

    candidates = np.unique(fitted.predict_proba(X)[:, 1])
    theirs = TunedThresholdClassifierCV(
        fitted, scoring=make_scorer(gain), cv="prefit", refit=False, thresholds=candidates
    ).fit(X, y)
    ours = CostSensitiveClassifier(
        FrozenEstimator(fitted), cost_matrix=_TEN, method="threshold"
    ).fit(X, y)
    assert ours.estimator_.estimator is fitted
    assert gain(y, ours.predict(X)) >= theirs.best_score_ - 1e-12
    # Both lie between the same two posteriors, or their thresholds cost the same.
    np.testing.assert_allclose(gain(y, theirs.predict(X)), gain(y, ours.predict(X)))


def test_costs_of_rows_are_learned_from() -> None:
    X, y = _rare(seed=2)
    amounts = np.random.default_rng(1).lognormal(3, 1, len(y))
    model = CostSensitiveClassifier(
        GaussianNB(), cost_matrix=[[0, 20], [1, 0]], method="threshold", cv=3
    )
    model.fit(X, y, costs={(1, 0): amounts})
    p = cross_val_predict(GaussianNB(), X, y, cv=3, method="predict_proba")

    def cost(ratio: float) -> float:
        decided = p[:, 1] * ratio * amounts > p[:, 0] * 20
        return float(np.mean(np.where(y == 1, amounts * ~decided, 20 * decided)))

    found = model.posterior_weights_[1] / model.posterior_weights_[0]
    assert cost(found) <= min(cost(r) for r in np.geomspace(1e-3, 1e3, 500)) + 1e-12
    with pytest.raises(ValueError, match="by method='threshold' only"):
        CostSensitiveClassifier(GaussianNB()).fit(X, y, costs={(1, 0): amounts})


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
def test_calibration_adds_probabilities_to_a_model_without_them(calibration: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), RidgeClassifier())
    with pytest.raises(ValueError, match="without predict_proba.*set calibration='sigmoid'"):
        CostSensitiveClassifier(model).fit(X, y)
    wary = CostSensitiveClassifier(model, cost_matrix=_TEN, calibration=calibration, cv=3).fit(X, y)
    p = wary.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(wary.predict(X), p[:, 1] > 1 / 11)
    tuned = clone(wary).set_params(method="threshold").fit(X, y)
    np.testing.assert_array_equal(tuned.predict_proba(X), p)
    assert tuned.mean_cost(X, y) < 0.5


def test_a_fitted_model_of_other_labels_is_calibrated_without_refitting() -> None:
    X, y = _rare()
    names = np.array([2, 1])[y]  # neither 0 and 1 nor in the order of their numbers
    fitted = FrozenEstimator(GaussianNB().fit(X[:300], names[:300]))
    model = CostSensitiveClassifier(
        fitted, cost_matrix=_TEN, calibration="sigmoid", method="threshold", cv=3
    ).fit(X[300:], names[300:])
    assert model.classes_.tolist() == [1, 2]
    assert (model.predict(X[300:]) == names[300:]).mean() > 0.5


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(max_iter=10),
        RandomForestClassifier(10, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=["boosting", "forest", "pipeline"],
)
def test_any_model_label_type_and_table_is_supported(model: Any) -> None:
    data = load_iris(as_frame=True)
    names = data.target_names[data.target]
    wary = CostSensitiveClassifier(model, method="threshold", cv=3)
    plain = wary.fit(data.data, names).predict(data.data)
    assert wary.feature_names_in_.tolist() == list(data.data.columns)
    assert plain.dtype == names.dtype
    polars = pl.from_pandas(data.data), pl.Series(names.tolist())
    np.testing.assert_array_equal(wary.fit(*polars).predict(polars[0]), plain)
    series = pd.Series(names, dtype="category", index=np.arange(150)[::-1])
    np.testing.assert_array_equal(wary.fit(data.data, series).predict(data.data), plain)
    if not hasattr(model, "steps"):
        arrow = pa.Table.from_pandas(data.data)
        np.testing.assert_array_equal(wary.fit(arrow, names).predict(arrow), plain)


def test_sample_weights_are_passed_to_the_model_and_the_costs() -> None:
    X = np.column_stack([1 - np.array(p := [0.2, 0.4, 0.6, 0.8]), p])
    y, weight = [0, 1, 0, 1], [1.0, 1.0, 5.0, 1.0]
    frozen = FrozenEstimator(GivenPosteriors().fit(X, y))
    model = CostSensitiveClassifier(frozen, method="threshold")
    assert 0.2 < model.fit(X, y).threshold_ < 0.4  # one error, of the row of 0.6
    assert 0.6 < model.fit(X, y, sample_weight=weight).threshold_ < 0.8  # of the row of 0.4
    inside = CostSensitiveClassifier(GivenPosteriors()).fit(X, y, sample_weight=weight)
    assert inside.estimator_.weight_ == weight


def test_metadata_is_routed_by_request() -> None:
    X, y = _rare()
    costs = np.zeros((len(y), 2, 2))
    costs[:, 0, 1], costs[:, 1, 0] = 1.0, np.linspace(0, 30, len(y))
    with config_context(enable_metadata_routing=True):
        model = CostSensitiveClassifier(
            GaussianNB().set_fit_request(sample_weight=True), method="threshold", cv=3
        )
        model.set_fit_request(costs=True, sample_weight=True).set_score_request(
            costs=True, sample_weight=True
        )
        found = cross_validate(
            make_pipeline(model),
            X,
            y,
            params={"costs": costs, "sample_weight": np.ones(len(y))},
            cv=3,
        )
        assert (found["test_score"] < 0).all()
        pipe = make_pipeline(StandardScaler(), model.set_predict_request(costs=True)).fit(X, y)
        assert (pipe.predict(X, costs=costs) != pipe.predict(X, costs=costs * 0 + 1)).any()
    with pytest.raises(ValueError, match="colour.*enable_metadata_routing"):
        CostSensitiveClassifier(GaussianNB()).fit(X, y, colour=y)


def test_a_search_minimizes_the_cost() -> None:
    X, y = _rare()
    search = GridSearchCV(
        CostSensitiveClassifier(GaussianNB(), cost_matrix=_TEN),
        {"estimator__var_smoothing": [1e-9, 10.0], "method": ["posterior", "threshold"]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert -1 < search.best_score_ < 0


def test_costs_of_an_ensemble_require_an_array() -> None:
    X, y = _rare()
    names = np.array(["good", "bad"])[y]
    by_name = {("good", "bad"): 10.0, ("bad", "good"): 1.0}
    member = CostSensitiveClassifier(GaussianNB(), cost_matrix=by_name)
    with pytest.raises(
        ValueError, match="encodes the sorted classes as 0, 1, .* requires an array"
    ):
        StackingClassifier([("costs", member)], cv=2).fit(X, names)
    in_order = np.array([[0.0, 1.0], [10.0, 0.0]])  # bad, good
    by_place = member.set_params(cost_matrix=in_order)
    stack = StackingClassifier([("costs", by_place)], cv=2).fit(X, names)
    assert set(stack.predict(X)) <= set(names)
    with pytest.raises(ValueError, match=r"the classes are \['bad', 'good'\]$"):
        CostSensitiveClassifier(GaussianNB(), cost_matrix={("good", "ill"): 1.0}).fit(X, names)


def test_weights_with_an_infinite_sum_are_refused() -> None:
    X, y = _rare()
    for model in (
        CostSensitiveClassifier(GaussianNB(), cost_matrix=_TEN),
        RejectOptionClassifier(GaussianNB(), threshold=0.7),
    ):
        model.fit(X, y)
        huge = model.score(X, y, sample_weight=np.full(len(y), 1e308))
        assert huge == pytest.approx(model.score(X, y))


def test_folds_given_as_rows_cannot_be_split_again() -> None:
    X, y = _rare()
    rows = [(np.arange(300), np.arange(300, 600))]
    tuned = CostSensitiveClassifier(GaussianNB(), method="threshold", cv=rows)
    assert tuned.fit(X, y).posterior_weights_.shape == (2,)
    with pytest.raises(ValueError, match="calibration also needs folds inside each fold"):
        tuned.set_params(calibration="sigmoid").fit(X, y)


def test_invalid_arguments_are_refused_and_leave_the_model_unchanged() -> None:
    X, y = _rare()
    model = CostSensitiveClassifier(GaussianNB(), cost_matrix=_TEN).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match=r"shape \(2, 2\), but there are 3 classes"):
        model.fit(X, np.arange(len(y)) % 3)
    np.testing.assert_array_equal(model.predict(X), before)
    with pytest.raises(ValueError, match="y has the class 2, which was not in fit"):
        model.score(X, y + 1)
    with pytest.raises(ValueError, match="LinearRegression, which is not a classifier"):
        CostSensitiveClassifier(LinearRegression()).fit(X, y)
    broken = X[:, :2] * np.nan
    with pytest.raises(
        ValueError, match=r"GivenPosteriors returned the probabilities \[nan, nan\] for row 0"
    ):
        CostSensitiveClassifier(GivenPosteriors()).fit(X, y).predict(broken)
