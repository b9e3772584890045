"""Users' type checkers know the types of the public names."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_types.py"

pytestmark = pytest.mark.slow


@pytest.mark.skipif(shutil.which("pyright") is None, reason="needs pyright: pip install pyright")
@pytest.mark.skipif(find_spec("sklearn-stubs") is None, reason="needs scikit-learn-stubs")
def test_public_types_are_complete() -> None:
    result = subprocess.run(
        [sys.executable, TOOL, "arboleda."], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "public names have complete types" in result.stdout
