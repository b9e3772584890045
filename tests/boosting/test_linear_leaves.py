"""Linear leaves below the estimators: against a naive twin, and what must not change them."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.boosting.loop import LOSSES, Problem, bits
from tests.persist.ensemble_files import from_file, to_file

from arboleda._engine.boosting import BoostingOptions, BoostingRows, LossOptions, fit_boosting
from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.ensemble import Ensemble

SMOOTH = ["squared_error", "poisson", "exponential", "log_loss", "softmax"]
MOST_COLUMNS = 3
ROWS_A_COLUMN = 5


def everything(fitted: Any) -> bytes:
    """Return all bits of a fit."""
    linear = fitted.ensemble.linear
    return bits(fitted) + b"".join(array.tobytes() for array in linear.values())


def as_native_table(X: Any, n_levels: Any = None) -> DenseTable:
    """Columns of an array."""
    return DenseTable(list(X.T), len(X), n_levels or (0,) * X.shape[1])


def fit(X: Any, y: Any, n_threads: int = 1, resume: Any = None, **options: Any) -> Any:
    """Boost squared error with linear leaves."""
    table = X if isinstance(X, DenseTable) else as_native_table(X)
    defaults = {
        "n_rounds": 1, "learning_rate": 1.0, "min_samples_leaf": 20, "max_leaf_nodes": 8,
        "linear_leaves": True, "linear_l2": 1.0,
    }  # fmt: skip
    return fit_boosting(
        BoostingRows(table.code(1, 255), np.arange(table.n_rows), y),
        LossOptions("squared_error"),
        BoostingOptions(exact=False, **(defaults | options)),
        resume=resume,
        n_threads=n_threads,
        seed=3,
    )


def path_columns(tree: Any, leaf: int) -> list[int]:
    """Return the split columns on the path from a leaf to the root, each once, nearest first."""
    found: list[int] = []
    node = leaf
    while node > 0:
        parents = np.flatnonzero((tree.children_left == node) | (tree.children_right == node))
        node = int(parents[0])
        if tree.feature[node] not in found:
            found.append(int(tree.feature[node]))
    return found


def naive_scores(X: Any, gradient: Any, tree: Any, leaves: Any, l2: float, slope_l2: float) -> Any:
    """Predict the training rows by a tree: in each leaf the minimum of the penalised loss.

    The hessians are 1. Unknowns are the value at the means and the slopes in units of the ranges.
    """
    scores = np.empty(len(X))
    for leaf in np.unique(leaves):
        rows = np.flatnonzero(leaves == leaf)
        scores[rows] = -gradient[rows].sum() / (rows.size + l2)
        columns = [
            j
            for j in path_columns(tree, leaf)
            if np.unique(X[rows, j][~np.isnan(X[rows, j])]).size > 1
        ]
        columns = columns[:MOST_COLUMNS]
        whole = rows[~np.isnan(X[np.ix_(rows, columns)]).any(axis=1)]
        columns = [j for j in columns if np.unique(X[whole, j]).size > 1]
        columns = columns[: whole.size // ROWS_A_COLUMN]
        if not columns:
            continue
        x = X[np.ix_(whole, columns)]
        z = (x - x.mean(axis=0)) / np.ptp(x, axis=0)
        design = np.column_stack([np.ones(whole.size), z])
        penalty = np.diag([l2] + [slope_l2] * len(columns))
        best = np.linalg.solve(design.T @ design + penalty, -design.T @ gradient[whole])
        complete = rows[~np.isnan(X[np.ix_(rows, columns)]).any(axis=1)]
        z = np.clip(X[np.ix_(complete, columns)], x.min(axis=0), x.max(axis=0)) - x.mean(axis=0)
        scores[complete] = best[0] + z / np.ptp(x, axis=0) @ best[1:]
    return scores


@pytest.mark.parametrize("growth", ["leaf_wise", "level_wise", "symmetric"])
@pytest.mark.parametrize("share_missing", [0.0, 0.1])
@pytest.mark.parametrize("l2", [0.0, 3.0])
def test_leaves_match_the_naive_twin(growth, share_missing, l2):
    random = np.random.default_rng(5)
    X = random.normal(size=(1500, 7)) * 10.0 ** np.arange(-3, 4) + 10.0 ** np.arange(7)
    X[random.random(X.shape) < share_missing] = np.nan
    y = np.nan_to_num(X - np.nanmean(X, axis=0)) @ (10.0 ** -np.arange(-3, 4))
    y += np.sin(2 * y) + random.normal(size=1500)
    for slope_l2 in (0.0, 0.7, 50.0):
        options = {"max_leaf_nodes": 24, "max_depth": 5, "l2": l2, "linear_l2": slope_l2}
        found = fit(X, y, growth=growth, **options)
        assert found.ensemble.has_linear_leaves
        table = as_native_table(X)
        leaves = found.ensemble.apply(table)[:, 0]
        tree = found.ensemble.trees[0]
        start = found.ensemble.start[0]
        expected = start + naive_scores(X, start - y, tree, leaves, l2, slope_l2)
        np.testing.assert_allclose(found.ensemble.scores(table)[:, 0], expected, rtol=1e-7)


def test_weights_match_copies_of_rows():
    random = np.random.default_rng(1)
    X = random.integers(-20, 21, size=(400, 3)) / 8.0
    y = X @ [1.0, -2.0, 0.5] + random.normal(size=400)
    times = random.integers(1, 4, 400)
    rows = np.arange(400)
    options = BoostingOptions(
        n_rounds=3, learning_rate=0.3, exact=False, max_depth=3,
        min_child_weight=40.0, min_samples_leaf=1,
        linear_leaves=True, linear_l2=0.5,
    )  # fmt: skip
    loss = LossOptions("squared_error")
    coded = as_native_table(X).code(1, 255)
    weighted = fit_boosting(
        BoostingRows(coded, rows, y, times.astype(float)), loss, options, n_threads=1, seed=0
    )
    again = np.repeat(rows, times)
    copies = fit_boosting(
        BoostingRows(as_native_table(X[again]).code(1, 255), np.arange(again.size), y[again]),
        loss, options, n_threads=1, seed=0,
    )  # fmt: skip
    table = as_native_table(X)
    np.testing.assert_allclose(
        weighted.ensemble.scores(table), copies.ensemble.scores(table), rtol=1e-9
    )


@pytest.mark.parametrize("loss", SMOOTH)
def test_training_scores_match_predictions(loss):
    problem = Problem.make(300)
    seen = {}
    fitted = problem.fit(
        loss,
        exact=False,
        linear_leaves=True,
        validation_rows=np.arange(200, 300),
        numbers=np.arange(220),
        row_share=0.8,
        callback=lambda done, train, validation, scores: seen.update({done: scores}) is not None,
    )
    assert fitted.ensemble.has_linear_leaves
    np.testing.assert_array_equal(seen[10], fitted.ensemble.scores(problem.table, 3)[200:])
    for done, scores in enumerate(fitted.ensemble.staged_scores(problem.table)):
        np.testing.assert_array_equal(seen[done + 1], scores[200:])
    dense = SparseTable(sparse.csr_array(problem.X))
    np.testing.assert_array_equal(
        fitted.ensemble.scores(dense), fitted.ensemble.scores(problem.table)
    )


@pytest.mark.parametrize("loss", SMOOTH)
def test_training_loss_never_rises(loss):
    history = Problem.make(400).fit(loss, exact=False, linear_leaves=True, n_rounds=25).history
    assert (np.diff(history["train_loss"]) <= 1e-12).all()


@pytest.mark.parametrize("loss", ["squared_error", "log_loss", "softmax"])
def test_threads_and_row_order_change_no_bit(loss):
    problem = Problem.make(6000)
    one = problem.fit(loss, exact=False, linear_leaves=True, n_rounds=3)
    for n_threads in (2, 3, 8):
        many = problem.fit(loss, exact=False, linear_leaves=True, n_rounds=3, n_threads=n_threads)
        assert everything(many) == everything(one)
    shuffled = np.random.default_rng(0).permutation(6000)
    other = Problem(problem.X[shuffled], as_native_table(problem.X[shuffled]))
    fitted = other.fit(loss, exact=False, linear_leaves=True, n_rounds=3)
    assert everything(fitted) == everything(one)


def test_a_stopped_and_continued_fit_matches_a_single_fit():
    problem = Problem.make(300)
    options = {"exact": False, "linear_leaves": True, "row_share": 0.7}
    whole = problem.fit("softmax", n_rounds=9, **options)
    half = problem.fit("softmax", n_rounds=4, **options).ensemble
    resumed = problem.fit("softmax", n_rounds=9, resume=half, **options)
    assert everything(resumed)[-1000:] == everything(whole)[-1000:]
    for part in (whole.ensemble.truncated(4), pickle.loads(pickle.dumps(half))):
        np.testing.assert_array_equal(part.scores(problem.table), half.scores(problem.table))
        assert to_file(part) == to_file(half)
    more = Ensemble.from_trees(
        whole.ensemble.start, whole.ensemble.trees[:12], half.linear
    ).extended(Ensemble.from_trees([0.0] * 3, []))
    assert to_file(more) == to_file(half)


def test_constant_and_linear_rounds_follow_each_other():
    problem = Problem.make(300)
    plain = problem.fit("squared_error", exact=False, n_rounds=3)
    both = problem.fit(
        "squared_error", exact=False, n_rounds=6, resume=plain.ensemble, linear_leaves=True
    )
    assert not both.ensemble.truncated(3).has_linear_leaves
    assert to_file(both.ensemble.truncated(3)) == to_file(plain.ensemble)
    third = problem.fit("squared_error", exact=False, n_rounds=8, resume=both.ensemble)
    assert (
        third.ensemble.linear["linear.start"].size
        == sum(tree.node_count for tree in third.ensemble.trees) + 1
    )
    staged = list(third.ensemble.staged_scores(problem.table))
    for n in (3, 5, 8):
        first = third.ensemble.truncated(n)
        np.testing.assert_array_equal(staged[n - 1], first.scores(problem.table))
        np.testing.assert_array_equal(
            first.scores(problem.table), from_file(to_file(first)).scores(problem.table)
        )


def test_returning_to_the_best_round_keeps_linear_leaves():
    problem = Problem.make(300)
    validation_rows = np.arange(200, 300)
    options = {
        "exact": False,
        "linear_leaves": True,
        "numbers": np.arange(200),
        "validation_rows": validation_rows,
    }
    stopped = problem.fit("squared_error", n_rounds=200, patience=3, **options)
    assert 0 < stopped.best_round < 200
    again = problem.fit("squared_error", n_rounds=stopped.best_round, **options)
    assert to_file(stopped.ensemble) == to_file(again.ensemble)


def test_refit_trees_recover_their_linear_leaves():
    problem = Problem.make(300)
    first = problem.fit("log_loss", exact=False, linear_leaves=True)
    again = problem.fit("log_loss", exact=False, linear_leaves=True, replayed=first.ensemble)
    assert first.ensemble.linear.keys() == again.ensemble.linear.keys()
    for name, array in first.ensemble.linear.items():
        np.testing.assert_array_equal(array, again.ensemble.linear[name])


def test_predictions_beyond_the_data_match_those_at_its_edge():
    x = np.linspace(0.0, 10.0, 200)
    model = fit(x[:, None], 3 * x, max_leaf_nodes=2, linear_l2=0.0).ensemble
    far = as_native_table(np.array([[-1e300], [-5.0], [0.0], [10.0], [25.0], [1e300]]))
    scores = model.scores(far)[:, 0]
    np.testing.assert_allclose(scores, [0, 0, 0, 30, 30, 30], atol=1e-9)
    assert len(set(scores[:3])) == len(set(scores[3:])) == 1


def test_a_row_without_a_value_gets_the_value_of_the_leaf():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 2))
    y = X @ [2.0, 1.0]
    model = fit(X, y, max_leaf_nodes=6).ensemble
    lacking = as_native_table(np.array([[np.nan, 0.3], [0.3, np.nan], [np.nan, np.nan]]))
    tree = model.trees[0]
    leaves = model.apply(lacking)[:, 0]
    reads = [set(path_columns(tree, leaf)) for leaf in leaves]
    expected = model.start[0] + tree.value[leaves].ravel()
    for i, lacks in enumerate([{0}, {1}, {0, 1}]):
        if reads[i] & lacks:
            assert model.scores(lacking)[i, 0] == expected[i]
    assert any(read & lacks for read, lacks in zip(reads, [{0}, {1}, {0, 1}], strict=True))


def test_a_line_is_learned_by_one_tree():
    random = np.random.default_rng(0)
    X = random.uniform(-2, 2, size=(3000, 2))
    y = 3 * X[:, 0] - X[:, 1]
    error = {}
    for is_linear in (False, True):
        model = fit(X, y, n_rounds=20, learning_rate=0.3, linear_leaves=is_linear, linear_l2=0.0)
        new = random.uniform(-1.9, 1.9, size=(500, 2))
        error[is_linear] = np.abs(
            model.ensemble.scores(as_native_table(new))[:, 0] - new @ [3, -1]
        ).max()
    assert error[True] < error[False] / 10


def test_categories_have_no_slopes():
    random = np.random.default_rng(0)
    category = random.integers(0, 4, 800).astype(np.uint16)
    x = random.normal(size=800)
    table = DenseTable([category, x], 800, (4, 0))
    y = x * np.where(category % 2 == 0, 1.0, -1.0)
    model = fit(table, y, max_leaf_nodes=8).ensemble
    assert set(model.linear["linear.feature"].tolist()) == {1}
    only = DenseTable([category], 800, (4,))
    assert not fit(only, y).ensemble.has_linear_leaves


def test_numbers_of_every_scale_give_finite_predictions():
    random = np.random.default_rng(0)
    for scale in (5e-324, 1e-300, 1e300, 1.7e308):
        x = random.integers(-1000, 1001, 500) * (scale / 1000 if scale > 1e-300 else scale)
        with np.errstate(over="ignore", invalid="ignore"):
            y = np.sign(x) + random.normal(size=500)
        model = fit(x[:, None], y).ensemble
        assert np.isfinite(model.scores(as_native_table(x[:, None]))).all()


def test_the_order_of_zeros_of_both_signs_does_not_change_a_bit():
    random = np.random.default_rng(0)
    x = -np.abs(random.normal(size=300))
    x[::30] = np.copysign(0.0, random.normal(size=10))  # too few for a leaf of their own
    y = x + np.sin(3.0 * x)
    ends = fit(x[:, None], y).ensemble.linear
    for values, target in ((x, y), (x[::-1], y[::-1])):
        model = fit(values[:, None], target)
        assert model.ensemble.linear.keys() == ends.keys()
        for name, array in model.ensemble.linear.items():
            assert array.tobytes() == ends[name].tobytes()
    assert 0.0 in ends["linear.high"]


def test_collinear_columns_without_a_penalty_stay_constant():
    x = np.random.default_rng(0).normal(size=400)
    X = np.column_stack([x, x])
    model = fit(X, x**3, column_share_node=0.5, max_leaf_nodes=8, linear_l2=0.0).ensemble
    start = model.linear["linear.start"]
    sizes = np.diff(start)
    assert sizes.max() <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "absolute_error"}, "second derivatives"),
        ({"loss": "huber"}, "second derivatives"),
        ({"loss": "quantile"}, "second derivatives"),
        ({"drop_rate": 0.1}, "DART"),
        ({"monotonic": [0, 1, 0]}, "monotonic"),
        ({"l1": 0.5}, "l1"),
        ({"max_delta_step": 0.5}, "max_delta_step"),
        ({"linear_l2": -1.0}, "penalty"),
        ({"exact": True}, "exact"),
    ],
)
def test_incompatible_options_are_refused(options, message):
    options = {"loss": "squared_error", "exact": False, "linear_leaves": True} | options
    assert options["loss"] in LOSSES
    with pytest.raises(ValueError, match=message):
        Problem.make(50).fit(options.pop("loss"), **options)


def test_sparse_tables_are_refused():
    X = sparse.random_array((200, 3), density=0.3, rng=np.random.default_rng(0)).tocsr()
    rows = BoostingRows(SparseTable(X).code(1, 255), np.arange(200), X.sum(axis=1))
    options = BoostingOptions(n_rounds=2, learning_rate=0.3, exact=False, linear_leaves=True)
    with pytest.raises(ValueError, match="dense"):
        fit_boosting(rows, LossOptions("squared_error"), options, n_threads=1, seed=0)


def test_dart_refuses_linear_leaves():
    problem = Problem.make(200)
    linear = problem.fit("squared_error", exact=False, linear_leaves=True, n_rounds=2).ensemble
    with pytest.raises(ValueError, match="DART"):
        problem.fit("squared_error", exact=False, drop_rate=0.5, resume=linear)
