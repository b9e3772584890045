"""What depends on the operating system is in one place, also for a system that is not this one.

Windows is faked at the level of its functions, so that what calls them runs here.
"""

import ast
import ctypes
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sklearn.pipeline import Pipeline
from tests.study.conftest import make_mixed
from tests.study.odd import Odd

import arboleda
from arboleda._utils import files, memory
from arboleda._utils.operating_system import posix, windows
from arboleda.study.config.settings import Settings
from arboleda.study.execution import worker
from arboleda.study.execution.job import Job
from arboleda.study.execution.pool import Pool
from arboleda.study.plan import make_plan
from arboleda.tables.reading import read_table

PACKAGE = Path(arboleda.__file__).parent
PLACE = "_utils/operating_system/"
# Modules and attributes that not every system has, and those that state which one it is.
BOUND_MODULES = {
    "_winapi", "fcntl", "grp", "msvcrt", "posix", "pty", "pwd", "resource", "select", "syslog",
    "termios", "tty", "winreg",
}  # fmt: skip
BOUND_NAMES = re.compile(
    r"\b(os\.(fork\w*|getppid|getuid|geteuid|kill|killpg|mkfifo|name|nice|O_\w+|setsid|sysconf|"
    r"umask|sched_\w+|WIF\w+)|signal\.(pthread_\w+|SIG(?!INT\b|TERM\b)\w+|alarm|setitimer)|"
    r"sys\.platform|platform\.system|preexec_fn|pass_fds|start_new_session|windll)\b"
)


def modules() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")


def test_no_other_module_depends_on_the_operating_system() -> None:
    found = []
    for name, text in modules():
        if name.startswith(PLACE):
            continue
        for node in ast.walk(ast.parse(text)):
            imported = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom) and node.level == 0
                else []
            )
            found += [f"{name}: {m}" for m in imported if m.split(".")[0] in BOUND_MODULES]
        found += [f"{name}: {match[0]}" for match in BOUND_NAMES.finditer(text)]
    assert found == ["cli/_run.py: os.O_WRONLY"]  # which every system has


def test_all_systems_have_the_same_functions() -> None:
    assert posix.__all__ == windows.__all__
    for name in posix.__all__:
        assert inspect.signature(getattr(posix, name)) == inspect.signature(getattr(windows, name))


class FakeKernel:
    """kernel32: a process with 700 bytes of memory on a machine of 1,000, of which 300 are free."""

    def __init__(self, *, works: bool = True) -> None:
        self.works = works
        self.limits: Any = None
        self.in_job = False
        # Functions of Python, because a caller may set attributes of them.
        self.GetCurrentProcess = lambda: 5
        self.CreateJobObjectW = lambda attributes, name: 5

    def K32GetProcessMemoryInfo(self, process: Any, used: Any, length: int) -> bool:
        assert process.value == 5
        assert length == ctypes.sizeof(used._obj) == used._obj.length
        used._obj.committed = 700
        return self.works

    def SetInformationJobObject(self, job: Any, kind: int, limits: Any, length: int) -> bool:
        assert (job.value, kind, length) == (5, 9, ctypes.sizeof(limits._obj))
        self.limits = limits._obj
        return True

    def AssignProcessToJobObject(self, job: Any, process: Any) -> bool:
        self.in_job = True
        return True

    def GlobalMemoryStatusEx(self, status: Any) -> bool:
        assert status._obj.length == ctypes.sizeof(status._obj)
        status._obj.total, status._obj.available = 1000, 300
        return self.works


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> FakeKernel:
    fake = FakeKernel()
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=fake), raising=False)
    return fake


def test_the_structures_of_windows_have_their_size() -> None:
    """As 64-bit Windows states them, in bytes."""
    assert ctypes.sizeof(windows._MemoryStatus) == 64
    assert ctypes.sizeof(windows._ProcessMemory) == 72
    assert ctypes.sizeof(windows._JobLimits) == 144
    assert windows._JobLimits.flags.offset == 16
    assert windows._JobLimits.process_memory.offset == 112
    assert windows._ProcessMemory.committed.offset == 56


def test_windows_limits_memory_by_a_job_object(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "system", windows)
    memory.limit_memory(200)
    assert kernel.in_job
    assert kernel.limits.flags == 0x100
    assert kernel.limits.process_memory == 900


def test_windows_reports_its_memory(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "system", windows)
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "none")
    monkeypatch.setattr(memory, "_CGROUPS", ())
    assert memory.available_memory() == 300
    assert windows.read_usable_memory() == 1000


