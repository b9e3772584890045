"""Several fits at once, each on threads of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from arboleda import _native

Result = TypeVar("Result")


@contextmanager
def workers(n_workers: int) -> Iterator[ThreadPoolExecutor]:
    """Threads for fits; none outlives the block.

    When the block ends by an exception, an interrupt for example, the engine's work in the threads
    stops at its next look and what has not yet begun is dropped.

    Parameters
    ----------
    n_workers : int
        At least 1.
    """
    flag = _native.StopFlag()
    with ThreadPoolExecutor(n_workers, initializer=_native.obey, initargs=(flag,)) as pool:
        try:
            yield pool
        except BaseException:
            flag.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def run_side_by_side(tasks: Sequence[Callable[[int], Result]], n_threads: int) -> list[Result]:
    """Call every task with the number of threads that it may use; results in the tasks' order.

    All tasks together use at most ``n_threads``. When one fails, or the caller is interrupted, the
    engine's work in the others stops at its next look, the tasks not yet begun are dropped, and
    the exception of the first failing task is raised.

    Parameters
    ----------
    tasks : sequence of callables
        Each takes a number of threads, on which its result must not depend.
    n_threads : int
        At least 1.

    Returns
    -------
    results : list
    """
    n_workers = min(n_threads, len(tasks))
    if n_workers <= 1:
        return [task(n_threads) for task in tasks]
    with workers(n_workers) as pool:
        futures = [pool.submit(task, n_threads // n_workers) for task in tasks]
        return [future.result() for future in futures]
