"""Functions of the caller in a fit to a table in shards: scoring, callbacks and a custom loss."""

import copy
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import BrokenBarrierError
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from tests.boosting.test_sharded_fit import CLASSES, CUTS, NUMBERS, OPTIONS, WEIGHTS, LosingShards
from tests.boosting.test_sharded_fit import X as FRAME
from tests.thread_shards import ThreadShards, cut, run_shards

from arboleda import (
    BoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda._engine.joined_tables import join_tables
from arboleda._engine.shard_parts import ShardParts
from arboleda._utils.errors import ShardLostError
from arboleda.boosting import RoundKeeping, fit_shard
from arboleda.persist import model_to_bytes

pytestmark = pytest.mark.filterwarnings("ignore:.* is not saved")
STOPPING: dict[str, Any] = {**OPTIONS, "early_stopping": True, "n_iter_no_change": 2}
ARRAY = FRAME[["real", "few", "count"]].to_numpy()


class Scorer:
    """A scorer that reads X, and records its arguments."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __call__(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        self.calls.append((X, y, sample_weight))
        column = np.asarray(X)[:, 1].astype(float)
        good = model.predict(X) == y if len(model.classes_) else -np.abs(model.predict(X) - y)
        return float(np.average(good, weights=1.0 + np.abs(column)))

    def __deepcopy__(self, memo: Any) -> "Scorer":
        return self  # `clone` keeps the record

    def check_same_calls(self, other: "Scorer") -> None:
        assert len(self.calls) == len(other.calls)
        for own, others in zip(self.calls, other.calls, strict=True):
            for part, expected in zip(own, others, strict=True):
                assert type(part) is type(expected)
                if isinstance(part, pd.DataFrame):
                    pd.testing.assert_frame_equal(part, expected)
                elif isinstance(part, pl.DataFrame):
                    assert part.equals(expected)
                else:
                    assert_array_equal(part, expected)


def fit_shards(
    model: Any,
    table: Any,
    y: Any,
    cuts: Sequence[int],
    make: Callable[[ThreadShards], ThreadShards] = lambda shards: shards,
    **more: Any,
) -> list[Any]:
    """Return the model of each shard, or the rounds until another one was lost."""
    parts = {"X": table, "y": y, "sample_weight": None, **more}
    others = {name: parts.pop(name) for name in ("resume", "keeping") if name in parts}
    shards_of = {name: None if part is None else cut(part, cuts) for name, part in parts.items()}

    def fit(shards: ThreadShards) -> Any:
        own: dict[str, Any] = {
            name: None if part is None else part[shards.number] for name, part in shards_of.items()
        }
        try:
            return fit_shard(clone(model), **own, shards=make(shards), **others)
        except ShardLostError as error:
            return error.rounds

    return run_shards(len(cuts) + 1, fit)


def check_same(model: Any, table: Any, y: Any, cuts: Sequence[int], **more: Any) -> None:
    """Check that all shards have the bytes of the plain fit, with scorers called alike."""
    plain, other = Scorer(), Scorer()
    whole = clone(model).set_params(scoring=plain).fit(table, y, **more)
    for fitted in fit_shards(model.set_params(scoring=other), table, y, cuts, **more):
        assert model_to_bytes(fitted) == model_to_bytes(whole)
        assert_array_equal(fitted.validation_score_, whole.validation_score_)
        assert_array_equal(fitted.train_score_, whole.train_score_)
    other.check_same_calls(plain)
    assert plain.calls


@pytest.mark.parametrize("cuts", CUTS[1:])
@pytest.mark.parametrize("fraction", [0.1, None])
def test_a_function_scores_held_out_rows(
    fraction: float | None, cuts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arboleda.boosting._hist_gradient_boosting._MANY_ROWS", 300)
    model = HistGradientBoostingClassifier(**STOPPING, validation_fraction=fraction)
    check_same(model, FRAME, CLASSES, cuts, sample_weight=WEIGHTS)


def test_a_function_scores_given_rows() -> None:
    model = HistGradientBoostingClassifier(**STOPPING)
    val = {"X_val": FRAME[:90], "y_val": CLASSES[:90], "sample_weight_val": WEIGHTS[:90]}
    check_same(model, FRAME, CLASSES, [20, 50], sample_weight=WEIGHTS, **val)


@pytest.mark.parametrize("make", [np.asarray, pl.DataFrame, lambda values: values.tolist()])
def test_the_table_is_of_the_kind_of_the_partitions(make: Any) -> None:
    check_same(HistGradientBoostingClassifier(**STOPPING), make(ARRAY), CLASSES, CUTS[3])


def test_a_function_scores_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    model = HistGradientBoostingClassifier(**STOPPING, validation_folds=3)
    check_same(model, FRAME, CLASSES, CUTS[2])
    monkeypatch.setattr("arboleda.boosting._auto.MAX_ROUNDS", 3)
    automatic = BoostingRegressor("quick", linear_leaves=False, random_state=0)
    automatic.set_params(scoring=score_errors)
    expected = model_to_bytes(clone(automatic).fit(FRAME, NUMBERS))
    for fitted in fit_shards(automatic, FRAME, NUMBERS, CUTS[1]):
        assert model_to_bytes(fitted) == expected


def score_errors(model: Any, X: Any, y: Any) -> float:
    weights = 1.0 + np.abs(X["few"])
    return -float(np.average(np.abs(model.predict(X) - y), weights=weights))


def test_parts_are_joined_as_a_whole_table() -> None:
    pa = pytest.importorskip("pyarrow")
    parts = [
        pd.DataFrame({"a": [1.0], "k": pd.Categorical(["x"]), "i": [1]}),
        pd.DataFrame({"k": pd.Categorical(["y"]), "i": [2], "a": np.array([2.0], np.float32)}),
    ]
    kinds = pd.CategoricalDtype(["x", "y"])
    expected = pd.DataFrame({"a": [1.0, 2.0], "k": ["x", "y"], "i": [1, 2]}).astype({"k": kinds})
    joined = join_tables(parts)
    pd.testing.assert_frame_equal(joined.reset_index(drop=True), expected)
    tables = [pa.Table.from_pandas(part, preserve_index=False) for part in parts]
    assert join_tables(tables).to_pydict() == {"a": [1.0, 2.0], "k": ["x", "y"], "i": [1, 2]}
    frames = [pl.from_pandas(part) for part in parts]
    assert join_tables(frames)["a"].to_list() == [1.0, 2.0]
    with pytest.raises(TypeError, match=r"several kinds \(ndarray, DataFrame\): give partitions"):
        join_tables([ARRAY, FRAME])


def collect_errors(model: Any, cuts: Sequence[int] = (333,)) -> list[BaseException]:
    """Return the error of each shard, which all have ended."""
    tables, targets = cut(FRAME, cuts), cut(NUMBERS, cuts)
    errors: list[BaseException] = []

    def fit(shards: ThreadShards) -> None:
        k = shards.number
        try:
            fit_shard(clone(model), tables[k], targets[k], None, shards)
        except ValueError as error:  # in all shards
            errors.append(error)
        except (KeyError, BrokenBarrierError) as error:
            errors.append(error)
            raise

    with suppress(KeyError):
        run_shards(len(cuts) + 1, fit)
    assert len(errors) == len(cuts) + 1
    return errors


def test_the_error_of_a_function_ends_all_shards() -> None:
    def fail(model: Any, X: Any, y: Any) -> float:
        raise kind("no score")

    def fail_later(progress: Any) -> None:
        if progress.iteration == 2:
            raise kind("no round")

    model = HistGradientBoostingRegressor(**STOPPING, scoring=fail)
    kind: Any = ValueError
    for error in collect_errors(model):
        assert str(error) == "no score"
        assert error.__notes__ == ["raised by scoring in shard 0"]
    kind = KeyError
    first, second = sorted(collect_errors(model), key=lambda error: isinstance(error, KeyError))
    assert isinstance(first, BrokenBarrierError)
    assert second.__notes__ == ["raised by scoring in shard 0"]
    errors = collect_errors(HistGradientBoostingRegressor(**OPTIONS, callbacks=[fail_later]))
    (own,) = [error for error in errors if isinstance(error, KeyError)]
    assert own.__notes__ == ["raised by a callback in shard 0"]


def test_rows_for_a_function_must_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ThreadShards, "memory_limit", 30_000)
    model = HistGradientBoostingRegressor(**STOPPING, scoring=score_errors)
    first, second = collect_errors(model)
    assert str(first) == str(second)
    assert "scoring needs its 90 rows of X in one place, where their 0.0 MB are more" in str(first)


def count_gathers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    gathered = []
    gather = ShardParts.gather_rows

    def count(self: ShardParts, numbers: Any) -> Any:
        gathered.append(self.shards.number)
        return gather(self, numbers)

    monkeypatch.setattr(ShardParts, "gather_rows", count)
    return gathered


def test_rows_are_gathered_once_where_rounds_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    gathered, kept, rounds = count_gathers(monkeypatch), [], []
    keeping = RoundKeeping(2, lambda n, rounds: kept.append(n))
    model = HistGradientBoostingRegressor(
        **STOPPING | {"validation_fraction": 0.3, "n_iter_no_change": 9}, scoring=score_errors,
        callbacks=[lambda progress: rounds.append(progress.iteration)],
    )  # fmt: skip
    expected = model_to_bytes(clone(model).set_params(callbacks=None).fit(FRAME, NUMBERS))
    for fitted in fit_shards(model, FRAME, NUMBERS, CUTS[1], keeping=keeping):
        assert model_to_bytes(fitted.set_params(callbacks=None)) == expected
    assert kept == [2, 4, 6]
    assert rounds == [1, 2, 3, 4, 5, 6]
    # Once for early stopping, and once for the scores of training rows.
    assert sorted(gathered) == [0, 0, 1, 1]


class Recorder:
    """A callback that records rounds, and stops when their losses have risen often enough."""

    def __init__(self, patience: int = 99) -> None:
        self.rounds: list[Any] = []
        self.patience = patience
        self.n_worse = 0

    def __call__(self, progress: Any) -> bool:
        self.rounds.append(progress)
        self.n_worse += progress.iteration % 2
        return self.n_worse >= self.patience

    def __deepcopy__(self, memo: Any) -> "Recorder":
        return self


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"early_stopping": True, "n_iter_no_change": 9},
        {"early_stopping": True, "n_iter_no_change": 9, "scoring": "r2"},
        {"early_stopping": True, "n_iter_no_change": 9, "validation_fraction": None},
        {"validation_folds": 3, "early_stopping": True, "n_iter_no_change": 2},
    ],
)
def test_one_shard_calls_callbacks_as_the_plain_fit_does(options: dict[str, Any]) -> None:
    plain, other = Recorder(), Recorder()
    model = HistGradientBoostingRegressor(**OPTIONS | options)
    clone(model).set_params(callbacks=[plain]).fit(FRAME, NUMBERS)
    fit_shards(model.set_params(callbacks=[other]), FRAME, NUMBERS, CUTS[2])
    assert other.rounds == plain.rounds
    assert len(plain.rounds) >= 6


@pytest.mark.parametrize("is_warm", [False, True])
@pytest.mark.parametrize("scoring", ["loss", score_errors])
@pytest.mark.parametrize("share", [0.5, 0.999])
def test_callbacks_see_all_rounds_after_a_loss(share: float, scoring: Any, is_warm: bool) -> None:
    """The fit that goes on stops where a fit that was never interrupted does."""
    model = HistGradientBoostingRegressor(
        **STOPPING | {"max_iter": 12, "n_iter_no_change": 99}, scoring=scoring, warm_start=is_warm
    )
    plain = Recorder(patience=4)
    first = clone(model).set_params(max_iter=1, callbacks=None)
    if is_warm:
        first.fit(FRAME, NUMBERS)
        model, first = first, model
        model.set_params(max_iter=12)
    tables, targets = cut(FRAME, CUTS[1]), cut(NUMBERS, CUTS[1])

    def fit(callback: Any, shards: ThreadShards, resume: Any = None) -> Any:
        own = copy.deepcopy(model).set_params(callbacks=[callback])
        k = shards.number
        try:
            return fit_shard(own, tables[k], targets[k], None, shards, resume=resume)
        except ShardLostError as error:
            return error.rounds

    whole = copy.deepcopy(model).set_params(callbacks=[plain]).fit(FRAME, NUMBERS)

    def count(shards: ThreadShards) -> int:
        fit(Recorder(4), shards)
        return shards.n_calls

    n_calls = run_shards(2, count)[0]

    def lose(shards: ThreadShards) -> Any:
        losing = LosingShards(shards._board, shards.number)
        losing.left = int(share * n_calls)
        return fit(Recorder(4), losing)

    rounds = run_shards(2, lose)[0]
    assert rounds.ensemble.n_rounds > is_warm
    other = Recorder(patience=4)
    for fitted in run_shards(2, lambda shards: fit(other, shards, rounds)):
        bare = model_to_bytes(fitted.set_params(callbacks=None))
        assert bare == model_to_bytes(whole.set_params(callbacks=None))
    assert other.rounds == plain.rounds
    assert other.rounds[-1].iteration < 12


def test_a_custom_loss_is_called_for_the_rows_of_each_shard() -> None:
    """Also for none."""

    def square(y: Any, raw: Any) -> tuple[Any, Any]:
        error = raw - y
        assert error.max() < 1e9  # raises an error for no rows
        return error, np.ones_like(error)

    model = HistGradientBoostingRegressor(square, **STOPPING, scoring=score_errors)
    expected = model_to_bytes(clone(model).fit(FRAME, NUMBERS))
    for fitted in fit_shards(model, FRAME, NUMBERS, CUTS[3]):
        assert model_to_bytes(fitted) == expected
