"""Boosting of rows on workers is that of the plain class, byte for byte."""

import os
import pickle
import signal
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import arboleda
import arboleda.dask
from arboleda.dask.partitions import _move_limits
from arboleda.persist import model_to_bytes

dask = pytest.importorskip("dask")

CASES: list[tuple[str, dict[str, Any]]] = [
    ("Classifier", {"max_iter": 8, "early_stopping": True, "n_iter_no_change": 2}),
    ("Classifier", {"max_iter": 3, "subsample": 0.5, "multi_strategy": "multi_output_tree"}),
    ("Regressor", {"max_iter": 3, "sampling": "goss", "growth": "level_wise"}),
    ("Regressor", {"max_iter": 3, "loss": "absolute_error", "extra_trees": True}),
    ("Regressor", {"max_iter": 6, "linear_leaves": True, "early_stopping": True}),
]


def make_frame(n_rows: int = 600) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(size=(n_rows, 4)).round(2), columns=list("abcd"))
    frame.loc[draw.random(n_rows) < 0.1, "b"] = np.nan
    frame["kind"] = pd.Categorical(draw.choice(["x", "y", "z", "w"], n_rows))
    frame["y"] = (frame["a"] > 0).astype(float) + (frame["kind"] == "x")
    return frame


def cut(table: Any, lengths: list[int]) -> list[Any]:
    limits = np.cumsum([0, *lengths])
    return [dask.delayed(table[a:b]) for a, b in pairwise(limits)]


def make_pair(client: Any, kind: str, options: dict[str, Any]) -> tuple[Any, Any]:
    name = f"HistGradientBoosting{kind}"
    here = getattr(arboleda, name)(random_state=3, **options)
    return here, getattr(arboleda.dask, name)(client=client, random_state=3, **options)


@pytest.mark.parametrize(("kind", "options"), CASES, ids=lambda case: str(case)[:40])
def test_the_model_is_the_same_byte_for_byte(
    client: Any, kind: str, options: dict[str, Any]
) -> None:
    frame = make_frame()
    X, y, weight = frame.drop(columns="y"), frame["y"], np.arange(len(frame)) % 3 + 0.5
    here, there = make_pair(client, kind, options)
    here.fit(X, y, weight)
    lengths = [100, 0, 350, 1, 149]
    there.fit(cut(X, lengths), cut(y, lengths), cut(weight, lengths))
    assert model_to_bytes(there.to_local()) == model_to_bytes(here)


def test_collections_and_files_give_the_same_model(client: Any, tmp_path: Path) -> None:
    frame = make_frame()
    X, y = frame.drop(columns="y"), frame["y"]
    here, there = make_pair(client, "Classifier", {"max_iter": 3})
    expected = model_to_bytes(here.fit(X, y))
    from dask import array, dataframe

    table = dataframe.from_pandas(frame, npartitions=3, sort=False)
    columns, target = table.drop(columns="y"), table["y"]
    there.fit(columns, target)
    assert model_to_bytes(there.to_local()) == expected

    predicted = there.predict_proba(columns)
    assert isinstance(predicted, array.Array)
    np.testing.assert_array_equal(predicted.compute(scheduler="threads"), here.predict_proba(X))
    with dask.config.set(scheduler="threads"):
        assert there.score(columns, target) == here.score(X, y)

    for number, (start, end) in enumerate([(0, 200), (200, 600)]):
        frame.iloc[start:end].to_parquet(tmp_path / f"part-{number}.parquet")
    there.fit(tmp_path / "part-*.parquet", "y")
    assert model_to_bytes(there.to_local()) == expected

    numbers = X[["a", "b"]].to_numpy()
    cut_numbers = array.from_array(numbers, chunks=(250, 1))
    there.fit(cut_numbers, array.from_array(y.to_numpy(), chunks=300))
    assert model_to_bytes(there.to_local()) == model_to_bytes(here.fit(numbers, y))
    lazy = there.predict(cut_numbers)
    assert lazy.chunks == ((250, 250, 100),)
    np.testing.assert_array_equal(lazy.compute(scheduler="threads"), here.predict(numbers))


def test_validation_rows_are_spread_too(client: Any) -> None:
    frame = make_frame(800)
    X, y = frame.drop(columns="y"), frame["y"]
    here, there = make_pair(client, "Regressor", {"max_iter": 20, "n_iter_no_change": 2})
    here.fit(X[:600], y[:600], X_val=X[600:], y_val=y[600:])
    there.fit(
        cut(X[:600], [10, 590]),
        cut(y[:600], [10, 590]),
        X_val=cut(X[600:], [50, 150]),
        y_val=cut(y[600:], [50, 150]),
    )
    assert model_to_bytes(there.to_local()) == model_to_bytes(here)


