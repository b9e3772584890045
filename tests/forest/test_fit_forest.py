"""The loop of forests, below the estimators: bags, left-out rows, stopping, memory."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.fit import (
    FittedRows,
    ForestOptions,
    draw_bag,
    draw_columns,
    fit_classification_forest,
    out_of_bag_curve,
    out_of_bag_permutation,
    out_of_bag_votes,
    switch_labels,
)
from arboleda._engine.forest import Forest

_SEED = 11


def _table(X: Any) -> DenseTable:
    return DenseTable(list(X.T), len(X), (0,) * X.shape[1])


def _problem(n_rows: int, n_columns: int = 5) -> tuple[Any, Any]:
    random = np.random.default_rng(3)
    X = random.normal(size=(n_rows, n_columns))
    X[random.random(X.shape) < 0.4] = 0.0
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * random.normal(size=n_rows), [-0.4, 0.5])
    return X, y


def _fit(X: Any, y: Any, options: ForestOptions, n_threads: int = 2, **more: Any) -> Forest:
    return fit_classification_forest(
        _table(X).code(1), y, (3,), None, "gini", options, n_threads=n_threads, seed=_SEED, **more
    )


def test_bags_and_out_of_bag_rows_are_disjoint_and_complete() -> None:
    X, y = _problem(300)
    options = ForestOptions(n_trees=20, keep_rows=True)
    forest = _fit(X, y, options)
    rows = FittedRows(options, y, (3,), None, _SEED)
    n_out = np.zeros(300, dtype=int)
    for t in range(20):
        in_bag = np.flatnonzero(draw_bag(options, 300, t, seed=_SEED))
        assert np.array_equal(np.sort(forest.rows(t)), in_bag)
        n_out += ~np.isin(np.arange(300), in_bag)
    assert np.array_equal(out_of_bag_votes(forest, _table(X), rows, n_threads=2).n_trees, n_out)


@pytest.mark.parametrize("bag", ["bootstrap", "without_replacement", "balanced_bootstrap", "all"])
@pytest.mark.parametrize("random_splits", [False, True])
def test_rows_of_weight_0_are_ignored(bag: str, random_splits: bool) -> None:
    X, y = _problem(500)
    random = np.random.default_rng(8)
    weight = random.integers(0, 4, 500) / 3.0
    kept = weight > 0
    options = ForestOptions(
        n_trees=5,
        max_features=2,
        bag=bag,
        n_drawn=200 if bag == "without_replacement" else -1,
        random_splits=random_splits,
        switch_share=0.1,
    )
    fit = fit_classification_forest
    more: dict[str, Any] = {"n_threads": 2, "seed": _SEED}
    whole = fit(_table(X).code(1), y, (3,), weight, "gini", options, **more)
    few = fit(_table(X[kept]).code(1), y[kept], (3,), weight[kept], "gini", options, **more)
    for t in range(5):
        assert np.array_equal(whole.tree(t).threshold, few.tree(t).threshold)
        assert np.array_equal(whole.tree(t).value, few.tree(t).value)
    # They are left out of every bag, and no error counts them.
    rows = FittedRows(options, y, (3,), weight, _SEED)
    others = FittedRows(options, y[kept], (3,), weight[kept], _SEED)
    assert (out_of_bag_votes(whole, _table(X), rows, n_threads=2).n_trees[~kept] == 5).all()
    for measure in (out_of_bag_permutation, lambda *a, **k: out_of_bag_curve(*a, **k).error):
        np.testing.assert_allclose(
            measure(whole, _table(X), rows, n_threads=2),
            measure(few, _table(X[kept]), others, n_threads=2),
            rtol=1e-12,
        )


def test_out_of_bag_predictions_of_random_labels_are_at_chance() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 4))
    y = random.integers(0, 2, 2000)
    options = ForestOptions(n_trees=60, max_features=2)
    forest = fit_classification_forest(
        _table(X).code(1), y, (2,), None, "gini", options, n_threads=2, seed=_SEED
    )
    curve = out_of_bag_curve(
        forest, _table(X), FittedRows(options, y, (2,), None, _SEED), n_threads=2
    )
    assert curve.n_rows[-1] == 2000
    assert abs(curve.error[-1] - 0.5) < 3 * 0.5 / np.sqrt(2000)


@pytest.mark.parametrize("voting", ["soft", "hard", "laplace"])
def test_votes_match_the_single_trees(voting: Any) -> None:
    X, y = _problem(200)
    options = ForestOptions(n_trees=7, max_depth=4)
    forest = _fit(X, y, options)
    rows = FittedRows(options, y, (3,), None, _SEED)
    sums, n_trees = out_of_bag_votes(forest, _table(X), rows, voting=voting, n_threads=2)
    expected = np.zeros((200, 3))
    for t in range(7):
        tree = forest.tree(t)
        leaves = tree.apply(_table(X), 1)
        share = tree.value[leaves].reshape(200, 3)
        if voting == "hard":
            share = np.eye(3)[share.argmax(axis=1)]
        if voting == "laplace":
            weight = tree.weighted_n_node_samples[leaves][:, None]
            share = (weight * share + 1) / (weight + 3)
        left_out = draw_bag(options, 200, t, seed=_SEED) == 0
        expected[left_out] += share[left_out]
    np.testing.assert_allclose(sums, expected, rtol=1e-12)
    assert np.array_equal(n_trees == 0, expected.sum(axis=1) == 0)


def test_sparse_tables_give_the_same_predictions() -> None:
    X, y = _problem(400)
    options = ForestOptions(n_trees=6, max_features=3)
    forest = _fit(X, y, options)
    rows = FittedRows(options, y, (3,), None, _SEED)
    dense, few = _table(X), SparseTable(sparse.csr_array(X))
    for one, other in zip(
        out_of_bag_votes(forest, dense, rows, n_threads=1),
        out_of_bag_votes(forest, few, rows, n_threads=2),
        strict=True,
    ):
        assert np.array_equal(one, other)
    assert np.array_equal(
        out_of_bag_permutation(forest, dense, rows, n_threads=2),
        out_of_bag_permutation(forest, few, rows, n_threads=1),
    )
    assert np.array_equal(
        out_of_bag_curve(forest, dense, rows, n_threads=2).error,
        out_of_bag_curve(forest, few, rows, n_threads=3).error,
    )


def test_permuting_informative_columns_raises_the_error() -> None:
    X, y = _problem(1500, 8)
    options = ForestOptions(n_trees=40, max_features=3)
    rows = FittedRows(options, y, (3,), None, _SEED)
    increase = out_of_bag_permutation(_fit(X, y, options), _table(X), rows, n_threads=2)
    z = increase.mean(axis=0) / (increase.std(axis=0) / np.sqrt(40))
    assert (z[:3] > 10).all()
    assert (z[3:] < 5).all()


def test_each_tree_has_its_columns_and_labels() -> None:
    X, y = _problem(300, 9)
    options = ForestOptions(n_trees=8, n_columns=3, bag="all", switch_share=0.3)
    forest = _fit(X, y, options)
    for t in range(8):
        features = forest.tree(t).feature
        columns = draw_columns(options, 9, t, seed=_SEED)
        assert len(columns) == 3
        assert set(features[features >= 0]) <= set(columns)
        labels = switch_labels(options, y, t, seed=_SEED)
        assert np.array_equal(np.bincount(labels), np.bincount(y))
        assert abs((labels != y).mean() - 0.3) < 0.1
        alone = fit_classification_forest(
            _table(X[:, columns]).code(1),
            labels.astype(int),
            (3,),
            None,
            "gini",
            ForestOptions(n_trees=1, bag="all"),
            n_threads=1,
            seed=_SEED,
        )
        assert np.array_equal(alone.tree(0).threshold, forest.tree(t).threshold)


def test_progress_is_reported_and_can_stop_or_raise() -> None:
    X, y = _problem(200)
    reported: list[int] = []
    options = ForestOptions(n_trees=30)

    def report(n_done: int) -> bool:
        reported.append(n_done)
        return False

    whole = _fit(X, y, options, progress=report)
    assert reported == sorted(reported)
    assert reported[-1] == whole.n_trees == 30

    some = _fit(X, y, options, n_threads=1, progress=lambda n_done: n_done == 4)
    assert some.n_trees == 4
    table = _table(X)
    assert np.array_equal(some.votes(table), whole.truncated(4).votes(table))

    def fail(n_done: int) -> bool:
        raise RuntimeError(f"after {n_done}")

    with pytest.raises(RuntimeError, match="after"):
        _fit(X, y, options, progress=fail)


def test_invalid_arguments_are_refused() -> None:
    X, y = _problem(50)
    with pytest.raises(ValueError, match="not a class"):
        _fit(X, y + 1, ForestOptions(n_trees=1))
    with pytest.raises(ValueError, match="more rows than the table"):
        _fit(X, y, ForestOptions(n_trees=1, n_drawn=51))
    with pytest.raises(ValueError, match="proportions"):
        _fit(X, y, ForestOptions(n_trees=1, switch_share=0.9))
    with pytest.raises(ValueError, match="kind of bag"):
        ForestOptions(n_trees=1, bag="bag")
    options = ForestOptions(n_trees=2)
    forest = _fit(X, y, options)
    weights = np.ones(40)
    fewer = FittedRows(options, y[:40], (3,), weights, _SEED)
    with pytest.raises(ValueError, match="one weight a row"):
        out_of_bag_votes(forest, _table(X), fewer, n_threads=1)
    with pytest.raises(ValueError, match="one target a row"):
        out_of_bag_permutation(
            forest, _table(X), FittedRows(options, y[:40], (3,), None, _SEED), n_threads=1
        )
    with pytest.raises(ValueError, match="number of columns"):
        out_of_bag_curve(
            forest, _table(X[:, :4]), FittedRows(options, y, (3,), None, _SEED), n_threads=1
        )


_RANDOM = np.random.default_rng(5)
_MANY = _RANDOM.normal(size=(100_000, 8))
_LABELS = (_RANDOM.random(100_000) < 0.5).astype(int)


def _fit_many(n_trees: int, **limits: Any) -> tuple[Forest, FittedRows]:
    options = ForestOptions(n_trees=n_trees, **limits)
    forest = fit_classification_forest(
        _table(_MANY).code(2), _LABELS, (2,), None, "gini", options, n_threads=2, seed=0
    )
    return forest, FittedRows(options, _LABELS, (2,), None, 0)


def _permute() -> Callable[[], Any]:
    forest, rows = _fit_many(120, max_depth=12, max_features=2, random_splits=True)
    return lambda: out_of_bag_permutation(forest, _table(_MANY), rows, n_threads=2)


@pytest.mark.parametrize(
    "prepared", [lambda: lambda: _fit_many(2000), _permute], ids=["fit", "permutation"]
)
def test_ctrl_c_stops_the_fit_soon(prepared: Callable[[], Callable[[], Any]]) -> None:
    work = prepared()
    pressed = []

    def press() -> None:
        pressed.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.2, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert time.process_time() - pressed[0] < 1.0
    finally:
        timer.cancel()


_PEAK = """
import resource, numpy as np
from arboleda._engine.columns import DenseTable
from arboleda._engine.fit import ForestOptions, fit_regression_forest
X = np.random.default_rng(0).normal(size=(20_000, 4))
y = np.random.default_rng(1).normal(size=20_000)
code = DenseTable(list(X.T), len(X), (0,) * 4).code(2)
fit = lambda n_trees: fit_regression_forest(
    code, y, None, "squared_error", ForestOptions(n_trees=n_trees, max_features=1),
    n_threads=2, seed=0)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
fit(4)
before = peak()
forest = fit(60)
print(peak() - before, forest.n_bytes)
"""


def test_memory_of_a_fit_is_about_that_of_its_trees() -> None:
    result = subprocess.run(
        [sys.executable, "-c", _PEAK], capture_output=True, text=True, check=True
    )
    grown, n_bytes = map(int, result.stdout.split())
    assert grown < 1.15 * n_bytes + 10e6
