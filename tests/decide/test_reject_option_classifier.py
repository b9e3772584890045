"""Rejected rows: worked regions, Chow's rule, targets on held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from tests.decide.models import GivenPosteriors, Logistic

from arboleda import HistGradientBoostingClassifier, RejectOptionClassifier
from arboleda.decide import accuracy_coverage_curve


def _noisy(n: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n, 5, n_informative=3, n_classes=3, flip_y=0.2, random_state=seed)
    return X, y


@pytest.mark.parametrize("w", [1.0, -2.5])
def test_a_logistic_posterior_below_nine_tenths_is_rejected_between_the_logarithms_of_nine(
    w: float,
) -> None:
    X = np.linspace(-3, 3, 1201)[:, np.newaxis]
    model = RejectOptionClassifier(Logistic(w), threshold=0.9).fit(X, X[:, 0] > 0)
    np.testing.assert_array_equal(model.reject(X), np.abs(w * X[:, 0]) < np.log(9))
    np.testing.assert_array_equal(model.predict(X) == model.reject_label_, model.reject(X))


def test_a_threshold_of_one_rejects_all_uncertain_rows_and_one_over_k_rejects_nothing() -> None:
    X, y = _noisy()
    model = RejectOptionClassifier(LogisticRegression(), threshold=1.0).fit(X, y)
    assert model.reject(X).all()
    assert model.score(X, y) == 0.0
    model.set_params(threshold=1 / 3).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), LogisticRegression().fit(X, y).predict(X))
    certain = RejectOptionClassifier(GivenPosteriors(), threshold=1.0).fit([[1, 0], [0, 1]], [0, 1])
    assert certain.predict([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]).tolist() == [0, 1, -1]


def test_chows_rule_costs_least() -> None:
    # Posteriors that are true: the reject cost 0.2 is best spent below 0.8.
    draw = np.random.default_rng(0)
    p = draw.random(20_000)
    X, y = np.column_stack([1 - p, p]), (draw.random(20_000) < p).astype(int)
    model = RejectOptionClassifier(GivenPosteriors(), reject_cost=0.2).fit(X, y)
    assert (model.threshold_, model.reject_cost_) == (0.8, pytest.approx(0.2))

    def cost(threshold: float) -> float:
        predicted = (
            RejectOptionClassifier(GivenPosteriors(), threshold=threshold).fit(X, y).predict(X)
        )
        return float(np.mean(np.where(predicted == -1, 0.2, predicted != y)))

    costs = {t: cost(t) for t in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)}
    assert min(costs, key=lambda t: costs[t]) == 0.8
    assert costs[0.8] == pytest.approx(0.16, abs=0.01)  # 0.6 * 0.2 + 0.4 * 0.1


def test_with_costs_rows_are_rejected_where_every_decision_is_expensive() -> None:
    costs = {("ill", "well"): 10, ("well", "ill"): 1}
    p = np.array([0.0, 0.02, 0.0501, 0.2, 0.4, 0.499, 0.51, 1.0])  # of "well"
    p = 1 - p
    X = np.column_stack([1 - p, p])
    model = RejectOptionClassifier(GivenPosteriors(), cost_matrix=costs, reject_cost=0.5)
    model.fit(X, ["ill", "well"] * 4)
    # "well" costs 10 P(ill) to expect, "ill" P(well): both are above 1/2 between.
    expected = np.minimum(10 * (1 - p), p)
    np.testing.assert_array_equal(model.reject(X), expected > 0.5)
    assert model.predict(X).tolist() == [
        *("well", "well", "reject", "reject", "reject", "reject", "ill", "ill")
    ]
    assert model.reject_cost_ == 0.5
    assert not hasattr(model, "threshold_")
    plain = RejectOptionClassifier(GivenPosteriors(), cost_matrix=1 - np.eye(2), reject_cost=0.3)
    chow = RejectOptionClassifier(GivenPosteriors(), reject_cost=0.3)
    y = ["ill", "well"] * 4
    np.testing.assert_array_equal(plain.fit(X, y).predict(X), chow.fit(X, y).predict(X))


def test_targets_are_met_on_rows_out_of_fold() -> None:
    X, y = _noisy()
    p = cross_val_predict(GaussianNB(), X, y, cv=4, method="predict_proba")
    right, certain = p.argmax(axis=1) == y, p.max(axis=1)
    wide = RejectOptionClassifier(GaussianNB(), target_coverage=0.7, cv=4).fit(X, y)
    assert (certain >= wide.threshold_).mean() == pytest.approx(0.7, abs=1 / 500)
    good = RejectOptionClassifier(GaussianNB(), target_accuracy=0.8, cv=4).fit(X, y)
    accepted = certain >= good.threshold_
    assert right[accepted].mean() >= 0.8
    assert all(right[certain >= t].mean() < 0.8 for t in certain[~accepted])
    curve = accuracy_coverage_curve(y, p)
    assert good.threshold_ == curve.threshold_for(accuracy=0.8)
    with pytest.raises(ValueError, match="accuracy=1.0 is not reached at any coverage"):
        RejectOptionClassifier(
            FrozenEstimator(GivenPosteriors().fit([[1.0, 0.0]] * 2, [0, 1])), target_accuracy=1.0
        ).fit([[1.0, 0.0]] * 2, [0, 1])


def test_a_target_with_costs_limits_expected_costs() -> None:
    X, y = _noisy()
    costs = np.random.default_rng(0).random((3, 3))
    np.fill_diagonal(costs, 0)
    model = RejectOptionClassifier(
        FrozenEstimator(GaussianNB().fit(X, y)), cost_matrix=costs, target_coverage=0.6
    ).fit(X, y)
    least = (model.predict_proba(X) @ costs).min(axis=1)
    assert np.mean(~model.reject(X)) == pytest.approx(0.6, abs=1 / 500)
    np.testing.assert_array_equal(model.reject(X), least > model.reject_cost_)
    assert model.reject_cost_ == pytest.approx(np.quantile(least, 0.6), rel=0.02)


def test_coverage_sums_to_one() -> None:
    X, y = _noisy()
    model = RejectOptionClassifier(GaussianNB(), threshold=0.8).fit(X, y)
    predicted, rejected = model.predict(X), model.reject(X)
    plain = GaussianNB().fit(X, y).predict(X)
    right = plain == y
    coverage = 1 - rejected.mean()
    in_and_out = coverage * right[~rejected].mean() + rejected.mean() * right[rejected].mean()
    assert in_and_out == pytest.approx(right.mean())
    np.testing.assert_array_equal(predicted[~rejected], plain[~rejected])
    assert model.score(X, y) == pytest.approx(coverage * right[~rejected].mean())
    weight = np.arange(500.0)
    assert model.score(X, y, weight) == pytest.approx(np.average(right & ~rejected, weights=weight))


@pytest.mark.parametrize(
    ("labels", "label", "kind", "shown"),
    [
        ([0, 1], None, "i", -1),
        ([0.0, 1.0], None, "f", -1.0),
        (["a", "b"], None, "U", "reject"),
        (["a", "b"], -1, "O", -1),
        ([1, 2], "doubt", "O", "doubt"),
        ([True, False], None, "i", -1),
    ],
)
def test_the_reject_label_has_the_type_of_the_classes(
    labels: Any, label: Any, kind: str, shown: Any
) -> None:
    X = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.5, 0.5]]
    model = RejectOptionClassifier(GivenPosteriors(), threshold=0.9, reject_label=label)
    predicted = model.fit(X, labels * 2).predict(X)
    assert predicted.dtype.kind == kind
    assert predicted.tolist() == [*sorted(labels), shown, shown]
    assert model.reject_label_ == shown
    assert model.score(X, [*sorted(labels), labels[0], labels[1]]) == 0.5


def test_any_model_and_table_is_supported() -> None:
    data = load_iris(as_frame=True)
    names = data.target_names[data.target]
    model = RejectOptionClassifier(HistGradientBoostingClassifier(max_iter=10), target_coverage=0.9)
    plain = model.fit(data.data, names).predict(data.data)
    assert "reject" in plain
    polars = pl.from_pandas(data.data)
    np.testing.assert_array_equal(model.fit(polars, names).predict(polars), plain)
    series = pd.Series(names, dtype="category")
    np.testing.assert_array_equal(model.fit(data.data, series).predict(data.data), plain)
    svm = RejectOptionClassifier(LinearSVC(), reject_cost=0.3, calibration="sigmoid", cv=3)
    assert 0 < svm.fit(data.data, names).reject(data.data).mean() < 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of threshold, reject_cost, .*, got none"),
        ({"threshold": 0.5, "reject_cost": 0.1}, "got threshold and reject_cost"),
        ({"threshold": 1.5}, r"'threshold' parameter .* must be a float in the range \[0.0, 1.0\]"),
        ({"reject_cost": np.nan}, "'reject_cost' parameter"),
        ({"threshold": 0.5, "cost_matrix": 1 - np.eye(3)}, "give reject_cost or a target"),
        ({"threshold": 0.5, "reject_label": 1}, "reject_label=1 is one of the classes"),
        (
            {"reject_cost": 0.5, "cost_matrix": np.eye(2)},
            r"shape \(2, 2\), but there are 3 classes",
        ),
    ],
)
def test_invalid_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    X, y = _noisy()
    with pytest.raises(ValueError, match=message):
        RejectOptionClassifier(GaussianNB(), **options).fit(X, y)
