"""Limits of time and memory, and the budget of a study."""

import os
import resource
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import linalg

from arboleda.study.execution.job import Job

__all__ = ["Budget", "Limits", "available_memory", "limit_memory", "raise_oom_score"]

_MEMINFO = Path("/proc/meminfo")
# The limit of a container and its usage, in versions 2 and 1 of cgroups.
_CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


@dataclass(frozen=True)
class Limits:
    """Maximum seconds and bytes of one job; None: no limit."""

    seconds: float | None = None
    memory: int | None = None

    @property
    def any(self) -> bool:
        """Whether there is a limit, which needs worker processes that can be stopped."""
        return self.seconds is not None or self.memory is not None


def limit_memory(limit: int | None) -> None:
    """Limit this process to its present memory plus ``limit`` bytes.

    The kernel rejects the allocation itself, so the fit ends with a MemoryError of its own. (A
    monitor outside the process would be too late for a fit that allocates gigabytes within a
    millisecond.) If the system does not report a process's size, no limit is set.
    """
    if limit is None:
        return
    _allocate_blas_buffers()
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + limit
    resource.setrlimit(resource.RLIMIT_AS, (_cap_limit(wanted, most), most))


def _allocate_blas_buffers() -> None:
    """Make NumPy and SciPy allocate the work buffers of their linear algebra before the limit.

    OpenBLAS retries a failed buffer allocation forever.
    """
    square = np.eye(256)
    np.linalg.solve(square, square @ square)
    linalg.solve(square, linalg.blas.dgemm(1.0, square, square), assume_a="pos")


def _cap_limit(wanted: int, most: int) -> int:
    return wanted if most == resource.RLIM_INFINITY else min(wanted, most)


def raise_oom_score() -> None:
    """Make the kernel kill this process before the study's own when memory runs out."""
    try:
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    except OSError:
        return


def available_memory() -> int | None:
    """Return the bytes that can be allocated without swapping; None if the system hides them.

    It is the minimum of the machine's available memory and what the limit of a container leaves. If
    only the machine's total memory is known, it is that.
    """
    sizes = [
        _read_machine_memory(),
        *(_read_container_memory(limit, used) for limit, used in _CGROUPS),
    ]
    return min((size for size in sizes if size is not None), default=None)


def _read_machine_memory() -> int | None:
    try:
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass  # no such file beyond Linux
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _read_container_memory(limit: Path, used: Path) -> int | None:
    """Return what a container can still allocate; None without a container or a limit ("max")."""
    try:
        left = int(limit.read_text(encoding="ascii")) - int(used.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return max(left, 0)


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
