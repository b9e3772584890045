"""Bagging beside scikit-learn's: the same bags and predictions, and trees that are as good."""

from typing import Any

import numpy as np
import pytest
from sklearn import ensemble as peer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import arboleda

OPTIONS = [
    {},
    {"max_samples": 0.5, "max_features": 0.5},
    {"bootstrap_features": True},
    {"bootstrap": False, "max_samples": 60, "max_features": 3},
]


def assert_same_draws(ours: Any, theirs: Any) -> None:
    for mine, other in [
        (ours.estimators_samples_, theirs.estimators_samples_),
        (ours.estimators_features_, theirs.estimators_features_),
    ]:
        for first, second in zip(mine, other, strict=True):
            np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    "member",
    [KNeighborsClassifier(), LinearDiscriminantAnalysis(), RidgeClassifier(), GaussianNB()],
    ids=lambda member: type(member).__name__,
)
def test_classifiers_of_other_members_match(member: Any, options: dict[str, Any]) -> None:
    X, y = load_iris(return_X_y=True)
    ours, theirs = (
        library.BaggingClassifier(member, random_state=3, **options).fit(X, y)
        for library in (arboleda, peer)
    )
    assert_same_draws(ours, theirs)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    with np.errstate(divide="ignore"):
        expected = theirs.predict_log_proba(X)
        np.testing.assert_allclose(ours.predict_log_proba(X), expected, rtol=1e-7, atol=1e-14)
    if hasattr(theirs, "decision_function"):
        np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_regressors_of_other_members_match(options: dict[str, Any]) -> None:
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = (
        library.BaggingRegressor(KNeighborsRegressor(), random_state=3, **options).fit(X, y)
        for library in (arboleda, peer)
    )
    assert_same_draws(ours, theirs)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_out_of_bag_predictions_are_the_same() -> None:
    X, y = load_iris(return_X_y=True)
    options = {"n_estimators": 40, "oob_score": True, "random_state": 0}
    ours, theirs = (
        library.BaggingClassifier(KNeighborsClassifier(), **options).fit(X, y)
        for library in (arboleda, peer)
    )
    np.testing.assert_allclose(ours.oob_decision_function_, theirs.oob_decision_function_)
    assert ours.oob_score_ == theirs.oob_score_
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = (
        library.BaggingRegressor(KNeighborsRegressor(), **options).fit(X, y)
        for library in (arboleda, peer)
    )
    np.testing.assert_allclose(ours.oob_prediction_, theirs.oob_prediction_)
    assert ours.oob_score_ == pytest.approx(theirs.oob_score_)


@pytest.mark.parametrize("options", OPTIONS[:3], ids=str)
def test_bagged_trees_score_as_well(options: dict[str, Any]) -> None:
    """Means over 20 splits differ by no more than 1 % of accuracy: both ways."""
    X, y = load_breast_cancer(return_X_y=True)
    differences = []
    for seed in range(20):
        X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
        ours, theirs = (
            library.BaggingClassifier(n_estimators=20, random_state=seed, **options)
            .fit(X_train, y_train)
            .score(X_test, y_test)
            for library in (arboleda, peer)
        )
        differences.append(ours - theirs)
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert abs(np.mean(differences)) + 1.73 * error < 0.01


def test_bagged_regression_trees_score_as_well() -> None:
    X, y = load_diabetes(return_X_y=True)
    differences = []
    for seed in range(20):
        X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
        ours, theirs = (
            library.BaggingRegressor(n_estimators=20, random_state=seed)
            .fit(X_train, y_train)
            .score(X_test, y_test)
            for library in (arboleda, peer)
        )
        differences.append(ours - theirs)
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert abs(np.mean(differences)) + 1.73 * error < 0.03
