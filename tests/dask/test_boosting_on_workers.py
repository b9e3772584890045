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
from arboleda.persist import model_to_bytes

dask = pytest.importorskip("dask")

CASES: list[tuple[str, dict[str, Any]]] = [
    ("Classifier", {"max_iter": 8, "early_stopping": True, "n_iter_no_change": 2}),
    ("Classifier", {"max_iter": 3, "subsample": 0.5, "multi_strategy": "multi_output_tree"}),
    ("Regressor", {"max_iter": 3, "sampling": "goss", "growth": "level_wise"}),
    ("Regressor", {"max_iter": 3, "loss": "absolute_error", "extra_trees": True}),
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


def test_a_checkpoint_is_continued(client: Any, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = X[:, 0] > X[:, 1]
    path = tmp_path / "model.ckpt"
    here, there = make_pair(client, "Classifier", {"max_iter": 10})
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


def test_boosting_that_chooses_its_parameters(client: Any, tmp_path: Path) -> None:
    frame = make_frame(400)
    X, y = frame.drop(columns="y"), frame["y"]
    options: dict[str, Any] = {"effort": "quick", "n_iter_no_change": 3, "random_state": 0}
    here = arboleda.BoostingRegressor(**options, linear_leaves=False).fit(X, y)
    there = arboleda.dask.BoostingRegressor(client=client, **options)
    parts = cut(X, [150, 250]), cut(y, [150, 250])
    there.fit(*parts)
    np.testing.assert_array_equal(there.predict(X), here.predict(X))
    np.testing.assert_array_equal(there.predict_interval(X), here.predict_interval(X))
    np.testing.assert_array_equal(there.cv_predictions_, here.cv_predictions_)
    with pytest.raises(ValueError, match="checkpoint keeps the rounds of one model"):
        there.fit(*parts, checkpoint=tmp_path / "model.arboleda")
