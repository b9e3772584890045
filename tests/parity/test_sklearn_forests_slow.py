"""Forests as good as scikit-learn's: tests of equivalence over 20 seeds, on more tables."""

from typing import Any

import pytest
from tests.parity.forest_levels import levels
from tests.parity.tables import load
from tests.parity.test_sklearn_forests import CLASSES, NUMBERS

pytestmark = pytest.mark.slow

_TABLES = ["breast_cancer", "iris", "wine", "digits"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["RandomForestClassifier", "ExtraTreesClassifier"])
@pytest.mark.parametrize("parameters", CLASSES, ids=str)
@pytest.mark.parametrize("name", _TABLES)
def test_classifiers_are_equivalent(kind: str, parameters: dict[str, Any], name: str) -> None:
    X, y = load(name)
    # Scores of trees with six leaves spread more: twenty seeds would be too few.
    n_seeds = 60 if "max_leaf_nodes" in parameters else 20
    found = levels(kind, X, y, {"n_estimators": 100, **parameters}, n_seeds)
    # A test set of iris or wine has about 50 rows: one of them is 0.02.
    assert found.are_equivalent(0.01 if len(y) > 500 else 0.02), found


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["RandomForestRegressor", "ExtraTreesRegressor"])
@pytest.mark.parametrize("parameters", NUMBERS, ids=str)
def test_regressors_are_equivalent(kind: str, parameters: dict[str, Any]) -> None:
    X, y = load("diabetes")
    found = levels(kind, X, y, {"n_estimators": 100, **parameters}, 60)
    assert found.are_equivalent(0.015), found
