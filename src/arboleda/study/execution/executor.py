"""Run the jobs that the ledger lacks, in the pool and within the budget, and report progress."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from arboleda.study.artifacts.files import MODELS
from arboleda.study.artifacts.model_files import is_model_saved
from arboleda.study.execution.job import Job, JobStatus
from arboleda.study.execution.ledger import Ledger
from arboleda.study.execution.model_sizes import ModelSizes
from arboleda.study.execution.pool import JobPool
from arboleda.study.execution.prediction_store import (
    PREDICTIONS_DIR,
    load_predictions,
    predictions_path,
)
from arboleda.study.plan import Plan

__all__ = ["Budget", "Executor", "Watcher"]

# Maximum fraction of the budget reserved for describing the table and drawing the report.
MOST_FOR_REPORT = 0.25
# Seconds for the report of a small table, and for a large one a multiple of its reading time.
REPORT_SECONDS, REPORT_READINGS = 3.0, 2.0
# Maximum fraction of the budget reserved for what follows the tests.
MOST_FOR_AFTERWARDS = 0.25
# Fraction of the budget reserved for the calibration, importances and explanation of the winner.
EXPLANATION_SHARE = 0.15
# Safety factor of the tests' estimates: other programs use the machine, too.
SPARE = 1.3


class Budget:
    """The seconds of a study, counted from its start.

    The estimate of a job is its cost by the catalogue times the seconds per unit of cost that the
    model's jobs have taken so far, plus the time spent on reporting its test. Unmeasured models
    count with the geometric mean rate of the measured ones and of the catalogue (1). The first job
    of each process is not counted: it also loads modules.

    Parameters
    ----------
    seconds : float
        For the whole study.
    started : float
        Start of the study, by `time.monotonic`.
    processes : int
        Number of jobs that run at a time.
    """

    def __init__(self, seconds: float, started: float, processes: int) -> None:
        self.seconds = seconds
        self.processes = processes
        report = REPORT_SECONDS + REPORT_READINGS * (time.monotonic() - started)
        self.deadline = started + seconds - min(report, MOST_FOR_REPORT * seconds)
        self._for_explanation = 0.0
        # Tests of the models that have, or will have, a candidate: folds may not use their time.
        self._tests: dict[str, Job] = {}
        self._loading = processes
        # Estimated seconds of this process after the tests.
        self.reserved_for_afterwards = 0.0
        self._seconds: dict[str, float] = defaultdict(float)
        self._costs: dict[str, float] = defaultdict(float)

    def record(self, job: Job, seconds: float) -> None:
        """Record how long a job took."""
        if self._loading:
            self._loading -= 1
            return
        self._seconds[job.model] += max(0.0, seconds - job.reporting_seconds)
        self._costs[job.model] += job.cost

    def compute_rate(self, model: str | None = None) -> float:
        """Return the seconds per unit of cost of a model, or of all models."""
        known = {m: s / self._costs[m] for m, s in self._seconds.items() if s * self._costs[m] > 0}
        if model in known:
            return known[model]
        return float(np.exp(np.sum(np.log(list(known.values()))) / (1 + len(known))))

    def estimate(self, job: Job) -> float:
        """Estimate the seconds of a job."""
        return self.compute_rate(job.model) * job.cost + job.reporting_seconds

    @property
    def left(self) -> float:
        """Seconds until everything but the report, and a reserved explanation, must be finished."""
        return max(0.0, self.deadline - time.monotonic())

    def reserve_for_test(self, test: Job, *, is_new: bool = False) -> None:
        """Reserve the time of a model's test, unless one is reserved and this is not a new one."""
        if is_new or test.model not in self._tests:
            self._tests[test.model] = test

    def release(self, model: str) -> None:
        """Release the time reserved for a model's test."""
        self._tests.pop(model, None)

    def reserve_for_afterwards(self, parts: Iterable[float]) -> None:
        """Reserve seconds for what follows the tests: for as many of its quickest parts as fit."""
        most = MOST_FOR_AFTERWARDS * self.seconds
        needed = np.cumsum(sorted(parts))
        self.reserved_for_afterwards = float(needed[needed <= most].max(initial=0.0))

    def reserve_for_explanation(self) -> None:
        """Reserve a share for the winner's explanation: nothing else can use it."""
        self._for_explanation = EXPLANATION_SHARE * self.seconds
        self.deadline -= self._for_explanation

    def release_explanation(self) -> None:
        """Release the share reserved for the winner's explanation."""
        self.deadline += self._for_explanation
        self._for_explanation = 0.0

    @property
    def reserved_for_tests(self) -> float:
        """Seconds reserved for the tests and for what follows them."""
        return self._estimate_test_seconds(self._tests) + self.reserved_for_afterwards

    def compute_room(self, test: Job, *, is_new: bool = False) -> float:
        """Return the seconds left for a candidate's folds after its test and the reserved ones.

        A new test replaces the model's reserved one.
        """
        tests = {test.model: test, **self._tests}
        if is_new:
            tests[test.model] = test
        return self.left - self._estimate_test_seconds(tests) - self.reserved_for_afterwards

    def _estimate_test_seconds(self, tests: Mapping[str, Job]) -> float:
        seconds = [self.estimate(job) for job in tests.values()]
        return SPARE * max(sum(seconds) / self.processes, max(seconds, default=0.0))

    def has_time_for(self, job: Job) -> bool:
        """Whether a fold's job would finish without using the time reserved for the tests."""
        return self.estimate(job) <= self.left - self.reserved_for_tests

    def has_room(self, seconds: float) -> bool:
        """Whether that many seconds are left."""
        return seconds <= self.left

    def has_time_for_last(self, job: Job) -> bool:
        """Whether a job would finish in time if it were the last one."""
        return self.estimate(job) <= self.left


