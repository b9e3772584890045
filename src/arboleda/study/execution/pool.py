"""The pool of worker processes that run jobs, and what a worker does.

Workers are started when needed, monitored, stopped at a limit and replaced. A small table's jobs
run in this process. The decision record ``worker_pool`` says why this is not a library's pool.
"""

import os
import pickle
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Self

import numpy as np
from joblib import cpu_count

from arboleda._utils.errors import StudyError
from arboleda._utils.memory import limit_memory
from arboleda._utils.operating_system import system
from arboleda.study.execution.job import Job, JobStatus, Limits, Shared, make_failed_result, run_job

__all__ = ["Pool", "Worker", "WorkerPool", "choose_processes", "run_worker"]

# With fewer cells, starting processes costs more than it saves.
CELLS_PER_POOL = 200_000
# A new interpreter with this one's paths, and nothing of this process's main module.
_PROGRAM = (
    "import sys; sys.path[:] = {paths!r}; "
    "from arboleda.study.execution.pool import run_worker; run_worker()"
)
# Otherwise the numeric libraries start many threads, each with its buffers.
_ONE_THREAD = dict.fromkeys(
    (
        *(f"{library}_NUM_THREADS" for library in ("BLIS", "MKL", "NUMEXPR", "OMP", "OPENBLAS")),
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)
# Consecutive workers that exit before they are ready; then none can start.
_FALSE_STARTS = 3

Result = dict[str, Any]
Done = Generator[tuple[Job, Result], None, None]


class Worker:
    """A worker process and its current job.

    Parameters
    ----------
    first : bytes
        The first message that it is sent.
    table : int
        Descriptor of the file that holds the features' matrix.
    """

    def __init__(self, first: bytes, table: int) -> None:
        self.connection, theirs = Pipe()
        program = _PROGRAM.format(paths=sys.path)
        try:
            self.process = system.start_worker(
                program, theirs, table, {**os.environ, **_ONE_THREAD}
            )
        except OSError as error:
            self.connection.close()
            raise StudyError(
                f"No worker process can be started ({error.strerror or error}); run the same "
                "command again with --jobs 1."
            ) from error
        finally:
            theirs.close()
        self.job: Job | None = None
        self.ready = False
        self.since = 0.0
        with suppress(BrokenPipeError):  # it has exited, which the next receive detects
            self.connection.send_bytes(first)

    @property
    def is_idle(self) -> bool:
        """Whether the worker waits for a job."""
        return self.ready and self.job is None

    def send(self, job: Job) -> None:
        """Send a job to the worker."""
        self.job, self.since = job, time.monotonic()
        with suppress(BrokenPipeError):
            self.connection.send_bytes(pickle.dumps(job))

    def receive(self) -> bytes | None:
        """Receive the next message, or None if the worker has exited."""
        try:
            return self.connection.recv_bytes()
        except (EOFError, OSError):
            return None

    def end(self) -> int:
        """Kill the worker; return its exit status."""
        self.process.kill()
        self.connection.close()
        return self.process.wait()

    def describe_exit(self) -> str:
        """Describe how a process ended that was not stopped by this one."""
        self.connection.close()
        return system.describe_exit(self.process.wait())


class WorkerPool:
    """Up to ``processes`` workers; see `Pool`."""

    def __init__(self, shared: Shared, processes: int, folder: Path, limits: Limits) -> None:
        self._processes = processes
        self._limits = limits
        self._shared = shared
        self._folder = folder
        self._workers: list[Worker] = []
        self._first: bytes | None = None
        self._table: Any = None
        self._false_starts = 0

    def run(
        self, jobs: Sequence[Job], is_allowed: Callable[[Job], bool], deadline: float | None
    ) -> Done:
        """Yield each job with its result; see `Pool.run`."""
        waiting = deque(jobs)
        try:
            while True:
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
            for worker in [w for w in self._workers if w.job is not None]:
                self._close_worker(worker)

    def close(self) -> None:
        """Stop all workers and close the file."""
        for worker in list(self._workers):
            self._close_worker(worker)
        if self._table is not None:
            self._table.close()

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
            self._workers.append(self._start_worker())

    def _start_worker(self) -> Worker:
        if self._first is None:
            x = np.ascontiguousarray(self._shared.features.x)
            try:
                self._table = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed by close
                x.tofile(self._table)
                self._table.flush()
            except OSError as error:
                raise StudyError(
                    f"The table cannot be written for worker processes to the folder "
                    f"{self._folder} ({error.strerror or error}); free space there and run the "
                    "same command again: finished work is kept."
                ) from error
            features = replace(self._shared.features, x=np.empty((0, 0)))
            light = replace(self._shared, features=features)
            self._first = pickle.dumps((light, x.shape, self._limits))
        return Worker(self._first, self._table.fileno())

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
        elif not worker.ready:
            worker.ready = True
            self._false_starts = 0
        elif worker.job is not None:
            job, worker.job = worker.job, None
            result: Result = pickle.loads(message)
            if result["status"] is JobStatus.OUT_OF_MEMORY:
                # Memory that the worker still holds would be missing in the next fit.
                self._close_worker(worker)
                if (limit := self._limits.memory) is not None:
                    most = f"{limit / 1e6:,.0f} MB, the limit of a fit"
                    reason = f"it ran out of memory, of which it may take {most}"
                    result |= _make_stopped_result(reason)
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
        elif worker.job is not None:
            yield worker.job, _make_stopped_result(reason)

    def _stop_overdue(self) -> Done:
        limit = self._limits.seconds
        if limit is None:
            return
        now = time.monotonic()
        for worker in [w for w in self._workers if w.job is not None and now - w.since >= limit]:
            job = worker.job
            self._close_worker(worker)
            assert job is not None
            yield job, _make_stopped_result(f"it took more than {limit:g} s, the limit of a fit")

    def _close_worker(self, worker: Worker) -> None:
        self._workers.remove(worker)
        worker.end()


def _make_stopped_result(reason: str) -> Result:
    return make_failed_result(JobStatus.STOPPED, f"Stopped: {reason}")


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
        end = min((e for e in (deadline, self.deadline) if e is not None), default=None)
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

    def __exit__(self, *error: object) -> None:
        self.close()


def run_worker() -> None:
    """Serve the process named on the command line until it closes the connection or ends.

    The first message holds the data that all jobs share; the feature matrix is a memory-mapped
    file, not a message. This process sends an empty message when it is ready, and then a result for
    each job that it receives.
    """
    _exit_with_parent(int(sys.argv[1]))
    system.raise_oom_score()
    connection = system.connect(int(sys.argv[2]))
    table = system.open_shared(int(sys.argv[3]))
    try:
        shared, shape, limits = pickle.loads(connection.recv_bytes())
        shared = _map_features(shared, table, shape)
        limit_memory(limits.memory)
        connection.send_bytes(b"")
        while True:
            job = pickle.loads(connection.recv_bytes())
            connection.send_bytes(pickle.dumps(run_job(job, shared)))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent has closed the connection


def _map_features(shared: Shared, table: int, shape: tuple[int, int]) -> Shared:
    with os.fdopen(table, "rb") as file:
        x = np.memmap(file, dtype=np.float64, mode="r", shape=shape)
    return replace(shared, features=replace(shared.features, x=np.asarray(x)))


def _exit_with_parent(parent: int) -> None:
    """End this process when its parent is gone: its results would be lost."""

    def watch() -> None:
        system.wait_for_end(parent)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="arboleda-follow-parent").start()
