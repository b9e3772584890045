"""The slowest files of a build are read from Ninja's log, and too slow ones are an error."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "slowest_units.py"

# Milliseconds at which a command began and ended, and its output.
COMMANDS = [
    (0, 90_000, "core/a.cc.o"),  # built again below
    (0, 2_000, "core/a.cc.o"),
    (500, 31_000, "core/b.cc.o"),
    (0, 1_500, "core/cmake_pch.hxx.gch"),
    (0, 70_000, "core/libcore.a"),
]


def write_log(folder: Path, commands: list[tuple[int, int, str]] = COMMANDS) -> None:
    """Write a log of a build in which a unit is no longer there."""
    lines = ["# ninja log v5", "0\t80000\t0\tcore/removed.cc.o\tabc"]
    lines += [f"{begin}\t{end}\t0\t{output}\tabc" for begin, end, output in commands]
    (folder / "core").mkdir(parents=True)
    (folder / ".ninja_log").write_text("\n".join(lines))
    for _, _, output in commands:
        (folder / output).touch()


def run_script(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False
    )


def test_units_are_listed_by_the_time_of_their_last_build(tmp_path: Path) -> None:
    write_log(tmp_path / "build")
    result = run_script(tmp_path, "--most", "2")
    assert result.returncode == 0
    head, *units = result.stdout.splitlines()
    assert head == "3 units, 34 s in all; the slowest:"
    assert [unit.split() for unit in units] == [
        ["30.5", "s", f"{tmp_path}/build/core/b.cc.o"],
        ["2.0", "s", f"{tmp_path}/build/core/a.cc.o"],
    ]


def test_a_unit_over_the_limit_is_an_error(tmp_path: Path) -> None:
    write_log(tmp_path)
    assert run_script(tmp_path, "--fail-over", "31").returncode == 0
    result = run_script(tmp_path, "--fail-over", "30")
    assert result.returncode == 1
    assert result.stdout.endswith(f"{tmp_path}/core/b.cc.o took longer than 30 s: split it.\n")


def test_a_unit_may_take_a_tenth_of_a_slow_build(tmp_path: Path) -> None:
    write_log(
        tmp_path, [(0, 39_000, f"core/{i}.cc.o") for i in range(10)] + [(0, 45_000, "core/x.o")]
    )
    result = run_script(tmp_path, "--fail-over", "30")
    assert result.returncode == 1
    assert result.stdout.endswith(f"{tmp_path}/core/x.o took longer than 44 s: split it.\n")


def test_a_folder_without_a_build_is_named(tmp_path: Path) -> None:
    result = run_script(tmp_path)
    assert result.returncode == 2
    assert result.stderr == f"{tmp_path} holds no .ninja_log: build there with Ninja first.\n"
