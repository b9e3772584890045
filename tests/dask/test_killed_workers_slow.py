"""Fits during which workers are killed at random moments give the model of one machine."""

import os
import random
import signal
import threading
from typing import Any

import numpy as np
import pytest

import arboleda
import arboleda.dask
from arboleda.persist import model_to_bytes

dask = pytest.importorskip("dask")
N_FITS = 20


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_fits_with_killed_workers_are_equal(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Or the cluster gives up a worker that takes long to start again.
    monkeypatch.setitem(dask.config.config["distributed"]["deploy"], "lost-worker-timeout", "300s")
    X = np.random.default_rng(0).normal(size=(20_000, 10))
    y = X[:, 0] * X[:, 1] > X[:, 2]
    options = {"max_iter": 40, "random_state": 0}
    here = arboleda.HistGradientBoostingClassifier(**options).fit(X, y)
    draw = random.Random(0)
    for _ in range(N_FITS):
        client.wait_for_workers(2, timeout=120)
        pid = draw.choice(list(client.run(os.getpid, on_error="ignore").values()))
        killer = threading.Timer(draw.uniform(0, 4), os.kill, (pid, signal.SIGKILL))
        killer.start()
        model = arboleda.dask.HistGradientBoostingClassifier(client=client, **options)
        assert model_to_bytes(model.fit(X, y).to_local()) == model_to_bytes(here)
        killer.join()