def test_a_windows_that_reports_nothing_sets_no_limit(kernel: FakeKernel) -> None:
    kernel.works = False
    windows.limit_memory(200)
    assert not kernel.in_job
    assert windows.read_available_memory() is None


def test_this_system_reports_its_memory() -> None:
    usable, available = posix.read_usable_memory(), posix.read_available_memory()
    assert available is not None
    assert 10_000_000 < usable <= available


@pytest.mark.parametrize(
    ("system", "code", "sentence"),
    [
        (posix, 3, "its process ended by itself, with status 3"),
        (posix, -9, "its process was killed (signal 9), most likely for want of memory"),
        (posix, -11, "its process died of signal 11 (Segmentation fault)"),
        (windows, 3, "its process ended by itself, with status 3"),
        (windows, 0xC0000005, "its process died of error 0xc0000005 (access violation)"),
        (windows, -0x3FFFFFFB, "its process died of error 0xc0000005 (access violation)"),
    ],
)
def test_the_end_of_a_process_is_described(system: Any, code: int, sentence: str) -> None:
    assert system.describe_exit(code) == sentence


def test_files_are_written_atomically_where_folders_cannot_be_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "system", windows)
    (tmp_path / "facts").write_text("old")
    files.write_atomically(tmp_path / "facts", b"a\nb\r\n")
    assert (tmp_path / "facts").read_bytes() == b"a\nb\r\n"
    assert [path.name for path in tmp_path.iterdir()] == ["facts"]
    windows.raise_oom_score()


def test_a_worker_of_windows_waits_for_the_end_of_its_parent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited = []

    def open_process(access: int, inherit: bool, process: int) -> int:
        assert (access, inherit) == (0x100000, False)
        if process == 1:
            raise OSError
        return process + 100

    fake = SimpleNamespace(
        OpenProcess=open_process,
        WaitForSingleObject=lambda handle, most: waited.append((handle, most)),
    )
    monkeypatch.setitem(sys.modules, "_winapi", fake)
    windows.wait_for_end(7)
    windows.wait_for_end(1)  # it has ended, and its number is free
    assert waited == [(107, 0xFFFFFFFF)]


def test_a_worker_of_windows_opens_what_it_inherits(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = windows.connections
    monkeypatch.setattr(connections, "PipeConnection", lambda handle: [handle], raising=False)
    assert windows.connect(13) == [13]


def test_a_worker_of_windows_takes_the_handle_of_a_file_from_its_parent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[tuple[int, int]] = []
    reduction = SimpleNamespace(
        send_handle=lambda connection, handle, process: sent.append((handle, process)),
        recv_handle=lambda connection: sent.pop()[0],
    )
    fake = SimpleNamespace(
        get_osfhandle=lambda file: file + 100,
        open_osfhandle=lambda handle, flags: (handle - 100, flags),
    )
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setattr(windows, "reduction", reduction)
    connection: Any = None
    windows.send_file(connection, 12)
    assert sent == [(112, os.getpid())]
    assert windows.receive_file(connection) == (12, os.O_RDONLY)


def test_jobs_run_in_workers_that_are_started_as_on_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Handles are descriptors here; those that the new process may inherit are passed to it."""
    inheritable: dict[int, bool] = {}
    started = []

    class Popen(subprocess.Popen[bytes]):
        def __init__(self, command: list[str], **options: Any) -> None:
            handles = options.pop("startupinfo").lpAttributeList["handle_list"]
            assert options.pop("creationflags") == 0x200
            assert all(inheritable[handle] for handle in handles)
            assert command[3:] == [str(os.getpid()), *map(str, handles)]
            started.append(handles)
            super().__init__(command, pass_fds=tuple(handles), **options)

    monkeypatch.setattr(worker, "system", windows)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(get_osfhandle=lambda file: file))
    monkeypatch.setattr(os, "set_handle_inheritable", inheritable.__setitem__, raising=False)
    monkeypatch.setattr(subprocess, "STARTUPINFO", SimpleNamespace, raising=False)
    monkeypatch.setattr(subprocess, "Popen", Popen)
    settings = Settings(models=("most_frequent",), metric="accuracy")
    plan = make_plan(read_table(make_mixed()), "rich", settings)
    fit, score = plan.split.folds[0]
    pipeline = Pipeline([("preparation", "passthrough"), ("model", Odd("nothing"))])
    job = Job("odd", {}, "0", pipeline, fit, score)
    with Pool(plan.shared, 2, tmp_path) as workers:
        results = [result for _, result in workers.run([job])]
    assert [result["error"] for result in results] == [None]
    assert len(started) == 1
    assert not any(inheritable.values())
