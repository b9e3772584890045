"""Forests grown in blocks on workers are those of this process, byte for byte."""

import os
import pickle
import signal
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes

import arboleda
import arboleda.dask
from arboleda.persist import model_to_bytes

CASES = [
    ("RandomForestClassifier", {"n_estimators": 17, "oob_score": True}),
    ("RandomForestRegressor", {"n_estimators": "auto", "ccp_alpha": 0.1}),
    ("ExtraTreesClassifier", {"n_estimators": 1}),
    ("ExtraTreesRegressor", {"n_estimators": 5, "bootstrap": True, "keep_rows": True}),
]


def load(name: str) -> tuple[Any, Any, Any]:
    X, y = (load_breast_cancer if "Classifier" in name else load_diabetes)(return_X_y=True)
    return X, y, np.arange(len(y)) % 5 + 0.5


@pytest.mark.parametrize(("name", "options"), CASES, ids=[name for name, _ in CASES])
def test_the_forest_is_the_same_byte_for_byte(
    client: Any, name: str, options: dict[str, Any]
) -> None:
    data = load(name)
    here = getattr(arboleda, name)(random_state=3, **options).fit(*data)
    model = getattr(arboleda.dask, name)(client=client, random_state=3, **options).fit(*data)
    assert model_to_bytes(model.to_local()) == model_to_bytes(here)
    assert type(model.to_local()) is getattr(arboleda, name)
    np.testing.assert_array_equal(model.predict(data[0]), here.predict(data[0]))
    if "oob_score" in options:
        assert model.oob_score_ == here.oob_score_


def test_trees_are_added_on_workers(client: Any) -> None:
    X, y, _ = load("RandomForestClassifier")
    forest = arboleda.dask.RandomForestClassifier(
        client=client, n_estimators=3, warm_start=True, random_state=0
    ).fit(X, y)
    forest.set_params(n_estimators=7).fit(X, y)
    here = arboleda.RandomForestClassifier(7, warm_start=True, random_state=0).fit(X, y)
    assert model_to_bytes(forest.to_local()) == model_to_bytes(here)


def test_a_killed_worker_costs_only_its_blocks(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, _ = load("RandomForestClassifier")
    X, y = np.tile(X, (8, 1)), np.tile(y, 8)
    submit = arboleda.dask.forests.Tasks.submit
    pids = list(client.run(os.getpid).values())

    def kill_first(self: Any, *task: Any) -> int:
        number: int = submit(self, *task)
        if number == 4:
            os.kill(pids[0], signal.SIGKILL)
        return number

    monkeypatch.setattr(arboleda.dask.forests.Tasks, "submit", kill_first)
    forest = arboleda.dask.RandomForestClassifier(
        client=client, n_estimators=40, random_state=0
    ).fit(X, y)
    here = arboleda.RandomForestClassifier(40, random_state=0).fit(X, y)
    assert model_to_bytes(forest.to_local()) == model_to_bytes(here)


def test_it_is_an_estimator_like_others(client: Any) -> None:
    forest = arboleda.dask.ExtraTreesRegressor(client=client, n_estimators=2, random_state=0)
    assert clone(forest).get_params() == forest.get_params()
    X, y, _ = load("ExtraTreesRegressor")
    copied = pickle.loads(pickle.dumps(forest.fit(X, y)))
    assert copied.client is None
    np.testing.assert_array_equal(copied.predict(X), forest.predict(X))
    with pytest.raises(TypeError, match="n_trees"):
        arboleda.dask.ExtraTreesRegressor(n_trees=2)


def test_errors_of_a_fit_are_those_of_the_plain_class(client: Any) -> None:
    forest = arboleda.dask.RandomForestClassifier(client=client, max_depth=-1)
    with pytest.raises(ValueError, match="max_depth"):
        forest.fit([[0.0], [1.0]], [0, 1])
