"""Differences and products of columns, which `BoostingClassifier` and `BoostingRegressor` add."""

import math
import pickle
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import arboleda
from arboleda import BoostingClassifier, BoostingRegressor, explain
from arboleda._engine.columns import DenseTable
from arboleda.boosting._cross_columns import (
    append_crosses,
    extend_row,
    select_crossed_columns,
    share_crosses,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(600, 4))
PRODUCT = X[:, 0] * X[:, 1] + 0.1 * RANDOM.normal(size=600)
# Without searching for anything else, so that a fit is quick.
ONLY: dict[str, Any] = {
    "random_state": 0,
    "linear_leaves": False,
    "min_samples_leaf": 20,
    "max_leaf_nodes": 8,
    "extra_trees": False,
    "learning_rate": 0.2,
}


def test_each_pair_has_a_difference_and_a_product() -> None:
    table = DenseTable(
        [
            np.array([1.0, np.nan, -1e308]),
            np.array([7, 8, 9], np.int8),
            np.array([4.0, 5.0, 1e308]),
        ],
        3,
        (0, 0, 0),
    )
    wide = append_crosses(table, (0, 2))
    assert isinstance(wide, DenseTable)
    assert wide.n_levels == (0,) * 5
    largest = np.finfo(float).max
    np.testing.assert_array_equal(wide.columns[3], [-3.0, np.nan, -largest])
    np.testing.assert_array_equal(wide.columns[4], [4.0, np.nan, -largest])
    more = append_crosses(table, (0, 1, 2))
    assert isinstance(more, DenseTable)
    expected = [-6.0, 7.0, -3.0, 4.0, 3.0, 28.0]
    assert [column[0] for column in more.columns[3:]] == expected
    for row in range(3):
        numbers = [float(column[row]) for column in table.columns]
        np.testing.assert_array_equal(
            extend_row(numbers, (0, 1, 2)), [column[row] for column in more.columns]
        )


def test_the_most_important_numeric_columns_are_crossed() -> None:
    importances = np.array([0.0, 0.1, 0.3, 0.05, 0.2, 0.06, 0.07, 0.08, 0.04])
    kinds = ["numeric"] * 9
    assert select_crossed_columns(importances, kinds) == (1, 2, 4, 5, 6, 7)
    kinds[2] = "categorical"
    assert select_crossed_columns(importances, kinds) == (1, 3, 4, 5, 6, 7)
    assert select_crossed_columns(np.array([0.0, 1.0]), ["numeric"] * 2) == ()


def test_importances_of_crosses_belong_to_their_sources() -> None:
    shares = np.array([0.1, 0.2, 0.1, 0.1, 0.2, 0.05, 0.05, 0.1, 0.1])
    # Pairs (0, 1), (0, 2), (1, 2): 0.3, 0.1 and 0.2.
    np.testing.assert_allclose(share_crosses(shares, (0, 1, 2)), [0.3, 0.45, 0.25])
    model = BoostingRegressor(**ONLY).fit(X, PRODUCT)
    assert math.isclose(model.feature_importances_.sum(), 1.0)
    assert model.feature_importances_.shape == (4,)
    assert min(model.feature_importances_[:2]) > 5.0 * max(model.feature_importances_[2:])


def test_crosses_are_kept_where_held_out_rows_are_better() -> None:
    model = BoostingRegressor(**ONLY).fit(X, PRODUCT)
    assert [choice.name for choice in model.report_.tried if choice.value] == ["cross_columns=True"]
    assert {0, 1} <= set(model.crossed_columns_.tolist())
    plain = BoostingRegressor(**ONLY, cross_columns=False).fit(X, PRODUCT)
    assert plain.crossed_columns_.size == 0
    assert not plain.report_.tried
    assert model.report_.cv_loss < 0.7 * plain.report_.cv_loss
    steps = np.where(X[:, 0] > 0.3, 1.0, 0.0)
    additive = BoostingRegressor(**{**ONLY, "random_state": 1}).fit(X, steps)
    assert [choice.value for choice in additive.report_.tried] == [False]
    assert additive.crossed_columns_.size == 0
    both = BoostingRegressor(**ONLY, cross_columns=True).fit(X, steps)
    assert both.crossed_columns_.size > 1
    assert not both.report_.tried
    # A further fit forgets the columns of the one before.
    assert both.set_params(cross_columns=False).fit(X, steps).crossed_columns_.size == 0


@pytest.mark.parametrize("kind", [BoostingClassifier, BoostingRegressor])
def test_crosses_equal_columns_made_by_hand(kind: Any) -> None:
    y = PRODUCT if kind is BoostingRegressor else PRODUCT > 0.1
    holed = X.copy()
    holed[::9, 0] = np.nan
    model = kind(**ONLY, cross_columns=True).fit(holed, y)
    assert model.crossed_columns_.tolist() == [0, 1, 2, 3]
    by_hand = [holed]
    for i, j in combinations(range(4), 2):
        pair = [holed[:, i] - holed[:, j], holed[:, i] * holed[:, j]]
        by_hand.append(np.column_stack(pair))
    wide = np.hstack(by_hand)
    naive = kind(**ONLY, cross_columns=False).fit(wide, y)
    assert pickle.dumps(model.ensemble_) == pickle.dumps(naive.ensemble_)
    np.testing.assert_array_equal(model.predict(holed), naive.predict(wide))
    np.testing.assert_array_equal(model.cv_predictions_, naive.cv_predictions_)
    if kind is BoostingRegressor:
        np.testing.assert_array_equal(model.predict_interval(holed), naive.predict_interval(wide))


