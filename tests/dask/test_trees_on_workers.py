"""Trees of rows on workers are those of the plain class, byte for byte."""

import pickle
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.dask import shard_work

import arboleda
import arboleda.dask
from arboleda.persist import model_to_bytes

dask = pytest.importorskip("dask")

CASES: list[tuple[str, dict[str, Any]]] = [
    ("Classifier", {"max_leaf_nodes": 12, "class_weight": "balanced"}),
    ("Classifier", {"criterion": "entropy", "max_features": 2}),
    ("Regressor", {"max_depth": 4, "monotonic_cst": {"a": 1}}),
    ("Regressor", {"criterion": "poisson", "min_samples_leaf": 5, "ccp_alpha": 1e-3}),
]


def make_frame(n_rows: int = 600) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(size=(n_rows, 4)).round(2), columns=list("abcd"))
    frame.loc[draw.random(n_rows) < 0.1, "b"] = np.nan
    frame["kind"] = pd.Categorical(draw.choice(["x", "y", "z", "w"], n_rows))
    frame["y"] = (frame["a"] > draw.normal(size=n_rows)).astype(int) + (frame["kind"] == "x")
    return frame


def cut(table: Any, lengths: list[int]) -> list[Any]:
    limits = np.cumsum([0, *lengths])
    return [dask.delayed(table[a:b]) for a, b in pairwise(limits)]


def make_pair(client: Any, kind: str, **options: Any) -> tuple[Any, Any]:
    name = f"DecisionTree{kind}"
    here = getattr(arboleda, name)(max_bins=255, random_state=3, **options)
    return here, getattr(arboleda.dask, name)(client=client, random_state=3, **options)


@pytest.mark.parametrize(("kind", "options"), CASES, ids=lambda case: str(case)[:40])
def test_the_tree_is_the_same_byte_for_byte(
    client: Any, kind: str, options: dict[str, Any]
) -> None:
    frame = make_frame()
    X, y, weight = frame.drop(columns="y"), frame["y"], np.arange(len(frame)) % 3 + 0.5
    here, there = make_pair(client, kind, **options)
    here.fit(X, y, weight)
    lengths = [100, 0, 350, 1, 149]
    there.fit(cut(X, lengths), cut(y, lengths), cut(weight, lengths))
    assert model_to_bytes(there.to_local()) == model_to_bytes(here)


def test_collections_files_and_lazy_predictions(client: Any, tmp_path: Path) -> None:
    frame = make_frame()
    X, y = frame.drop(columns="y"), frame["y"]
    here, there = make_pair(client, "Classifier", max_depth=5)
    expected = model_to_bytes(here.fit(X, y))
    from dask import array, dataframe

    table = dataframe.from_pandas(frame, npartitions=3, sort=False)
    columns, target = table.drop(columns="y"), table["y"]
    there.fit(columns, target)
    assert model_to_bytes(there.to_local()) == expected
    with dask.config.set(scheduler="threads"):
        for method in ("predict", "predict_proba", "predict_log_proba", "apply"):
            lazy = getattr(there, method)(columns)
            assert isinstance(lazy, array.Array)
            np.testing.assert_array_equal(lazy.compute(), getattr(here, method)(X))
            np.testing.assert_array_equal(getattr(there, method)(X), getattr(here, method)(X))
        assert there.score(columns, target) == there.score(X, y) == here.score(X, y)

    frame[:200].to_parquet(tmp_path / "part-0.parquet")
    frame[200:].to_parquet(tmp_path / "part-1.parquet")
    there.fit(tmp_path / "part-*.parquet", "y")
    assert model_to_bytes(there.to_local()) == expected


def test_a_table_of_this_process_is_sent(client: Any, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = X[:, 0] * X[:, 1]
    here, there = make_pair(client, "Regressor")
    assert model_to_bytes(there.fit(X, y).to_local()) == model_to_bytes(here.fit(X, y))
    there.save(tmp_path / "model.arboleda")
    loaded = arboleda.load(tmp_path / "model.arboleda")
    np.testing.assert_array_equal(loaded.predict(X), here.predict(X))
    copied = pickle.loads(pickle.dumps(there))
    assert copied.client is None
    assert clone(there).get_params() == there.get_params()
    delayed = there.predict(cut(X, [150, 50]))
    np.testing.assert_array_equal(delayed[1].compute(scheduler="threads"), here.predict(X[150:]))
    with dask.config.set(scheduler="threads"):
        assert there.score(cut(X, [150, 50]), y) == here.score(X, y)


def test_parameters_that_need_all_rows_are_refused_before_the_fit(client: Any) -> None:
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    for options in ({"max_bins": None}, {"splitter": "random"}):
        tree = arboleda.dask.DecisionTreeClassifier(client=client, **options)
        with pytest.raises(ValueError, match="does not support"):
            tree.fit(X, y)
        assert not hasattr(tree, "tree_")


@pytest.mark.slow
def test_the_fit_begins_again_after_a_worker_is_killed(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = make_frame()
    X, y = frame.drop(columns="y"), frame["y"]
    here, there = make_pair(client, "Classifier", max_leaf_nodes=50)
    work = partial(shard_work.DyingTreeWork, marks=str(tmp_path))
    monkeypatch.setattr("arboleda.dask.trees.TreeWork", work)
    lengths = [300, 300]
    there.fit(cut(X, lengths), cut(y, lengths))
    assert len(list(tmp_path.iterdir())) == 1
    assert model_to_bytes(there.to_local()) == model_to_bytes(here.fit(X, y))
