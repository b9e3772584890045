"""Ensembles of trees predict what a naive walk predicts, to the last bit."""

import copy
import gc
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from tests.boosting.ensembles import (
    CATEGORY,
    mixed_ensemble,
    mixed_table,
    naive_leaf,
    naive_scores,
    sparse_ensemble,
)
from tests.property.strategies import checked

from arboleda import DecisionTreeRegressor, _native
from arboleda._engine.columns import DenseTable
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.table import check_table


def read(model: Any, table: Any) -> Any:
    return check_table(model, table, reset=False)


def numbers_of(table: DenseTable) -> Any:
    """Rows as the engine sees them: level numbers where there are categories."""
    return np.column_stack([column.astype(float) for column in table.columns])


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_scores_match_a_naive_walk(n_outputs: int) -> None:
    ensemble, reader = mixed_ensemble(mixed_table(), n_outputs)
    others = mixed_table(300, seed=1)
    others[::7, CATEGORY] = "never seen"
    table = read(reader, others)
    expected = naive_scores(ensemble, numbers_of(table))
    assert len(np.unique(expected[:, 0])) > 50
    for n_threads in (1, 2, 8):
        assert ensemble.scores(table, n_threads).tobytes() == expected.tobytes()


@checked
@given(st.data())
def test_scores_of_random_tables_match_a_naive_walk(data: Any) -> None:
    seed = data.draw(st.integers(0, 2**32 - 1))
    n_rows = data.draw(st.integers(1, 40))
    n_outputs = data.draw(st.integers(1, 3))
    ensemble, reader = mixed_ensemble(mixed_table(60, seed), n_outputs, 3, seed)
    table = read(reader, mixed_table(n_rows, seed + 1))
    expected = naive_scores(ensemble, numbers_of(table))
    assert ensemble.scores(table).tobytes() == expected.tobytes()


def test_any_number_of_threads_gives_the_same_bytes_on_a_long_table() -> None:
    ensemble, reader = mixed_ensemble(mixed_table())
    table = read(reader, np.tile(mixed_table(431, seed=2), (20, 1)))
    alone = ensemble.scores(table)
    leaves = ensemble.apply(table)
    assert_array_equal(alone[:431], alone[-431:])
    for n_threads in (2, 3, 8):
        assert ensemble.scores(table, n_threads).tobytes() == alone.tobytes()
        assert_array_equal(ensemble.apply(table, n_threads), leaves)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_stages_match_truncated_ensembles_and_end_at_the_scores(n_outputs: int) -> None:
    ensemble, reader = mixed_ensemble(mixed_table(), n_outputs, n_rounds=7)
    table = read(reader, mixed_table(200, seed=3))
    stages = list(ensemble.staged_scores(table, 2))
    assert len(stages) == ensemble.n_rounds == 7
    assert stages[-1].tobytes() == ensemble.scores(table).tobytes()
    for n_rounds, stage in enumerate(stages, start=1):
        assert ensemble.truncated(n_rounds).scores(table).tobytes() == stage.tobytes()
    assert not np.shares_memory(stages[0], stages[1])
    chosen = list(ensemble.staged_scores(table, rounds=[2, 3, 7, 9]))
    assert [stage.tobytes() for stage in chosen] == [
        stages[number - 1].tobytes() for number in (2, 3, 7, 7)
    ]


def test_concatenated_parts_equal_the_whole() -> None:
    ensemble, reader = mixed_ensemble(mixed_table(), 2, 6)
    table = read(reader, mixed_table())
    later = Ensemble.from_trees([9.0, 9.0], ensemble.trees[4:])
    both = ensemble.truncated(2).extended(later)
    assert pickle.dumps(both) == pickle.dumps(ensemble)
    assert_array_equal(both.scores(table), ensemble.scores(table))


def test_a_sparse_table_has_the_scores_of_the_dense_one() -> None:
    ensemble, stored, dense = sparse_ensemble()
    expected = naive_scores(ensemble, numbers_of(dense))
    assert np.isnan(numbers_of(dense)).any()
    assert len(np.unique(expected)) > 50
    for table in (stored, dense):
        assert ensemble.scores(table, 2).tobytes() == expected.tobytes()
        assert list(ensemble.staged_scores(table))[-1].tobytes() == expected.tobytes()
    assert_array_equal(ensemble.apply(stored), ensemble.apply(dense))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint16", "int64", "bool"])
@pytest.mark.parametrize("order", ["C", "F", "reversed"])
def test_columns_of_every_type_and_stride_are_read_in_place(dtype: str, order: str) -> None:
    values = np.random.default_rng(5).integers(0, 2 if dtype == "bool" else 30, (250, 6))
    X = np.asarray(values.astype(dtype), order="F" if order == "F" else "C")
    X = X[::-1, ::-1] if order == "reversed" else X
    y = values @ [1.0, -2.0, 0.5, 3.0, 0.0, 1.0]
    model = DecisionTreeRegressor(max_depth=5).fit(X, y)
    ensemble = Ensemble.from_trees([1.0], [model.tree_] * 3)
    expected = naive_scores(ensemble, X.astype(float))
    assert ensemble.scores(read(model, X)).tobytes() == expected.tobytes()


def test_leaves_match_a_naive_walk() -> None:
    ensemble, reader = mixed_ensemble(mixed_table(), 2)
    table = read(reader, mixed_table(100, seed=6))
    leaves = ensemble.apply(table)
    assert leaves.dtype == np.intp
    assert leaves.shape == (100, 10)
    rows = numbers_of(table)
    for number, tree in enumerate(ensemble.trees):
        assert_array_equal(leaves[:, number], [naive_leaf(tree, row) for row in rows])


