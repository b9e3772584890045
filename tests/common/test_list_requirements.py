"""The packages that are installed before the wheel are those of pyproject.toml."""

import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "list_requirements.py"


def list_requirements(project: dict[str, Any], extras: list[str]) -> list[str]:
    spec = importlib.util.spec_from_file_location("list_requirements", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return list(tool.list_requirements(project, extras))


def test_extras_of_the_same_project_are_followed() -> None:
    extras = {"a": ["x>=1", "p[y,z]"], "y": ["y>=2", "x>=1"], "z": ["z"], "other": ["o"]}
    project = {"name": "p", "dependencies": ["d>=3"], "optional-dependencies": extras}
    assert list_requirements(project, []) == ["d>=3"]
    assert list_requirements(project, ["a"]) == ["d>=3", "x>=1", "y>=2", "z"]
    with pytest.raises(KeyError):
        list_requirements(project, ["missing"])


@pytest.mark.parametrize("extra", ["study", "onnx", "dev"])
def test_the_command_prints_what_the_project_needs(extra: str) -> None:
    printed = subprocess.run(
        [sys.executable, TOOL, extra], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = [r for r in project["optional-dependencies"][extra] if not r.startswith("arboleda")]
    assert set(printed) >= {*project["dependencies"], *own}
    assert not any(name.startswith("arboleda") for name in printed)
