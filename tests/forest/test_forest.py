"""Forests predict what a naive walk predicts, to the last bit, in half of the memory."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.boosting.ensembles import CATEGORY, mixed_table, naive_leaf
from tests.forest.forests import CRITERIA, mixed_forest, naive_votes, numbers_of, read

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor, _native
from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.fit import (
    ForestOptions,
    fit_classification_forest,
    fit_regression_forest,
)
from arboleda._engine.forest import Forest


@pytest.mark.parametrize("criterion", CRITERIA)
def test_votes_match_a_naive_walk(criterion: str) -> None:
    forest, reader = mixed_forest(criterion)
    others = mixed_table(80, seed=1)
    others[::7, CATEGORY] = "never seen"
    table = read(reader, others)
    for voting in ("soft", "hard", "laplace") if forest.widths == (3,) else ("soft",):
        expected = naive_votes(forest, numbers_of(table), voting)
        assert len(np.unique(expected[:, 0])) > 4
        for n_threads in (1, 2, 8):
            assert forest.votes(table, voting, n_threads).tobytes() == expected.tobytes()


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_votes_on_several_targets_match_a_naive_walk(criterion: str) -> None:
    forest, reader = mixed_forest(criterion, n_targets=2)
    assert forest.widths == ((3, 3) if criterion == "gini" else (1, 1))
    table = read(reader, mixed_table(40, seed=1))
    for voting in ("soft", "hard", "laplace") if criterion == "gini" else ("soft",):
        expected = naive_votes(forest, numbers_of(table), voting)
        assert forest.votes(table, voting).tobytes() == expected.tobytes()


def test_threads_and_batches_change_no_byte() -> None:
    forest, reader = mixed_forest()
    table = read(reader, np.tile(mixed_table(431, seed=2), (20, 1)))
    alone, leaves = forest.votes(table), forest.apply(table)
    assert_array_equal(alone[:431], alone[-431:])
    for n_threads in (2, 3, 8):
        assert forest.votes(table, n_threads=n_threads).tobytes() == alone.tobytes()
        assert_array_equal(forest.apply(table, n_threads), leaves)
    for n_rows in (1, 7, 9):
        part = read(reader, mixed_table(431, seed=2)[:n_rows])
        assert forest.votes(part, n_threads=2).tobytes() == alone[:n_rows].tobytes()
    assert forest.votes(read(reader, mixed_table(5))).shape == (5, 3)


def test_leaves_and_paths_match_the_single_trees() -> None:
    forest, reader = mixed_forest()
    table = read(reader, mixed_table(60, seed=3))
    leaves = forest.apply(table)
    assert (leaves.dtype, leaves.shape) == (np.intp, (60, 7))
    path, begins = forest.decision_path(table)
    rows = numbers_of(table)
    for number in range(7):
        tree = forest.tree(number)
        assert begins[number + 1] - begins[number] == tree.node_count
        assert_array_equal(leaves[:, number], [naive_leaf(tree, row) for row in rows])
        part = path[:, begins[number] : begins[number + 1]]
        assert_array_equal(part.toarray(), tree.decision_path(table).toarray())


def test_a_sparse_table_has_the_votes_of_the_dense_one() -> None:
    random = np.random.default_rng(4)
    X = sparse.random(300, 30, 0.1, format="csr", random_state=4, dtype=np.float32)
    X.data[::9] = np.nan
    y = np.nan_to_num(X.toarray())[:, :5].sum(axis=1) + random.normal(size=300)
    reader = DecisionTreeRegressor(max_depth=2).fit(X, y)
    stored, dense = read(reader, X), read(reader, X.toarray())
    assert isinstance(stored, SparseTable)
    assert isinstance(dense, DenseTable)
    options = ForestOptions(n_trees=5)
    forest = fit_regression_forest(
        dense.code(1), y, None, "squared_error", options, n_threads=1, seed=3
    )
    expected = naive_votes(forest, numbers_of(dense))
    for table in (stored, dense):
        assert forest.votes(table, n_threads=2).tobytes() == expected.tobytes()
    assert_array_equal(forest.apply(stored), forest.apply(dense))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_single_tree_of_all_rows_is_the_decision_tree(criterion: str) -> None:
    """What is known of inner nodes is worked out from leaves: the same but for rounding."""
    X = np.random.default_rng(7).normal(size=(400, 4)).round(1)
    X[::6, 1] = np.nan
    f = np.nan_to_num(X[:, 0] * X[:, 1]) + X[:, 2]
    table = DenseTable(list(X.T), 400, (0,) * 4).code(1)
    options = ForestOptions(n_trees=1, bag="all", min_samples_leaf=3)
    common: dict[str, Any] = {"n_threads": 1, "seed": 0}
    expected: Any
    if criterion in CRITERIA[:3]:
        y: Any = np.digitize(f, [-1.0, 1.0])
        forest = fit_classification_forest(table, y, (3,), None, criterion, options, **common)
        expected = DecisionTreeClassifier(criterion=criterion, min_samples_leaf=3).fit(X, y).tree_
    else:
        y = np.exp(f)
        forest = fit_regression_forest(table, y, None, criterion, options, **common)
        expected = DecisionTreeRegressor(criterion=criterion, min_samples_leaf=3).fit(X, y).tree_
    tree = forest.tree(0)
    for name in ("feature", "threshold", "children_right", "missing_go_to_left", "n_node_samples"):
        assert_array_equal(getattr(tree, name), getattr(expected, name))
    assert_array_equal(tree.weighted_n_node_samples, expected.weighted_n_node_samples)
    assert_allclose(tree.value, expected.value, rtol=1e-12, atol=1e-15)
    assert_allclose(tree.impurity, expected.impurity, rtol=1e-12, atol=1e-15)
    assert_allclose(
        forest.compute_feature_importances(), expected.compute_feature_importances(), rtol=1e-11
    )


def test_importances_are_the_mean_of_the_trees_normalized_ones() -> None:
    forest, _ = mixed_forest(n_rows=40, max_depth=1)
    parts = [forest.tree(i).compute_feature_importances() for i in range(forest.n_trees)]
    expected = np.mean(parts, axis=0)
    assert_allclose(forest.compute_feature_importances(), expected / expected.sum(), rtol=1e-14)
    roots, _ = mixed_forest(max_depth=0)
    assert not roots.compute_feature_importances().any()


def test_concatenated_parts_equal_the_whole() -> None:
    whole, reader = mixed_forest(n_trees=7)
    later, _ = mixed_forest(n_trees=4, first_tree=3)
    both = whole.truncated(3).extended(later)
    assert pickle.dumps(both) == pickle.dumps(whole)
    table = read(reader, mixed_table(30))
    assert_array_equal(both.votes(table), whole.votes(table))
    with pytest.raises(ValueError, match="fewer trees"):
        whole.truncated(8)
    with pytest.raises(ValueError, match="fewer trees"):
        whole.tree(7)
    with pytest.raises(ValueError, match="keep their rows"):
        whole.extended(mixed_forest(keep_rows=True)[0])
    with pytest.raises(ValueError, match="different targets"):
        whole.extended(mixed_forest("squared_error")[0])
    with pytest.raises(ValueError, match="criterion"):
        whole.extended(mixed_forest("entropy")[0])


def test_stored_rows_are_in_their_leaves() -> None:
    forest, reader = mixed_forest(keep_rows=True)
    assert forest.keeps_rows
    assert forest.n_training_rows == 300
    leaves = forest.apply(read(reader, mixed_table(300)))
    for number in range(forest.n_trees):
        rows, begins = forest.rows(number), forest.leaf_begins(number)
        tree = forest.tree(number)
        nodes = np.flatnonzero(tree.children_left < 0)
        assert_array_equal(np.diff(begins), tree.n_node_samples[nodes])
        assert_array_equal(leaves[rows, number], np.repeat(nodes, np.diff(begins)))
    without = mixed_forest()[0]
    assert not without.keeps_rows
    assert without.rows(0).size == 0


@pytest.mark.parametrize("n_classes", [0, 2, 10])
def test_a_node_takes_at_most_half_the_memory_of_scikit_learn(n_classes: int) -> None:
    """Of full-depth trees: 64 bytes and eight for each value, in its arrays of nodes."""
    X = np.random.default_rng(1).normal(size=(2000, 5))
    f = X[:, 0] + X[:, 1] * X[:, 2] + np.random.default_rng(2).normal(size=2000)
    table = DenseTable(list(X.T), 2000, (0,) * 5).code(1)
    options = ForestOptions(n_trees=10)
    common: dict[str, Any] = {"n_threads": 1, "seed": 0}
    other: Any
    if n_classes:
        y: Any = np.digitize(f, np.quantile(f, np.linspace(0, 1, n_classes + 1)[1:-1]))
        forest = fit_classification_forest(table, y, (n_classes,), None, "gini", options, **common)
        other = RandomForestClassifier(10, random_state=0).fit(X, y)
    else:
        y = f
        forest = fit_regression_forest(table, y, None, "squared_error", options, **common)
        other = RandomForestRegressor(10, random_state=0).fit(X, y)
    n_nodes = sum(forest.tree(i).node_count for i in range(10))
    trees = [tree.tree_ for tree in other.estimators_]
    theirs = sum(tree.__getstate__()["nodes"].nbytes + tree.value.nbytes for tree in trees)
    assert forest.n_bytes / n_nodes < 0.5 * theirs / sum(tree.node_count for tree in trees)
    assert len(pickle.dumps(forest)) < 1.1 * forest.n_bytes


def test_copies_have_the_same_bytes_and_invalid_states_are_refused() -> None:
    forest, reader = mixed_forest(keep_rows=True)
    table = read(reader, mixed_table(20))
    for again in (
        copy.deepcopy(forest),
        copy.copy(forest),
        pickle.loads(pickle.dumps(forest)),
    ):
        assert pickle.dumps(again) == pickle.dumps(forest)
        assert again.widths == forest.widths
        assert again.votes(table).tobytes() == forest.votes(table).tobytes()
    state = forest.__getstate__()
    blank = Forest.__new__(Forest)
    with pytest.raises(TypeError, match="holds list where its trees should be"):
        blank.__setstate__(state | {"native": []})
    with pytest.raises(ValueError, match="has 3 values, not 2"):
        blank.__setstate__(state | {"widths": (2,)})
    for widths in ((), (3, 0), (-1, 4)):
        with pytest.raises(ValueError, match="has 3 values"):
            forest.with_widths(widths)
    native = state["native"].__getstate__()
    with pytest.raises(ValueError, match="damaged"):
        _native.Forest.__new__(_native.Forest).__setstate__(native[:-1] + b"x")


def test_invalid_requests_to_a_forest_are_refused() -> None:
    forest, reader = mixed_forest("squared_error")
    table = read(reader, mixed_table(5))
    with pytest.raises(ValueError, match="soft, hard or laplace"):
        forest.votes(table, "loud")  # type: ignore[arg-type]
    for voting in ("hard", "laplace"):
        with pytest.raises(ValueError, match="no classes"):
            forest.votes(table, voting)  # type: ignore[arg-type]
    narrow = DenseTable(table.columns[:4], 5, (0,) * 4)
    with pytest.raises(ValueError, match="number of columns"):
        forest.votes(narrow)
    with pytest.raises(ValueError, match="number of columns"):
        forest.apply(narrow)
    with pytest.raises(ValueError, match="without trees"):
        forest.truncated(0).votes(table)
