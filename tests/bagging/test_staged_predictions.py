"""Stage k of an ensemble is the ensemble of its first k members."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from arboleda import (
    BaggingClassifier,
    BaggingRegressor,
    ClassSwitchingClassifier,
    DecisionTreeClassifier,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]
N_MEMBERS = 6
CLASSIFIERS = [BaggingClassifier, RandomSubspaceClassifier, ClassSwitchingClassifier]


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize(
    "member",
    [None, GaussianNB(), SVC(), DecisionTreeClassifier(ccp_alpha=0.01)],
    ids=lambda member: type(member).__name__,
)
@pytest.mark.parametrize("ensemble", CLASSIFIERS)
def test_staged_classifiers_match_smaller_ensembles(
    ensemble: Any, member: Any, voting: str
) -> None:
    model = ensemble(member, N_MEMBERS, voting=voting, random_state=0).fit(X, NAMES)
    labels = list(model.staged_predict(X))
    shares = list(model.staged_predict_proba(X))
    assert len(labels) == len(shares) == N_MEMBERS
    for number in range(1, N_MEMBERS + 1):
        smaller = ensemble(member, number, voting=voting, random_state=0).fit(X, NAMES)
        np.testing.assert_array_equal(labels[number - 1], smaller.predict(X))
        np.testing.assert_array_equal(shares[number - 1], smaller.predict_proba(X))
    assert list(model.staged_score(X, NAMES)) == [accuracy_score(NAMES, p) for p in labels]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("member", [None, LinearRegression()], ids=["trees", "linear"])
@pytest.mark.parametrize("ensemble", [BaggingRegressor, RandomSubspaceRegressor])
def test_staged_regressors_match_smaller_ensembles(
    ensemble: Any, member: Any, several: bool
) -> None:
    table, target = load_diabetes(return_X_y=True)
    target = np.column_stack([target, -target]) if several else target
    model = ensemble(member, N_MEMBERS, random_state=0).fit(table, target)
    for number, stage in enumerate(model.staged_predict(table), start=1):
        smaller = ensemble(member, number, random_state=0).fit(table, target)
        np.testing.assert_array_equal(stage, smaller.predict(table))
    assert list(model.staged_score(table, target))[-1] == model.score(table, target)


def test_decision_functions_are_staged_where_members_have_one() -> None:
    model = BaggingClassifier(LogisticRegression(max_iter=1000), N_MEMBERS, random_state=0).fit(
        X, NAMES
    )
    stages = list(model.staged_decision_function(X))
    np.testing.assert_array_equal(stages[-1], model.decision_function(X))
    first = model.estimators_[0].decision_function(X)
    np.testing.assert_array_equal(stages[0], first)
    assert not hasattr(BaggingClassifier().fit(X, NAMES), "staged_decision_function")


def test_the_number_of_jobs_changes_no_bit() -> None:
    one = BaggingClassifier(GaussianNB(), N_MEMBERS, random_state=0, n_jobs=1).fit(X, NAMES)
    two = BaggingClassifier(GaussianNB(), N_MEMBERS, random_state=0, n_jobs=2).fit(X, NAMES)
    for first, second in zip(one.staged_predict_proba(X), two.staged_predict_proba(X), strict=True):
        np.testing.assert_array_equal(first, second)
