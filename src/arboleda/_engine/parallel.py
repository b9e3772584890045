"""Threads, memory and parallel fits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import joblib

from arboleda import _native
from arboleda._engine.row_predictor import has_few_rows
from arboleda._utils.operating_system import system

__all__ = ["check_output_size", "get_usable_memory"]


def get_usable_memory() -> int:
    """Return the maximum number of bytes that this process can use."""
    return system.read_usable_memory()


def check_output_size(n_rows: int, n_outputs: int, *, task: str, bytes_each: int = 8) -> None:
    """Check that an array of rows times outputs fits in memory.

    Parameters
    ----------
    n_rows, n_outputs : int
        Numbers of rows, and of classes or values per row.
    task : {"fitting", "predicting"}
        Purpose of the memory.
    bytes_each : int, default=8
        Bytes per row and output.

    Raises
    ------
    MemoryError
        If the array does not fit in memory.
    """
    needed = n_rows * n_outputs * bytes_each
    if needed <= get_usable_memory():
        return
    remedy = (
        "if the target is a quantity, use a regressor; otherwise merge rare classes"
        if task == "fitting"
        else "predict fewer rows at a time"
    )
    raise MemoryError(
        f"{task} requires at least {needed / 2**30:,.0f} GiB for {n_rows:,} rows x {n_outputs:,} "
        f"classes, more than is available: {remedy}"
    )


def count_available_cores() -> int:
    """Count the cores that this process may use, respecting its affinity and container quota."""
    return int(joblib.cpu_count())


def resolve_threads(table: Any, n_jobs: int | None) -> int:
    """Convert ``n_jobs`` to a number of threads; one for few rows.

    Counting the cores takes longer than predicting few rows.
    """
    return 1 if n_jobs != 0 and has_few_rows(table) else resolve_n_jobs(n_jobs)


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Convert scikit-learn's ``n_jobs`` to a number of threads.

    None means all available cores, or ``OMP_NUM_THREADS`` if that is fewer (joblib sets it in its
    workers to limit nested parallelism). Negative numbers count from all cores: -1 is all, -2 all
    but one. The result is at most the number of available cores, as more threads are slower.

    Raises
    ------
    ValueError
        If ``n_jobs`` is 0.
    """
    cores = count_available_cores()
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: set a number of threads, or -1 for all cores")
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else min(n_jobs, cores)


def runs_on_dask() -> bool:
    """Return whether joblib runs its tasks on the workers of Dask: ``parallel_config("dask")``."""
    backend, _ = joblib.parallel.get_active_backend()
    return bool(type(backend).__module__ == "joblib._dask")


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
