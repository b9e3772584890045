"""The pool of worker processes that run jobs.

Workers are started when needed, monitored, stopped at a limit and replaced. A small table's jobs
run in this process. The decision record ``worker_pool`` says why this is not a library's pool.
"""

import math
import pickle
import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import cycle
from multiprocessing.connection import wait
from pathlib import Path
from typing import IO, Any, Protocol, Self

import numpy as np

from arboleda._utils.errors import StudyError
from arboleda.study.execution.job import Job, JobStatus, Limits, Shared, make_failed_result, run_job
from arboleda.study.execution.worker import (
    CELLS_PER_POOL,
    Worker,
    end_spare_workers,
    take_worker,
)
from arboleda.study.execution.worker_process import map_matrix
from arboleda.tables.features import Features

__all__ = [
    "JobPool",
    "Pool",
    "SharedTable",
    "WorkerPool",
    "choose_deadline",
    "make_stopped_result",
]

# Consecutive workers that exit before they are ready; then none can start.
_FALSE_STARTS = 3

Result = dict[str, Any]
Done = Generator[tuple[Job, Result], None, None]


class JobPool(Protocol):
    """What runs the jobs of a study: processes of this machine (`Pool`), or Dask's workers.

    ``processes`` is the number of jobs that run at a time, and ``threads`` that of the threads of
    this process; all jobs end by the ``deadline``, if there is one. ``features`` are those to keep.
    """

    processes: int
    threads: int
    deadline: float | None
    n_classes: int
    features: Features

    def run(
        self,
        jobs: Sequence[Job],
        is_allowed: Callable[[Job], bool] = ...,
        deadline: float | None = None,
    ) -> Done:
        """Yield each job with its result as soon as it is done; see `Pool.run`."""

    def send_ahead(self, jobs: Sequence[Job]) -> None:
        """Begin with jobs of a later `run`, if that is possible."""


class SharedTable:
    """What all jobs read, with its matrix in an unnamed file that worker processes map.

    Parameters
    ----------
    shared : Shared
    folder : Path
        Folder of the file, which disappears with the last process.

    Attributes
    ----------
    shared : Shared
        The same data; its matrix is mapped from the file.
    file : file
    """

    def __init__(self, shared: Shared, folder: Path) -> None:
        self.file, features = _write_matrix(shared.features, folder)
        self.shared = replace(shared, features=features)

    def close(self) -> None:
        """Close the file."""
        self.file.close()


class WorkerPool:
    """Up to ``processes`` workers that map one table; see `Pool`."""

    def __init__(self, table: SharedTable, processes: int, limits: Limits) -> None:
        self._processes = processes
        self._limits = limits
        self._workers: list[Worker] = []
        self._file = table.file
        features = table.shared.features
        light = replace(table.shared, features=features.replace_matrix(np.empty((0, 0))))
        self._first = pickle.dumps((light, features.shape, limits))
        self._false_starts = 0
        self._is_interrupted = False

    def run(
        self, jobs: Sequence[Job], is_allowed: Callable[[Job], bool], deadline: float | None
    ) -> Done:
        """Yield each job with its result, also of jobs sent ahead; see `Pool.run`."""
        ahead = {job.identity for worker in self._workers for job in worker.jobs}
        waiting = deque(job for job in jobs if job.identity not in ahead)
        self._is_interrupted = False
        try:
            while not self._is_interrupted:
                self._dispatch(waiting, is_allowed)
                busy = [worker for worker in self._workers if worker.job is not None]
                if not busy and not waiting:
                    return
                for connection in wait(
                    [worker.connection for worker in self._workers], self._compute_timeout(deadline)
                ):
                    worker = next(w for w in self._workers if w.connection is connection)
                    yield from self._receive_result(worker)
                if deadline is not None and time.monotonic() >= deadline:
                    return
                yield from self._stop_overdue()
        finally:
            # Stopped from outside, or past the deadline: running jobs are abandoned.
            for worker in [w for w in self._workers if w.job is not None or self._is_interrupted]:
                self._close_worker(worker)

    def send_ahead(self, jobs: Sequence[Job]) -> None:
        """Distribute jobs among idle workers; see `Pool.send_ahead`."""
        idle = [worker for worker in self._workers if worker.is_idle]
        if self._limits.seconds is None:
            for job, worker in zip(jobs, cycle(idle), strict=False):
                worker.send(job)

    def interrupt(self) -> None:
        """Kill the workers and end `run`, from another thread, also while workers are starting."""
        self._is_interrupted = True
        for worker in list(self._workers):
            worker.process.kill()

    def close(self) -> None:
        """Stop all workers."""
        for worker in list(self._workers):
            self._close_worker(worker)

    def _dispatch(self, waiting: deque[Job], is_allowed: Callable[[Job], bool]) -> None:
        """Send the next jobs to idle workers, and start workers for the others."""
        for worker in [w for w in self._workers if w.is_idle]:
            while waiting:
                job = waiting.popleft()
                if is_allowed(job):
                    worker.send(job)
                    break
        starting = sum(not worker.ready for worker in self._workers)
        room = self._processes - len(self._workers)
        for _ in range(min(room, len(waiting) - starting)):
            self._workers.append(take_worker())

    def _compute_timeout(self, deadline: float | None) -> float | None:
        """Return the seconds until a worker, or all of them, must be stopped."""
        ends = [] if deadline is None else [deadline]
        if self._limits.seconds is not None:
            ends += [w.since + self._limits.seconds for w in self._workers if w.job is not None]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def _receive_result(self, worker: Worker) -> Done:
        message = worker.receive()
        if message is None:
            yield from self._handle_exit(worker)
        elif not worker.is_prepared:
            worker.prepare(self._first, self._file.fileno())
        elif not worker.ready:
            worker.ready = True
            self._false_starts = 0
        elif worker.jobs:
            job, worker.since = worker.jobs.popleft(), time.monotonic()
            result: Result = pickle.loads(message)
            if result["status"] is JobStatus.OUT_OF_MEMORY:
                # Memory that the worker still holds would be missing in the next fit.
                self._close_worker(worker)
                yield from self._fail(worker, "another job of its process ran out of memory")
                if (limit := self._limits.memory) is not None:
                    most = f"{limit / 1e6:,.0f} MB, the limit of a fit"
                    reason = f"it ran out of memory, of which it may take {most}"
                    result |= make_stopped_result(reason)
            yield job, result

    def _handle_exit(self, worker: Worker) -> Done:
        self._workers.remove(worker)
        reason = worker.describe_exit()
        if not worker.ready:
            self._false_starts += 1
            if self._false_starts >= _FALSE_STARTS:
                raise StudyError(
                    f"Worker processes do not start ({reason}); run the same command again with "
                    "--jobs 1."
                )
        yield from self._fail(worker, reason)

    def _fail(self, worker: Worker, reason: str) -> Done:
        """Yield the remaining jobs of a worker that has ended as stopped."""
        for job in worker.jobs:
            yield job, make_stopped_result(reason)

    def _stop_overdue(self) -> Done:
        limit = self._limits.seconds
        if limit is None:
            return
        now = time.monotonic()
        for worker in [w for w in self._workers if w.job is not None and now - w.since >= limit]:
            job = worker.job
            self._close_worker(worker)
            assert job is not None
            yield job, make_stopped_result(f"it took more than {limit:g} s, the limit of a fit")

    def _close_worker(self, worker: Worker) -> None:
        self._workers.remove(worker)
        worker.end()


