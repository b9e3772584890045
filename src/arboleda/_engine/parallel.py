"""Parallel fits, each with its own threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from arboleda import _native

Result = TypeVar("Result")


@contextmanager
def workers(n_workers: int) -> Iterator[ThreadPoolExecutor]:
    """Create a pool of threads for fits, which ends with the block.

    If the block ends with an exception, for example an interrupt, running work of the engine stops
    at its next check, and pending tasks are cancelled.

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


def run_in_parallel(tasks: Sequence[Callable[[int], Result]], n_threads: int) -> list[Result]:
    """Call every task with its number of threads and return the results in order.

    All tasks together use at most ``n_threads``. If a task fails or the caller is interrupted,
    running work of the engine stops at its next check, pending tasks are cancelled, and the
    exception of the first failing task is raised.

    Parameters
    ----------
    tasks : sequence of callables
        Each takes a number of threads, which must not affect its result.
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
