"""Run jobs sequentially in this process, or in worker processes that can be stopped."""

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

# With fewer cells, starting processes costs more than it saves.
CELLS_PER_POOL = 200_000

Done = Generator[tuple[Job, dict[str, Any]], None, None]


def choose_processes(jobs: int | None, n_cells: int) -> int:
    """Return the number of processes: as given, else one per core unless the table is small."""
    if jobs is not None:
        return jobs
    return int(cpu_count()) if n_cells > CELLS_PER_POOL else 1


class Pool:
    """Runs jobs in up to ``processes`` processes of one thread each.

    Jobs of small tables run in this process, unless they may have to be stopped by a limit or a
    deadline. Workers are started when there are jobs for them, and live until the pool is closed.

    Parameters
    ----------
    shared : Shared
        The data that every job reads; workers map its matrix from a file, so it is in memory once.
    processes : int
        Number of jobs that run at a time.
    folder : Path
        Folder of that file, which is unnamed and disappears with the last process.
    limits : Limits
        Limits of one job.
    deadline : float, optional
        End of the time budget, by `time.monotonic`.
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

        The results are bit-identical for any number of processes; only their order differs. A job
        that crashes its worker or exceeds a limit fails; the others continue. Jobs that are not
        allowed when their turn comes, and those running or waiting at the deadline, are skipped. If
        this process is killed, the workers end by themselves.

        Parameters
        ----------
        jobs : sequence of Job
        is_allowed : callable
            Called with each job when its turn comes: whether it should still run.
        deadline : float, optional
            Deadline of these jobs, if it is before the pool's own.

        Raises
        ------
        StudyError
            If no worker can be started.
        """
        known = [end for end in (deadline, self.deadline) if end is not None]
        end = min(known, default=None)
        if self._workers is None:
            yield from self._run_here(jobs, is_allowed, end)
            return
        with closing(self._workers.run(jobs, is_allowed, end)) as results:
            yield from results

    def _run_here(
        self, jobs: Sequence[Job], is_allowed: Callable[[Job], bool], deadline: float | None
    ) -> Done:
        for job in jobs:
            if deadline is not None and time.monotonic() >= deadline:
                return
            if is_allowed(job):
                yield job, run_job(job, self._shared)

    def close(self) -> None:
        """Stop the workers, including running jobs."""
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
