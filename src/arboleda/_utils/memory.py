"""Memory of the machine, and the limit of a process."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import linalg

from arboleda._utils.operating_system import system

__all__ = ["available_memory", "limit_memory", "release_arrow_memory"]

_MEMINFO = Path("/proc/meminfo")
_OWN_CGROUPS = Path("/proc/self/cgroup")


class _CgroupVersion(NamedTuple):
    """Where a version of cgroups shows the memory of a group, such as a container."""

    folder: Path
    controller: str  # in _OWN_CGROUPS
    limit: str
    usage: str
    file_pages: tuple[str, str]  # in memory.stat: the pages of files, which are part of the usage


_CGROUPS = (
    _CgroupVersion(
        Path("/sys/fs/cgroup"), "", "memory.max", "memory.current", ("inactive_file", "active_file")
    ),
    _CgroupVersion(
        Path("/sys/fs/cgroup/memory"),
        "memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        ("total_inactive_file", "total_active_file"),
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

    It is the minimum of the machine's available memory and what the limits of cgroups leave: of a
    container, of a job of a cluster, and of those that contain it. Pages of files are available. If
    only the machine's total memory is known, it is that.
    """
    sizes = [
        _read_machine_memory(),
        *(
            _read_cgroup_memory(version, folder)
            for version in _CGROUPS
            for folder in _list_own_cgroups(version)
        ),
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


def _list_own_cgroups(version: _CgroupVersion) -> Iterator[Path]:
    """Yield the folders of this process's group and of those that contain it.

    A container often sees its own group in the place of the outermost one, whatever the name.
    """
    yield version.folder
    try:
        lines = _OWN_CGROUPS.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if version.controller in controllers.split(","):
            folder = version.folder / name.lstrip("/")
            while folder != version.folder and version.folder in folder.parents:
                yield folder
                folder = folder.parent


def _read_cgroup_memory(version: _CgroupVersion, folder: Path) -> int | None:
    """Return what a group can still allocate; None without such a group or a limit ("max")."""
    try:
        limit = int((folder / version.limit).read_text(encoding="ascii"))
        used = int((folder / version.usage).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return max(limit - max(used - _read_file_pages(version, folder), 0), 0)


def _read_file_pages(version: _CgroupVersion, folder: Path) -> int:
    try:
        lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
        sizes = dict(line.split() for line in lines)
        return sum(int(sizes[name]) for name in version.file_pages)
    except (OSError, ValueError, KeyError):
        return 0
