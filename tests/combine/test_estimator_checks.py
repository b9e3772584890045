"""scikit-learn's own checks of combinations that learn from their members' predictions."""

from collections.abc import Callable
from typing import Any

from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import (
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    RegionalClassifier,
    RegionalRegressor,
    StackingClassifier,
    StackingRegressor,
    StaticSelectionClassifier,
    StaticSelectionRegressor,
)

_CLASSES = [
    ("logistic", LogisticRegression()),
    ("strong", LogisticRegression(C=0.1)),
]
_VALUES = [("ridge", Ridge()), ("strong", Ridge(10.0))]
_CONFIGURATIONS = [
    StackingClassifier(_CLASSES, cv=3),
    StackingRegressor(_VALUES, cv=3, weights="simplex"),
    EnsembleSelectionClassifier(_CLASSES, cv=3, n_rounds=5),
    EnsembleSelectionRegressor(_VALUES, cv=3, n_rounds=5, n_bags=2),
    BayesianModelAveragingClassifier(_CLASSES, cv=3),
    BayesianModelAveragingRegressor(_VALUES, criterion="bic"),
    DynamicSelectionClassifier(_CLASSES, cv=3),
    DynamicSelectionClassifier(_CLASSES, cv=3, method="meta_des"),
    DynamicSelectionRegressor(_VALUES, cv=3),
    StaticSelectionClassifier(_CLASSES, cv=3, n_regions=3, random_state=0),
    StaticSelectionRegressor(_VALUES, cv=3, n_regions=3, random_state=0),
    RegionalClassifier(LogisticRegression(), n_regions=2, random_state=0),
    RegionalRegressor(Ridge(), n_regions=2, random_state=0),
]


@parametrize_with_checks(_CONFIGURATIONS)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
