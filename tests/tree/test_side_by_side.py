"""Concurrent fits: their order, their share of the threads, and the effect of one failure."""

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from arboleda import DecisionTreeRegressor
from arboleda._engine.parallel import run_in_parallel


@pytest.mark.parametrize(
    ("n_tasks", "n_threads", "workers", "share"),
    [(5, 1, 1, 1), (1, 4, 1, 4), (3, 2, 2, 1), (2, 5, 2, 2), (4, 4, 4, 1), (0, 2, 0, 0)],
)
def test_results_are_ordered_and_threads_are_limited(
    n_tasks: int, n_threads: int, workers: int, share: int
) -> None:
    seen: set[int] = set()

    def task(number: int) -> Callable[[int], tuple[int, int]]:
        def run(threads: int) -> tuple[int, int]:
            seen.add(threading.get_ident())
            time.sleep(0.02 * (n_tasks - number))
            return number, threads

        return run

    results = run_in_parallel([task(i) for i in range(n_tasks)], n_threads)
    assert results == [(i, share) for i in range(n_tasks)]
    assert len(seen) <= workers
    if workers == 1:
        assert seen == {threading.get_ident()}


def test_one_failure_stops_the_others_at_once() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300_000, 30)), random.normal(size=300_000)

    def fails(_: int) -> None:
        time.sleep(0.5)
        raise ValueError("the first")

    def works(n_threads: int) -> None:
        DecisionTreeRegressor(n_jobs=n_threads).fit(X, y)

    start = time.monotonic()
    with pytest.raises(ValueError, match="the first"):
        run_in_parallel([fails, works, works, works], 2)
    assert time.monotonic() - start < 2.5  # one of these fits alone takes longer


def test_a_stopped_run_leaves_no_thread() -> None:
    def fails(_: int) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        run_in_parallel([fails, fails], 2)
    fit = lambda n: DecisionTreeRegressor(n_jobs=n).fit([[0.0], [1.0]], [0.0, 1.0]).get_n_leaves()  # noqa: E731
    assert run_in_parallel([fit, fit], 2) == [2, 2]
    assert fit(1) == 2
