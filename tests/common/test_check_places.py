"""The check for places of one machine finds planted ones and passes on this repository."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def run_check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "check_places.py", root],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a git checkout")
def test_this_repository_passes() -> None:
    result = run_check(ROOT)
    assert (result.stdout, result.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        # The pieces are joined here, so that this file itself passes the check.
        ("data = '/ro" + "ot/table.csv'", True),
        ("see /ho" + "me/ana/notes", True),
        ("python /tm" + "p/run.py", True),
        ("--index" + "-url=x", True),
        ("https://py" + "pi.example.org/simple", True),
        ("http://10." + "0.0.7/simple", True),
        ("a/root/of x, ../work/, ${TMPDIR:-/tmp}/x, https://doi.org/10.1", False),
    ],
)
def test_a_planted_place_is_found(tmp_path: Path, line: str, found: bool) -> None:
    (tmp_path / "notes.md").write_text(f"first\n{line}\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "add", "notes.md"], check=True)
    result = run_check(tmp_path)
    assert result.returncode == int(found)
    assert result.stdout.startswith("notes.md:2:") == found
