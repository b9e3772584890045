"""The memory that this process can still allocate."""

import os
from pathlib import Path

__all__ = ["available_memory"]

_MEMINFO = Path("/proc/meminfo")
# The limit of a container and its usage, in versions 2 and 1 of cgroups.
_CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def available_memory() -> int | None:
    """Return the bytes that can be allocated without swapping; None if the system hides them.

    It is the minimum of the machine's available memory and what the limit of a container leaves. If
    only the machine's total memory is known, it is that.
    """
    sizes = [_machine_memory(), *(_container_memory(limit, used) for limit, used in _CGROUPS)]
    return min((size for size in sizes if size is not None), default=None)


def _machine_memory() -> int | None:
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


def _container_memory(limit: Path, used: Path) -> int | None:
    """Return what a container can still allocate; None without a container or a limit ("max")."""
    try:
        left = int(limit.read_text(encoding="ascii")) - int(used.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return max(left, 0)
