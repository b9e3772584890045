"""What a machine lacks is reported in one sentence that names the remedy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "preflight.sh"
COMPILER = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the Makefile is for POSIX systems")


def program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def python_that(folder: Path, **exit_codes: int) -> None:
    """Write a Python that ends each of the script's checks with a given exit status."""
    cases = "\n".join(f"*{word}*) exit {status};;" for word, status in exit_codes.items())
    program(folder, "python3", f'case "$2" in\n{cases}\n*print*) echo 3.9;;\nesac\nexit 0')


def preflight(folder: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run the script where only what `folder` holds can be found."""
    shell = shutil.which("sh")
    assert shell is not None
    return subprocess.run(
        [shell, SCRIPT],
        cwd=folder,
        env={"PATH": str(folder), **extra},
        capture_output=True,
        text=True,
        check=False,
    )


def assert_reports(result: subprocess.CompletedProcess[str], *words: str) -> None:
    assert result.returncode == 1
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith("arboleda cannot be built here: ")
    for word in words:
        assert word in result.stderr


def test_missing_python_is_reported(tmp_path: Path) -> None:
    assert_reports(preflight(tmp_path), "no 'python3'", "install Python 3.11", "make PYTHON=")


def test_broken_python_is_reported(tmp_path: Path) -> None:
    program(tmp_path, "python3", "exit 1")
    assert_reports(preflight(tmp_path), "'python3' does not run")


def test_old_python_is_reported(tmp_path: Path) -> None:
    python_that(tmp_path, version_info=1)
    program(tmp_path, "python3", 'case "$2" in *print*) echo 3.9;; *) exit 1;; esac')
    assert_reports(preflight(tmp_path), "is Python 3.9", "3.11 or newer is needed")


def test_missing_venv_is_reported(tmp_path: Path) -> None:
    python_that(tmp_path, ensurepip=1)
    assert_reports(preflight(tmp_path), "venv and ensurepip", "python3-venv")


def test_missing_headers_are_reported(tmp_path: Path) -> None:
    python_that(tmp_path, sysconfig=1)
    assert_reports(preflight(tmp_path), "Python.h", "python3-dev")


def test_missing_compiler_is_reported(tmp_path: Path) -> None:
    python_that(tmp_path, other=1)
    assert_reports(preflight(tmp_path), "no C++ compiler;", "apt-get install g++")


def test_missing_named_compiler_is_reported(tmp_path: Path) -> None:
    python_that(tmp_path, other=1)
    assert_reports(preflight(tmp_path, CXX="nowhere-c++ -m64"), "named 'nowhere-c++ -m64'")


def test_compiler_without_cpp20_is_reported(tmp_path: Path) -> None:
    python_that(tmp_path, other=1)
    program(tmp_path, "c++", "exit 1")
    assert_reports(preflight(tmp_path), "'c++' does not compile C++20", "GCC 11")


def test_broken_environment_is_reported(tmp_path: Path) -> None:
    python_that(tmp_path, other=1)
    (tmp_path / ".venv").mkdir()
    assert_reports(preflight(tmp_path), ".venv no longer works", "make clean")


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
def test_silent_when_nothing_is_missing(tmp_path: Path) -> None:
    result = preflight(tmp_path, PATH=os.environ["PATH"], PYTHON=sys.executable, CXX=str(COMPILER))
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
