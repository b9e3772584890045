"""The loop of boosting: rounds, samples, early stopping, continuing, custom losses."""

import signal
import threading

import numpy as np
import pytest
from tests.boosting.loop import LOSSES, Problem, bits, resolve_loss

from arboleda._engine.boosting import BoostingOptions, CustomLoss, fit_boosting
from arboleda._engine.ensemble import Ensemble

BOTH = pytest.mark.parametrize("exact", [True, False], ids=["exact", "histogram"])
EVERY = pytest.mark.parametrize("loss", LOSSES)


@BOTH
@EVERY
def test_training_scores_match_predictions(loss, exact):
    problem = Problem.make(300)
    seen = {}
    fitted = problem.fit(
        loss,
        exact=exact,
        validation_rows=np.arange(200, 300),
        numbers=np.arange(220),
        callback=lambda done, train, validation, scores: seen.update({done: scores}) is not None,
    )
    assert list(seen) == list(range(11))
    np.testing.assert_array_equal(seen[10], fitted.ensemble.scores(problem.table)[200:])
    for done, scores in enumerate(fitted.ensemble.staged_scores(problem.table)):
        np.testing.assert_array_equal(seen[done + 1], scores[200:])


@BOTH
@EVERY
def test_training_loss_never_rises(loss, exact):
    history = Problem.make(400).fit(loss, exact=exact, n_rounds=25).history["train_loss"]
    assert history.size == 26
    moving = loss == "huber"  # its threshold moves with the errors, and the loss with it
    assert (np.diff(history) <= 1e-12).all() or moving
    assert history[-1] < 0.9 * history[0]


@BOTH
def test_one_tree_at_learning_rate_1_is_the_mean_plus_a_tree(exact):
    problem = Problem.make(200)
    fitted = problem.fit("squared_error", exact=exact, n_rounds=1, learning_rate=1.0)
    y = problem.target("squared_error")
    leaves = fitted.ensemble.apply(problem.table)[:, 0]
    means = np.array([y[leaves == leaf].mean() for leaf in leaves])
    np.testing.assert_allclose(fitted.ensemble.scores(problem.table)[:, 0], means, atol=1e-12)
    assert fitted.ensemble.start[0] == pytest.approx(y.mean(), abs=1e-15)


@BOTH
@EVERY
def test_the_number_of_threads_changes_no_bit(loss, exact):
    problem = Problem.make(9000)
    options = {"n_rounds": 3, "row_share": 0.7, "validation_rows": np.arange(0, 9000, 7)}
    one = bits(problem.fit(loss, exact=exact, **options))
    for n_threads in (2, 3, 8):
        assert bits(problem.fit(loss, exact=exact, n_threads=n_threads, **options)) == one


@BOTH
@EVERY
def test_order_of_rows_does_not_matter(loss, exact):
    problem = Problem.make(500)
    order = np.random.default_rng(1).permutation(500)
    turned = Problem(problem.X[order], type(problem.table)(list(problem.X[order].T), 500, (0,) * 3))
    assert bits(problem.fit(loss, exact=exact)) == bits(turned.fit(loss, exact=exact))


@pytest.mark.parametrize(
    ("sampling", "exact"),
    [("uniform", True), ("uniform", False), ("goss", False), ("gradient", False)],
)
@pytest.mark.parametrize("loss", ["squared_error", "softmax", "quantile"])
def test_a_continued_fit_matches_a_single_fit(loss, sampling, exact):
    problem = Problem.make(300)
    options = {"exact": exact, "sampling": sampling, "row_share": 0.6}
    half = problem.fit(loss, n_rounds=5, **options)
    whole = problem.fit(loss, n_rounds=12, **options)
    more = problem.fit(loss, n_rounds=12, resume=half.ensemble, **options)
    assert bits(more._replace(history={})) == bits(whole._replace(history={}))
    np.testing.assert_array_equal(more.history["train_loss"], whole.history["train_loss"][5:])


