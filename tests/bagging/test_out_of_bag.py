"""Out-of-bag predictions, score and curve against a recomputation in plain NumPy."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC

from arboleda import BaggingClassifier, BaggingRegressor

X, y = load_iris(return_X_y=True)


def naive_votes(bag: Any, table: Any, n_classes: int) -> tuple[Any, Any]:
    """Sums of votes and their number for every row, by the definition."""
    sums, counts = np.zeros((len(table), n_classes)), np.zeros(len(table), dtype=int)
    members = zip(bag.estimators_, bag.estimators_samples_, bag.estimators_features_, strict=True)
    for member, rows, columns in members:
        for row in sorted(set(range(len(table))) - set(rows.tolist())):
            one = table[[row]][:, columns]
            if bag.voting == "soft" and hasattr(member, "predict_proba"):
                shares = member.predict_proba(one)[0]
                for k, share in zip(member.classes_, shares, strict=True):
                    sums[row, int(k)] += share
            else:
                sums[row, int(member.predict(one)[0])] += 1
            counts[row] += 1
    return sums, counts


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("member", [None, KNeighborsClassifier(3), SVC(), RidgeClassifier()])
def test_classification_matches_naive_votes(member: Any, voting: str) -> None:
    labels = np.array(["a", "b", "c"])[y]
    bag = BaggingClassifier(
        member, n_estimators=20, max_features=3, oob_score=True, voting=voting, random_state=2
    ).fit(X, labels)
    sums, counts = naive_votes(bag, X, 3)
    np.testing.assert_allclose(bag.oob_decision_function_, sums / counts[:, np.newaxis])
    right = bag.classes_[sums.argmax(axis=1)] == labels
    assert bag.oob_score_ == pytest.approx(right.mean())
    assert bag.oob_curve().error[-1] == pytest.approx(1 - bag.oob_score_)


def test_regression_matches_naive_means() -> None:
    table, target = load_diabetes(return_X_y=True)
    table, target = table[:90], np.column_stack([target[:90], -2 * target[:90] + 3])
    for member in [None, LinearRegression()]:
        for one in [target[:, 0], target]:
            bag = BaggingRegressor(member, n_estimators=25, oob_score=True, random_state=0)
            bag.fit(table, one)
            sums, counts = np.zeros((90, 2)), np.zeros(90)
            for fitted, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
                out = np.setdiff1d(np.arange(90), rows)
                sums[out] += fitted.predict(table[out]).reshape(len(out), -1)
                counts[out] += 1
            expected = (sums / counts[:, np.newaxis])[:, : one.reshape(90, -1).shape[1]]
            assert bag.oob_prediction_.shape == one.shape
            np.testing.assert_allclose(bag.oob_prediction_, expected.reshape(one.shape))
            assert bag.oob_score_ == pytest.approx(r2_score(one, bag.oob_prediction_))
            last = np.mean((bag.oob_prediction_ - one) ** 2)
            assert bag.oob_curve().error[-1] == pytest.approx(last)


def test_the_curve_has_the_error_for_each_number_of_members() -> None:
    for member in [None, KNeighborsClassifier()]:
        bags = [
            BaggingClassifier(member, n_estimators=n, oob_score=True, random_state=0)
            for n in range(1, 9)
        ]
        with pytest.warns(UserWarning, match="left out by no member"):
            curves = [bag.fit(X, y).oob_curve() for bag in bags]
        np.testing.assert_array_equal(curves[-1].n_estimators, np.arange(1, 9))
        for n, (bag, curve) in enumerate(zip(bags, curves, strict=True), start=1):
            assert curve.error[-1] == curves[-1].error[n - 1]
            assert curve.n_rows[-1] == curves[-1].n_rows[n - 1]
            is_scored = ~np.isnan(bag.oob_decision_function_[:, 0])
            assert curve.n_rows[-1] == is_scored.sum()
            predicted = bag.oob_decision_function_[is_scored].argmax(axis=1)
            assert curve.error[-1] == pytest.approx(1 - accuracy_score(y[is_scored], predicted))
            assert bag.oob_score_ == pytest.approx(1 - curve.error[-1])


def test_the_curve_ends_at_the_score_even_with_tied_votes() -> None:
    # Thirds added in different orders differ in the last bit; with this seed the means do not.
    bag = BaggingClassifier(
        KNeighborsClassifier(3), n_estimators=12, max_samples=20, oob_score=True, random_state=174
    ).fit(X[:, :1], y)
    assert bag.oob_curve().error[-1] == pytest.approx(1 - bag.oob_score_)


def test_the_out_of_bag_score_agrees_with_cross_validation() -> None:
    table, target = load_breast_cancer(return_X_y=True)
    bag = BaggingClassifier(n_estimators=60, oob_score=True, random_state=0).fit(table, target)
    folds = cross_val_score(
        BaggingClassifier(n_estimators=40, random_state=0), table, target, cv=10
    )
    # Two estimates from 569 rows: each has a standard error of about 0.009.
    assert abs(bag.oob_score_ - folds.mean()) < 0.025


def test_rows_in_every_bag_are_nan_and_not_scored() -> None:
    for bag in [
        BaggingClassifier(n_estimators=1, oob_score=True, random_state=0),
        BaggingRegressor(KNeighborsRegressor(), n_estimators=1, oob_score=True, random_state=0),
    ]:
        with pytest.warns(UserWarning, match=r"\d+ of 150 rows were left out by no member"):
            bag.fit(X, y)
        predicted = bag.oob_decision_function_ if hasattr(bag, "classes_") else bag.oob_prediction_
        inside = np.isin(np.arange(150), bag.estimators_samples_[0])
        np.testing.assert_array_equal(np.isnan(predicted.reshape(150, -1)[:, 0]), inside)
        assert bag.oob_curve().n_rows.tolist() == [150 - inside.sum()]


def test_rows_of_weight_zero_are_ignored() -> None:
    weight = np.where(np.arange(150) % 2 == 0, 0.0, 1.0)
    wrong = np.where(weight == 0, (y + 1) % 3, y)
    for member in [None, KNeighborsClassifier()]:
        bag = BaggingClassifier(member, n_estimators=30, oob_score=True, random_state=0)
        bag.fit(X, wrong, weight)
        assert bag.oob_score_ > 0.9
        unknown = np.isnan(bag.oob_decision_function_).any(axis=1)
        np.testing.assert_array_equal(unknown, weight == 0)
        assert bag.oob_curve().n_rows[-1] == 75


def test_subsamples_without_replacement_have_out_of_bag_rows() -> None:
    bag = BaggingClassifier(
        n_estimators=40, bootstrap=False, max_samples=0.6, oob_score=True, random_state=0
    ).fit(X, y)
    assert bag.oob_score_ > 0.9
    with pytest.raises(ValueError, match="bootstrap=False draws all rows: set bootstrap=True"):
        BaggingClassifier(bootstrap=False, oob_score=True).fit(X, y)


def test_the_curve_requires_the_score() -> None:
    with pytest.raises(ValueError, match="oob_score=True in fit"):
        BaggingClassifier(n_estimators=2).fit(X, y).oob_curve()
