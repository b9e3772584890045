"""The time a study may take: what a fit will cost, and whether it still fits."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from arboleda.study.execution.job import Job

__all__ = ["Budget"]

# Of the whole, at most this share is kept for describing the table and drawing the report.
MOST_FOR_REPORT = 0.25
# The report of a small table; that of a large one takes so many times as long as reading it.
REPORT_SECONDS, REPORT_READINGS = 3.0, 2.0
# At most this share is kept for what follows the tests.
MOST_FOR_AFTERWARDS = 0.25
# Tests may take longer than they are thought to: other programs run, too.
SPARE = 1.3


class Budget:
    """Seconds of a study, counted from its start.

    A job's seconds are its cost by the catalogue times what the model's jobs have taken a unit of
    cost so far, and what it takes to tell of a test; a model that was not timed yet is taken to be
    as fast as the others are, what the catalogue thinks being one of them. The first job of each
    process is not counted: it also loads modules.

    Parameters
    ----------
    seconds : float
        For the whole study.
    started : float
        When it began, by `time.monotonic`.
    processes : int
        Jobs that are done at a time.
    """

    def __init__(self, seconds: float, started: float, processes: int) -> None:
        self.seconds = seconds
        self.processes = processes
        report = REPORT_SECONDS + REPORT_READINGS * (time.monotonic() - started)
        self.deadline = started + seconds - min(report, MOST_FOR_REPORT * seconds)
        # Of each model that has, or will have, a candidate: fits of folds leave their time alone.
        self._tests: dict[str, Job] = {}
        self._loading = processes
        # About what this process takes after them.
        self.reserved_for_afterwards = 0.0
        self._seconds: dict[str, float] = defaultdict(float)
        self._costs: dict[str, float] = defaultdict(float)

    def record(self, job: Job, seconds: float) -> None:
        """Take note of how long a job took."""
        if self._loading:
            self._loading -= 1
            return
        self._seconds[job.model] += max(0.0, seconds - job.reporting_seconds)
        self._costs[job.model] += job.cost

    def rate(self, model: str | None = None) -> float:
        """Seconds a unit of the model's cost, or of any."""
        known = {m: s / self._costs[m] for m, s in self._seconds.items() if s * self._costs[m] > 0}
        if model in known:
            return known[model]
        return float(np.exp(np.sum(np.log(list(known.values()))) / (1 + len(known))))

    def estimate(self, job: Job) -> float:
        """About how many seconds a job takes."""
        return self.rate(job.model) * job.cost + job.reporting_seconds

    @property
    def left(self) -> float:
        """Seconds of this process until everything but the report must be done."""
        return max(0.0, self.deadline - time.monotonic())

    def reserve_for_test(self, test: Job, *, is_new: bool = False) -> None:
        """Set aside the time of a model's test, if there is none yet or this is a new one."""
        if is_new or test.model not in self._tests:
            self._tests[test.model] = test

    def release(self, model: str) -> None:
        """Set nothing aside for a model's test any more."""
        self._tests.pop(model, None)

    def reserve_for_afterwards(self, parts: Iterable[float]) -> None:
        """Set aside seconds for what follows the tests: for its quick parts, as far as they go."""
        most = MOST_FOR_AFTERWARDS * self.seconds
        needed = np.cumsum(sorted(parts))
        self.reserved_for_afterwards = float(needed[needed <= most].max(initial=0.0))

    @property
    def reserved_for_tests(self) -> float:
        """Seconds of this process that the tests and what follows them will take."""
        return self._needed_for(self._tests) + self.reserved_for_afterwards

    def room_for(self, test: Job, *, is_new: bool = False) -> float:
        """Seconds for a candidate's folds, if its test and those set aside are to have theirs.

        A new test is in the place of the one set aside.
        """
        tests = {test.model: test, **self._tests}
        if is_new:
            tests[test.model] = test
        return self.left - self._needed_for(tests) - self.reserved_for_afterwards

    def _needed_for(self, tests: Mapping[str, Job]) -> float:
        seconds = [self.estimate(job) for job in tests.values()]
        return SPARE * max(sum(seconds) / self.processes, max(seconds, default=0.0))

    def has_time_for(self, job: Job) -> bool:
        """Whether a fold's job would end while the tests still have their time."""
        return self.estimate(job) <= self.left - self.reserved_for_tests

    def has_room(self, seconds: float) -> bool:
        """Whether this process can work for so long."""
        return seconds <= self.left

    def has_time_for_last(self, job: Job) -> bool:
        """Whether a job would end in time if nothing else followed."""
        return self.estimate(job) <= self.left
