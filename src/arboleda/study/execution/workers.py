"""Worker processes: started when needed, monitored, stopped at a limit, replaced."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np

from arboleda.study.errors import StudyError
from arboleda.study.execution.job import STOPPED, Job, Shared
from arboleda.study.execution.limits import Limits

__all__ = ["Worker", "WorkerPool"]

# A new interpreter with this one's paths, and nothing of this process's main module. Ctrl-C reaches
# all processes of a terminal; it is for the parent to act on, from the first import on.
_PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path[:] = {paths!r}; "
    "from arboleda.study.execution.worker_main import main; main()"
)
# Otherwise the numeric libraries start many threads, each with its buffers.
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
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
        numbers = [os.getpid(), theirs.fileno(), table]
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", program, *map(str, numbers)],
                pass_fds=(theirs.fileno(), table),
                stdin=subprocess.DEVNULL,
                env={**os.environ, **dict.fromkeys(_ONE_THREAD, "1")},
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

    def exit_reason(self) -> str:
        """Describe how a process ended that was not stopped by this one."""
        self.connection.close()
        code = self.process.wait()
        if code == -signal.SIGKILL:
            return f"{STOPPED}: its process was killed (signal 9), most likely for want of memory"
        if code < 0:
            name = signal.strsignal(-code) or "unknown"
            return f"{STOPPED}: its process died of signal {-code} ({name})"
        return f"{STOPPED}: its process ended by itself, with status {code}"


class WorkerPool:
    """Up to ``processes`` workers; see `arboleda.study.execution.pool.Pool`."""

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
        """Yield each job with its result; see `arboleda.study.execution.pool.Pool.do`."""
        waiting = deque(jobs)
        try:
            while True:
                self._dispatch(waiting, is_allowed)
                busy = [worker for worker in self._workers if worker.job is not None]
                if not busy and not waiting:
                    return
                for connection in wait(
                    [worker.connection for worker in self._workers], self._poll_timeout(deadline)
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
            self._workers.append(self._start())

    def _start(self) -> Worker:
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

    def _poll_timeout(self, deadline: float | None) -> float | None:
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
            if (result["error"] or "").startswith("MemoryError"):
                # Memory that the worker still holds would be missing in the next fit.
                self._close_worker(worker)
                result = {**result, "error": self._out_of_memory(result["error"])}
            yield job, result

    def _handle_exit(self, worker: Worker) -> Done:
        self._workers.remove(worker)
        reason = worker.exit_reason()
        if not worker.ready:
            self._false_starts += 1
            if self._false_starts >= _FALSE_STARTS:
                raise StudyError(
                    f"Worker processes do not start ({reason}); run the same command again with "
                    "--jobs 1."
                )
        elif worker.job is not None:
            yield worker.job, _failed(reason)

    def _stop_overdue(self) -> Done:
        limit = self._limits.seconds
        if limit is None:
            return
        now = time.monotonic()
        for worker in [w for w in self._workers if w.job is not None and now - w.since >= limit]:
            job = worker.job
            self._close_worker(worker)
            assert job is not None
            yield job, _failed(f"{STOPPED}: it took more than {limit:g} s, the limit of a fit")

    def _close_worker(self, worker: Worker) -> None:
        self._workers.remove(worker)
        worker.end()

    def _out_of_memory(self, error: str) -> str:
        if self._limits.memory is None:
            return error
        limit = f"{self._limits.memory / 1e6:,.0f} MB, the limit of a fit"
        return f"{STOPPED}: it ran out of memory, of which it may take {limit}"


def _failed(error: str) -> Result:
    return {"error": error, "scores": {}, "timing": {}, "warnings": []}
