"""Windows.

Its functions are loaded by name, so that this file can be read, and its tests run, on any system.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from multiprocessing import connection as connections
from multiprocessing import reduction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

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

_DWORD = ctypes.c_uint32
# The fields of JOBOBJECT_EXTENDED_LIMIT_INFORMATION that matter, and the places of the others.
_EXTENDED_LIMITS = 9
_LIMIT_PROCESS_MEMORY = 0x100
_NEW_PROCESS_GROUP = 0x200
_SYNCHRONIZE = 0x100000
_FOREVER = 0xFFFFFFFF
# Exit statuses that stand for what would be a signal elsewhere.
_FAULTS = {
    0xC0000005: "access violation",
    0xC0000017: "no memory",
    0xC00000FD: "stack overflow",
    0xC0000374: "heap corruption",
    0xC0000409: "stack buffer overrun",
}


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX."""

    _fields_ = (
        ("length", _DWORD),
        ("load", _DWORD),
        ("total", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        ("total_committable", ctypes.c_uint64),
        ("committable", ctypes.c_uint64),
        ("total_addresses", ctypes.c_uint64),
        ("addresses", ctypes.c_uint64),
        ("extended_addresses", ctypes.c_uint64),
    )


class _ProcessMemory(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS."""

    _fields_ = (
        ("length", _DWORD),
        ("page_faults", _DWORD),
        ("working_set", ctypes.c_size_t * 2),
        ("quotas", ctypes.c_size_t * 4),
        ("committed", ctypes.c_size_t),
        ("most_committed", ctypes.c_size_t),
    )


class _JobLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("times", ctypes.c_int64 * 2),
        ("flags", _DWORD),
        ("working_set", ctypes.c_size_t * 2),
        ("most_processes", _DWORD),
        ("affinity", ctypes.c_size_t),
        ("classes", _DWORD * 2),
        ("transfers", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peaks", ctypes.c_size_t * 2),
    )


def _kernel() -> Any:
    """Return kernel32, with handles as wide as pointers."""
    kernel = vars(ctypes)["windll"].kernel32
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    kernel.CreateJobObjectW.restype = ctypes.c_void_p
    return kernel


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
    handle = connection.fileno()
    startup = vars(subprocess)["STARTUPINFO"](lpAttributeList={"handle_list": [handle]})
    set_inheritable = vars(os)["set_handle_inheritable"]
    set_inheritable(handle, True)
    try:
        return subprocess.Popen(
            [sys.executable, "-c", program, str(os.getpid()), str(handle)],
            stdin=subprocess.DEVNULL,
            env=environment,
            startupinfo=startup,
            creationflags=_NEW_PROCESS_GROUP,  # in which Ctrl-C is off
        )
    finally:
        set_inheritable(handle, False)


def connect(number: int) -> Connection:
    """Open the inherited connection, in the worker."""
    connection: Connection = vars(connections)["PipeConnection"](number)
    return connection


def send_file(connection: Connection, file: int) -> None:
    """Send an open file, by its descriptor, to a worker that receives it now.

    The worker takes the handle from this process: its own may be that of a launcher of Python.
    """
    handle = import_module("msvcrt").get_osfhandle(file)
    reduction.send_handle(connection, handle, os.getpid())


def receive_file(connection: Connection) -> int:
    """Return a descriptor of the file that the parent sends, in the worker."""
    handle = reduction.recv_handle(connection)
    descriptor: int = import_module("msvcrt").open_osfhandle(handle, os.O_RDONLY)
    return descriptor


def wait_for_end(parent: int) -> None:
    """Block until the parent of this process has ended."""
    winapi = import_module("_winapi")
    try:
        handle = winapi.OpenProcess(_SYNCHRONIZE, False, parent)
    except OSError:
        return  # it has ended already
    winapi.WaitForSingleObject(handle, _FOREVER)


def describe_exit(code: int) -> str:
    """Describe how a process ended that was not stopped by this one."""
    status = code & 0xFFFFFFFF
    if status in _FAULTS:
        return f"its process died of error {status:#x} ({_FAULTS[status]})"
    return f"its process ended by itself, with status {code}"


def limit_memory(limit: int) -> None:
    """Limit this process to its present memory plus ``limit`` bytes, by a job object."""
    kernel = _kernel()
    process = ctypes.c_void_p(kernel.GetCurrentProcess())
    used = _ProcessMemory(length=ctypes.sizeof(_ProcessMemory))
    if not kernel.K32GetProcessMemoryInfo(process, ctypes.byref(used), used.length):
        return
    # The handle stays open: the limit ends with the process.
    job = ctypes.c_void_p(kernel.CreateJobObjectW(None, None))
    limits = _JobLimits(flags=_LIMIT_PROCESS_MEMORY, process_memory=used.committed + limit)
    if kernel.SetInformationJobObject(
        job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
    ):
        kernel.AssignProcessToJobObject(job, process)


def raise_oom_score() -> None:
    """Do nothing: Windows kills no process when memory runs out."""


def _read_memory_status() -> _MemoryStatus:
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    if not _kernel().GlobalMemoryStatusEx(ctypes.byref(status)):
        raise OSError("the system does not report its memory")
    return status


def read_available_memory() -> int | None:
    """Return the bytes of memory that are not in use; None if the system hides them."""
    try:
        return int(_read_memory_status().available)
    except OSError:
        return None


def read_usable_memory() -> int:
    """Return the maximum number of bytes that this process can use."""
    return int(_read_memory_status().total)


def sync_folder(folder: Path) -> None:
    """Do nothing: Windows opens no folders, and NTFS keeps a journal of names."""


def open_direct(path: Path) -> int:
    """Return -1: files are read where they are mapped."""
    return -1
