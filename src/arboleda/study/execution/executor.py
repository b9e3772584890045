"""Doing pieces of work that the ledger lacks: by the pool, within the budget, told to a watcher."""

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from arboleda.study.artifacts.files import MODELS
from arboleda.study.artifacts.model_files import is_kept
from arboleda.study.execution.budget import Budget
from arboleda.study.execution.job import STOPPED, Job
from arboleda.study.execution.ledger import Ledger
from arboleda.study.execution.pool import Pool
from arboleda.study.execution.prediction_store import PREDICTIONS_DIR, load_predictions, predictions_path
from arboleda.study.plan import Plan

__all__ = ["Executor", "Watcher"]


class Watcher(Protocol):
    """Who is told how a study goes on.

    ``deadline``: when its budget of time ends, by `time.monotonic`; None: there is none.
    """

    deadline: float | None

    def begin(self, plan: Plan, jobs: list[Job], n_stored: int, to_come: int = 0) -> None:
        """The study starts with these jobs to do, and about ``to_come`` later.

        ``n_stored`` others are in the ledger.
        """

    def more(self, jobs: list[Job], to_come: int = 0) -> None:
        """Another round starts; ``to_come`` jobs follow it."""

    def finished(self, job: Job, result: dict[str, Any]) -> None:
        """A job is done and stored."""


class Executor:
    """What it takes to do jobs and to know their results."""

    def __init__(
        self,
        folder: Path,
        ledger: Ledger,
        pool: Pool,
        watcher: Watcher,
        budget: Budget | None = None,
    ) -> None:
        self.folder = folder
        self.ledger = ledger
        self.pool = pool
        self.watcher = watcher
        self.budget = budget
        watcher.deadline = None if budget is None else budget.deadline
        # Jobs that the budget has learned from.
        self._timed: set[tuple[str, str, str]] = set()

    def result(self, job: Job) -> dict[str, Any] | None:
        """What is stored of a job, whatever became of it."""
        return self.ledger.get(job.model, job.params, job.entry)

    def is_scored(self, job: Job) -> bool:
        """Whether it is known what became of a job.

        It is done again if memory was short or a limit ended it.
        """
        return _is_final(self.result(job))

    def is_done(self, job: Job) -> bool:
        """Whether nothing is left to do of a job: it is scored, and its model's files are there."""
        result = self.result(job)
        if result is None or not _is_final(result):
            return False
        return bool(job.keep is None or result["error"] or is_kept(result.get("kept"), job.keep))

    def scored_job(self, job: Job) -> Job:
        """The job with the file for its answers, and of a bag the folder for its model.

        Answers about rows that were fitted are not kept.
        """
        if job.kind == "apparent":
            return job
        path = predictions_path(self.folder / PREDICTIONS_DIR, job.model, job.params, job.entry)
        keep = self.folder / MODELS if job.bag else job.keep
        return replace(job, predictions_file=path, keep=keep)

    def has_predictions(self, job: Job) -> bool:
        """Whether a job is done and its answers are there, if it has any."""
        result = self.result(job)
        if result is None or not self.is_done(job):
            return False
        if job.predictions_file is None or result["error"]:
            return True
        return load_predictions(job.predictions_file, len(job.score_rows), self.pool.n_classes) is not None

    def run(
        self,
        jobs: Iterable[Job],
        is_allowed: Callable[[Job], bool] | None = None,
        *,
        deadline: float | None = None,
        notify_watcher: bool = True,
    ) -> None:
        """Do jobs, and store each result the moment it is there.

        ``fits`` is asked before each, and all end by the ``deadline``; the watcher is told of each
        unless not ``notify_watcher``. Of a candidate one of whose folds a limit has ended, the others are
        passed over.
        """
        ended: set[tuple[str, str]] = set()

        def is_wanted(job: Job) -> bool:
            return _candidate(job) not in ended and (is_allowed is None or is_allowed(job))

        # Closed at once when anything stops it, so that no worker goes on.
        with closing(self.pool.run(list(jobs), is_wanted, deadline)) as results:
            for job, result in results:
                self.ledger.put(job.model, job.params, job.entry, result)
                if (result["error"] or "").startswith(STOPPED):
                    ended.add(_candidate(job))
                self._record_seconds(job, result)
                if notify_watcher:
                    self.watcher.finished(job, result)

    def run_folds(self, jobs: Iterable[Job]) -> None:
        """Do jobs of folds, which leave the tests their time."""
        if self.budget is None:
            self.run(jobs)
            return
        deadline = self.budget.deadline - self.budget.reserved_for_tests
        self.run(jobs, self.budget.has_time_for, deadline=deadline)

    def record_stored(self, jobs: Iterable[Job]) -> None:
        """Learn from stored jobs how long they took, if it is not known yet."""
        if self.budget is None:
            return
        for job in jobs:
            result = self.result(job)
            if result is not None:
                self._record_seconds(job, result)

    def _record_seconds(self, job: Job, result: dict[str, Any]) -> None:
        name = (*_candidate(job), job.entry)
        if self.budget is None or result["error"] or name in self._timed:
            return
        self._timed.add(name)
        self.budget.record(job, result["seconds"])


def _is_final(result: dict[str, Any] | None) -> bool:
    return result is not None and not (result["error"] or "").startswith(("MemoryError", STOPPED))


def _candidate(job: Job) -> tuple[str, str]:
    return job.model, json.dumps(job.params, sort_keys=True)
