"""Shapley values against background rows, and of pairs of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.explain.shap_models import Floats, shapley
from tests.explain.test_shap_values import classes_of, frame, numbers, target_of

import arboleda as ar
from arboleda.explain import shap_values

MODELS = [
    ar.DecisionTreeRegressor(max_depth=6),
    ar.RandomForestClassifier(5, random_state=0),
    ar.HistGradientBoostingClassifier(max_iter=4),
    ar.AdaBoostClassifier(algorithm="SAMME", n_estimators=4, random_state=0),
    ar.BaggingClassifier(
        ar.PrunedTreeClassifier(random_state=0), 3, max_features=0.5, random_state=0
    ),
    ar.VotingClassifier(
        [("a", ar.DecisionTreeClassifier(max_depth=3)), ("b", ar.ExtraTreesClassifier(3))],
        voting="soft",
    ),
]


def fitted(model: Any, X: Floats) -> tuple[Any, Any]:
    """Return a fitted model and its prediction function."""
    if isinstance(model, ar.DecisionTreeRegressor):
        return (made := model.fit(X, target_of(X))), made.predict
    made = model.fit(X, classes_of(X))
    scores = isinstance(model, ar.HistGradientBoostingClassifier | ar.AdaBoostClassifier)
    return made, made.decision_function if scores else made.predict_proba


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_values_against_a_background_add_up_to_scores(model: Any) -> None:
    X = numbers()
    made, predict = fitted(model, X)
    found = shap_values(made, X[:50], background=X[100:230])
    np.testing.assert_allclose(found.scores, predict(X[:50]), atol=1e-12)
    mean = predict(X[100:230]).mean(axis=0)
    np.testing.assert_allclose(found.base_values, np.broadcast_to(mean, found.base_values.shape))


@pytest.mark.parametrize("encoding", ["native", "ordered"])
def test_values_against_a_background_match_their_definition(encoding: str) -> None:
    X = frame()
    y = target_of(X[["width", "depth", "height"]].to_numpy()) + (X["colour"] == "red")
    model = ar.HistGradientBoostingRegressor(max_iter=4, category_encoding=encoding).fit(X, y)
    background = X.iloc[50:80]

    def game(row: int) -> Any:
        def pays(known: frozenset[int]) -> Floats:
            mixed = background.copy()
            for j in known:
                mixed[X.columns[j]] = X[X.columns[j]].iloc[[row] * len(mixed)].to_numpy()
            for name in ("colour", "kind"):
                mixed[name] = mixed[name].astype(X[name].dtype)
            return np.atleast_1d(model.predict(mixed).mean())

        return pays

    found = shap_values(model, X.iloc[:2], background=background)
    for row in range(2):
        expected = shapley(game(row), 5)[:, 0]
        np.testing.assert_allclose(found.values[row], expected, atol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_pairs_are_symmetric_and_sum_to_the_values(model: Any) -> None:
    X = numbers()
    made, _ = fitted(model, X)
    values = shap_values(made, X[:40])
    pairs = shap_values(made, X[:40], interactions=True)
    assert pairs.of_pairs
    assert pairs.values.shape == (40, 6, *values.values.shape[1:])
    np.testing.assert_array_equal(pairs.values, np.swapaxes(pairs.values, 1, 2))
    np.testing.assert_allclose(pairs.values.sum(axis=2), values.values, atol=1e-12)
    np.testing.assert_allclose(pairs.scores, values.scores, atol=1e-12)


def test_additive_models_have_no_interaction() -> None:
    X = numbers(missing=False)
    y = X[:, 0] + np.abs(X[:, 1])
    model = ar.HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=2).fit(X, y)
    found = shap_values(model, X, interactions=True).values
    assert (found[:, ~np.eye(6, dtype=bool)] == 0.0).all()
    assert (found[:, 5] == 0.0).all()


def test_a_product_of_two_columns_is_shared_evenly() -> None:
    X = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)])
    model = ar.DecisionTreeRegressor().fit(X, 4.0 * X[:, 0] * X[:, 1])
    found = shap_values(model, X, interactions=True)
    # Each by itself is worth 1 more or less; together 1 more or less, half of it to each.
    np.testing.assert_allclose(found.values[3], [[1.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(found.values[0], [[-1.0, 0.5], [0.5, -1.0]])


def test_the_number_of_threads_changes_no_bit() -> None:
    X = np.tile(numbers(), (4, 1))
    model = ar.HistGradientBoostingClassifier(max_iter=3).fit(X, classes_of(X))
    pairs = shap_values(model, X, interactions=True, n_jobs=1).values
    against = shap_values(model, X, background=X[:70], n_jobs=1).values
    for n_jobs in (2, 3, 7):
        found = shap_values(model, X, interactions=True, n_jobs=n_jobs)
        np.testing.assert_array_equal(found.values, pairs)
        found = shap_values(model, X, background=X[:70], n_jobs=n_jobs)
        np.testing.assert_array_equal(found.values, against)


def test_sparse_backgrounds_and_pipelines_are_supported() -> None:
    X = numbers(missing=False)
    X[np.abs(X) < 0.7] = 0.0
    model = ar.RandomForestRegressor(4, random_state=0).fit(X, target_of(X))
    expected = shap_values(model, X[:20], background=X[20:90]).values
    sparse = csr_matrix(X)
    for rows in (X, sparse):
        for others in (X, sparse):
            found = shap_values(model, rows[:20], background=others[20:90])
            np.testing.assert_array_equal(found.values, expected)
    scaled = make_pipeline(StandardScaler(), ar.RandomForestRegressor(4, random_state=0))
    scaled.fit(X, target_of(X))
    found = shap_values(scaled, X[:20], background=X[20:90])
    np.testing.assert_allclose(found.scores, scaled.predict(X[:20]), atol=1e-12)


def test_pairs_are_given_as_frames() -> None:
    X = numbers()
    found = shap_values(
        ar.RandomForestClassifier(3, random_state=0).fit(X, classes_of(X)), X[:3], interactions=True
    )
    table = found.to_frame()
    line = table[
        (table.row == 1)
        & (table.output == "many")
        & (table.feature == "x[2]")
        & (table.other == "x[4]")
    ]
    assert line.value.item() == found.values[1, 2, 4, 1]
    assert line.data.item() == X[1, 2] or np.isnan(X[1, 2])


def test_invalid_arguments_are_refused() -> None:
    X = numbers()
    model = ar.DecisionTreeRegressor(max_depth=2).fit(X, target_of(X))
    with pytest.raises(ValueError, match="interactions=True does not support a background"):
        shap_values(model, X, background=X, interactions=True)
    with pytest.raises(ValueError, match="background must have 1 to 4,096 rows, got 0"):
        shap_values(model, X, background=X[:0])
    with pytest.raises(ValueError, match=r"background must have 1 to 4,096 rows, got 4,800"):
        shap_values(model, X, background=np.tile(X, (20, 1)))
    with pytest.raises(ValueError, match="features"):
        shap_values(model, X, background=X[:, :3])


def test_pictures_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    X = frame()
    y = classes_of(X[["width", "depth", "height"]].to_numpy())
    model = ar.RandomForestClassifier(3, random_state=0).fit(X, y)
    for interactions in (False, True):
        found = shap_values(model, X, interactions=interactions)
        assert found.plot(output="many") is not None
        assert found.plot_row(2) is not None
    plt.close("all")
