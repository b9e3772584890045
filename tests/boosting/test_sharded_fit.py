"""A table in shards, which are threads here: the bytes of the model that is fitted to all rows."""

import copy
from collections.abc import Sequence
from threading import BrokenBarrierError
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.boosting.test_linear_leaves import path_columns
from tests.thread_shards import ThreadShards, cut, run_shards

from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda._utils.errors import ShardLostError
from arboleda.boosting import fit_shard
from arboleda.persist import model_to_bytes

RANDOM = np.random.default_rng(0)
N = 900
# Row numbers at which the table is cut: 1, 2, 3 and 7 shards, some of them empty.
CUTS: list[list[int]] = [[], [333], [0, 600], [5, 5, 200, 640, 850, 900]]


def make_frame() -> pd.DataFrame:
    """Numbers of every kind; missing values, and some categories, only at the end."""
    frame = pd.DataFrame(
        {
            "real": RANDOM.normal(size=N),
            "few": np.round(RANDOM.normal(size=N), 1),
            "short": RANDOM.normal(size=N).astype(np.float32),
            "count": RANDOM.integers(0, 400, N),
            "kind": RANDOM.choice(["a", "b", "c", "d"], N),
        }
    )
    frame["real"] = frame["real"].where((frame.index < 800) | (frame["real"] < 0.0))
    frame["kind"] = np.where(frame.index < 700, frame["kind"], RANDOM.choice(["e", "b", "?"], N))
    frame["kind"] = frame["kind"].replace({"?": None})
    frame["kind"] = frame["kind"].astype("category")
    return frame


X = make_frame()
SCORE = np.nan_to_num(X["real"].to_numpy()) + X["few"].to_numpy() * X["short"].to_numpy()
NUMBERS = SCORE + RANDOM.normal(size=N)
CLASSES = np.array(["low", "middle", "high"])[np.digitize(NUMBERS, [-0.5, 0.8])]
CLASSES[870:875] = "rare"
WEIGHTS = RANDOM.integers(0, 4, N) / 4.0
WEIGHTS[:10] = 0.0


def fit_all(
    model: Any,
    table: Any,
    y: Any,
    cuts: Sequence[int],
    weight: Any = None,
    val: Any = None,
    resume: Any = None,
) -> list[Any]:
    """Return the model that each shard fits."""
    tables, targets = cut(table, cuts), cut(y, cuts)
    weights = None if weight is None else cut(weight, cuts)
    n_shards = len(tables)
    # The last shard has all validation rows.
    val_parts = [([], [])] * (n_shards - 1) + [([val[0]], [val[1]])] if val is not None else None

    def fit(shards: ThreadShards) -> Any:
        k = shards.number
        X_val, y_val = (None, None) if val_parts is None else val_parts[k]
        return fit_shard(
            clone(model),
            tables[k],
            targets[k],
            None if weights is None else weights[k],
            shards,
            X_val=X_val,
            y_val=y_val,
            resume=resume,
        )

    return run_shards(n_shards, fit)


def check_same_bytes(
    model: Any, table: Any, y: Any, cuts: Sequence[int], weight: Any = None, val: Any = None
) -> None:
    X_val, y_val = (None, None) if val is None else val
    whole = clone(model).fit(table, y, weight, X_val=X_val, y_val=y_val)
    expected = model_to_bytes(whole)
    for fitted in fit_all(model, table, y, cuts, weight, val):
        assert model_to_bytes(fitted) == expected


OPTIONS: dict[str, Any] = {"max_iter": 6, "max_leaf_nodes": 8, "max_bins": 30, "random_state": 4}


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize(
    "options",
    [
        {"early_stopping": True, "n_iter_no_change": 2},
        {"class_weight": "balanced", "category_encoding": "ordered", "subsample": 0.6},
        {"class_weight": {"low": 2.0, "rare": 9.0}, "multi_strategy": "multi_output_tree"},
        {"linear_leaves": True, "subsample": 0.6, "early_stopping": True},
    ],
)
def test_classes(options: dict[str, Any], cuts: list[int]) -> None:
    model = HistGradientBoostingClassifier(**OPTIONS | options)
    check_same_bytes(model, X, CLASSES, cuts, WEIGHTS)


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "gamma"])
def test_numbers(loss: Any, cuts: list[int]) -> None:
    y = np.abs(NUMBERS) if loss == "gamma" else NUMBERS
    model = HistGradientBoostingRegressor(**OPTIONS, loss=loss, early_stopping=True)
    check_same_bytes(model, X, y, cuts, WEIGHTS if loss in {"huber", "gamma"} else None)


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("options", [{"n_iter_no_change": 1}, {"linear_leaves": True}])
def test_two_classes_with_validation_rows(options: dict[str, Any], cuts: list[int]) -> None:
    model = HistGradientBoostingClassifier(**OPTIONS | options)
    val = (X.iloc[:120], CLASSES[:120] == "low")
    check_same_bytes(model, X, CLASSES == "low", cuts, val=val)


