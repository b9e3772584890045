"""The time a study may take: what a fit will cost, and whether it still fits."""

import time
from collections import defaultdict

import numpy as np

from arboleda.study.work import Job

__all__ = ["Budget"]

# Of the whole, at most this share is kept for describing the table and drawing the report.
MOST_FOR_REPORT = 0.25
# The report of a small table; that of a large one takes about half as long as reading it.
REPORT_SECONDS = 3.0
# Tests take longer than they are thought to: more is told of them, and other programs run, too.
SPARE = 1.5


class Budget:
    """Seconds of a study, counted from its start.

    A job's seconds are its cost by the catalogue times what the model's jobs have taken a unit of
    cost so far; a model that was not timed yet is taken to be as fast as the others are.

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
        report = REPORT_SECONDS + 0.5 * (time.monotonic() - started)
        self.deadline = started + seconds - min(report, MOST_FOR_REPORT * seconds)
        # One for each model; fits of folds leave their time alone.
        self.tests: tuple[Job, ...] = ()
        self._seconds: dict[str, float] = defaultdict(float)
        self._costs: dict[str, float] = defaultdict(float)

    def learn(self, job: Job, seconds: float) -> None:
        """Take note of how long a job took."""
        self._seconds[job.model] += seconds
        self._costs[job.model] += job.cost

    def rate(self, model: str) -> float:
        """Seconds a unit of the model's cost."""
        known = {m: self._seconds[m] / cost for m, cost in self._costs.items() if cost > 0.0}
        return known.get(model, float(np.median(list(known.values()))) if known else 1.0)

    def estimate(self, job: Job) -> float:
        """About how many seconds a job takes."""
        return self.rate(job.model) * job.cost

    @property
    def left(self) -> float:
        """Seconds of this process until everything but the report must be done."""
        return max(0.0, self.deadline - time.monotonic())

    @property
    def kept_for_tests(self) -> float:
        """Seconds of this process that the tests will take; at most half of all there are."""
        seconds = [self.estimate(job) for job in self.tests]
        needed = max(sum(seconds) / self.processes, max(seconds, default=0.0))
        # Without a score there is nothing to test.
        return min(SPARE * needed, self.seconds / 2)

    def fits(self, job: Job) -> bool:
        """Whether a fold's job would end while the tests still have their time."""
        return self.estimate(job) <= self.left - self.kept_for_tests

    def fits_last(self, job: Job) -> bool:
        """Whether a job would end in time if nothing else followed."""
        return self.estimate(job) <= self.left