def test_a_table_of_this_process_is_sent(client: Any, tmp_path: Path) -> None:
    X = np.arange(400.0).reshape(200, 2)
    y = np.arange(200) % 3
    here, there = make_pair(client, "Classifier", {"max_iter": 2})
    assert model_to_bytes(there.fit(X, y).to_local()) == model_to_bytes(here.fit(X, y))
    there.save(tmp_path / "model.arboleda")
    assert (
        arboleda.load(tmp_path / "model.arboleda").predict(X).tolist() == here.predict(X).tolist()
    )
    copied = pickle.loads(pickle.dumps(there))
    assert copied.client is None
    assert clone(there).get_params() == there.get_params()
    np.testing.assert_array_equal(copied.predict(X), here.predict(X))


def kill_one(client: Any, after: float) -> threading.Thread:
    pids = list(client.run(os.getpid).values())

    def kill() -> None:
        time.sleep(after)
        os.kill(pids[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    return killer


@pytest.mark.parametrize("slopes", [False, True])
def test_a_checkpoint_is_continued(client: Any, tmp_path: Path, slopes: bool) -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = X[:, 0] > X[:, 1]
    path = tmp_path / "model.ckpt"
    here, there = make_pair(client, "Classifier", {"max_iter": 10, "linear_leaves": slopes})
    expected = model_to_bytes(here.fit(X, y))
    there.fit(X, y, checkpoint=path, checkpoint_every=3)
    assert model_to_bytes(there.to_local()) == expected
    kept = arboleda.load(path)
    assert kept.n_iter_ == 9
    kept.ensemble_ = kept.ensemble_.truncated(4)
    facts = arboleda.persist.read_header(path)["metrics"]
    kept.save(path, metrics=facts)
    there.fit(X, y, checkpoint=path)
    assert model_to_bytes(there.to_local()) == expected
    with pytest.raises(ValueError, match="of other data .its values differ"):
        there.fit(X + 1, y, checkpoint=path)
    with pytest.raises(ValueError, match="of a fit with max_depth=None, not 2"):
        clone(there).set_params(max_depth=2).fit(X, y, checkpoint=path)


RANDOM = np.random.default_rng(0)
SIZES = RANDOM.integers(2, 20, 40)
ENDS = np.cumsum(SIZES)
RANKED = pd.DataFrame(RANDOM.normal(size=(ENDS[-1], 3)).round(1), columns=list("abc"))
RANKED["query"] = np.repeat([f"q{i}" for i in RANDOM.permutation(40)], SIZES)
RANKED["y"] = np.digitize(RANKED["a"] + RANDOM.normal(size=len(RANKED)), [0.0, 1.0])
COLUMNS, RELEVANCE, QID = RANKED[["a", "b", "c"]], RANKED["y"], RANKED["query"]
# Partitions that end with a query; one of them is empty.
QUERY_LENGTHS = [int(ENDS[9]), 0, int(ENDS[24] - ENDS[9]), int(ENDS[-1] - ENDS[24])]
RANKER: dict[str, Any] = {"max_iter": 6, "random_state": 1, "early_stopping": True}


def make_ranker(client: Any, **options: Any) -> tuple[Any, Any]:
    here = arboleda.HistGradientBoostingRanker(**RANKER | options)
    return here, arboleda.dask.HistGradientBoostingRanker(client=client, **RANKER | options)


def get_bytes(model: Any) -> bytes:
    return model_to_bytes(model.to_local())


def test_queries_in_parts_in_a_column_and_in_files(client: Any, tmp_path: Path) -> None:
    here, there = make_ranker(client, n_iter_no_change=2)
    expected = model_to_bytes(here.fit(COLUMNS, RELEVANCE, qid=QID))
    there.fit(
        cut(COLUMNS, QUERY_LENGTHS), cut(RELEVANCE, QUERY_LENGTHS), qid=cut(QID, QUERY_LENGTHS)
    )
    assert get_bytes(there) == expected

    from dask import dataframe

    expected = model_to_bytes(here.fit(RANKED.drop(columns="y"), RELEVANCE, qid="query"))
    parts = dataframe.from_delayed(cut(RANKED, QUERY_LENGTHS), meta=RANKED)
    table, target = parts.drop(columns="y"), parts["y"]
    there.fit(table, target, qid="query", checkpoint=tmp_path / "c.ckpt", checkpoint_every=2)
    assert get_bytes(there) == expected
    assert arboleda.load(tmp_path / "c.ckpt").n_iter_ >= 2
    there.fit(table, target, qid="query", checkpoint=tmp_path / "c.ckpt")
    assert get_bytes(there) == expected
    with dask.config.set(scheduler="threads"):
        np.testing.assert_array_equal(there.predict(table).compute(), here.predict(COLUMNS))
        assert there.score(table, target) == here.score(COLUMNS, RELEVANCE, qid=QID)

    for number, (start, end) in enumerate([(0, ENDS[9]), (ENDS[9], ENDS[-1])]):
        RANKED.iloc[start:end].to_parquet(tmp_path / f"part-{number}.parquet")
    there.fit(tmp_path / "part-*.parquet", "y", qid="query")
    assert get_bytes(there) == expected
    there.save(tmp_path / "model.arboleda")
    assert arboleda.load(tmp_path / "model.arboleda").predict(COLUMNS).tolist() == [
        *here.predict(COLUMNS)
    ]


def test_sizes_and_tables_of_this_process(client: Any) -> None:
    here, there = make_ranker(client, loss="yetirank")
    n_val = int(ENDS[9])
    val = {"X_val": COLUMNS[:n_val], "y_val": RELEVANCE[:n_val]}
    expected = model_to_bytes(
        here.fit(COLUMNS, RELEVANCE, group=SIZES, **val, group_val=SIZES[:10])
    )
    there.fit(
        cut(COLUMNS, QUERY_LENGTHS),
        cut(RELEVANCE, QUERY_LENGTHS),
        group=cut(SIZES, [10, 0, 15, 15]),
        X_val=cut(COLUMNS, [n_val]),
        y_val=cut(RELEVANCE, [n_val]),
        group_val=cut(SIZES, [10]),
    )
    assert get_bytes(there) == expected
    there.fit(COLUMNS, RELEVANCE, group=SIZES, **val, group_val=SIZES[:10])
    assert get_bytes(there) == expected
    # No query is on two workers, although rows of all queries are mixed.
    order = RANDOM.permutation(len(COLUMNS))
    mixed = RANKED.iloc[order].drop(columns="y")
    there.fit(mixed, RELEVANCE.iloc[order], qid="query")
    assert get_bytes(there) == model_to_bytes(here.fit(mixed, RELEVANCE.iloc[order], qid="query"))


def test_errors_about_queries(client: Any) -> None:
    _, there = make_ranker(client)
    lengths = [QUERY_LENGTHS[0] - 1, len(COLUMNS) - QUERY_LENGTHS[0] + 1]
    with pytest.raises(
        ValueError, match=rf"^query {QID[QUERY_LENGTHS[0] - 1]} has rows in two part"
    ):
        there.fit(cut(COLUMNS, lengths), cut(RELEVANCE, lengths), qid=cut(QID, lengths))
    with pytest.raises(ValueError, match="partition . has .* rows in X and .* in group"):
        there.fit(cut(COLUMNS, lengths), cut(RELEVANCE, lengths), group=cut(SIZES, [10, 30]))
    with pytest.raises(TypeError, match="qid must be the name of a column of the files"):
        there.fit("nothing-*.parquet", "y", qid=QID)
    with pytest.raises(ValueError, match="qid and group are both given"):
        there.fit(COLUMNS, RELEVANCE, qid=QID, group=SIZES)
    assert not hasattr(there, "ensemble_")


@pytest.mark.parametrize(
    ("limits", "numbers", "moved"),
    [
        ([0, 2, 4, 6], [0, 0, 1, 1, 2, 2], [0, 2, 4, 6]),
        ([0, 1, 3, 6], [5, 5, 1, 1, 2, 2], [0, 2, 4, 6]),
        ([0, 2, 4, 6], [0, 1, 2, 3, 4, 0], [0, 6, 6, 6]),
    ],
)
def test_limits_separate_no_query(limits: Any, numbers: Any, moved: Any) -> None:
    assert _move_limits(limits, np.array(numbers)) == moved


def test_times_to_an_event(client: Any, tmp_path: Path) -> None:
    frame = make_frame().drop(columns="y")
    draw = np.random.default_rng(1)
    frame["time"] = draw.exponential(np.exp(-frame["a"])).round(1) + 0.1
    frame["event"] = draw.random(len(frame)) < 0.7
    X, y = frame.drop(columns=["time", "event"]), frame[["event", "time"]]
    options = {"loss": "aft", "max_iter": 4, "early_stopping": True}
    here, there = make_pair(client, "Survival", options)
    expected = model_to_bytes(here.fit(X, y))
    lengths = [0, 200, 400]
    parts, targets = cut(X, lengths), cut(y, lengths)
    for checkpoint in (tmp_path / "c.ckpt", tmp_path / "c.ckpt", None):  # kept, continued, without
        there.fit(parts, targets, checkpoint=checkpoint, checkpoint_every=2)
        assert get_bytes(there) == expected
    fields = [dask.delayed(y[a:b].to_records(index=False)) for a, b in [(0, 300), (300, 600)]]
    assert get_bytes(there.fit(cut(X, [300, 300]), fields)) == expected
    frame.to_parquet(tmp_path / "part.parquet")
    there.fit(tmp_path / "part.parquet", ["event", "time"])
    assert get_bytes(there) == expected

    with dask.config.set(scheduler="threads"):
        for method, arguments in (
            ("predict", ()),
            ("predict_survival_function", ([0.5, 2.0],)),
            ("predict_cumulative_hazard_function", ()),
            ("predict_quantile", ([0.2, 0.5],)),
        ):
            found = dask.compute(*getattr(there, method)(parts, *arguments))
            np.testing.assert_array_equal(
                np.concatenate(found), getattr(here, method)(X, *arguments)
            )
        assert there.score(parts, targets) == here.score(X, y)
    there.set_params(loss="discrete_time", periods=4).fit(parts, targets)
    here.set_params(loss="discrete_time", periods=4).fit(X, y)
    assert get_bytes(there) == model_to_bytes(here)


def test_cox_is_fitted_and_continued(client: Any, tmp_path: Path) -> None:
    frame = make_frame(300)
    X, y = frame.drop(columns="y"), pd.DataFrame({"event": frame["y"] < 2, "time": frame.index % 9})
    options = {"max_iter": 4, "early_stopping": True, "warm_start": True}
    here, there = make_pair(client, "Survival", options)
    parts, targets = cut(X, [0, 120, 180]), cut(y, [0, 120, 180])
    for n_rounds in (4, 7):
        here.set_params(max_iter=n_rounds).fit(X, y)
        there.set_params(max_iter=n_rounds).fit(parts, targets)
        assert get_bytes(there) == model_to_bytes(here)
    with pytest.raises(ValueError, match="checkpoint does not support warm_start=True"):
        there.fit(parts, targets, checkpoint=tmp_path / "c.ckpt")


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"max_iter": "auto"}, marks=pytest.mark.slow),
        {"validation_folds": 3, "max_iter": 5},
    ],
)
def test_rounds_chosen_by_folds(client: Any, options: dict[str, Any], tmp_path: Path) -> None:
    options |= {"early_stopping": True, "n_iter_no_change": 2}
    frame = make_frame(150)
    X, y = frame.drop(columns="y"), frame["y"]
    here, there = make_pair(client, "Classifier", options)
    there.fit(cut(X, [50, 100]), cut(y, [50, 100]))
    assert get_bytes(there) == model_to_bytes(here.fit(X, y))
    with pytest.raises(ValueError, match="checkpoint keeps the rounds of one model"):
        there.fit(X, y, checkpoint=tmp_path / "c.ckpt")


def test_boosting_that_chooses_its_parameters(client: Any, tmp_path: Path) -> None:
    frame = make_frame(400)
    X, y = frame.drop(columns="y"), frame["y"]
    options: dict[str, Any] = {"effort": "quick", "n_iter_no_change": 3, "random_state": 0}
    here = arboleda.BoostingRegressor(**options).fit(X, y)
    there = arboleda.dask.BoostingRegressor(client=client, **options)
    parts = cut(X, [150, 250]), cut(y, [150, 250])
    there.fit(*parts)
    np.testing.assert_array_equal(there.predict(X), here.predict(X))
    np.testing.assert_array_equal(there.predict_interval(X), here.predict_interval(X))
    np.testing.assert_array_equal(there.cv_predictions_, here.cv_predictions_)
    with pytest.raises(ValueError, match="checkpoint keeps the rounds of one model"):
        there.fit(*parts, checkpoint=tmp_path / "model.arboleda")
