"""`make portable` reports presets without a compiler; they fail only where they were requested."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "portable.sh"
# Writes tests that pass, unless the preset is that of a compiler which makes broken ones.
CMAKE = """
[ "$1" = --build ] || exit 0
mkdir -p "build/$3"
for target in golden_tests bits_tests; do
    case $3 in gcc-11) status=1 ;; *) status=0 ;; esac
    printf '#!/bin/sh\\necho %s of %s\\nexit %s\\n' $target "$3" $status >"build/$3/$target"
    chmod +x "build/$3/$target"
done
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the script is for POSIX systems")


def run(folder: Path, compilers: list[str], *presets: str) -> subprocess.CompletedProcess[str]:
    """Run the script where only some compilers are installed, and CMake is a stub."""
    programs = folder / "programs"
    for made in (programs, folder / "tools", folder / "core"):
        made.mkdir()
    for name in ("sh", "dirname", "ls", "mkdir", "chmod"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    for name, text in [("cmake", CMAKE), *((name, "exit 0") for name in compilers)]:
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    shutil.copy(SCRIPT, folder / "tools")
    return subprocess.run(
        [programs / "sh", folder / "tools" / "portable.sh", *presets],
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_missing_compilers_are_named_and_the_others_tried(tmp_path: Path) -> None:
    result = run(tmp_path, ["g++-12"])
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "=== gcc-12",
        "golden_tests of gcc-12",
        "bits_tests of gcc-12",
    ]
    assert "gcc-12" not in result.stderr
    assert (
        "Not tried: gcc-13 (g++-13 is not installed; Debian, Ubuntu: apt-get install g++-13)"
        in result.stderr.splitlines()
    )


def test_a_missing_compiler_that_was_requested_is_an_error(tmp_path: Path) -> None:
    result = run(tmp_path, ["g++-12"], "gcc-12", "gcc-13")
    assert result.returncode == 1
    assert "bits_tests of gcc-12" in result.stdout
    assert result.stderr.startswith("Not tried: gcc-13 (g++-13 is not installed;")
    assert len(result.stderr.splitlines()) == 1


def test_failing_tests_are_an_error(tmp_path: Path) -> None:
    assert run(tmp_path, ["g++-11"]).returncode == 1


def test_a_missing_emulator_is_named(tmp_path: Path) -> None:
    result = run(tmp_path, ["s390x-linux-gnu-g++"], "s390x")
    assert result.returncode == 1
    assert "Not tried: s390x (qemu-s390x is not installed;" in result.stderr
