"""The check of a wheel finds planted faults, and accepts the wheels that are to be published."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_wheel.py"
TYPED = ("arboleda/__init__.py", "arboleda/py.typed", "arboleda/_native.pyi")
INFO = "arboleda-9.9.dist-info/METADATA"


def check(folder: Path, tags: str, *names: str) -> subprocess.CompletedProcess[str]:
    with zipfile.ZipFile(folder / f"arboleda-9.9-{tags}.whl", "w") as wheel:
        for name in names:
            wheel.writestr(name, "")
    return subprocess.run(
        [sys.executable, TOOL, folder], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("tags", "module"),
    [
        ("cp311-cp311-manylinux_2_28_x86_64", "_native.cpython-311-x86_64-linux-gnu.so"),
        ("cp312-abi3-musllinux_1_2_aarch64", "_native.abi3.so"),
        ("cp312-abi3-macosx_14_0_arm64", "_native.abi3.so"),
        ("cp312-abi3-win_amd64", "_native.pyd"),
        ("cp313-cp313t-linux_x86_64", "_native.cpython-313t-x86_64-linux-gnu.so"),
    ],
)
def test_a_good_wheel_passes(tmp_path: Path, tags: str, module: str) -> None:
    result = check(tmp_path, tags, *TYPED, INFO, f"arboleda/{module}")
    assert result.returncode == 0, result.stdout
    assert len(result.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("tags", "names", "fault"),
    [
        # A build that silently fell back to an ordinary module, labelled as stable.
        (
            "cp312-abi3-linux_x86_64",
            (*TYPED, "arboleda/_native.cpython-312-x86_64-linux-gnu.so"),
            "is not a module of cp312-abi3",
        ),
        (
            "cp313-cp313-linux_x86_64",
            (*TYPED, "arboleda/_native.cpython-313-x86_64-linux-gnu.so"),
            "cp313-cp313 should be cp312-abi3",
        ),
        ("cp312-abi3-linux_x86_64", TYPED, "the compiled modules are []"),
        (
            "cp312-abi3-linux_x86_64",
            (*TYPED[:2], "arboleda/_native.abi3.so"),
            "arboleda/_native.pyi is missing",
        ),
        (
            "cp312-abi3-linux_x86_64",
            (*TYPED, "arboleda/_native.abi3.so", "tests/conftest.py"),
            "tests/conftest.py does not belong in a wheel",
        ),
    ],
)
def test_a_fault_is_found(tmp_path: Path, tags: str, names: tuple[str, ...], fault: str) -> None:
    result = check(tmp_path, tags, *names)
    assert result.returncode == 1
    assert fault in result.stdout


def test_a_folder_without_one_wheel_is_rejected(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, TOOL, tmp_path], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert "must hold one wheel of arboleda, but holds 0" in result.stderr
