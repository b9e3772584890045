"""Feature importances by impurity and by permutation."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.forest.tables import FORESTS, classes, numbers, table_for

from arboleda import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor


@pytest.mark.parametrize("forest", FORESTS)
def test_importances_are_the_mean_of_the_trees(forest: Any) -> None:
    X, y = table_for(forest)
    grown = forest(8, max_leaf_nodes=10, random_state=0).fit(X, y)
    mean = np.mean([member.feature_importances_ for member in grown.estimators_], axis=0)
    np.testing.assert_allclose(grown.feature_importances_, mean, atol=1e-9)
    assert grown.feature_importances_.sum() == pytest.approx(1.0)
    relative = grown.relative_importance()
    assert relative.max() == 100.0
    np.testing.assert_allclose(relative / relative.sum(), grown.feature_importances_)
    assert set(np.argsort(-relative)[:2]) == {0, 1}


@pytest.mark.parametrize("forest", FORESTS)
def test_permutation_finds_the_informative_columns(forest: Any) -> None:
    X, y = table_for(forest, 300)
    grown = forest(40, bootstrap=True, random_state=0).fit(X, y)
    found = grown.oob_permutation_importance(X, y)
    assert found.importances.shape == (40, 6)
    assert set(np.argsort(-found.mean)[:2]) == {0, 1}
    assert (found.z_score[:2] > 5.0).all()
    assert (np.abs(found.mean[2:]) < found.mean[:2].min() / 4).all()
    again = grown.set_params(n_jobs=1).oob_permutation_importance(X, y)
    np.testing.assert_array_equal(found.importances, again.importances)


@pytest.mark.parametrize("voting", ["soft", "laplace"])
def test_permutation_importance_matches_a_naive_twin(voting: str) -> None:
    """Against the mean over many permutations of each tree's left-out rows."""
    X, y = classes(120)
    forest = RandomForestClassifier(15, voting=voting, max_depth=4, random_state=0).fit(X, y)
    found = forest.oob_permutation_importance(X, y)
    random = np.random.default_rng(0)
    expected = np.zeros((15, 6))
    spread = np.zeros((15, 6))
    for t, (member, drawn) in enumerate(
        zip(forest.estimators_, forest.estimators_samples_, strict=True)
    ):
        out = np.setdiff1d(np.arange(120), drawn)
        before = np.mean(member.predict(X[out]) != y[out])
        for j in range(6):
            errors = []
            for _ in range(20):
                mixed = X[out].copy()
                mixed[:, j] = random.permutation(mixed[:, j])
                errors.append(np.mean(member.predict(mixed) != y[out]) - before)
            expected[t, j], spread[t, j] = np.mean(errors), np.var(errors)
    unasked = spread == 0.0
    np.testing.assert_allclose(found.importances[unasked], expected[unasked], atol=1e-12)
    error = np.sqrt(spread.sum(axis=0) * (1 + 1 / 20)) / 15
    assert (np.abs(found.mean - expected.mean(axis=0)) <= 4.5 * error + 1e-12).all()


def test_permutation_of_regressors_uses_squared_errors() -> None:
    X, y = numbers(300)
    forest = RandomForestRegressor(30, random_state=0).fit(X[:, :2], y)
    found = forest.oob_permutation_importance(X[:, :2], y)
    # Permuting makes the column's part of y another row's: twice its variance.
    assert found.mean[0] == pytest.approx(2 * np.var(X[:, 0]), rel=0.35)
    assert found.mean[1] == pytest.approx(2 * np.var(X[:, 1] ** 2), rel=0.35)


def test_importances_are_returned_as_a_result_object() -> None:
    X, y = numbers(100)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    forest = ExtraTreesRegressor(20, bootstrap=True, max_depth=3, random_state=0).fit(frame, y)
    found = forest.oob_permutation_importance(frame, y)
    table = found.to_frame()
    assert table.columns.tolist() == ["column", "mean", "standard_error", "z_score"]
    assert sorted(table["column"]) == list("abcdef")
    assert table["mean"].is_monotonic_decreasing
    np.testing.assert_allclose(found.mean, found.importances.mean(axis=0))
    np.testing.assert_allclose(
        found.standard_error, found.importances.std(axis=0, ddof=1) / np.sqrt(20)
    )
    np.testing.assert_allclose(found.z_score, found.mean / found.standard_error)
    plain = ExtraTreesRegressor(1, bootstrap=True, max_depth=1, random_state=0).fit(X, y)
    one = plain.oob_permutation_importance(X, y)
    assert np.isnan(one.standard_error).all()
    assert one.to_frame()["column"].tolist()[0] in range(6)
