"""Stacking against scikit-learn's on every setting that both have.

Results are equal where the members are deterministic: both fit clones of the same members on the
same rows. scikit-learn refuses folds that do not cover all rows; ours are tested elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from arboleda import StackingClassifier, StackingRegressor

CLASSES: list[tuple[str, Any]] = [
    ("bayes", GaussianNB()),
    ("machine", make_pipeline(StandardScaler(), LinearSVC(random_state=0))),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("out", "drop"),
]
FINAL = make_pipeline(StandardScaler(), LogisticRegression())
VALUES: list[tuple[str, Any]] = [
    ("ridge", Ridge(0.1)),
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
]


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"final_estimator": KNeighborsClassifier()},
        {"cv": KFold(4, shuffle=True, random_state=1), "passthrough": True},
        {"stack_method": "predict", "cv": 3},
        {"final_estimator": DecisionTreeClassifier(max_depth=4, random_state=0)},
    ],
)
def test_classifiers_match_scikit_learn(load: Any, settings: dict[str, Any]) -> None:
    X, y = load(return_X_y=True)
    y = np.array(["no", "yes", "zero"])[y]
    settings = {"final_estimator": FINAL, **settings}
    ours = StackingClassifier(CLASSES, **settings).fit(X, y)
    theirs = sklearn.ensemble.StackingClassifier(CLASSES, **settings).fit(X, y)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.stack_method_ == theirs.stack_method_
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert ours.named_estimators_.keys() == theirs.named_estimators_.keys()
    assert hasattr(ours, "decision_function") == hasattr(theirs, "decision_function")
    if hasattr(ours, "decision_function"):
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), atol=1e-7
        )


@pytest.mark.parametrize(
    "settings",
    [{}, {"final_estimator": LinearRegression(), "passthrough": True}, {"cv": KFold(3)}],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_regressors_match_scikit_learn(settings: dict[str, Any], weighted: bool) -> None:
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.1, 2, len(y)) if weighted else None
    ours = StackingRegressor(VALUES, **settings).fit(X, y, sample_weight=weight)
    theirs = sklearn.ensemble.StackingRegressor(VALUES, **settings)
    theirs.fit(X, y, **({"sample_weight": weight} if weighted else {}))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.final_estimator_.coef_, theirs.final_estimator_.coef_)


def test_fitted_members_and_regressors_among_classifiers_match() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    fitted = [
        ("bayes", GaussianNB().fit(X[:300], y[:300])),
        ("ridge", Ridge().fit(X[:300], y[:300])),
    ]
    for members, cv in ((fitted, "prefit"), (fitted, None)):
        ours = StackingClassifier(members, cv=cv).fit(X[300:], y[300:])
        theirs = sklearn.ensemble.StackingClassifier(members, cv=cv).fit(X[300:], y[300:])
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
