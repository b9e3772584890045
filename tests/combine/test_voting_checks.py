"""scikit-learn's own checks of votes, by every rule."""

from collections.abc import Callable
from typing import Any

from sklearn import tree
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    VotingClassifier,
    VotingRegressor,
)

_CLASSIFIERS = [
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("theirs", tree.DecisionTreeClassifier(random_state=0)),
]
_REGRESSORS = [("tree", DecisionTreeRegressor(max_depth=2, random_state=0)), ("ridge", Ridge())]


@parametrize_with_checks(
    [
        VotingClassifier(_CLASSIFIERS),
        VotingClassifier(_CLASSIFIERS, rule="naive_bayes", cv=2),
        VotingRegressor(_REGRESSORS, rule="weighted", cv=2),
    ]
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
