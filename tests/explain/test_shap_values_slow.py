"""Shapley values of trees with more nodes than sixteen bits can number."""

from __future__ import annotations

import numpy as np
import pytest

import arboleda as ar
from arboleda.explain import shap_values

pytestmark = pytest.mark.slow


def test_trees_of_many_nodes_add_up() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(30_000, 12))
    y = X[:, 0] * X[:, 1] + random.normal(size=len(X))
    model = ar.RandomForestRegressor(2, bootstrap=False, random_state=0).fit(X, y)
    assert min(tree.tree_.node_count for tree in model.estimators_) > 32_767
    found = shap_values(model, X[:200])
    np.testing.assert_allclose(found.scores, model.predict(X[:200]), rtol=0, atol=1e-9)
    found = shap_values(model, X[:50], background=X[100:150])
    np.testing.assert_allclose(found.scores, model.predict(X[:50]), rtol=0, atol=1e-9)
