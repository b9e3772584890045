"""Jobs on a worker of Dask: its side of `arboleda.study.execution.dask_pool`.

A worker runs each job in a process of its own, as this machine's pool does: a fit that crashes,
takes too long or too much memory ends alone, and the worker stays.
"""

import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.errors import ClusterError, StudyError
from arboleda.dask.handshake import check_versions, read_versions
from arboleda.dask.tasks import load_distributed
from arboleda.study.artifacts.files import MODELS
from arboleda.study.execution.job import Job, Limits, Shared
from arboleda.study.execution.pool import SharedTable, WorkerPool

__all__ = ["JobOutput", "PlacedStudy", "pack_job", "run_remote"]

# Seconds between looks whether the job is still wanted.
_LOOK = 0.25


@dataclass(frozen=True)
class JobOutput:
    """The result of a job and the content of the files it has written, by their names."""

    result: dict[str, Any]
    predictions: bytes | None
    models: Mapping[str, bytes]


@dataclass(frozen=True)
class PackedRows:
    """Ascending row numbers as bits, an eighth of a byte per row of the table."""

    bits: npt.NDArray[np.uint8]
    n_rows: int

    def unpack(self) -> npt.NDArray[np.int64]:
        """Return the row numbers."""
        return np.flatnonzero(np.unpackbits(self.bits, count=self.n_rows))


def pack_job(job: Job, n_rows: int) -> Job:
    """Return a job with its rows packed, which is sent; rows in another order stay as they are.

    Parameters
    ----------
    job : Job
    n_rows : int
        Rows of the table.
    """

    def pack(rows: Any) -> Any:
        if len(rows) * 64 <= n_rows or not (np.diff(rows) > 0).all():
            return rows
        is_member = np.zeros(n_rows, dtype=bool)
        is_member[rows] = True
        return PackedRows(np.packbits(is_member), n_rows)

    return replace(job, fit_rows=pack(job.fit_rows), score_rows=pack(job.score_rows))


def _unpack(rows: Any) -> npt.NDArray[np.int64]:
    return rows.unpack() if isinstance(rows, PackedRows) else rows


class PlacedStudy:
    """What all jobs of a study read, as it is sent to workers.

    A worker writes the matrix to an unnamed file in its folder before the first job; the processes
    that run jobs map it. They end when Dask drops the data.

    Parameters
    ----------
    shared : Shared
    limits : Limits
        Of one job.
    """

    def __init__(self, shared: Shared, limits: Limits) -> None:
        self._shared = shared
        self._limits = limits
        self._versions = read_versions()
        self._prepare()

    def _prepare(self) -> None:
        self._lock = threading.Lock()
        self._table: SharedTable | None = None
        self._idle: list[WorkerPool] = []

    def __getstate__(self) -> tuple[Any, ...]:
        return self._shared, self._limits, self._versions

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._shared, self._limits, self._versions = state
        self._prepare()

    @contextmanager
    def lend_pool(self, worker: Any) -> Iterator[WorkerPool]:
        """Lend a pool of one process, which no other job uses meanwhile."""
        with self._lock:
            table = self._open(worker)
            pool = self._idle.pop() if self._idle else WorkerPool(table, 1, self._limits)
        try:
            yield pool
        finally:
            self._idle.append(pool)

    def _open(self, worker: Any) -> SharedTable:
        """Write the matrix to a file, if that is not done yet."""
        if self._table is None:
            # A worker may have come after the handshake.
            check_versions(worker.address, read_versions(), self._versions)
            self._table = table = SharedTable(self._shared, Path(worker.local_directory))
            self._shared = table.shared
            weakref.finalize(self, _close, table, self._idle)
        return self._table


def _close(table: SharedTable, pools: list[WorkerPool]) -> None:
    for pool in pools:
        pool.close()
    table.close()


def run_remote(placed: PlacedStudy, job: Job) -> JobOutput:
    """Run a packed job on the Dask worker of this thread; return its result and its files.

    Raises
    ------
    ClusterError
        If the worker cannot run jobs; the message names it.
    """
    worker = load_distributed().get_worker()
    try:
        with placed.lend_pool(worker) as pool, TemporaryDirectory(dir=worker.local_directory) as at:
            return _run(pool, job, Path(at), worker)
    except ClusterError:
        raise
    except (OSError, StudyError) as error:
        raise ClusterError(
            f"The worker {worker.address} cannot run jobs ({error}); correct that there, or stop "
            "it, and run the same command again: finished work is kept."
        ) from error


def _run(pool: WorkerPool, job: Job, folder: Path, worker: Any) -> JobOutput:
    ours = replace(
        job,
        fit_rows=_unpack(job.fit_rows),
        score_rows=_unpack(job.score_rows),
        keep=None if job.keep is None else folder / MODELS,
        predictions_file=None if job.predictions_file is None else folder / "predictions.npy",
    )
    with _interrupt_if_cancelled(pool, worker) as cancelled:
        results = [result for _, result in pool.run([ours], lambda job: True, None)]
    if cancelled.is_set():
        # Nobody waits for the result; or it is wanted again, and the job with it.
        raise load_distributed().Reschedule
    path = ours.predictions_file
    has_predictions = path is not None and path.exists()
    return JobOutput(
        results[0],
        path.read_bytes() if path is not None and has_predictions else None,
        {file.name: file.read_bytes() for file in (folder / MODELS).glob("*")},
    )


@contextmanager
def _interrupt_if_cancelled(pool: WorkerPool, worker: Any) -> Iterator[threading.Event]:
    """Stop the pool's process when Dask cancels the task, or the client that wanted it is gone."""
    key, ended, cancelled = worker.get_current_task(), threading.Event(), threading.Event()

    def watch() -> None:
        while not ended.wait(_LOOK):
            task = worker.state.tasks.get(key)
            if task is None or task.state not in {"executing", "long-running"}:
                cancelled.set()
                pool.interrupt()
                return

    watcher = threading.Thread(target=watch, daemon=True, name="arboleda-watch-task")
    watcher.start()
    try:
        yield cancelled
    finally:
        ended.set()
        watcher.join()
