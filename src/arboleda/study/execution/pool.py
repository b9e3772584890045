"""Doing jobs one after another in this process, or in worker processes that can be stopped."""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from joblib import cpu_count

from arboleda.study.execution.job import Job, Shared, run_job
from arboleda.study.execution.limits import Limits
from arboleda.study.execution.workers import WorkerPool

__all__ = ["Pool", "choose_processes"]

# Below this many cells starting processes costs more than they save.
CELLS_PER_POOL = 200_000

Done = Generator[tuple[Job, dict[str, Any]], None, None]


def choose_processes(jobs: int | None, n_cells: int) -> int:
    """How many processes to use: as told, else one per core unless the table is small."""
    if jobs is not None:
        return jobs
    return int(cpu_count()) if n_cells > CELLS_PER_POOL else 1


class Pool:
    """Does jobs, with one process for each slot, each with one thread.

    Small tables are worked on in this process, unless something has to be stopped: a fit that
    takes too much, or whatever is at work when the time is over. Workers are started when there
    is work for them, and are kept until the pool is closed.

    Parameters
    ----------
    shared : Shared
        What every job reads; workers map its matrix from a file, so that it is in memory once.
    processes : int
        Jobs that are done at a time.
    folder : Path
        Where that file is made; it has no name there, and is gone with the last process.
    limits : Limits
        What one job may take.
    deadline : float, optional
        When the time is over, by `time.monotonic`.
    """

    def __init__(
        self,
        shared: Shared,
        processes: int,
        folder: Path,
        limits: Limits = Limits(),  # noqa: B008 - it cannot be changed
        deadline: float | None = None,
    ) -> None:
        self.processes = processes
        self.deadline = deadline
        self.n_classes = len(shared.target.labels)
        self._shared = shared
        is_large = shared.features.x.size > CELLS_PER_POOL
        apart = processes > 1 or limits.any or (deadline is not None and is_large)
        self._workers = WorkerPool(shared, processes, folder, limits) if apart else None

    def run(
        self,
        jobs: Sequence[Job],
        is_allowed: Callable[[Job], bool] = lambda job: True,
        deadline: float | None = None,
    ) -> Done:
        """Yield each job with its result as soon as it is done.

        The results are the same bits for any number of processes; only their order differs. A job
        that its worker does not survive, or that takes more than it may, has failed; the others go
        on. Jobs that do not fit the moment their turn comes, and those at work or waiting when the
        time is over, are passed over. If this process is killed the workers end by themselves.

        Parameters
        ----------
        jobs : sequence of Job
        fits : callable
            Asked of every job when its turn comes: whether it should still be done.
        deadline : float, optional
            When the time is over for these jobs, if that is before the pool's own.

        Raises
        ------
        StudyError
            If no worker can be started.
        """
        known = [end for end in (deadline, self.deadline) if end is not None]
        end = min(known, default=None)
        if self._workers is None:
            yield from self._here(jobs, is_allowed, end)
            return
        with closing(self._workers.run(jobs, is_allowed, end)) as results:
            yield from results

    def _here(
        self, jobs: Sequence[Job], is_allowed: Callable[[Job], bool], deadline: float | None
    ) -> Done:
        for job in jobs:
            if deadline is not None and time.monotonic() >= deadline:
                return
            if is_allowed(job):
                yield job, run_job(job, self._shared)

    def close(self) -> None:
        """End the workers, whatever they are at."""
        if self._workers is not None:
            self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
