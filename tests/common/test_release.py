"""The release script stops at the first fault, and tags only when every step succeeded."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "release.py"
CHANGELOG = """\
# Changelog

## [Unreleased]

## [1.2.3] - 2025-01-31

### Added

- A thing.

## [1.2.2]

Not published.
"""

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture(scope="module")
def release() -> dict[str, Any]:
    return runpy.run_path(str(TOOL))


def run_git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, check=True).stdout


def commit(root: Path) -> None:
    run_git(root, "add", "-A")
    run_git(root, "commit", "-qm", "x")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    files = {
        "src/arboleda/__init__.py": '__version__ = "1.2.3"  # here\n',
        "CHANGELOG.md": CHANGELOG,
        "CITATION.cff": 'version: 1.2.3\ndate-released: "2025-01-31"\n',
        "tests/golden/1.2.3/tree.arboleda": "",
        ".gitignore": "/dist/\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q", root], check=True)
    commit(root)
    return root


def test_a_good_repository_passes(release: dict[str, Any], repository: Path) -> None:
    assert release["check_repository"](repository) == "1.2.3"


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"),
    [
        ("src/arboleda/__init__.py", "1.2.3", "1.2", "three numbers"),
        ("CHANGELOG.md", "## [1.2.3] - 2025-01-31", "## [1.2.3]", "needs a section"),
        ("CHANGELOG.md", "1.2.3", "1.2.4", "needs a section"),
        ("CHANGELOG.md", "### Added\n\n- A thing.\n", "", "needs a section"),
        ("CHANGELOG.md", "[Unreleased]\n", "[Unreleased]\n\n- More.\n", "unreleased entries"),
        ("CHANGELOG.md", "2025-01-31", "9025-01-31", "in the future"),
        ("CITATION.cff", "1.2.3", "1.2.2", "CITATION.cff must have version 1.2.3"),
        ("CITATION.cff", "2025-01-31", "2025-01-30", "date 2025-01-31"),
    ],
)
def test_a_fault_of_a_file_is_found(
    release: dict[str, Any], repository: Path, name: str, old: str, new: str, reason: str
) -> None:
    path = repository / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    commit(repository)
    with pytest.raises(release["ReleaseError"], match=re.escape(reason)):
        release["check_repository"](repository)


def test_other_faults_are_found(release: dict[str, Any], repository: Path) -> None:
    check, error = release["check_repository"], release["ReleaseError"]
    (repository / "notes").write_text("")
    with pytest.raises(error, match="1 files are not committed, first notes"):
        check(repository)
    commit(repository)
    (repository / "dist").mkdir()
    (repository / "dist" / "old.whl").write_text("")
    with pytest.raises(error, match="dist/ is not empty"):
        check(repository)
    (repository / "dist" / "old.whl").unlink()
    run_git(repository, "tag", "v1.2.3")
    with pytest.raises(error, match=r"v1\.2\.3 is already tagged"):
        check(repository)
    run_git(repository, "tag", "-d", "v1.2.3")
    (repository / "tests/golden/1.2.3/tree.arboleda").unlink()
    commit(repository)
    with pytest.raises(error, match="No model files of 1"):
        check(repository)


def run_release(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script as it would run in the checkout; `make` and Python are stand-ins."""
    (root / "tools").mkdir()
    shutil.copy(TOOL, root / "tools")
    commit(root)
    return subprocess.run(
        [sys.executable, "tools/release.py", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_dry_run_prints_the_commands_only(release: dict[str, Any], repository: Path) -> None:
    result = run_release(repository, "--dry-run")
    assert result.returncode == 0, result.stderr
    for name, command in release["COMMANDS"].items():
        assert f"{name}: {command}\n" in result.stdout
    assert "git tag -a v1.2.3" in result.stdout
    assert run_git(repository, "tag", "--list") == ""


def test_a_step_that_fails_stops_the_release(repository: Path) -> None:
    """Nothing after `make -k check`, which fails here for want of a Makefile."""
    result = run_release(repository)
    assert result.returncode == 1
    assert "failed (make -k check); nothing was tagged" in result.stderr
    assert "make test" not in result.stdout
    assert run_git(repository, "tag", "--list") == ""


def test_what_the_script_runs_exists(release: dict[str, Any]) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    for command in release["COMMANDS"].values():
        words = command.split()
        if words[0] == "make":
            assert words[-1] in targets
        else:
            assert words[1] == "-m" or (ROOT / words[1]).is_file()


def test_this_repository_can_be_released(release: dict[str, Any]) -> None:
    """What is committed for this version agrees; entries may still be unreleased."""
    version = release["read_version"](ROOT)
    release["check_citation"](ROOT, version)
    release["check_golden_models"](ROOT, version)
    assert list(release["read_changelog"](ROOT))[:2] == ["Unreleased", version]
