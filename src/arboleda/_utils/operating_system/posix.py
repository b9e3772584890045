"""Linux, macOS and other systems of the POSIX family."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from multiprocessing import reduction
from multiprocessing.connection import Connection
from pathlib import Path

__all__ = [
    "connect",
    "describe_exit",
    "limit_memory",
    "open_direct",
    "raise_oom_score",
    "read_available_memory",
    "read_usable_memory",
    "receive_file",
    "send_file",
    "start_worker",
    "sync_folder",
    "wait_for_end",
]

# Ctrl-C reaches all processes of a terminal, but is for the parent of a worker to act on: it is
# blocked from the start of the worker until the worker ignores it.
_IGNORE_CTRL_C = (
    "from signal import *; signal(SIGINT, SIG_IGN); pthread_sigmask(SIG_UNBLOCK, [SIGINT]); "
)


def start_worker(
    program: str, connection: Connection, environment: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    """Start an interpreter that inherits a connection and ignores Ctrl-C.

    Parameters
    ----------
    program : str
        Python statements. Their arguments are this process's id and a number for `connect`.
    connection : Connection
    environment : mapping of str to str

    Raises
    ------
    OSError
        If the process cannot be started.
    """
    numbers = [os.getpid(), connection.fileno()]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        return subprocess.Popen(
            [sys.executable, "-c", _IGNORE_CTRL_C + program, *map(str, numbers)],
            pass_fds=(connection.fileno(),),
            stdin=subprocess.DEVNULL,
            env=environment,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def connect(number: int) -> Connection:
    """Open the inherited connection, in the worker."""
    return Connection(number)


def send_file(connection: Connection, file: int) -> None:
    """Send an open file, by its descriptor, to a worker that receives it now."""
    reduction.send_handle(connection, file, None)


def receive_file(connection: Connection) -> int:
    """Return a descriptor of the file that the parent sends, in the worker."""
    return reduction.recv_handle(connection)


def wait_for_end(parent: int) -> None:
    """Block until the parent of this process has ended: an orphan gets another parent."""
    while os.getppid() == parent:
        time.sleep(0.5)


def describe_exit(code: int) -> str:
    """Describe how a process ended that was not stopped by this one."""
    if code == -signal.SIGKILL:
        return "its process was killed (signal 9), most likely for want of memory"
    if code < 0:
        name = signal.strsignal(-code) or "unknown"
        return f"its process died of signal {-code} ({name})"
    return f"its process ended by itself, with status {code}"


def limit_memory(limit: int) -> None:
    """Limit this process to its present memory plus ``limit`` bytes.

    If the system does not report a process's size, no limit is set.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + limit
    resource.setrlimit(resource.RLIMIT_AS, (_cap_limit(wanted, most), most))


def _cap_limit(wanted: int, most: int) -> int:
    return wanted if most == resource.RLIM_INFINITY else min(wanted, most)


def raise_oom_score() -> None:
    """Make the kernel kill this process before its parent when memory runs out."""
    try:
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    except OSError:
        return


def read_available_memory() -> int | None:
    """Return the bytes of memory, of which some are in use; None if the system hides them."""
    try:
        return _read_machine_memory()
    except (OSError, ValueError):
        return None


def read_usable_memory() -> int:
    """Return the maximum number of bytes that this process can use."""
    machine = _read_machine_memory()
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return machine if limit == resource.RLIM_INFINITY else min(machine, limit)


def _read_machine_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def sync_folder(folder: Path) -> None:
    """Flush a folder to the disk: which files it has, and their names."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_direct(path: Path) -> int:
    """Open a file for reads that leave none of its pages in memory; -1 where there are none."""
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECT)
    except (AttributeError, OSError):  # the first: beyond Linux
        return -1
