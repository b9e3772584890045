"""Worker processes, as seen by the process that starts them.

This module imports little: workers for a large table start while other modules are still loading.
"""

import os
import pickle
import sys
import time
from collections import deque
from contextlib import suppress
from multiprocessing import Pipe
from typing import TYPE_CHECKING

from arboleda._utils.errors import StudyError
from arboleda._utils.operating_system import system

if TYPE_CHECKING:
    from arboleda.study.execution.job import Job

__all__ = [
    "CELLS_PER_POOL",
    "Worker",
    "choose_processes",
    "end_spare_workers",
    "start_spare_workers",
    "take_worker",
]

# With fewer cells, and fits of fewer seconds, starting processes costs more than it saves.
CELLS_PER_POOL = 200_000
SECONDS_PER_POOL = 30.0
# A new interpreter with this one's paths, and nothing of this process's main module. What it
# imports stays: to look for garbage in it meanwhile takes a tenth of the time.
_PROGRAM = (
    "import gc, sys; gc.disable(); sys.path[:] = {paths!r}; "
    "from arboleda.study.execution.worker_process import run_worker; gc.enable(); run_worker()"
)
# Otherwise the numeric libraries start many threads, each with its buffers.
_ONE_THREAD = dict.fromkeys(
    (
        *(f"{library}_NUM_THREADS" for library in ("BLIS", "MKL", "NUMEXPR", "OMP", "OPENBLAS")),
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)


class Worker:
    """A worker process and its jobs: at most one, unless some are sent ahead."""

    def __init__(self) -> None:
        self.connection, theirs = Pipe()
        program = _PROGRAM.format(paths=sys.path)
        try:
            self.process = system.start_worker(program, theirs, {**os.environ, **_ONE_THREAD})
        except OSError as error:
            self.connection.close()
            raise StudyError(
                f"No worker process can be started ({error.strerror or error}); run the same "
                "command again with --jobs 1."
            ) from error
        finally:
            theirs.close()
        self.jobs: deque[Job] = deque()
        self.is_prepared = False
        self.ready = False
        self.since = 0.0

    def prepare(self, shared: bytes, table: int) -> None:
        """Send a worker that has started what all jobs share; it answers when it is ready.

        Parameters
        ----------
        shared : bytes
            The data that all jobs share.
        table : int
            Descriptor of the file that holds the features' matrix.
        """
        self.is_prepared = True
        # If it has exited, the next receive detects that. On macOS, a file that nobody takes is a
        # RuntimeError.
        with suppress(OSError, RuntimeError):
            # A module of the user may have added folders since this worker started.
            self.connection.send_bytes(pickle.dumps(sys.path))
            self.connection.send_bytes(shared)
            system.send_file(self.connection, table)

    @property
    def job(self) -> "Job | None":
        """The current job."""
        return self.jobs[0] if self.jobs else None

    @property
    def is_idle(self) -> bool:
        """Whether the worker waits for a job."""
        return self.ready and not self.jobs

    def send(self, job: "Job") -> None:
        """Send a job to the worker, which takes it up after those that it has."""
        self.since = time.monotonic()
        self.jobs.append(job)
        with suppress(OSError):
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


def choose_processes(jobs: int | None, n_cells: float, seconds: float = 0.0) -> int:
    """Return the number of processes: as given, else one per core unless there is little to do.

    Parameters
    ----------
    jobs : int or None
        The number given by the user.
    n_cells : float
        Cells of the table.
    seconds : float, default=0.0
        Estimated seconds of all fits on one core.
    """
    if jobs is not None:
        return jobs
    from joblib import cpu_count

    is_large = n_cells > CELLS_PER_POOL or seconds > SECONDS_PER_POOL
    return int(cpu_count()) if is_large else 1


# Workers that were started before it was known whether they are needed.
_SPARE: list[Worker] = []


def start_spare_workers(count: int) -> None:
    """Start workers that `take_worker` returns before it starts others."""
    _SPARE.extend(Worker() for _ in range(count))


def take_worker() -> Worker:
    """Return a worker that was started early, or start one."""
    return _SPARE.pop(0) if _SPARE else Worker()


def end_spare_workers(keep: int = 0) -> None:
    """End the workers that nobody has taken, or all but so many of them."""
    while len(_SPARE) > keep:
        _SPARE.pop().end()