@pytest.mark.parametrize("sampling", ["goss", "gradient"])
def test_weighted_samples_choose_the_best_steps_of_all_rows(sampling):
    problem = Problem.make(400)
    options = {"sampling": sampling, "row_share": 0.3, "learning_rate": 1.0, "n_rounds": 1}
    fitted = problem.fit("quantile", exact=False, **options)
    left = problem.target("quantile") - fitted.ensemble.start[0]
    tree = fitted.ensemble.trees[0]
    leaves = fitted.ensemble.apply(problem.table)[:, 0]
    assert np.unique(leaves).size > 3
    for leaf in np.unique(leaves):
        quantile = np.quantile(left[leaves == leaf], 0.3, method="inverted_cdf")
        assert tree.value[leaf].item() == pytest.approx(quantile, abs=1e-12)


@BOTH
def test_early_stopping_returns_to_the_best_round(exact):
    problem = Problem.make(300)
    options = {"exact": exact, "numbers": np.arange(150), "validation_rows": np.arange(150, 300)}
    options |= {"learning_rate": 0.6, "n_rounds": 60}
    stopped = problem.fit("log_loss", patience=5, **options)
    curve = stopped.history["validation_loss"]
    assert stopped.best_round == curve.argmin() == stopped.ensemble.n_rounds < 55
    # None of the last five is better than the one before them: and no earlier five were so.
    stalled = [i for i in range(5, curve.size) if curve[i - 4 : i + 1].min() >= curve[i - 5]]
    assert stalled == [curve.size - 1]

    whole = problem.fit("log_loss", **options)
    assert whole.ensemble.n_rounds == 60
    np.testing.assert_array_equal(whole.history["validation_loss"][: curve.size], curve)
    np.testing.assert_array_equal(
        whole.ensemble.truncated(stopped.best_round).scores(problem.table),
        stopped.ensemble.scores(problem.table),
    )


@BOTH
def test_validation_rows_do_not_affect_the_trees(exact):
    problem = Problem.make(300)
    learned = np.arange(0, 300, 2)
    alone = problem.fit("softmax", exact=exact, numbers=learned)
    validation_rows = problem.fit(
        "softmax", exact=exact, numbers=learned, validation_rows=np.arange(1, 300, 2)
    )
    assert bits(alone) == bits(
        validation_rows._replace(history={"": validation_rows.history["train_loss"]})
    )


@BOTH
def test_a_separate_validation_table_scores_like_rows_of_the_same_table(exact):
    problem = Problem.make(400)
    learned, validation_rows = np.arange(250), np.arange(250, 400)
    same = problem.fit("huber", exact=exact, numbers=learned, validation_rows=validation_rows)
    training = problem.rows("huber", learned, exact)
    other = problem.rows("huber", validation_rows, exact)
    assert other.table is not training.table
    apart = fit_boosting(
        training,
        resolve_loss("huber"),
        BoostingOptions(
            exact=exact, n_rounds=10, learning_rate=0.3, max_depth=3, min_samples_leaf=5
        ),
        validation=other,
        n_threads=2,
        seed=3,
    )
    assert bits(apart) == bits(same)


@BOTH
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "log_loss", "softmax"])
def test_weights_match_repeated_rows(loss, exact):
    problem = Problem.make(150)
    times = np.arange(150) % 4
    again = np.repeat(np.arange(150), times)
    repeated = Problem(
        problem.X[again], type(problem.table)(list(problem.X[again].T), len(again), (0,) * 3)
    )
    options = {"exact": exact, "min_samples_leaf": 1, "max_depth": 2, "n_rounds": 6}
    by_weight = problem.fit(loss, weight=times.astype(float), **options)
    by_rows = repeated.fit(loss, **options)
    np.testing.assert_allclose(
        by_weight.ensemble.scores(problem.table)[times > 0],
        by_rows.ensemble.scores(problem.table)[times > 0],
        atol=1e-9,
    )


def squared(target, scores):
    return scores - target, np.ones_like(scores)


@BOTH
def test_a_custom_loss_matches_the_built_in_one_bit_for_bit(exact):
    problem = Problem.make(256)
    start = problem.fit("squared_error", n_rounds=0).ensemble.start
    weight = np.arange(256) % 3 / 4.0
    for given in (None, weight):
        built_in = problem.fit("squared_error", exact=exact, weight=given)
        start = Ensemble.from_trees(built_in.ensemble.start, [])
        custom = problem.fit(CustomLoss(squared), exact=exact, weight=given, resume=start)
        assert bits(custom._replace(history={})) == bits(built_in._replace(history={}))
        assert np.isnan(custom.history["train_loss"]).all()


