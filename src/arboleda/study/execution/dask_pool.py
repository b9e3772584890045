"""The pool of a study whose jobs run on the workers of Dask."""

import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from arboleda._utils.errors import ClusterError
from arboleda._utils.files import drop_file
from arboleda.dask.tasks import Ended, Tasks
from arboleda.study.artifacts.files import write_file
from arboleda.study.execution.dask_jobs import JobOutput, PlacedStudy, pack_job, run_remote
from arboleda.study.execution.job import Job, Limits, Shared, error_sentence
from arboleda.study.execution.pool import Pool, choose_deadline, make_stopped_result
from arboleda.study.execution.prediction_store import write_predictions
from arboleda.study.execution.worker import choose_processes, end_spare_workers

__all__ = ["DaskPool"]

# Tasks in advance of each running one: a worker need not wait for this process.
_AHEAD = 1

Result = dict[str, Any]


class DaskPool:
    """Runs jobs on the workers of Dask; see `Pool`, whose results are the same.

    The files of a job come back as bytes and are written here: the study's folder need not be
    shared. A job that reads files of that folder runs in this process.

    Parameters
    ----------
    client : distributed.Client
    shared : Shared
        The data that every job reads, which every worker gets once.
    folder : Path
        The study's folder.
    limits : Limits
        Limits of one job, which its worker enforces.
    names : mapping of str to str
        Names of the models by their keys, for Dask's dashboard.
    most : int, optional
        Maximum number of jobs at a time, and of threads of this process.

    Raises
    ------
    ClusterError
        If the client cannot be used, there is no worker, or one has another environment.
    """

    def __init__(
        self,
        client: Any,
        shared: Shared,
        folder: Path,
        limits: Limits,
        names: Mapping[str, str],
        most: int | None,
    ) -> None:
        end_spare_workers()
        self._most = most
        self._tasks = Tasks(client, PlacedStudy(shared, limits))
        self.processes = self._n_slots
        self.threads = choose_processes(most, float("inf"))
        self.deadline: float | None = None
        self.n_classes = len(shared.target.labels)
        self.features = shared.features
        self._n_rows = len(shared.target.y)
        self._here = Pool(shared, 1, folder, limits)
        self._names = names
        self._candidates: dict[str, dict[str, int]] = {}
        self._running: dict[int, Job] = {}

    @property
    def _n_slots(self) -> int:
        n_slots = self._tasks.n_slots
        return n_slots if self._most is None else min(self._most, n_slots)

    def run(
        self,
        jobs: Sequence[Job],
        is_allowed: Callable[[Job], bool] = lambda job: True,
        deadline: float | None = None,
    ) -> Generator[tuple[Job, Result], None, None]:
        """Yield each job with its result as soon as it is done; see `Pool.run`.

        Raises
        ------
        ClusterError
            If the scheduler is gone, or all workers are.
        """
        end = choose_deadline(deadline, self.deadline)
        ahead = {job.identity for job in self._running.values()}
        waiting = deque(job for job in jobs if job.identity not in ahead)
        try:
            while waiting or self._running:
                yield from self._dispatch(waiting, is_allowed, end)
                if self._running:
                    left = None if end is None else max(0.0, end - time.monotonic())
                    for ended in self._tasks.wait(left):
                        yield self._receive(ended)
                if end is not None and time.monotonic() >= end:
                    return
        finally:
            # Stopped from outside, or past the deadline: running jobs are abandoned.
            self._tasks.cancel()
            self._running.clear()

    def _dispatch(
        self, waiting: deque[Job], is_allowed: Callable[[Job], bool], end: float | None
    ) -> Generator[tuple[Job, Result], None, None]:
        """Submit as many jobs as the workers can take; run here those that only read files."""
        self._tasks.look()
        # The time left is compared with the next job's when its turn comes.
        ahead = _AHEAD if end is None and self._most is None else 0
        while waiting and len(self._running) < (1 + ahead) * self._n_slots:
            job = waiting.popleft()
            if not is_allowed(job):
                continue
            if hasattr(job.pipeline["model"], "keep") or job.whole is not None:
                yield from self._here.run([job], deadline=end)
            else:
                self._submit(job)

    def send_ahead(self, jobs: Sequence[Job]) -> None:
        """Let workers begin with jobs while this process does other work; see `Pool`."""
        for job in jobs:
            self._submit(job)

    def _submit(self, job: Job) -> None:
        packed = pack_job(job, self._n_rows)
        self._running[self._tasks.submit(self._describe(job), run_remote, packed)] = job

    def _describe(self, job: Job) -> str:
        """Name a job: ``fold 3 of Random forest, candidate 7``."""
        model, params = job.candidate
        numbers = self._candidates.setdefault(model, {})
        candidate = numbers.setdefault(params, len(numbers) + 1)
        what = "test" if job.is_test else f"fold {int(job.fold) + 1}{job.extent}"
        kind = "calibration in " if job.calibrates else ""
        return f"{kind}{what} of {self._names.get(model, model)}, candidate {candidate}"

    def _receive(self, ended: Ended) -> tuple[Job, Result]:
        job = self._running.pop(ended.number)
        if ended.lost is not None:
            return job, make_stopped_result(ended.lost)
        if ended.error is not None:
            if isinstance(ended.error, ClusterError):
                raise ended.error
            raise ClusterError(
                f"A worker of Dask cannot run jobs ({error_sentence(ended.error)}); correct that "
                "there and run the same command again: finished work is kept."
            ) from ended.error
        return job, _write_output(job, ended.value)

    def close(self) -> None:
        """Cancel all jobs and release the data on the workers; the client stays open."""
        self._tasks.close()
        self._here.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _write_output(job: Job, output: JobOutput) -> Result:
    """Write the files of a job; return its result as if it had run in this process."""
    result = output.result
    if job.predictions_file is not None and output.predictions is not None:
        result["predictions"] = write_predictions(job.predictions_file, output.predictions)
    if job.keep is not None and output.models:
        try:
            for name, content in output.models.items():
                write_file(job.keep, name, content)
        except OSError as error:
            for name in output.models:
                drop_file(job.keep / name)
            reason = f"{type(error).__name__}: {error.strerror or error}"
            result["kept"] = {"files": {}, "error": reason}
    return result
