"""A fitted object imports nothing more, so that a fork finds no half-loaded module."""

import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from arboleda import HistGradientBoostingClassifier, RandomForestClassifier

_SCRIPT = Path(__file__).with_name("first_use.py")
_PACKAGES = ["adaboost", "bagging", "boosting", "combine", "decide", "features", "forest",
             "learners", "tree"]  # fmt: skip


@pytest.mark.parametrize("package", _PACKAGES)
def test_fitted_models_import_nothing_more(package: str) -> None:
    done = subprocess.run(
        [sys.executable, str(_SCRIPT), package], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("!")] == []
    assert any(line.endswith("done") for line in lines)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_while_a_thread_fits_predicts() -> None:
    X = np.random.default_rng(0).random((300, 4))
    y = (X[:, 0] > 0.5).astype(int)
    models = [
        RandomForestClassifier(10, random_state=0),
        HistGradientBoostingClassifier(max_iter=5),
    ]
    for model in models:
        model.fit(X, y)
    expected = [model.predict(X).tolist() for model in models]
    stop = threading.Event()

    def keep_fitting() -> None:
        while not stop.is_set():
            RandomForestClassifier(10, random_state=1).fit(X, y)
            HistGradientBoostingClassifier(max_iter=5).fit(X, y)

    thread = threading.Thread(target=keep_fitting)
    thread.start()
    try:
        for _ in range(20):
            assert _predicts_in_a_child(models, X, expected, seconds=60)
    finally:
        stop.set()
        thread.join()


def _predicts_in_a_child(models: list, X: np.ndarray, expected: list, seconds: float) -> bool:
    """Fork, predict in the child, and return whether it predicted correctly in time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads
        child = os.fork()
    if child == 0:
        right = all(
            model.predict(X).tolist() == labels and repr(model)
            for model, labels in zip(models, expected, strict=True)
        )
        os._exit(0 if right else 1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False
