"""A forest of 500 trees on Adult, imitated by sixteen leaves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.conftest import shared_data

from arboleda import RandomForestClassifier
from arboleda.explain import surrogate_rules, surrogate_tree

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
_N_TEST = 16_281  # UCI's own test rows, which come first


def test_sixteen_leaves_agree_with_500_trees_on_93_percent_of_rows() -> None:
    table = pd.read_csv(shared_data("adult/adult.csv.gz"), na_values="?")
    y = table.pop("income").to_numpy()
    X, y_train = table.iloc[_N_TEST:], y[_N_TEST:]
    X_test, y_test = table.iloc[:_N_TEST], y[:_N_TEST]
    forest = RandomForestClassifier(500, oob_score=True, random_state=0).fit(X, y_train)
    given = {"y": y_train, "X_test": X_test, "y_test": y_test}
    predicted = forest.oob_decision_function_
    tree = surrogate_tree(forest, X, answers=predicted, **given)
    rules = surrogate_rules(forest, X, answers=predicted, **given)
    predictions = forest.predict(X_test)
    assert tree.model.get_n_leaves() <= 16
    assert np.mean(tree.model.predict(X_test) == predictions) == tree.fidelity
    assert tree.fidelity >= 0.93
    assert np.mean(rules.model.predict(X_test) == predictions) == rules.fidelity
    assert rules.fidelity >= 0.93
    assert len(rules.model.rules) <= 8
    # Simpler than the forest, and no worse; better than a tree of its size that learned y.
    curve = tree.curve
    assert curve.error[-1] < curve.ensemble_error[-1]
    assert curve.error[-1] < curve.cart_error[-1]
    # A forest predicts y for its own training rows, so the surrogate fits the noise.
    noisy = surrogate_tree(forest, X, **given)
    assert noisy.fidelity < tree.fidelity - 0.002
