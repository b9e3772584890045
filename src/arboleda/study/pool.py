"""Doing jobs one after another, or several at a time in worker processes."""

import os
import warnings
from collections.abc import Generator, Sequence
from typing import Any

from joblib import Parallel, cpu_count, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError

from arboleda.study.errors import StudyError
from arboleda.study.work import Job, Shared, do_job

__all__ = ["choose_processes", "do_jobs"]

# Below this many cells starting processes costs more than they save.
CELLS_PER_POOL = 200_000


def choose_processes(jobs: int | None, n_cells: int) -> int:
    """How many processes to use: as told, else one per core unless the table is small."""
    if jobs is not None:
        return jobs
    return int(cpu_count()) if n_cells > CELLS_PER_POOL else 1


def do_jobs(
    jobs: Sequence[Job], shared: Shared, processes: int
) -> Generator[tuple[Job, dict[str, Any]], None, None]:
    """Yield each job with its result as soon as it is done.

    The results are the same bits for any number of processes; only their order differs. If this
    process is killed the workers end by themselves.

    Raises
    ------
    StudyError
        If a worker dies, which is mostly for want of memory.
    """
    if processes == 1:
        for job in jobs:
            yield job, do_job(job, shared)
        return
    parent = os.getpid()
    calls = (delayed(_numbered)(i, job, shared, parent) for i, job in enumerate(jobs))
    with parallel_config(backend="loky", n_jobs=processes, inner_max_num_threads=1):
        pool = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        results = pool(calls)
    try:
        for number, result in results:
            yield jobs[number], result
    except TerminatedWorkerError as error:
        raise StudyError(
            "A worker process died, most likely for want of memory; what is done is kept: run the "
            "same command again with --jobs 1."
        ) from error
    except BaseException:
        _end(results)
        raise


def _end(results: Generator[Any, None, None]) -> None:
    """Stop the workers of an interrupted round, which would outlive it a while."""
    with warnings.catch_warnings():
        # It is told that work in progress is lost, which is what stopping means.
        warnings.simplefilter("ignore", UserWarning)
        results.close()
    get_reusable_executor().shutdown(wait=True, kill_workers=True)


def _numbered(number: int, job: Job, shared: Shared, parent: int) -> tuple[int, dict[str, Any]]:
    return number, do_job(job, shared, parent)
