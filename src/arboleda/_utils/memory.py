"""Memory of the machine, and the limit of a process."""

from pathlib import Path

import numpy as np
from scipy import linalg

from arboleda._utils.operating_system import system

__all__ = ["available_memory", "limit_memory", "release_arrow_memory"]

_MEMINFO = Path("/proc/meminfo")
# The limit of a container and its usage, in versions 2 and 1 of cgroups.
_CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def limit_memory(limit: int | None) -> None:
    """Limit this process to its present memory plus ``limit`` bytes.

    The kernel rejects the allocation itself, so the fit ends with a MemoryError of its own. (A
    monitor outside the process would be too late for a fit that allocates gigabytes within a
    millisecond.) If the system does not report a process's size, no limit is set.
    """
    if limit is None:
        return
    _allocate_blas_buffers()
    system.limit_memory(limit)


def _allocate_blas_buffers() -> None:
    """Make NumPy and SciPy allocate the work buffers of their linear algebra before the limit.

    OpenBLAS retries a failed buffer allocation forever.
    """
    square = np.eye(256)
    np.linalg.solve(square, square @ square)
    linalg.solve(square, linalg.blas.dgemm(1.0, square, square), assume_a="pos")


def release_arrow_memory() -> None:
    """Return to the system what Arrow has freed, which it keeps for its next arrays."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


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
    return system.read_available_memory()


def _read_container_memory(limit: Path, used: Path) -> int | None:
    """Return what a container can still allocate; None without a container or a limit ("max")."""
    try:
        left = int(limit.read_text(encoding="ascii")) - int(used.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return max(left, 0)
