"""Members of ensembles and folds as tasks of joblib on the workers of Dask: the same bytes."""

from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression, LogisticRegression

from arboleda import (
    BaggingClassifier,
    DecisionTreeClassifier,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)
from arboleda.explain import prediction_interval

MEMBERS = [
    ("boosting", HistGradientBoostingClassifier(max_iter=5)),
    ("tree", DecisionTreeClassifier(random_state=0)),
    ("linear", LogisticRegression(max_iter=3000)),
]
CASES = [
    VotingClassifier(MEMBERS, voting="soft"),
    StackingClassifier(MEMBERS, cv=3),
    BaggingClassifier(LogisticRegression(max_iter=3000), n_estimators=5, random_state=0),
]


@pytest.mark.filterwarnings("ignore")  # of scikit-learn's convergence, and of joblib
@pytest.mark.parametrize("estimator", CASES, ids=lambda case: type(case).__name__)
def test_members_are_fitted_on_workers(client: Any, estimator: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :10]
    here = estimator.fit(X, y).predict_proba(X)
    with client.as_current(), joblib.parallel_config("dask"):
        there = estimator.fit(X, y)
    np.testing.assert_array_equal(there.predict_proba(X), here)


def test_own_members_run_there(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from arboleda.combine import _fits

    def refuse(*unused: Any) -> None:
        raise AssertionError("a member is fitted here")

    monkeypatch.setattr(_fits, "run_in_parallel", refuse)
    X, y = load_breast_cancer(return_X_y=True)
    model = VotingClassifier(MEMBERS[:2])
    with client.as_current(), joblib.parallel_config("dask"):
        model.fit(X, y)
    with pytest.raises(AssertionError, match="fitted here"):
        model.fit(X, y)


@pytest.mark.filterwarnings("ignore")
def test_folds_of_intervals(client: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    for estimator in (LinearRegression(), RandomForestRegressor(5, random_state=0)):
        options: dict[str, Any] = {"method": "cv+", "cv": 4, "random_state": 0}
        here = prediction_interval(estimator, training=(X, y), **options).predict(X[:9])
        with client.as_current(), joblib.parallel_config("dask"):
            there = prediction_interval(estimator, training=(X, y), **options)
        np.testing.assert_array_equal(there.predict(X[:9]).lower, here.lower)
