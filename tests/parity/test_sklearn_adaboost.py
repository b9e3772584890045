"""SAMME beside scikit-learn's AdaBoost: the same rounds to the last bit, the same predictions."""

from typing import Any

import numpy as np
import pytest
from sklearn import ensemble as peer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import arboleda

MEMBERS = [
    DecisionTreeClassifier(max_depth=1),
    DecisionTreeClassifier(max_depth=3, max_features=2),
    DecisionTreeClassifier(max_depth=2, splitter="random"),
    GaussianNB(),
    RidgeClassifier(),
]


@pytest.mark.filterwarnings("ignore:boosting ended after")
@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: str(member)[:45])
@pytest.mark.parametrize(
    ("load", "weighted"), [(load_breast_cancer, True), (load_wine, True), (load_digits, False)]
)
def test_rounds_and_predictions_are_the_same(member: Any, load: Any, weighted: bool) -> None:
    X, y = load(return_X_y=True)
    X, y = X[:300] / X.max(), np.array([f"class {k}" for k in y[:300]])
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    rate = 0.7 if weighted else 1.0
    ours, theirs = (
        library.AdaBoostClassifier(member, n_estimators=10, learning_rate=rate, random_state=5).fit(
            X, y, sample_weight=weight
        )
        for library in (arboleda, peer)
    )
    n = len(ours)
    assert n == len(theirs.estimators_)
    np.testing.assert_array_equal(ours.estimator_weights_, theirs.estimator_weights_[:n])
    np.testing.assert_array_equal(ours.estimator_errors_, theirs.estimator_errors_[:n])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for name in ("decision_function", "predict_proba", "predict_log_proba"):
        mine, other = getattr(ours, name)(X), getattr(theirs, name)(X)
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-14)
    for name in ("staged_decision_function", "staged_predict_proba", "staged_predict"):
        stages = zip(getattr(ours, name)(X), getattr(theirs, name)(X), strict=True)
        for mine, other in stages:
            if name == "staged_predict":
                np.testing.assert_array_equal(mine, other)
            else:
                np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(list(ours.staged_score(X, y)), list(theirs.staged_score(X, y)))
    if hasattr(theirs, "feature_importances_"):
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)
