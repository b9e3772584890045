"""The time budget of a study: estimates of jobs' durations, and what still has time."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from arboleda.study.execution.job import Job

__all__ = ["Budget"]

# Maximum fraction of the budget reserved for describing the table and drawing the report.
MOST_FOR_REPORT = 0.25
# Seconds for the report of a small table, and for a large one a multiple of its reading time.
REPORT_SECONDS, REPORT_READINGS = 3.0, 2.0
# Maximum fraction of the budget reserved for what follows the tests.
MOST_FOR_AFTERWARDS = 0.25
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
        """Seconds until everything but the report must be finished."""
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