@BOTH
def test_a_custom_loss_gets_arrays_of_rows_and_outputs(exact):
    problem = Problem.make(120)
    shapes = set()

    def two(target, scores):
        shapes.add((target.shape, scores.shape))
        return scores - np.column_stack([target, -target]), np.ones_like(scores)

    fitted = problem.fit(CustomLoss(two, 2), exact=exact, numbers=np.arange(100))
    assert shapes == {((100,), (100, 2))}
    scores = fitted.ensemble.scores(problem.table)
    np.testing.assert_allclose(scores[:, 0], -scores[:, 1], atol=1e-12)
    assert abs(np.corrcoef(scores[:100, 0], problem.target("squared_error")[:100])[0, 1]) > 0.8


@pytest.mark.parametrize(
    ("derivatives", "message"),
    [
        (lambda y, f: f - y, "must return a pair"),
        (lambda y, f: (f[:-1], f), r"gradient of shape \(49,\) for scores of shape \(50,\)"),
        (lambda y, f: (f, f[:, None]), r"hessian of shape \(50, 1\)"),
        (
            lambda y, f: (f, f - 1.0),
            "the hessian -1.0 for row 0: it must be finite and non-negative",
        ),
        (lambda y, f: (f + np.inf, f), "the gradient inf for row 0"),
        (lambda y, f: ("abc", f), "not an array of numbers"),
    ],
)
def test_errors_name_invalid_derivatives(derivatives, message):
    with pytest.raises(ValueError, match=message):
        Problem.make(50).fit(CustomLoss(derivatives))


def test_exceptions_of_losses_and_callbacks_propagate():
    def broken(*_):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        Problem.make(50).fit(CustomLoss(broken), n_threads=2)
    with pytest.raises(LookupError, match="mine"):
        Problem.make(50).fit("softmax", n_threads=2, callback=broken)


def test_a_callback_stops_the_fit():
    rounds = []

    def stop_at_4(done, train, validation, scores):
        rounds.append((done, train))
        assert np.isnan(validation)
        assert scores is None
        return done == 4

    fitted = Problem.make(100).fit("squared_error", callback=stop_at_4)
    assert fitted.ensemble.n_rounds == 4
    assert [done for done, _ in rounds] == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal([loss for _, loss in rounds], fitted.history["train_loss"])
    assert Problem.make(100).fit("softmax", callback=lambda *_: True).ensemble.n_rounds == 0


def test_losses_are_recorded_in_and_out_of_samples():
    fitted = Problem.make(400).fit("squared_error", row_share=0.5, n_rounds=6, max_depth=5)
    history = fitted.history
    assert set(history) == {"train_loss", "in_bag_loss", "out_of_bag_loss"}
    assert {len(values) for values in history.values()} == {7}
    np.testing.assert_allclose(
        history["train_loss"], (history["in_bag_loss"] + history["out_of_bag_loss"]) / 2
    )
    assert history["in_bag_loss"][1:].mean() < history["out_of_bag_loss"][1:].mean()
    unrecorded = Problem.make(400).fit("squared_error", record_train_loss=False, n_rounds=6)
    assert unrecorded.history == {}


def test_scores_can_start_from_offsets():
    problem = Problem.make(200)
    plain = problem.fit("log_loss", n_rounds=4)
    offset = plain.ensemble.scores(problem.table)
    shifted = problem.fit("log_loss", offset=offset, n_rounds=4)
    assert shifted.ensemble.start.tolist() == [0.0]
    whole = problem.fit("log_loss", n_rounds=8)
    np.testing.assert_allclose(
        offset + shifted.ensemble.scores(problem.table),
        whole.ensemble.scores(problem.table),
        atol=1e-12,
    )


