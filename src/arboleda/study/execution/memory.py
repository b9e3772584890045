"""How much memory this process may still take."""

import os
from pathlib import Path

__all__ = ["available_memory"]

_MEMINFO = Path("/proc/meminfo")
# The limit of a container and what is in use of it, in the second and the first version of cgroups.
_CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def available_memory() -> int | None:
    """Bytes that can be taken without swapping; None where the system does not tell.

    It is the least of what the machine has left and of what the limit of a container leaves. Where
    only the machine's whole memory is known, it is that.
    """
    found = [_of_machine(), *(_of_container(limit, used) for limit, used in _CGROUPS)]
    return min((size for size in found if size is not None), default=None)


def _of_machine() -> int | None:
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


def _of_container(limit: Path, used: Path) -> int | None:
    """What a container may still take; None without one, or with one without a limit ("max")."""
    try:
        left = int(limit.read_text(encoding="ascii")) - int(used.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return max(left, 0)