def mixed_frame() -> pd.DataFrame:
    frame = pd.DataFrame({"a": X[:, 0], "team": RANDOM.integers(0, 90, 600).astype(str)})
    frame["b"] = X[:, 1].astype(np.float32)
    frame["n"] = RANDOM.integers(0, 9, 600)
    frame.loc[::7, "b"] = np.nan
    return frame.astype({"team": "category"})


@pytest.mark.parametrize("encoding", ["native", "ordered"])
def test_single_rows_threads_and_files(encoding: Any, tmp_path: Path) -> None:
    frame = mixed_frame()
    options = {**ONLY, "category_encoding": encoding, "cross_columns": True}
    one, three = (BoostingRegressor(**options, n_jobs=n).fit(frame, PRODUCT) for n in (1, 3))
    assert [frame.columns[j] for j in one.crossed_columns_] == ["a", "b", "n"]
    assert pickle.dumps(one.ensemble_) == pickle.dumps(three.ensemble_)
    one.save(tmp_path / "model.arboleda")
    again = arboleda.load(tmp_path / "model.arboleda")
    expected = one.predict(frame)
    np.testing.assert_array_equal(again.predict(frame), expected)
    np.testing.assert_array_equal(again.crossed_columns_, one.crossed_columns_)
    predictor = again.predictor()
    for number in (0, 1, 7):
        row = frame.iloc[number]
        assert predictor.predict(row.to_dict()) == expected[number]
        assert predictor.predict(list(row)) == expected[number]
        assert again.predict(frame.iloc[[number]])[0] == expected[number]
    with pytest.raises(ValueError, match="features"):
        predictor.predict([0.0] * again._n_tree_columns)


@pytest.mark.parametrize("crossed", [[1, 0], [0, 9], [0, 1, 2, 3, 4, 5, 6], [-1, 0]])
def test_damaged_files_are_refused(crossed: list[int], tmp_path: Path) -> None:
    model = BoostingRegressor(**ONLY, cross_columns=True).fit(X, PRODUCT)
    model.crossed_columns_ = np.array(crossed)
    model.save(tmp_path / "model.arboleda")
    with pytest.raises(arboleda.ModelFormatError, match="crossed_columns_"):
        arboleda.load(tmp_path / "model.arboleda")


def test_validation_rows_are_crossed_too() -> None:
    model = BoostingRegressor(**ONLY, cross_columns=True)
    model.fit(X[:400], PRODUCT[:400], X_val=X[400:], y_val=PRODUCT[400:])
    assert np.mean((model.predict(X[400:]) - PRODUCT[400:]) ** 2) < 0.1 * PRODUCT.var()


def test_crosses_are_not_tried_where_they_cannot_be_kept() -> None:
    constrained = BoostingRegressor(**ONLY, monotonic_cst=[1, 0, 0, 0]).fit(X, PRODUCT)
    interacting = BoostingRegressor(**ONLY, interaction_cst="no_interactions").fit(X, PRODUCT)
    single = BoostingRegressor(**ONLY).fit(X[:, :1], PRODUCT)
    of_csr = BoostingRegressor(**ONLY).fit(sparse.csr_array(X), PRODUCT)
    for model in (constrained, interacting, single, of_csr):
        assert not model.report_.tried
        assert model.crossed_columns_.size == 0


@pytest.mark.parametrize(
    ("options", "table", "message"),
    [
        ({"monotonic_cst": [1, 0, 0, 0]}, X, "monotonic_cst"),
        ({"interaction_cst": "no_interactions"}, X, "interaction_cst"),
        ({}, sparse.csr_array(X), "sparse X"),
        ({}, X[:, :1], "at least two numeric columns, and X has 1"),
    ],
)
def test_impossible_crosses_are_refused(options: dict[str, Any], table: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BoostingRegressor(**ONLY, **options, cross_columns=True).fit(table, PRODUCT)


def test_explanations_that_need_single_columns_name_the_remedy() -> None:
    model = BoostingRegressor(**ONLY, cross_columns=True).fit(X, PRODUCT)
    for call in (lambda: explain.shap_values(model, X[:3]), model.shape_functions):
        with pytest.raises(ValueError, match="cross_columns=False"):
            call()
    with pytest.raises(ValueError, match="float64"):
        arboleda.to_c(model, number_type="float32")


def test_curves_follow_the_model() -> None:
    model = BoostingRegressor(**ONLY, cross_columns=True).fit(X, PRODUCT)
    curve = explain.partial_dependence(model, X, [0], grid_resolution=5)
    table = X.copy()
    table[:, 0] = curve.grid[0][0]
    assert math.isclose(curve.average[0][0], model.predict(table).mean(), rel_tol=1e-9)
