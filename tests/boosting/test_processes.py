"""Boosting beside other processes and threads: forks, workers of joblib, few threads or processors.

Each case runs in its own Python process, which an alarm ends after 60 seconds.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="forks, affinity and /proc as Linux has them"
)

_DOES_NOT_BIND = 77

_MODULE = """
import hashlib, multiprocessing, os, pickle, resource, signal, sys, threading, time
import numpy as np
from arboleda import GradientBoostingClassifier, HistGradientBoostingClassifier
from arboleda._engine import parallel as threads

signal.alarm(60)
random = np.random.default_rng(0)
X = random.normal(size=(6000, 12))
y = (X[:, 0] + X[:, 1] * X[:, 2] > 0.2).astype(int) + (X[:, 3] > 1)

def allow(n):  # threads, whatever the number of processors
    threads.count_available_cores = lambda: n

def fit(n_jobs=3):
    model = HistGradientBoostingClassifier(max_iter=4, n_jobs=n_jobs).fit(X, y)
    exact = GradientBoostingClassifier(n_estimators=1, max_depth=2, n_jobs=n_jobs)
    exact.fit(X[:1500, :4], y[:1500])
    return model, exact

def digest(models):
    parts = [pickle.dumps(m.ensemble_) + m.predict_proba(X[:, : m.n_features_in_]).tobytes()
             for m in models]
    return hashlib.sha256(b"".join(parts)).hexdigest()

def fitted(n_jobs=3):
    return digest(fit(n_jobs))

def in_child(queue, models):
    allow(3)
    queue.put((None if models is None else digest(models), fitted()))

def n_more_threads():
    return len(os.listdir("/proc/self/task")) - n_at_first

n_at_first = len(os.listdir("/proc/self/task"))
"""

_FORKS = (
    _MODULE
    + """
if __name__ == "__main__":
    allow(3)
    method, before = sys.argv[1:]
    expected = fitted()
    models = None
    if before == "predict":
        models = fit()
        assert digest(models) == expected
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    children = [context.Process(target=in_child, args=(queue, models)) for _ in range(2)]
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
import joblib
if __name__ == "__main__":
    expected = fitted(1)
    with joblib.parallel_config(backend=sys.argv[1]):
        found = joblib.Parallel(n_jobs=2)(joblib.delayed(fitted)(n) for n in (2, None, 1000, 1))
    assert found == [expected] * 4
    assert fitted(2) == expected
"""
)

_FEW_THREADS = (
    _MODULE
    + """
if __name__ == "__main__":
    import ctypes
    allow(8)
    if os.getuid() == 0:
        os.setuid(65534)  # the limit does not bind root
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    try:
        threading.Thread(target=int).start()
        sys.exit(77)  # the limit does not bind here
    except RuntimeError:
        pass
    models = fit(8)
    assert n_more_threads() == 0
    print(digest(models))
"""
)

_ALONE = _MODULE + "print(fitted(1))"

_ONE_PROCESSOR = (
    _MODULE
    + """
if __name__ == "__main__":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(fitted(int(sys.argv[1])), n_more_threads())
"""
)

_CROWDED = (
    _MODULE
    + """
if __name__ == "__main__":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    HistGradientBoostingClassifier(max_iter=1, n_jobs=1).fit(X, y)
    # In turns and the best of five: other processes on this processor empty its caches.
    times = {1: [], 8: []}
    for _ in range(5):
        for n_threads, spent in times.items():
            allow(n_threads)
            begin = time.process_time()
            HistGradientBoostingClassifier(max_iter=15, n_jobs=n_threads).fit(X, y)
            spent.append(time.process_time() - begin)
    alone, crowd = min(times[1]), min(times[8])
    assert n_more_threads() == 7
    print(crowd / alone)
"""
)


def run(folder: Path, script: str, *arguments: str) -> str:
    """Run a script, a file because spawned children import it, and return what it prints."""
    path = folder / "script.py"
    path.write_text(script)
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    environment["PYTHONWARNINGS"] = "ignore"  # Python 3.12 warns of every fork beside threads
    result = subprocess.run(
        [sys.executable, str(path), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    if result.returncode == _DOES_NOT_BIND:
        pytest.skip("the limit on threads does not bind this user")
    assert result.returncode == 0, result.stderr
    return result.stdout


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
    run(tmp_path, _FORKS, method, before)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_jobs_of_joblib_fit_the_same(backend: str, tmp_path: Path) -> None:
    run(tmp_path, _JOBLIB, backend)


def test_the_fit_continues_when_no_thread_can_be_started(tmp_path: Path) -> None:
    assert run(tmp_path, _FEW_THREADS) == run(tmp_path, _ALONE)


def test_threads_do_not_exceed_processors(tmp_path: Path) -> None:
    alone, with_many = (run(tmp_path, _ONE_PROCESSOR, n).split() for n in ("1", "1000"))
    assert alone == with_many
    assert alone[1] == "0"


def test_threads_on_one_processor_do_not_slow_the_fit(tmp_path: Path) -> None:
    """Eight threads on one processor: no thread spins while another could work."""
    assert float(run(tmp_path, _CROWDED)) < 1.6