@BOTH
@EVERY
def test_trees_refit_on_the_same_rows_are_unchanged(loss, exact):
    problem = Problem.make(300)
    weight = 0.5 + np.arange(300) % 3
    for options in ({}, {"weight": weight}):
        options |= {"exact": exact, "max_leaf_nodes": 7, "n_rounds": 6}
        fitted = problem.fit(loss, **options)
        again = problem.fit(loss, replayed=fitted.ensemble, **options)
        leaves = [
            (a.value[a.children_left < 0], b.value[b.children_left < 0])
            for a, b in zip(fitted.ensemble.trees, again.ensemble.trees, strict=True)
        ]
        assert all(a.tobytes() == b.tobytes() for a, b in leaves)
        for a, b in zip(fitted.ensemble.trees, again.ensemble.trees, strict=True):
            np.testing.assert_array_equal(a.n_node_samples, b.n_node_samples)
            np.testing.assert_allclose(a.weighted_n_node_samples, b.weighted_n_node_samples, 1e-5)


@BOTH
def test_trees_refit_on_all_rows_keep_their_splits(exact):
    problem = Problem.make(300)
    some = problem.fit("softmax", exact=exact, numbers=np.arange(0, 300, 2))
    whole = problem.fit("softmax", exact=exact, replayed=some.ensemble)
    for a, b in zip(some.ensemble.trees, whole.ensemble.trees, strict=True):
        np.testing.assert_array_equal(a.threshold, b.threshold)
        assert not np.array_equal(a.value, b.value)
    assert whole.history["train_loss"][-1] < 0.7 * whole.history["train_loss"][0]
    with pytest.raises(ValueError, match="not as many trees"):
        problem.fit("softmax", exact=exact, replayed=some.ensemble, n_rounds=11)


def test_refit_trees_stay_monotonic():
    problem = Problem.make(400)
    options = {"exact": False, "monotonic": [1, -1, 0], "max_depth": 4}
    some = problem.fit("squared_error", numbers=np.arange(0, 400, 3), **options)
    whole = problem.fit("squared_error", replayed=some.ensemble, **options)
    for column, sign in ((0, 1.0), (1, -1.0)):
        X = np.repeat(problem.X[:50], 40, axis=0)
        X[:, column] = np.tile(np.linspace(-2, 2, 40), 50)
        scores = whole.ensemble.scores(type(problem.table)(list(X.T), len(X), (0,) * 3))
        assert (np.diff(sign * scores.reshape(50, 40), axis=1) >= 0.0).all()


@BOTH
@pytest.mark.parametrize("loss", ["squared_error", "softmax"])
def test_dart_drops_and_rescales_trees(loss, exact):
    problem = Problem.make(300)
    plain = problem.fit(loss, exact=exact, n_rounds=12)
    assert bits(problem.fit(loss, exact=exact, n_rounds=12, drop_rate=0.0)) == bits(plain)

    options = {
        "exact": exact,
        "drop_rate": 0.4,
        "skip_drop": 0.2,
        "validation_rows": np.arange(0, 300, 3),
    }
    seen = {}
    dart = problem.fit(
        loss,
        n_rounds=12,
        callback=lambda done, train, validation, scores: seen.update({done: scores}) is not None,
        **options,
    )
    np.testing.assert_array_equal(seen[12], dart.ensemble.scores(problem.table)[::3])
    half = problem.fit(loss, n_rounds=5, **options)
    more = problem.fit(loss, n_rounds=12, resume=half.ensemble, **options)
    assert bits(more._replace(history={})) == bits(dart._replace(history={}))
    assert dart.history["train_loss"][-1] < 0.7 * dart.history["train_loss"][0]
    with pytest.raises(ValueError, match="no round to go back to"):
        problem.fit(loss, patience=3, **options)


def test_dart_weights_match_the_paper():
    # Every earlier round is dropped: after two rounds the first tree counts 1/2, after three 2/3 of
    # that.
    problem = Problem.make(100)
    options = {"drop_rate": 1.0, "skip_drop": 0.0, "learning_rate": 1.0}
    first = [
        problem.fit("squared_error", n_rounds=n, **options).ensemble.trees[0].value.ravel()
        for n in (1, 2, 3)
    ]
    np.testing.assert_allclose(first[1], first[0] / 2, atol=1e-12)
    np.testing.assert_allclose(first[2], first[0] / 3, atol=1e-12)


@BOTH
def test_ctrl_c_stops_the_loop(exact):
    problem = Problem.make(2000)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        problem.fit("softmax", exact=exact, n_rounds=1_000_000, n_threads=2)
    timer.join()