@pytest.mark.parametrize("cuts", [*CUTS, [100, 300, 310, 700]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_linear_leaves(dtype: Any, cuts: list[int]) -> None:
    """Of numbers that a part of the rows lacks, in shards of several types."""
    table = X[["real", "few", "count"]].to_numpy(dtype)
    options = OPTIONS | {"linear_leaves": True, "max_leaf_nodes": 31, "min_samples_leaf": 3}
    model = HistGradientBoostingRegressor(**options)
    check_same_bytes(model, table, NUMBERS, cuts, WEIGHTS)
    assert model.fit(table, NUMBERS, WEIGHTS).ensemble_.has_linear_leaves


@pytest.mark.parametrize("cuts", CUTS[1:])
def test_constant_target_and_one_class(cuts: list[int]) -> None:
    model = HistGradientBoostingClassifier(**OPTIONS)
    check_same_bytes(model, X, np.full(N, "only"), cuts)


def test_several_targets_and_labels() -> None:
    table = X[["real", "few", "count"]].to_numpy()
    labels = np.column_stack([NUMBERS > 0.0, NUMBERS > 1.0, np.arange(N) > 880]).astype(int)
    options = OPTIONS | {"early_stopping": True}
    check_same_bytes(HistGradientBoostingClassifier(**options), table, labels, CUTS[3])
    numbers = np.column_stack([NUMBERS, SCORE])
    check_same_bytes(HistGradientBoostingRegressor(**options), table, numbers, CUTS[3])


@pytest.mark.parametrize("scoring", ["loss", "balanced_accuracy"])
@pytest.mark.parametrize("options", [{"max_iter": "auto"}, {"validation_folds": 3}])
def test_folds(options: dict[str, Any], scoring: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arboleda.boosting._auto.MAX_ROUNDS", 4)
    options = OPTIONS | {"early_stopping": True, "scoring": scoring} | options
    model = HistGradientBoostingClassifier(**options)
    check_same_bytes(model, X, CLASSES, CUTS[2], WEIGHTS)


def test_partitions_of_other_types_and_orders() -> None:
    """A column of only missing values agrees with any type, and names with any order."""
    frame = X[["few", "kind"]].astype({"kind": object})
    frame.loc[: N // 2, "kind"] = None
    whole = frame.astype({"kind": "category"})
    parts = [frame.iloc[: N // 2].astype({"few": np.float32, "kind": float}), frame.iloc[N // 2 :]]
    whole["few"] = np.concatenate([part["few"].to_numpy(np.float64) for part in parts])
    model = HistGradientBoostingRegressor(**OPTIONS)
    expected = model_to_bytes(clone(model).fit(whole, NUMBERS))
    tables = [[parts[0], parts[0][:0]], [parts[1][["kind", "few"]]]]
    targets = [[NUMBERS[: N // 2], []], [NUMBERS[N // 2 :]]]

    def fit(shards: ThreadShards) -> Any:
        k = shards.number
        return fit_shard(clone(model), tables[k], targets[k], None, shards)

    for fitted in run_shards(2, fit):
        assert model_to_bytes(fitted) == expected


def change(values: Any, row: Any, value: Any) -> Any:
    changed = values.copy()
    changed[row] = value
    return changed


REAL = X[["few", "count"]].to_numpy()
FRAME = pd.DataFrame({"a": NUMBERS, "b": SCORE})


@pytest.mark.parametrize(
    ("table", "y", "weight", "message"),
    [
        (
            [REAL[:500], change(REAL[500:], (7, 1), np.inf)],
            NUMBERS,
            None,
            "row 500 of the table: Input X contains infinity: column 1, row 7 is inf",
        ),
        (
            [FRAME[:500], FRAME[500:].rename(columns={"b": "c"})],
            NUMBERS,
            None,
            "partition 0 of shard 1, whose row 0 is row 500 of the table lacks 'b' and has 'c'",
        ),
        (
            [FRAME[:500], FRAME[500:].astype({"b": str})],
            NUMBERS,
            None,
            "row 500 of the table, and numbers, of type Float64 in partition 0 of shard 0",
        ),
        (
            [REAL[:500], REAL[500:]],
            change(np.abs(NUMBERS), 600, -1.0),
            None,
            "y is -1.0 in row 600",
        ),
        ([REAL[:500], REAL[500:]], change(NUMBERS, 600, np.nan), None, "y contains NaN: row 100"),
        ([REAL[:500], REAL[500:]], NUMBERS[:-1], None, "X has 400 rows, and y 399"),
        ([REAL[:500], REAL[500:]], np.abs(NUMBERS), np.zeros(N), "zero for every row"),
        ([REAL[:500], REAL[500:]], np.zeros(N), None, "y is 0 in every row"),
    ],
)
def test_every_shard_raises_the_same_error(
    table: Sequence[Any], y: Any, weight: Any, message: str
) -> None:
    targets = [y[:500], y[500:]]
    weights = None if weight is None else [[weight[:500]], [weight[500:]]]

    def fit(shards: ThreadShards) -> str:
        k = shards.number
        model = HistGradientBoostingRegressor(loss="poisson")
        own = None if weights is None else weights[k]
        try:
            fit_shard(model, [table[k]], [targets[k]], own, shards)
        except ValueError as error:
            assert not hasattr(model, "schema_")
            return str(error)
        raise AssertionError("no error")

    first, second = run_shards(2, fit)
    assert message in first
    assert first == second


def test_an_unknown_class_of_validation_rows() -> None:
    model = HistGradientBoostingClassifier()

    def fit(shards: ThreadShards) -> str:
        part = slice(0, 400) if shards.number == 0 else slice(400, N)
        labels = np.where(np.arange(N) == 405, "unknown", CLASSES)[part]
        own = [REAL[part]], [CLASSES[part]]
        try:
            fit_shard(clone(model), *own, None, shards, X_val=own[0], y_val=[labels])
        except ValueError as error:
            return str(error)
        raise AssertionError("no error")

    first, second = run_shards(2, fit)
    assert first == second
    assert "shard 1, whose row 0 is row 400 of the table: y has the class" in first
    assert "in row 5" in first


@pytest.mark.parametrize("cuts", CUTS[1:])
@pytest.mark.parametrize(
    "options",
    [
        {"scoring": "balanced_accuracy", "n_iter_no_change": 2},
        {"scoring": None, "validation_fraction": None},
    ],
)
def test_early_stopping_by_a_score(
    options: dict[str, Any], cuts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arboleda.boosting._hist_gradient_boosting._MANY_ROWS", 300)
    options = OPTIONS | {"early_stopping": True} | options
    check_same_bytes(HistGradientBoostingClassifier(**options), X, CLASSES, cuts, WEIGHTS)


def test_every_shard_raises_the_error_of_a_score() -> None:
    model = HistGradientBoostingClassifier(**OPTIONS, scoring="roc_auc", early_stopping=True)
    errors = []

    def fit(shards: ThreadShards) -> None:
        tables, targets = (cut(part, CUTS[1])[shards.number] for part in (X, CLASSES))
        try:
            fit_shard(clone(model), tables, targets, None, shards)
        except ValueError as error:
            errors.append(str(error))

    run_shards(2, fit)
    assert errors[0] == errors[1]
    assert "multi_class" in errors[0]


def fit_warm(
    model: Any, first: Any, cuts: Sequence[int], make: Any = lambda shards: shards, **more: Any
) -> list[Any]:
    """Return the models that continue ``first`` in each shard, or the rounds until it was lost."""
    tables, targets = cut(X, cuts), cut(NUMBERS, cuts)

    def fit(shards: ThreadShards) -> Any:
        k = shards.number
        warm = copy.deepcopy(first).set_params(**model.get_params())
        try:
            return fit_shard(warm, tables[k], targets[k], None, make(shards), **more)
        except ShardLostError as error:
            assert model_to_bytes(warm) == model_to_bytes(
                copy.deepcopy(first).set_params(**model.get_params())
            )
            return error.rounds

    return run_shards(len(tables), fit)


@pytest.mark.parametrize(
    ("scoring", "share"), [("loss", 0.02), ("loss", 0.3), ("loss", 0.8), ("r2", 0.3), ("r2", 0.7)]
)
def test_a_warm_start(scoring: str, share: float) -> None:
    """In one go, and after a shard was lost."""
    model = HistGradientBoostingRegressor(
        **OPTIONS | {"max_iter": 12, "learning_rate": 0.5}, subsample=0.7, warm_start=True,
        early_stopping=True, scoring=scoring, n_iter_no_change=3,
    )  # fmt: skip
    first = clone(model).set_params(max_iter=4).fit(X, NUMBERS)
    expected = model_to_bytes(copy.deepcopy(first).set_params(max_iter=12).fit(X, NUMBERS))
    calls: list[ThreadShards] = []

    def count(shards: ThreadShards) -> ThreadShards:
        calls.append(shards)
        return shards

    for fitted in fit_warm(model, first, CUTS[1], count):
        assert model_to_bytes(fitted) == expected

    def lose(shards: ThreadShards) -> ThreadShards:
        losing = LosingShards(shards._board, shards.number)
        losing.left = int(share * calls[0].n_calls)
        return losing

    rounds = fit_warm(model, first, CUTS[1], lose)[0]
    assert (rounds is None) is (share == 0.02)
    for fitted in fit_warm(model, first, CUTS[2], resume=rounds):
        assert model_to_bytes(fitted) == expected


def test_a_warm_start_needs_the_same_model_in_all_shards() -> None:
    model = HistGradientBoostingRegressor(**OPTIONS, warm_start=True).fit(X, NUMBERS)

    def fit(shards: ThreadShards) -> None:
        own = model if shards.number else clone(model)
        fit_shard(own, [X], [NUMBERS], None, shards)

    with pytest.raises(ValueError, match="but they have models of 0, 6 rounds"):
        run_shards(2, fit)


class LosingShards(ThreadShards):
    """The last shard fails after some messages; the others find out when they wait for it."""

    left: int

    def gather(self, item: bytes) -> list[bytes]:
        if self.number == self.count - 1:
            self.left -= 1
            if self.left < 0:
                self._board.barrier.abort()
        try:
            return super().gather(item)
        except BrokenBarrierError as error:
            raise ShardLostError("lost") from error


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.95])
def test_a_fit_that_lost_a_shard_is_resumed(share: float) -> None:
    options = OPTIONS | {"early_stopping": True, "n_iter_no_change": 2, "max_iter": 12}
    model = HistGradientBoostingRegressor(**options, subsample=0.7, learning_rate=0.5)
    tables, targets = cut(X, CUTS[1]), cut(SCORE, CUTS[1])

    def fit(shards: ThreadShards) -> int:
        fit_shard(clone(model), tables[shards.number], targets[shards.number], None, shards)
        return shards.n_calls

    n_messages = run_shards(2, fit)[0]

    def lose(shards: ThreadShards) -> Any:
        losing = LosingShards(shards._board, shards.number)
        losing.left = int(share * n_messages)
        try:
            fit(losing)
        except ShardLostError as error:
            return error.rounds
        raise AssertionError("no shard was lost")

    rounds = run_shards(2, lose)
    expected = model_to_bytes(clone(model).fit(X, SCORE))
    assert (rounds[0] is None) is (share == 0.02)
    for fitted in fit_all(model, X, SCORE, CUTS[2], resume=rounds[0]):
        assert model_to_bytes(fitted) == expected


def count_slope_words(model: Any, n_trees: int) -> int:
    """Count the words that a shard sends for linear leaves of the last trees.

    These are ranges of the columns above a leaf, and sums over three columns, without missing
    values.
    """
    n_words = 0
    for tree in model.ensemble_.trees[-n_trees:]:
        for leaf in np.flatnonzero(tree.children_left < 0):
            n_above = len(path_columns(tree, leaf))
            n_used = min(3, n_above)
            n_words += 2 + 3 * n_above + 3 * (1 + (n_used + 1) * (n_used + 4) // 2)
    return n_words


@pytest.mark.parametrize("slopes", [False, True])
@pytest.mark.parametrize("n_shards", [2, 3])
@pytest.mark.parametrize("kind", [HistGradientBoostingClassifier, HistGradientBoostingRegressor])
def test_bytes_are_those_of_the_formula(kind: Any, n_shards: int, slopes: bool) -> None:
    n_rows, n_columns, n_bins, n_leaves, n_trees = 2400, 5, 30, 8, 5
    random = np.random.default_rng(0)
    table = random.normal(size=(n_rows, n_columns))
    target = (table[:, 0] * table[:, 1] + random.normal(size=n_rows) > 0).astype(int)

    def count(max_iter: int) -> Any:
        model = kind(
            max_iter=max_iter,
            max_leaf_nodes=n_leaves,
            max_bins=n_bins,
            early_stopping=False,
            random_state=0,
            linear_leaves=slopes,
        )

        def fit(shards: ThreadShards) -> Any:
            rows = slice(*(n_rows * (shards.number + i) // n_shards for i in range(2)))
            fitted = fit_shard(clone(model), [table[rows]], [target[rows]], None, shards)
            n_words = count_slope_words(fitted, n_trees) if slopes else 0
            return np.array([shards.n_bytes, shards.n_calls, *shards.opened]), n_words

        return run_shards(n_shards, fit)[0]

    (many, slope_words), (few, _) = count(2 + n_trees), count(2)
    n_bytes, n_calls, nodes, histograms, codes, opening_calls = many - few
    # Largest values and totals of every shard; the root; what is opened; sums of leaves.
    words = n_trees * ((4 + 6) * n_shards + n_columns * n_bins + 6 * n_leaves)
    words += nodes + histograms * n_columns * n_bins + codes + slope_words
    assert n_bytes == 8 * words
    assert n_calls == (6 if slopes else 4) * n_trees + opening_calls
    assert nodes > n_trees * (n_leaves - 1)  # some in vain
