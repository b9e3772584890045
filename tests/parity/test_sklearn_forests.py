"""Forests as good as scikit-learn's under every shared parameter, on the tables it comes with.

The trees are not the same: they draw other rows and columns. What must agree is how good they are.
Here with few seeds, so that a fault shows; tests of equivalence over 20 seeds are in the slow file.
"""

from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
from tests.parity.forest_levels import levels
from tests.parity.tables import load

import arboleda

# Parameters that change how good a forest is; 25 trees show it.
CLASSES: list[dict[str, Any]] = [
    {},
    {"criterion": "entropy", "max_features": "log2"},
    {"max_depth": 3},
    {"min_samples_leaf": 8, "max_features": 0.5},
    {"max_leaf_nodes": 6, "class_weight": "balanced"},
    {"max_samples": 0.2, "bootstrap": True, "class_weight": "balanced_subsample"},
    {"ccp_alpha": 0.02},
]
NUMBERS: list[dict[str, Any]] = [
    {},
    {"max_features": 1 / 3},
    {"max_depth": 4},
    {"criterion": "poisson", "min_samples_leaf": 5},
    {"min_weight_fraction_leaf": 0.05, "bootstrap": True},
    {"max_leaf_nodes": 10, "max_samples": 0.3, "bootstrap": True},
    {"min_impurity_decrease": 20.0},
]
# Of the score; what is left after three standard errors of the difference.
MARGIN = {"accuracy": 0.008, "R2": 0.015}


@pytest.mark.parametrize("kind", ["RandomForestClassifier", "ExtraTreesClassifier"])
@pytest.mark.parametrize("parameters", CLASSES, ids=str)
def test_classifiers_match_scikit_learn(kind: str, parameters: dict[str, Any]) -> None:
    X, y = load("breast_cancer")
    found = levels(kind, X, y, {"n_estimators": 25, **parameters}, 5)
    assert found.do_not_differ(MARGIN["accuracy"]), found


@pytest.mark.parametrize("kind", ["RandomForestRegressor", "ExtraTreesRegressor"])
@pytest.mark.parametrize("parameters", NUMBERS, ids=str)
def test_regressors_match_scikit_learn(kind: str, parameters: dict[str, Any]) -> None:
    X, y = load("diabetes")
    found = levels(kind, X, y, {"n_estimators": 25, **parameters}, 5)
    assert found.do_not_differ(MARGIN["R2"]), found


@pytest.mark.parametrize("library", [arboleda, sklearn.ensemble], ids=["ours", "theirs"])
def test_fitted_attributes_have_the_same_form(library: Any) -> None:
    """Attributes, shapes and types that code written for scikit-learn's forests relies on."""
    X, y = load("iris")
    forest = library.RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y)
    assert forest.oob_decision_function_.shape == (150, 3)
    assert 0.9 < forest.oob_score_ < 1.0
    assert len(forest.estimators_) == len(forest.estimators_samples_) == 40
    assert all(rows.shape == (150,) for rows in forest.estimators_samples_)
    assert forest.estimators_[0].tree_.node_count == forest.decision_path(X)[1][1]
    assert forest.apply(X).shape == (150, 40)
    assert (forest.n_classes_, forest.n_outputs_, forest.n_features_in_) == (3, 1, 4)
    assert forest.classes_.tolist() == [0, 1, 2]
    assert forest.feature_importances_.argmax() in (2, 3)
    assert forest.estimator_.get_params()["criterion"] == "gini"
    proba = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(proba, forest.predict_proba(X))
    X, y = load("diabetes")
    other = library.RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y)
    assert other.oob_prediction_.shape == (442,)
    mean = np.mean([tree.predict(X) for tree in other.estimators_], axis=0)
    np.testing.assert_allclose(mean, other.predict(X))
    two = library.ExtraTreesRegressor(5).fit(X, np.column_stack([y, -y]))
    assert two.predict(X).shape == (442, 2)


def test_out_of_bag_scores_agree() -> None:
    for kind, name in (("RandomForestClassifier", "wine"), ("RandomForestRegressor", "diabetes")):
        X, y = load(name)
        scores = [
            [
                getattr(library, kind)(60, oob_score=True, random_state=seed).fit(X, y).oob_score_
                for seed in range(6)
            ]
            for library in (arboleda, sklearn.ensemble)
        ]
        ours, theirs = np.mean(scores, axis=1)
        error = np.sqrt(np.var(scores, axis=1, ddof=1).sum() / 6)
        assert abs(ours - theirs) < 3 * error + 0.005


def test_importances_agree() -> None:
    X, y = load("breast_cancer")
    ours, theirs = (
        np.mean(
            [
                library.RandomForestClassifier(60, random_state=seed).fit(X, y).feature_importances_
                for seed in range(4)
            ],
            axis=0,
        )
        for library in (arboleda, sklearn.ensemble)
    )
    assert np.corrcoef(ours, theirs)[0, 1] > 0.95
