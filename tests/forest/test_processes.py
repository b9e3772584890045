"""Forests beside other processes and threads: forks, workers of joblib.

Each case runs in its own Python process, which an alarm ends after 60 seconds.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the cases are about forks")

_MODULE = """
import hashlib, multiprocessing, pickle, signal, sys
import joblib
import numpy as np
from arboleda._engine.columns import DenseTable
from arboleda._engine.fit import (
    FittedRows, ForestOptions, fit_classification_forest, out_of_bag_curve)

signal.alarm(60)
random = np.random.default_rng(0)
X = random.normal(size=(3000, 6))
y = (X[:, 0] + X[:, 1] * X[:, 2] > 0.2).astype(int)
table = DenseTable(list(X.T), len(X), (0,) * 6)
options = lambda: ForestOptions(n_trees=6, max_features=2)

def fit(n_threads=3):
    coded = table.code(n_threads)
    return fit_classification_forest(
        coded, y, (2,), None, "gini", options(), n_threads=n_threads, seed=1)

def digest(forest, n_threads=3):
    rows = FittedRows(options(), y, (2,), None, 1)
    error = out_of_bag_curve(forest, table, rows, n_threads=n_threads).error
    votes = forest.votes(table, n_threads=n_threads)
    state = pickle.dumps(forest._native)
    return hashlib.sha256(state + votes.tobytes() + error.tobytes()).hexdigest()

def fitted(n_threads=3):
    return digest(fit(n_threads), n_threads)

def in_child(queue, native):
    from arboleda._engine.forest import Forest
    queue.put((None if native is None else digest(Forest(native, (2,))), fitted()))
"""

_FORKS = (
    _MODULE
    + """
if __name__ == "__main__":
    method, before = sys.argv[1:]
    expected = fitted()
    native = None
    if before == "predict":
        forest = fit()
        assert digest(forest) == expected
        native = forest._native
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    children = [context.Process(target=in_child, args=(queue, native)) for _ in range(2)]
    for child in children:
        child.start()
    assert fitted() == expected
    for _ in children:
        old, new = queue.get(timeout=50)
        assert new == expected and old in (None, expected)
    for child in children:
        child.join()
        assert child.exitcode == 0
    assert fitted() == expected
"""
)

_JOBLIB = (
    _MODULE
    + """
if __name__ == "__main__":
    expected = fitted(1)
    with joblib.parallel_config(backend=sys.argv[1]):
        found = joblib.Parallel(n_jobs=2)(joblib.delayed(fitted)(n) for n in (2, 3, 64, 1))
    assert found == [expected] * 4
    assert fitted(2) == expected
"""
)


def _run(folder: Path, script: str, *arguments: str) -> None:
    path = folder / "script.py"  # a file, because spawned children import it
    path.write_text(script)
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, str(path), *arguments]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=100
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("method", "before"),
    [
        ("fork", "fit"),
        ("fork", "predict"),
        pytest.param("spawn", "predict", marks=pytest.mark.slow),
        pytest.param("forkserver", "predict", marks=pytest.mark.slow),
    ],
)
def test_child_processes_fit_and_predict_like_their_parent(
    method: str, before: str, tmp_path: Path
) -> None:
    _run(tmp_path, _FORKS, method, before)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_jobs_of_joblib_fit_the_same(backend: str, tmp_path: Path) -> None:
    _run(tmp_path, _JOBLIB, backend)
