"""Splits that trees begin with: what is forced, what is skipped, and errors."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from arboleda import (
    BoostingRegressor,
    DistributionalBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": RANDOM.normal(size=600).round(1),
        "b": RANDOM.integers(0, 10, size=600).astype(float),
        "c": RANDOM.normal(size=600).round(1),
    }
)
FRAME.loc[RANDOM.random(600) < 0.1, "b"] = np.nan
X = FRAME.to_numpy()
SCORE = 2.0 * X[:, 0] + np.nan_to_num(X[:, 1]) * (X[:, 2] > 0) + RANDOM.normal(size=600)
FORCED = {
    "feature": "c",
    "threshold": 0.23,
    "left": {"feature": "b", "threshold": 4.5, "right": {"feature": 0, "threshold": -1.0}},
}


def regressor(**options: Any) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(**{"max_iter": 5, "random_state": 0, **options})


def bits(model: Any) -> bytes:
    return pickle.dumps(model.ensemble_)


def goes_left(tree: Any, node: int, rows: np.ndarray) -> np.ndarray:
    values = X[rows, tree.feature[node]]
    is_left = values <= tree.threshold[node]
    return np.where(np.isnan(values), tree.missing_go_to_left[node] > 0, is_left)


def check_begins_with(tree: Any, split: Any, node: int, rows: np.ndarray) -> None:
    """The node has this split, and its children those below, by the rows themselves."""
    feature = split["feature"]
    column = feature if isinstance(feature, int) else FRAME.columns.get_loc(feature)
    assert tree.feature[node] == column
    is_left = goes_left(tree, node, rows)
    known = ~np.isnan(X[rows, column])
    expected = X[rows, column] <= split["threshold"]
    np.testing.assert_array_equal(is_left[known], expected[known])
    left, right = tree.children_left[node], tree.children_right[node]
    assert tree.n_node_samples[left] == is_left.sum()
    assert tree.n_node_samples[right] == len(rows) - is_left.sum()
    assert tree.impurity[node] >= 0.0
    for side, child, part in (("left", left, rows[is_left]), ("right", right, rows[~is_left])):
        if side in split:
            check_begins_with(tree, split[side], child, part)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_leaf_nodes": 4},
        {"max_leaf_nodes": None, "max_depth": 3},
        {"growth": "level_wise", "max_leaf_nodes": 8},
        {"loss": "absolute_error"},
        {"max_features": 0.4, "colsample_bytree": 0.4},
        {"linear_leaves": True},
    ],
)
def test_every_tree_begins_with_them(options: Any) -> None:
    model = regressor(forced_splits=FORCED, **options).fit(FRAME, SCORE)
    for tree in model.ensemble_.trees:
        check_begins_with(tree, FORCED, 0, np.arange(600))
    if options.get("max_leaf_nodes") == 4:
        assert all(tree.n_leaves == 4 for tree in model.ensemble_.trees)


def test_trees_of_several_outputs_begin_with_them() -> None:
    y = np.digitize(SCORE, [-1.0, 1.0, 4.0])
    shared: Any = {"multi_strategy": "multi_output_tree", "max_iter": 3}
    for model in (
        HistGradientBoostingClassifier(forced_splits=FORCED, max_iter=3).fit(FRAME, y),
        HistGradientBoostingClassifier(forced_splits=FORCED, **shared).fit(FRAME, y),
        DistributionalBoostingRegressor(forced_splits=FORCED, max_iter=3, subsample=1.0).fit(
            FRAME, SCORE
        ),
    ):
        for tree in model.ensemble_.trees:
            check_begins_with(tree, FORCED, 0, np.arange(600))


def test_below_a_forced_split_grow_the_trees_of_its_rows() -> None:
    """A naive twin: each side is fitted alone, from the same initial scores."""
    options: Any = {"max_iter": 1, "max_leaf_nodes": None, "max_depth": 4, "learning_rate": 1.0}
    forced = {"feature": 2, "threshold": 0.23}
    start = np.full(600, SCORE.mean())
    whole = regressor(forced_splits=forced, **options).fit(X, SCORE, init_score=start)
    tree = whole.ensemble_.trees[0]
    is_left = X[:, 2] <= 0.23
    for root, rows in ((tree.children_left[0], is_left), (tree.children_right[0], ~is_left)):
        side = regressor(**{**options, "max_depth": 3})
        side.fit(X[rows], SCORE[rows], init_score=start[rows])
        alone = side.ensemble_.trees[0]
        nodes = slice(root, root + alone.node_count)
        np.testing.assert_array_equal(tree.feature[nodes], alone.feature)
        np.testing.assert_array_equal(tree.n_node_samples[nodes], alone.n_node_samples)
        np.testing.assert_allclose(
            whole.predict(X[rows]), side.predict(X[rows]), rtol=1e-9, atol=1e-12
        )


def test_forcing_the_best_splits_changes_no_bit() -> None:
    options: Any = {"max_iter": 1, "max_leaf_nodes": None, "max_depth": 3}
    plain = regressor(**options).fit(FRAME, SCORE)
    tree = plain.ensemble_.trees[0]
    left, right = tree.children_left[0], tree.children_right[0]

    def split(node: int) -> dict[str, Any]:
        return {"feature": int(tree.feature[node]), "threshold": float(tree.threshold[node])}

    every = {**split(0), "left": split(left), "right": split(right)}
    assert bits(regressor(forced_splits=every, **options).fit(FRAME, SCORE)) == bits(plain)
    best_first = regressor(max_iter=1).fit(FRAME, SCORE)
    forced = regressor(max_iter=1, forced_splits=split(0)).fit(FRAME, SCORE)
    assert bits(forced) == bits(best_first)


@pytest.mark.parametrize(
    "split",
    [
        {"feature": "a", "threshold": 100.0},
        {"feature": "a", "threshold": -100.0, "right": {"feature": "b", "threshold": 5.0}},
        {"feature": "a", "threshold": float(np.sort(X[:, 0])[3])},  # fewer than 20 rows
        {"feature": "one", "threshold": 1.0},
    ],
)
def test_a_split_with_too_few_rows_on_a_side_is_skipped(split: Any) -> None:
    table = FRAME.assign(one=1.0)
    plain = regressor().fit(table, SCORE)
    assert bits(regressor(forced_splits=split).fit(table, SCORE)) == bits(plain)


def test_a_skipped_split_below_another_is_searched() -> None:
    skipped = {"feature": "c", "threshold": 99.0, "left": {"feature": "c", "threshold": 0.0}}
    unforced = regressor(forced_splits={"feature": "b", "threshold": 4.5, "left": skipped})
    root = regressor(forced_splits={"feature": "b", "threshold": 4.5})
    assert bits(unforced.fit(FRAME, SCORE)) == bits(root.fit(FRAME, SCORE))


def test_a_split_against_a_constraint_is_skipped() -> None:
    falling: Any = {"monotonic_cst": {"a": -1}, "max_iter": 1}
    split = {"feature": "a", "threshold": 0.0}
    plain = regressor(**falling).fit(FRAME, SCORE)
    assert bits(regressor(forced_splits=split, **falling).fit(FRAME, SCORE)) == bits(plain)


def test_a_threshold_within_a_bin_moves_to_its_nearer_edge() -> None:
    values = np.repeat(np.arange(8.0), 50)[:, np.newaxis]  # bins of two values each
    y = RANDOM.normal(size=400)
    for threshold, n_left in ((1.5, 100), (2.2, 100), (2.8, 200), (3.0, 200), (0.4, 0)):
        forced = {"feature": 0, "threshold": threshold}
        model = regressor(max_bins=4, max_iter=1, max_leaf_nodes=2, forced_splits=forced)
        tree = model.fit(values, y).ensemble_.trees[0]
        if n_left:
            assert tree.n_node_samples[1] == n_left
        else:
            free = regressor(max_bins=4, max_iter=1, max_leaf_nodes=2).fit(values, y)
            assert bits(model) == bits(free)


def test_sparse_columns_are_split_as_dense_ones() -> None:
    thin = sparse.random(400, 10, 0.2, format="csr", random_state=0)
    y = RANDOM.normal(size=400)
    for threshold in (0.0, 0.3):
        model = regressor(forced_splits={"feature": 3, "threshold": threshold}, min_samples_leaf=5)
        of_sparse = bits(model.fit(thin, y))
        tree = model.ensemble_.trees[0]
        assert tree.feature[0] == 3
        assert tree.n_node_samples[1] == (thin.toarray()[:, 3] <= threshold).sum()
        assert bits(model.fit(thin.toarray(), y)) == of_sparse


def test_automatic_models_have_them() -> None:
    model = BoostingRegressor("quick", random_state=0, forced_splits=FORCED).fit(FRAME, SCORE)
    features = {(t.feature[0], t.feature[t.children_left[0]]) for t in model.ensemble_.trees}
    assert features == {(2, 1)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"forced_splits": {"feature": "z", "threshold": 0.0}}, "'z', which is not a column of X"),
        ({"forced_splits": {"feature": 7, "threshold": 0.0}}, "Forced splits must consist of"),
        ({"forced_splits": {"feature": "a"}}, "'feature' and 'threshold'"),
        ({"forced_splits": {"feature": "a", "threshold": "x"}}, "column 'a'.*number, got 'x'"),
        ({"forced_splits": {"feature": "a", "threshold": np.nan}}, "finite number"),
        ({"forced_splits": {"feature": "k", "threshold": 0.0}}, "column 'k', which is categorical"),
        ({"forced_splits": {"feature": "a", "threshold": 0.0, "gain": 1}}, "has the key 'gain'"),
        ({"forced_splits": FORCED, "growth": "symmetric"}, "growth='symmetric'"),
        ({"forced_splits": FORCED, "interaction_cst": "pairwise"}, "interaction_cst"),
        ({"forced_splits": FORCED, "max_depth": 2}, "depth 3, and max_depth=2"),
        ({"forced_splits": FORCED, "max_leaf_nodes": 3}, "3 splits, which make 4 leaves"),
    ],
)
def test_bad_splits(options: Any, message: str) -> None:
    table = FRAME.assign(k=pd.Categorical(["u", "v"] * 300))
    with pytest.raises(ValueError, match=message):
        regressor(**options).fit(table, SCORE)
