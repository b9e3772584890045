"""Limits on the time and memory of one fit."""

import resource
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import linalg

__all__ = ["Limits", "limit_memory", "raise_oom_score"]


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