class Watcher(Protocol):
    """An observer of a study's progress.

    ``deadline``: the end of the time budget, by `time.monotonic`; None without one.
    """

    deadline: float | None

    def begin(self, plan: Plan, jobs: list[Job], n_stored: int, to_come: int = 0) -> None:
        """Start: these jobs are to run, and about ``to_come`` later.

        ``n_stored`` others are in the ledger.
        """

    def begin_round(self, jobs: list[Job], to_come: int = 0) -> None:
        """Start another round of jobs; ``to_come`` jobs follow it."""

    def record_result(self, job: Job, result: dict[str, Any]) -> None:
        """Record that a job is finished and stored."""

    def announce(self, line: str) -> None:
        """Show one line that stays."""


class Executor:
    """Runs jobs and stores and reads their results."""

    def __init__(
        self,
        folder: Path,
        ledger: Ledger,
        pool: JobPool,
        watcher: Watcher,
        budget: Budget | None = None,
    ) -> None:
        self.folder = folder
        self.ledger = ledger
        self.pool = pool
        self.watcher = watcher
        self.budget = budget
        watcher.deadline = None if budget is None else budget.deadline
        self._model_sizes = ModelSizes(folder / MODELS)
        # Jobs whose seconds the budget has recorded.
        self._timed: set[tuple[str, str, str]] = set()

    @property
    def model_folder(self) -> Path:
        """The folder of the fitted models."""
        return self.folder / MODELS

    def reserve_for_explanation(self) -> None:
        """Reserve a share of the budget for the winner's explanation."""
        if self.budget is not None:
            self.budget.reserve_for_explanation()
            self.pool.deadline = self.budget.deadline

    def begin_explanation(self) -> None:
        """Begin the winner's explanation, with what is left and the reserved share."""
        if self.budget is not None:
            self.budget.release_explanation()
            self.pool.deadline = self.budget.deadline

    def result(self, job: Job) -> dict[str, Any] | None:
        """Return the stored result of a job, failed ones included, or None."""
        return self.ledger.get(job.model, job.params, job.entry)

    def is_scored(self, job: Job) -> bool:
        """Whether a job has a final result.

        A job that ran out of memory or was stopped by a limit runs again.
        """
        result = self.result(job)
        return result is not None and result["status"].is_final

    def is_done(self, job: Job) -> bool:
        """Whether a job is scored and its model's files exist."""
        result = self.result(job)
        if result is None or not result["status"].is_final:
            return False
        return bool(
            job.keep is None or result["error"] or is_model_saved(result.get("kept"), job.keep)
        )

    def scored_job(self, job: Job) -> Job:
        """Return the job with the file for its predictions and, for a bag, the models' folder.

        Predictions of training rows are not saved.
        """
        if job.kind == "apparent":
            return job
        path = predictions_path(self.folder / PREDICTIONS_DIR, job.model, job.params, job.entry)
        keep = self.folder / MODELS if job.bag else job.keep
        return replace(job, predictions_file=path, keep=keep)

    def has_predictions(self, job: Job) -> bool:
        """Whether a job is done and its predictions, if it has any, are saved."""
        result = self.result(job)
        if result is None or not self.is_done(job):
            return False
        if job.predictions_file is None or result["error"]:
            return True
        return (
            load_predictions(job.predictions_file, len(job.score_rows), self.pool.n_classes)
            is not None
        )

    def run(
        self,
        jobs: Iterable[Job],
        is_allowed: Callable[[Job], bool] | None = None,
        *,
        deadline: float | None = None,
    ) -> None:
        """Run jobs, and store each result immediately.

        ``is_allowed`` is called before each job, and all end by the ``deadline``. If a limit stops
        one fold of a candidate, its other folds are skipped.
        """
        ended: set[tuple[str, str]] = set()

        def is_wanted(job: Job) -> bool:
            return job.candidate not in ended and (is_allowed is None or is_allowed(job))

        jobs = list(jobs)
        self._model_sizes.expect(jobs)
        # Close at once on any exception, so that no worker continues.
        with closing(self.pool.run(jobs, is_wanted, deadline)) as results:
            for job, result in results:
                self.ledger.put(job.model, job.params, job.entry, result)
                if result["status"] is JobStatus.STOPPED:
                    ended.add(job.candidate)
                self._record_seconds(job, result)
                if job.is_shown:
                    self.watcher.record_result(job, result)
                line = self._model_sizes.record(job, result)
                if line is not None:
                    self.watcher.announce(line)

    def run_folds(self, jobs: Iterable[Job]) -> None:
        """Run jobs of folds within the time that is not reserved for the tests."""
        if self.budget is None:
            self.run(jobs)
            return
        deadline = self.budget.deadline - self.budget.reserved_for_tests
        self.run(jobs, self.budget.has_time_for, deadline=deadline)

    def record_stored(self, jobs: Iterable[Job]) -> None:
        """Record the seconds of stored jobs in the budget, each once."""
        if self.budget is None:
            return
        for job in jobs:
            result = self.result(job)
            if result is not None:
                self._record_seconds(job, result)

    def _record_seconds(self, job: Job, result: dict[str, Any]) -> None:
        name = job.identity
        if self.budget is None or result["error"] or name in self._timed:
            return
        self._timed.add(name)
        self.budget.record(job, result["seconds"])
