"""Boosting on shards of a table: the bytes of the fit of the whole table, however it is cut."""

import pickle
from collections.abc import Sequence
from threading import BrokenBarrierError
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from tests.thread_shards import ThreadShards, run_shards

from arboleda._engine.boosting import (
    Boosted,
    BoostingOptions,
    BoostingRows,
    CustomLoss,
    LossOptions,
    fit_boosting,
)
from arboleda._engine.columns import MISSING, DenseTable, SparseTable
from arboleda._utils.errors import ShardLostError

N = 600
RANDOM = np.random.default_rng(4)
X = RANDOM.normal(size=(N, 6))
X[:, 1] = np.round(3 * X[:, 1])
X[:, 2] = np.where(RANDOM.random(N) < 0.05, np.round(X[:, 2], 1), 0.0)  # nearly constant
X[:, 3][RANDOM.random(N) < 0.1] = np.nan
X[:40, 4] = 7.0  # constant in a shard, and what others have there is rare here
CATEGORY = RANDOM.integers(0, 9, N)
CATEGORY[:200] %= 4  # a shard lacks some
CATEGORY[RANDOM.random(N) < 0.05] = MISSING
SCORE = (
    np.sin(2 * X[:, 0])
    + 0.3 * X[:, 1] * np.nan_to_num(X[:, 3])
    + 0.4 * (CATEGORY % 3)
    + 0.3 * RANDOM.normal(size=N)
)
TARGETS = {
    "number": SCORE,
    "amount": np.exp(SCORE),
    "count": np.floor(np.exp(SCORE)),
    "two": (SCORE > 0.4).astype(float),
    "three": np.digitize(SCORE, [0.0, 0.9]).astype(float),
    "several": np.column_stack([SCORE, X[:, 0] - SCORE]),
    "heavy": np.exp(6 * SCORE),
    "heavy pairs": np.exp(6 * np.column_stack([SCORE, X[:, 0] - SCORE])),
    "relevance": np.clip(np.floor(SCORE + 1.0), 0, 4),
    "interval": np.column_stack([np.exp(SCORE), np.where(X[:, 1] > 0, np.inf, np.exp(SCORE))]),
    "time": np.where(X[:, 1] > 2, -1.0, 1.0) * np.round(np.exp(SCORE), 1),  # -0.0: censored at 0
    "period": np.where(X[:, 1] > 2, -1.0, 1.0) * np.clip(np.floor(SCORE + 2.0), 1, 3),
}
WEIGHT = RANDOM.random(N) * RANDOM.integers(0, 3, N)
QUERY = (np.arange(N) // 10).astype(np.uint32)

DENSE = DenseTable([*X.T, CATEGORY.astype(np.uint16)], N, (0,) * 6 + (9,))
THIN = SparseTable(sparse.random(N, 12, 0.2, format="csr", random_state=0))

# First rows of the shards: uneven, some without rows, some with one. Queries are not cut.
ONE = (0, N)
TWO = (0, 430, N)
THREE = (0, 250, 250, N)
SEVEN = (0, 0, 10, 90, 100, 410, N, N)

Cuts = Sequence[int]


def cut(data: BoostingRows, begin: int, end: int) -> BoostingRows:
    """Return the part of a shard."""
    rows = data.rows[(data.rows >= begin) & (data.rows < end)] - begin
    part = slice(begin, end)

    def of(values: Any) -> Any:
        return None if values is None else values[part]

    return BoostingRows(
        data.table.slice_rows(begin, end),
        rows,
        data.target[part],
        of(data.weight),
        of(data.offset),
        of(data.query),
    )


def fit(
    training: BoostingRows,
    loss: LossOptions | CustomLoss,
    options: BoostingOptions,
    cuts: Cuts | None = None,
    *,
    held_out: NDArray[Any] | None = None,
    own_table: bool = False,
    make: Any = lambda shards: shards,
    **more: Any,
) -> list[Boosted]:
    """Fit on the shards between the cuts, or without shards."""

    def fit_one(part: BoostingRows, rows: NDArray[Any] | None, **shard: Any) -> Boosted:
        validation = None
        if rows is not None:
            table = part.table.slice_rows(0, part.table.n_rows) if own_table else part.table
            validation = BoostingRows(table, rows, part.target, part.weight, part.offset)
        n_threads = 1 + shard.get("first_row", 0) % 2
        return fit_boosting(
            part, loss, options, validation=validation, n_threads=n_threads, seed=7, **shard, **more
        )

    if cuts is None:
        return [fit_one(training, held_out)]

    def run(shards: ThreadShards) -> Boosted:
        begin, end = cuts[shards.number], cuts[shards.number + 1]
        rows = held_out
        if rows is not None:
            rows = rows[(rows >= begin) & (rows < end)] - begin
        part = cut(training, begin, end)
        return fit_one(part, rows, shards=make(shards), first_row=begin)

    return run_shards(len(cuts) - 1, run)


def bits(fitted: Boosted) -> bytes:
    """Return the model, its losses and its best round as bytes."""
    losses = [name.encode() + losses.tobytes() for name, losses in sorted(fitted.history.items())]
    return pickle.dumps(fitted.ensemble) + b"".join(losses) + str(fitted.best_round).encode()


def make_rows(target: str, table: Any = DENSE, **parts: Any) -> BoostingRows:
    coded = table.code(1, 40)
    return BoostingRows(coded, np.arange(N), TARGETS[target], **parts)


def make_options(**options: Any) -> BoostingOptions:
    usual = {"n_rounds": 4, "learning_rate": 0.3, "max_leaf_nodes": 12, "min_samples_leaf": 5}
    return BoostingOptions(exact=False, **(usual | options))


def custom(target: NDArray[np.float64], scores: NDArray[np.float64]) -> tuple[Any, Any]:
    assert len(target) > 0
    return scores - target, np.full(len(target), 0.5)


def loss_named(name: str, **options: Any) -> LossOptions:
    return LossOptions(name, **options)


# Each: the loss, its target, options of the fit, and further arguments of `fit`.
CASES: dict[str, tuple[LossOptions | CustomLoss, str, dict[str, Any], dict[str, Any]]] = {
    "squared": (loss_named("squared_error"), "number", {}, {}),
    "squared, weights": (loss_named("squared_error"), "number", {}, {"weight": WEIGHT}),
    "log loss": (loss_named("log_loss", n_classes=2), "two", {"min_samples_leaf": 20}, {}),
    "log loss, weights": (
        loss_named("log_loss", n_classes=2),
        "two",
        {"min_samples_leaf": 20},
        {"weight": WEIGHT},
    ),
    "softmax": (loss_named("log_loss", n_classes=3), "three", {}, {"weight": WEIGHT}),
    "exponential": (loss_named("exponential", n_classes=2), "two", {}, {}),
    "focal": (loss_named("focal"), "two", {}, {"weight": WEIGHT}),
    "poisson": (loss_named("poisson"), "count", {}, {"weight": WEIGHT}),
    "gamma": (loss_named("gamma"), "amount", {}, {}),
    "tweedie": (loss_named("tweedie"), "count", {}, {}),
    "expectile": (loss_named("expectile", expectile=0.8), "number", {}, {}),
    "pseudo-Huber": (loss_named("pseudo_huber"), "number", {}, {"weight": WEIGHT}),
    "absolute": (loss_named("absolute_error"), "number", {"max_delta_step": 0.5}, {}),
    "absolute, weights": (loss_named("absolute_error"), "number", {}, {"weight": WEIGHT}),
    "Huber": (loss_named("huber"), "number", {}, {}),
    "Huber, weights": (loss_named("huber"), "number", {}, {"weight": WEIGHT}),
    "quantiles": (loss_named("quantile", levels=[0.1, 0.5]), "number", {}, {"weight": WEIGHT}),
    "MAPE": (loss_named("mape"), "amount", {}, {}),
    "several targets": (loss_named("squared_error", n_targets=2), "several", {}, {}),
    "several medians": (loss_named("absolute_error", n_targets=2), "several", {}, {}),
    "times": (loss_named("aft_logistic"), "interval", {}, {"weight": WEIGHT}),
    "periods": (loss_named("discrete_time", n_classes=4), "period", {}, {"weight": WEIGHT}),
    "Cox": (loss_named("cox_efron"), "time", {}, {}),
    "Cox, weights": (loss_named("cox_efron"), "time", {"row_share": 0.7}, {"weight": WEIGHT}),
    "Cox, Breslow's ties": (loss_named("cox_breslow"), "time", {}, {"weight": WEIGHT}),
    "Cox, dropped": (loss_named("cox_efron"), "time", {"drop_rate": 0.5, "skip_drop": 0.0}, {}),
    "normal": (loss_named("normal", score="nll"), "number", {"shares_trees": True}, {}),
    "lognormal": (loss_named("lognormal", score="crps"), "amount", {}, {"weight": WEIGHT}),
    "Laplace": (loss_named("laplace", score="nll"), "number", {}, {}),
    "Student": (loss_named("student_t", score="nll"), "number", {}, {}),
    "gamma distribution": (loss_named("gamma", score="nll"), "amount", {}, {}),
    "counts": (loss_named("negative_binomial", score="nll"), "count", {}, {}),
    "zeros": (loss_named("zero_inflated_poisson", score="nll"), "count", {}, {}),
    "ranks": (loss_named("lambdarank"), "relevance", {}, {"query": QUERY, "weight": WEIGHT}),
    "ranks, entropy": (loss_named("xe_ndcg"), "relevance", {}, {"query": QUERY}),
    "ranks, YetiRank": (loss_named("yetirank"), "relevance", {}, {"query": QUERY}),
    "custom": (CustomLoss(custom), "number", {}, {"weight": WEIGHT}),
    "level-wise": (
        loss_named("squared_error"),
        "number",
        {"growth": "level_wise", "max_depth": 4, "max_leaf_nodes": -1},
        {},
    ),
    "all leaves": (loss_named("squared_error"), "number", {"max_leaf_nodes": -1}, {}),
    "symmetric": (
        loss_named("log_loss", n_classes=2),
        "two",
        {"growth": "symmetric", "max_depth": 4, "min_samples_leaf": 20},
        {"weight": WEIGHT},
    ),
    "shared": (loss_named("log_loss", n_classes=3), "three", {"shares_trees": True}, {}),
    "shared, squared": (
        loss_named("squared_error", n_targets=2),
        "several",
        {"shares_trees": True},
        {},
    ),
    "sketch": (
        loss_named("log_loss", n_classes=3),
        "three",
        {"shares_trees": True, "sketch": "top", "sketch_dim": 2},
        {"weight": WEIGHT},
    ),
    "sketch, drawn": (
        loss_named("log_loss", n_classes=3),
        "three",
        {"shares_trees": True, "sketch": "sampling", "sketch_dim": 1},
        {},
    ),
    "half of the rows": (loss_named("squared_error"), "number", {"row_share": 0.5}, {}),
    "half of the rows, absolute": (
        loss_named("absolute_error"),
        "number",
        {"row_share": 0.5},
        {"weight": WEIGHT},
    ),
    "one-sided": (loss_named("squared_error"), "number", {"sampling": "goss"}, {}),
    "one-sided, quantile": (
        loss_named("quantile", levels=[0.7]),
        "number",
        {"sampling": "goss"},
        {},
    ),
    "by gradient": (
        loss_named("log_loss", n_classes=3),
        "three",
        {"sampling": "gradient", "row_share": 0.4},
        {"weight": WEIGHT},
    ),
    "automatic": (loss_named("squared_error"), "number", {"sampling": "auto"}, {}),
    "dropped": (loss_named("huber"), "number", {"drop_rate": 0.5, "skip_drop": 0.0}, {}),
    "columns": (
        loss_named("squared_error"),
        "number",
        {"column_share_tree": 0.7, "column_share_level": 0.8, "column_share_node": 0.7},
        {},
    ),
    "random thresholds": (
        loss_named("squared_error"),
        "number",
        {"random_thresholds": True},
        {},
    ),
    "monotonic": (
        loss_named("squared_error"),
        "number",
        {"monotonic": [1, 0, 0, -1, 0, 0, 0], "l1": 0.5},
        {},
    ),
    "slopes": (
        loss_named("squared_error"),
        "number",
        {"linear_leaves": True, "min_samples_leaf": 3, "max_leaf_nodes": 20},
        {},
    ),
    "slopes, classes": (
        loss_named("log_loss", n_classes=3),
        "three",
        {"linear_leaves": True, "linear_l2": 0.0, "row_share": 0.6},
        {"weight": WEIGHT},
    ),
    "slopes, one-sided": (
        loss_named("log_loss", n_classes=2),
        "two",
        {"linear_leaves": True, "sampling": "goss"},
        {"weight": WEIGHT},
    ),
    "slopes, symmetric": (
        loss_named("poisson"),
        "count",
        {"linear_leaves": True, "growth": "symmetric", "max_depth": 4},
        {},
    ),
    "interactions": (
        loss_named("squared_error"),
        "number",
        {"interactions": [[0, 1], [2, 3, 6]]},
        {},
    ),
    "forced": (
        loss_named("log_loss", n_classes=2),
        "two",
        {"forced_splits": [(1, 0.5, -1, 1), (0, 0.0, -1, -1)], "column_share_tree": 0.5},
        {},
    ),
    "sparse": (loss_named("squared_error"), "number", {}, {"table": THIN}),
    "sparse, shared": (
        loss_named("log_loss", n_classes=3),
        "three",
        {"shares_trees": True},
        {"table": THIN},
    ),
    "offset": (loss_named("squared_error"), "number", {}, {"offset": 0.1 * X[:, :1]}),
    "heavy tails, wide cells": (loss_named("squared_error"), "heavy", {}, {}),
    "heavy tails, shared": (
        loss_named("squared_error", n_targets=2),
        "heavy pairs",
        {"shares_trees": True},
        {},
    ),
}
CUTS_OF = {
    "squared": SEVEN,
    "log loss": SEVEN,
    "softmax": SEVEN,
    "shared": SEVEN,
    "slopes": SEVEN,
    "absolute": TWO,
    "Cox": TWO,
    "Cox, weights": SEVEN,
}


@pytest.mark.parametrize("name", CASES)
def test_shards_fit_the_model_of_the_whole_table(name: str) -> None:
    loss, target, options, parts = CASES[name]
    training = make_rows(target, **parts)
    (whole,) = fit(training, loss, make_options(**options))
    assert max(tree.n_leaves for tree in whole.ensemble.trees) > 2
    for shard in fit(training, loss, make_options(**options), CUTS_OF.get(name, THREE)):
        assert bits(shard) == bits(whole)
        assert shard.is_complete


def test_slopes_where_the_ranges_of_shards_are_not_those_of_the_table() -> None:
    """A range that leaves float64, missing values, zeros of both signs and of one shard only."""
    first = np.arange(N) < 250
    columns = [
        np.where(X[:, 0] > 0.0, np.where(first, 1.2e308, -1.2e308), 0.0),
        np.where(first | (X[:, 0] > 1.0), np.nan, X[:, 0]),
        np.where(X[:, 1] > 0, X[:, 1], np.where(first, 0.0, -0.0)),
        np.where(first, 1.0, X[:, 3]),
    ]
    table = DenseTable(columns, N, (0,) * 4)
    options = make_options(linear_leaves=True, min_samples_leaf=3, column_share_node=0.6)
    training = make_rows("number", table)
    (whole,) = fit(training, LossOptions("squared_error"), options)
    assert set(whole.ensemble.linear["linear.feature"].tolist()) == {0, 1, 2, 3}
    for cuts in (THREE, (0, 250, 251, 400, N)):
        for shard in fit(training, LossOptions("squared_error"), options, cuts):
            assert bits(shard) == bits(whole)


def test_one_shard_is_the_whole_table() -> None:
    training = make_rows("number", weight=WEIGHT)
    (whole,) = fit(training, LossOptions("huber"), make_options())
    (shard,) = fit(training, LossOptions("huber"), make_options(), ONE)
    assert bits(shard) == bits(whole)


@pytest.mark.parametrize("loss", ["cox_efron", "lambdarank"])
def test_the_rows_of_a_shard_may_have_no_weight(loss: str) -> None:
    weight = np.where((np.arange(N) >= 90) & (np.arange(N) < 250), 0.0, 0.5 + WEIGHT)
    target = "time" if loss == "cox_efron" else "relevance"
    training = make_rows(target, weight=weight, query=QUERY)
    (whole,) = fit(training, LossOptions(loss), make_options())
    for shard in fit(training, LossOptions(loss), make_options(), (0, 90, 250, N)):
        assert bits(shard) == bits(whole)


def test_threads_of_a_shard_add_up_their_parts() -> None:
    repeats = 40
    table = DenseTable(list(np.tile(X, (repeats, 1)).T), repeats * N, (0,) * 6)
    target = np.tile(SCORE, repeats) + np.sin(np.arange(repeats * N))
    training = BoostingRows(table.code(2, 40), np.arange(repeats * N), target)
    options = make_options(n_rounds=2)
    (whole,) = fit(training, LossOptions("squared_error"), options)
    for shard in fit(training, LossOptions("squared_error"), options, (0, 9001, repeats * N)):
        assert bits(shard) == bits(whole)


@pytest.mark.parametrize(
    ("loss_name", "slopes"), [("absolute_error", False), ("squared_error", True)]
)
@pytest.mark.parametrize("own_table", [False, True])
def test_shards_stop_in_the_same_round(own_table: bool, loss_name: str, slopes: bool) -> None:
    numbers = np.arange(N)
    coded = DENSE.code(1, 40)
    training = BoostingRows(coded, numbers[numbers % 5 > 0], SCORE, WEIGHT)
    held_out = numbers[(numbers % 5 == 0) & (numbers > 100)]  # the first shard has none
    options = make_options(n_rounds=60, patience=3, row_share=0.6, linear_leaves=slopes)
    more = {"held_out": held_out, "own_table": own_table}
    (whole,) = fit(training, LossOptions(loss_name), options, **more)
    assert 1 < whole.best_round < 50
    for shard in fit(training, LossOptions(loss_name), options, (0, 90, 300, N), **more):
        assert bits(shard) == bits(whole)


@pytest.mark.parametrize("chosen", [{"monotonic": [1, 0, 0, 0, 0, 0, 0]}, {"linear_leaves": True}])
def test_replayed_trees_have_the_values_of_all_shards(chosen: dict[str, Any]) -> None:
    options = make_options(**chosen)
    (grown,) = fit(make_rows("number"), LossOptions("squared_error"), options)
    training = make_rows("amount", weight=WEIGHT)
    more = {"refit_leaves": grown.ensemble}
    (whole,) = fit(training, LossOptions("squared_error"), options, **more)
    for shard in fit(training, LossOptions("squared_error"), options, THREE, **more):
        assert bits(shard) == bits(whole)


def test_all_shards_stop_where_a_callback_of_one_returns_true() -> None:
    def run(shards: ThreadShards) -> Boosted:
        begin, end = THREE[shards.number], THREE[shards.number + 1]
        return fit_boosting(
            cut(make_rows("number"), begin, end),
            LossOptions("squared_error"),
            make_options(),
            callback=(lambda n_rounds, *_: n_rounds == 2) if shards.number == 1 else None,
            n_threads=1,
            seed=7,
            shards=shards,
            first_row=begin,
        )

    assert [len(shard.ensemble.trees) for shard in run_shards(3, run)] == [2, 2, 2]


class FailingShards:
    """A connection that is lost at some call."""

    def __init__(self, shards: ThreadShards, failing: int, call: int) -> None:
        self._shards = shards
        self._failing = failing
        self._call = call
        self.number = shards.number
        self.count = shards.count
        self.count_opened = shards.count_opened

    def _try(self, method: Any, values: NDArray[np.uint64]) -> None:
        if self.number == self._failing and self._shards.n_calls == self._call:
            self._shards._board.barrier.abort()
        try:
            method(values)
        except BrokenBarrierError as error:
            raise ShardLostError("a shard was lost") from error

    def add(self, values: NDArray[np.uint64]) -> None:
        self._try(self._shards.add, values)

    def maximum(self, values: NDArray[np.uint64]) -> None:
        self._try(self._shards.maximum, values)


RESUMED = {
    "stopping": ({"patience": 2, "n_rounds": 30, "row_share": 0.6}, "absolute_error"),
    "dropping": ({"drop_rate": 0.6, "skip_drop": 0.0}, "squared_error"),
    "slopes": ({"patience": 2, "n_rounds": 30, "linear_leaves": True}, "squared_error"),
}


@pytest.mark.parametrize("name", RESUMED)
def test_a_fit_goes_on_after_a_shard_was_lost(name: str) -> None:
    options, loss_name = RESUMED[name]
    loss, chosen = LossOptions(loss_name), make_options(max_leaf_nodes=5, **options)
    numbers = np.arange(N)
    training = BoostingRows(DENSE.code(1, 40), numbers[numbers % 5 > 0], SCORE)
    held_out = None if name == "dropping" else numbers[numbers % 5 == 0]
    (whole,) = fit(training, loss, chosen, held_out=held_out)
    counted: list[ThreadShards] = []

    def count(shards: ThreadShards) -> ThreadShards:
        counted.append(shards)
        return shards

    fit(training, loss, chosen, TWO, held_out=held_out, make=count)
    n_calls = counted[0].n_calls
    n_rounds = set()
    for call in np.linspace(1, n_calls - 1, 12).astype(int):
        try:
            parts = fit(
                training,
                loss,
                chosen,
                TWO,
                held_out=held_out,
                make=lambda shards, call=call: FailingShards(shards, call % 2, call),
            )
        except ShardLostError:
            n_rounds.add(-1)  # before the first round
            continue
        assert not any(part.is_complete for part in parts)
        longest = max(parts, key=lambda part: len(part.ensemble.trees))
        n_rounds.add(len(longest.ensemble.trees))
        again = fit(
            training,
            loss,
            chosen,
            THREE,
            held_out=held_out,
            resume=longest.ensemble,
            history=longest.history,
        )
        for shard in again:
            assert shard.is_complete
            assert bits(shard) == bits(whole)
    assert len(n_rounds) > 3


def test_early_stopping_goes_on_with_the_losses_so_far() -> None:
    numbers = np.arange(N)
    training = BoostingRows(DENSE.code(1, 40), numbers[numbers % 2 > 0], SCORE)
    held_out = numbers[numbers % 2 == 0]
    loss = LossOptions("squared_error")
    (whole,) = fit(training, loss, make_options(n_rounds=60, patience=5), held_out=held_out)
    (first,) = fit(training, loss, make_options(n_rounds=whole.best_round + 2), held_out=held_out)
    (rest,) = fit(
        training,
        loss,
        make_options(n_rounds=60, patience=5),
        held_out=held_out,
        resume=first.ensemble,
        history=first.history,
    )
    assert bits(rest) == bits(whole)


def test_losses_of_another_ensemble_are_refused() -> None:
    (first,) = fit(make_rows("number"), LossOptions("squared_error"), make_options())
    with pytest.raises(ValueError, match="the losses so far are not those of the ensemble"):
        fit(
            make_rows("number"),
            LossOptions("squared_error"),
            make_options(n_rounds=9),
            resume=first.ensemble,
            history={"train_loss": np.zeros(7)},
        )


def test_what_shards_do_not_support_is_named() -> None:
    with pytest.raises(ValueError, match="exact trees"):
        fit(make_rows("number"), LossOptions("squared_error"), exact_options(), TWO)


def exact_options() -> BoostingOptions:
    return BoostingOptions(n_rounds=2, learning_rate=0.3, exact=True)


def test_shards_of_other_tables_are_refused() -> None:
    def run(shards: ThreadShards) -> Boosted:
        coded = DENSE.code(1, 40 - shards.number)
        rows = BoostingRows(coded, np.arange(N), SCORE)
        return fit_boosting(
            rows,
            LossOptions("squared_error"),
            make_options(),
            n_threads=1,
            seed=7,
            shards=shards,
            first_row=N * shards.number,
        )

    with pytest.raises(ValueError, match="need the same columns, with the same bins"):
        run_shards(2, run)


def test_rows_of_two_shards_do_not_overlap() -> None:
    def run(shards: ThreadShards) -> Boosted:
        return fit_boosting(
            cut(make_rows("number"), 0, 10),
            LossOptions("squared_error"),
            make_options(),
            n_threads=1,
            seed=7,
            shards=shards,
        )

    with pytest.raises(ValueError, match="a shard's first row is among the rows"):
        run_shards(2, run)


def test_a_table_without_any_row_of_weight_is_refused() -> None:
    training = make_rows("number")
    nothing = BoostingRows(training.table, np.arange(0), training.target)
    with pytest.raises(ValueError, match="at least one row of positive weight"):
        fit(nothing, LossOptions("squared_error"), make_options(), THREE)
