"""What one fit may take of the machine's time and memory."""

import resource
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import linalg

__all__ = ["Limits", "limit_memory", "raise_oom_score"]


@dataclass(frozen=True)
class Limits:
    """Seconds and bytes that one piece of work may take; None: as much as there is."""

    seconds: float | None = None
    memory: int | None = None

    @property
    def any(self) -> bool:
        """Whether there is a limit, so that work must be done where it can be stopped."""
        return self.seconds is not None or self.memory is not None


def limit_memory(limit: int | None) -> None:
    """Refuse this process more memory than it has now and ``limit`` bytes besides.

    The kernel refuses it the moment it is asked for, so that the fit ends with a MemoryError of its
    own. (Watching how much of it is in use from outside would be too late for a fit that takes
    gigabytes within a millisecond.) Where the system does not tell a process's size, nothing is
    held.
    """
    if limit is None:
        return
    _take_buffers()
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + limit
    resource.setrlimit(resource.RLIMIT_AS, (_least(wanted, most), most))


def _take_buffers() -> None:
    """Let the linear algebra of NumPy and SciPy take its working memory while there is some.

    OpenBLAS asks again and again, for ever, for a buffer that it is refused.
    """
    square = np.eye(256)
    np.linalg.solve(square, square @ square)
    linalg.solve(square, linalg.blas.dgemm(1.0, square, square), assume_a="pos")


def _least(wanted: int, most: int) -> int:
    return wanted if most == resource.RLIM_INFINITY else min(wanted, most)


def raise_oom_score() -> None:
    """Where memory runs out altogether, let this process be ended before the study's own."""
    try:
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    except OSError:
        return