def test_copies_have_the_same_bytes() -> None:
    ensemble, reader = mixed_ensemble(mixed_table(), 2)
    table = read(reader, mixed_table())
    for again in (
        copy.deepcopy(ensemble),
        copy.copy(ensemble),
        pickle.loads(pickle.dumps(ensemble)),
    ):
        assert pickle.dumps(again) == pickle.dumps(ensemble)
        assert_array_equal(again.start, ensemble.start, strict=True)
        assert again.scores(table).tobytes() == ensemble.scores(table).tobytes()


def test_a_damaged_pickle_is_refused() -> None:
    ensemble, _ = mixed_ensemble(mixed_table(), 2)
    state = ensemble._native.__getstate__()
    for at in range(0, len(state), 97):
        bad = bytearray(state)
        bad[at] ^= 4
        with pytest.raises(ValueError, match="byte"):
            _native.TreeEnsemble.__new__(_native.TreeEnsemble).__setstate__(bytes(bad))
    for end in (0, 8, len(state) // 2, len(state) - 8):
        with pytest.raises(ValueError, match="byte"):
            _native.TreeEnsemble.__new__(_native.TreeEnsemble).__setstate__(state[:end])
    with pytest.raises(TypeError, match="holds int where its trees should be"):
        Ensemble.__new__(Ensemble).__setstate__({"native": 5})


def test_trees_live_as_long_as_they_are_referenced() -> None:
    ensemble, _ = mixed_ensemble(mixed_table())
    trees, start = ensemble.trees, ensemble.start
    expected = [tree.threshold.copy() for tree in trees]
    del ensemble
    gc.collect()
    for tree, threshold in zip(trees, expected, strict=True):
        assert_array_equal(tree.threshold, threshold)
    assert_array_equal(start, [-0.3])


def test_importances_combine_those_of_the_trees() -> None:
    table = mixed_table()
    ensemble, _ = mixed_ensemble(table, n_rounds=6)
    raw = sum(tree.compute_feature_importances(normalize=False) for tree in ensemble.trees)
    found = ensemble.compute_feature_importances()
    np.testing.assert_allclose(found, raw / raw.sum(), rtol=1e-12)
    gain = np.zeros(5)
    for tree in ensemble.trees:
        inner = tree.children_left >= 0
        np.add.at(gain, tree.feature[inner], tree.impurity[inner])
    np.testing.assert_allclose(ensemble.gain_importances(), gain / gain.sum(), rtol=1e-12)
    twice = ensemble.extended(ensemble)
    np.testing.assert_allclose(twice.compute_feature_importances(), found, rtol=1e-12)
    leaf = DecisionTreeRegressor().fit(np.zeros((3, 2)), [1.0, 2.0, 3.0])
    stump = Ensemble.from_trees([0.0], [leaf.tree_])
    assert_array_equal(stump.compute_feature_importances(), [0.0, 0.0])
    assert_array_equal(stump.gain_importances(), [0.0, 0.0])


def test_targets_of_any_scale_have_importances() -> None:
    X = np.random.default_rng(7).normal(size=(200, 3))
    y = X @ [3.0, 1.0, 0.0]
    shares = []
    for scale in (1e-300, 1.0, 1e300):
        trees = [DecisionTreeRegressor(max_depth=4).fit(X, y * scale).tree_] * 2
        shares.append(Ensemble.from_trees([0.0], trees).compute_feature_importances())
    np.testing.assert_allclose(shares[0], shares[1], rtol=1e-9)
    np.testing.assert_allclose(shares[2], shares[1], rtol=1e-9)


def test_incompatible_parts_are_refused() -> None:
    ensemble, reader = mixed_ensemble(mixed_table(), 2, 3)
    table = read(reader, mixed_table())
    trees = ensemble.trees
    with pytest.raises(ValueError, match="lacks a tree for some output"):
        Ensemble.from_trees([0.0, 0.0], trees[:3])
    with pytest.raises(ValueError, match="at least one output"):
        Ensemble.from_trees([], trees)
    with pytest.raises(ValueError, match="start value .* is not a finite number"):
        Ensemble.from_trees([np.nan], trees)
    two = DecisionTreeRegressor().fit(np.zeros((3, 5)), np.eye(3)[:, :2]).tree_
    with pytest.raises(ValueError, match="must have one value per leaf"):
        Ensemble.from_trees([0.0], [*trees, two])
    narrow = DecisionTreeRegressor().fit(np.zeros((3, 2)), np.zeros(3)).tree_
    with pytest.raises(ValueError, match="different numbers of columns"):
        Ensemble.from_trees([0.0], [*trees, narrow])
    with pytest.raises(ValueError, match="fewer rounds"):
        ensemble.truncated(4)
    with pytest.raises(ValueError, match="another number of outputs"):
        ensemble.extended(Ensemble.from_trees([0.0], trees))
    with pytest.raises(
        ValueError, match="columns differs from the one that the trees were fitted on"
    ):
        ensemble.scores(DenseTable(table.columns[:4], table.n_rows, table.n_levels[:4]))
    scores = np.zeros((table.n_rows, 2))
    add = ensemble._native.add_scores
    for first, last in ((0, 4), (2, 1)):
        with pytest.raises(ValueError, match="rounds lie outside the ensemble"):
            add(scores, first, last, *table.native, 1)
    with pytest.raises(ValueError, match="scores must have shape"):
        add(scores[1:], 0, 1, *table.native, 1)
    with pytest.raises(ValueError, match="not a column for every output"):
        add(scores[:, :1].copy(), 0, 1, *table.native, 1)
    with pytest.raises(TypeError):  # a copy would be changed in its place
        add(scores.astype(np.float32), 0, 1, *table.native, 1)
    assert not scores.any()
