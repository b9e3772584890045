"""Shapley values beside those of shap, LightGBM and XGBoost on models of the same trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import arboleda as ar
from arboleda.explain import ShapValues, shap_values

pytestmark = pytest.mark.slow

Floats = npt.NDArray[np.float64]


def as_shap_reads(trees: list[Any], share: float, output: int) -> dict[str, Any]:
    """Return the arrays that shap's TreeEnsemble takes: trees as dictionaries, without missing."""
    return {
        "trees": [
            {
                "children_left": tree.children_left,
                "children_right": tree.children_right,
                "children_default": tree.children_right,
                "features": tree.feature,
                "thresholds": tree.threshold,
                "values": share * tree.value_rows[:, output : output + 1],
                "node_sample_weight": np.array(tree.weighted_n_node_samples),  # shap writes to it
            }
            for tree in trees
        ]
    }


def trees_of(model: Any) -> tuple[list[Any], float]:
    if hasattr(model, "ensemble_"):
        return model.ensemble_.trees, 1.0
    if hasattr(model, "tree_"):
        return [model.tree_], 1.0
    found = [member.tree_ for member in model.estimators_]
    return found, 1.0 / len(found)


MODELS = [
    ar.DecisionTreeRegressor(),
    ar.RandomForestRegressor(10, random_state=0),
    ar.HistGradientBoostingRegressor(max_iter=40),
    ar.GradientBoostingRegressor(n_estimators=40, max_depth=4, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_values_match_shap(model: Any) -> None:
    shap = pytest.importorskip("shap")
    X, y = load_diabetes(return_X_y=True)
    made = model.fit(X, y)
    trees, share = trees_of(made)
    theirs = shap.TreeExplainer(as_shap_reads(trees, share, 0))
    expected = theirs.shap_values(X, check_additivity=False)
    found = shap_values(made, X)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-6 * scale)


def test_interactions_match_shap() -> None:
    shap = pytest.importorskip("shap")
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :8]
    model = ar.RandomForestClassifier(10, random_state=0).fit(X, y)
    trees, share = trees_of(model)
    theirs = shap.TreeExplainer(as_shap_reads(trees, share, 1))
    expected = theirs.shap_interaction_values(X[:80])
    found = shap_values(model, X[:80], interactions=True)
    np.testing.assert_allclose(found.values[..., 1], expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_values_match_lightgbm(n_classes: int) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    X, y = wine(n_classes)
    theirs = lightgbm.LGBMClassifier(n_estimators=30, num_leaves=8, verbose=-1).fit(X, y)
    found = shap_values(ar.from_lightgbm(theirs), X)
    assert_same(found, theirs.predict(X, pred_contrib=True), tolerance=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_values_match_xgboost(n_classes: int) -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y = wine(n_classes)
    theirs = xgboost.XGBClassifier(n_estimators=30, max_depth=4).fit(X, y)
    expected = theirs.get_booster().predict(xgboost.DMatrix(X), pred_contribs=True)
    found = shap_values(ar.from_xgboost(theirs), X)
    assert_same(found, expected.transpose(0, 2, 1) if n_classes == 3 else expected, tolerance=1e-4)


def test_interactions_match_xgboost() -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y = wine(2)
    theirs = xgboost.XGBClassifier(n_estimators=20, max_depth=4).fit(X, y)
    expected = theirs.get_booster().predict(xgboost.DMatrix(X), pred_interactions=True)
    found = shap_values(ar.from_xgboost(theirs), X, interactions=True)
    np.testing.assert_allclose(found.values, expected[:, :-1, :-1], rtol=0, atol=1e-4)


def wine(n_classes: int) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Rows with missing values, float32 as XGBoost reads them."""
    X, y = load_wine(return_X_y=True)
    random = np.random.default_rng(0)
    X = X.astype(np.float32).astype(np.float64)
    X[random.random(X.shape) < 0.1] = np.nan
    kept = y < n_classes
    return X[kept], y[kept]


def assert_same(found: ShapValues, contributions: Floats, tolerance: float) -> None:
    """Compare contributions of columns and, at the end, the base value; classes side by side."""
    n_rows, n_columns = found.values.shape[:2]
    several = found.values.ndim == 3
    if several and contributions.ndim == 2:
        contributions = contributions.reshape(n_rows, -1, n_columns + 1).transpose(0, 2, 1)
    np.testing.assert_allclose(found.values, contributions[:, :-1], rtol=0, atol=tolerance)
    np.testing.assert_allclose(found.base_values, contributions[:, -1], rtol=0, atol=tolerance)