def _write_matrix(features: Features, folder: Path) -> tuple[IO[bytes], Features]:
    """Write the matrix to an unnamed file, and return the file and the features mapped from it."""
    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by close
    try:
        for rows in features.iterate_blocks():
            rows.tofile(file)
        file.flush()
    except OSError as error:
        file.close()
        raise StudyError(
            f"The table cannot be written for worker processes to the folder {folder} "
            f"({error.strerror or error}); free space there and run the same command again: "
            "finished work is kept."
        ) from error
    return file, features.replace_matrix(map_matrix(file, features.shape))


def make_stopped_result(reason: str) -> Result:
    """Return the result of a job that did not end by itself."""
    return make_failed_result(JobStatus.STOPPED, f"Stopped: {reason}")


def choose_deadline(*deadlines: float | None) -> float | None:
    """Return the first of the deadlines that are given; None without any."""
    return min((end for end in deadlines if end is not None), default=None)


class Pool:
    """Runs jobs in up to ``processes`` processes of one thread each.

    Jobs of small tables run in this process, unless they may have to be stopped by a limit or a
    deadline. Workers are started when there are jobs for them, and live until the pool is closed.

    Parameters
    ----------
    shared : Shared
        The data that every job reads; workers map its matrix from a file.
    processes : int
        Number of jobs that run at a time.
    folder : Path
        Folder of that file, which is unnamed and disappears with the last process.
    limits : Limits
        Limits of one job.
    deadline : float, optional
        End of the time budget, by `time.monotonic`.

    Attributes
    ----------
    features : Features
        Those of ``shared``; with worker processes, their matrix is mapped from the same file: if
        nothing else holds the other one, it is in memory once.
    threads : int
        Threads that this process may use for its own work.
    """

    def __init__(
        self,
        shared: Shared,
        processes: int,
        folder: Path,
        limits: Limits = Limits(),  # noqa: B008 - it cannot be changed
        deadline: float | None = None,
    ) -> None:
        self.processes = self.threads = processes
        self.deadline = deadline
        self.n_classes = len(shared.target.labels)
        is_large = math.prod(shared.features.shape) > CELLS_PER_POOL
        apart = processes > 1 or limits.any or (deadline is not None and is_large)
        self._table = SharedTable(shared, folder) if apart else None
        self._workers = None if self._table is None else WorkerPool(self._table, processes, limits)
        self._shared = shared if self._table is None else self._table.shared
        self.features = self._shared.features
        end_spare_workers(keep=0 if self._workers is None else processes)

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
        end = choose_deadline(deadline, self.deadline)
        if self._workers is None:
            yield from self._run_here(jobs, is_allowed, end)
            return
        with closing(self._workers.run(jobs, is_allowed, end)) as results:
            yield from results

    def send_ahead(self, jobs: Sequence[Job]) -> None:
        """Let idle workers begin with jobs while this process does other work.

        A later `run` yields their results, and does not run them again if they are among its jobs.
        Without idle workers, or with a limit on the time of a job, nothing is sent.
        """
        if self._workers is not None:
            self._workers.send_ahead(jobs)

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
        if self._workers is not None and self._table is not None:
            self._workers.close()
            self._table.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
