"""Release the version of the package: check, build, try and tag it; stop at the first failure.

python tools/release.py            # from a clean checkout, after `make test`
python tools/release.py --dry-run  # check the repository, print the commands that would follow

CONTRIBUTING.md has what to do before. Nothing is published: the last lines name what is left.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ".venv/bin/python"
# In this order; each needs what the ones before it made. The types are those of the built wheel.
COMMANDS = {
    "Format, lint, layers, words, types, core tests": "make -k check",
    "Tests": "make test",
    "Slow tests": "make test-slow",
    "Documentation": "make docs",
    "Source distribution and wheel": f"{PYTHON} -m build --outdir dist",
    "What the wheel holds": f"{PYTHON} tools/check_wheel.py dist",
    "Both commands without a compiler": f"{PYTHON} tools/try_wheel.py dist",
    "Public types": f"{PYTHON} tools/check_types.py",
}


class ReleaseError(Exception):
    """A reason not to release, with its remedy."""


def main() -> int:
    """Run the checks and the commands; tag the commit if all succeed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="check the repository and print the commands, without running or tagging anything",
    )
    dry_run = parser.parse_args().dry_run
    try:
        version = check_repository(ROOT)
        for name, command in COMMANDS.items():
            run_command(name, command, ROOT, dry_run=dry_run)
        run_command("Tag", f"git tag -a v{version} -m v{version}", ROOT, dry_run=dry_run)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    print(
        f"{'Would now be' if dry_run else 'Now'} left to a maintainer: push the tag v{version}, "
        "wait for the wheels of the workflow `wheels`, and publish them with dist/*.tar.gz."
    )
    return 0


def check_repository(root: Path) -> str:
    """Check what needs no build, and return the version; raise ReleaseError at the first fault."""
    checks: list[tuple[str, Callable[[Path, str], None]]] = [
        ("Clean tree", check_clean),
        ("New version", check_tag),
        ("Changelog", check_changelog),
        ("Citation", check_citation),
        ("Golden models", check_golden_models),
        ("Nothing built before", check_dist),
    ]
    version = read_version(root)
    for name, check in checks:
        check(root, version)
        print(f"{name}: yes")
    return version


def read_version(root: Path) -> str:
    """Return the version of the package, which has three numbers."""
    text = (root / "src" / "arboleda" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(\d+\.\d+\.\d+)"', text, re.M)
    if not found:
        raise ReleaseError("src/arboleda/__init__.py must set __version__ to three numbers.")
    return found[1]


def check_clean(root: Path, _version: str) -> None:
    """Reject uncommitted changes."""
    changed = read_git(root, "status", "--porcelain").splitlines()
    if changed:
        raise ReleaseError(f"{len(changed)} files are not committed, first {changed[0][3:]}.")


def check_tag(root: Path, version: str) -> None:
    """Reject a version that was released before."""
    if read_git(root, "tag", "--list", f"v{version}"):
        raise ReleaseError(f"v{version} is already tagged; raise __version__.")


def check_changelog(root: Path, version: str) -> None:
    """Require a dated section with entries for the version, and nothing unreleased."""
    sections = read_changelog(root)
    if sections.get("Unreleased", ("", ""))[1]:
        raise ReleaseError(f"CHANGELOG.md has unreleased entries; move them to [{version}].")
    released, entries = sections.get(version, ("", ""))
    if not released or not entries:
        raise ReleaseError(f"CHANGELOG.md needs a section '## [{version}] - YYYY-MM-DD'.")
    if date.fromisoformat(released) > date.today():
        raise ReleaseError(f"CHANGELOG.md dates [{version}] in the future: {released}.")


def read_changelog(root: Path) -> dict[str, tuple[str, str]]:
    """Return the date (empty if there is none) and the text of each version's section."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = r"^## \[([^]]+)\](?: - (\d{4}-\d\d-\d\d))?[^\n]*$"
    _, *parts = re.split(heading, text, flags=re.M)
    rows = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return {version: (released or "", body.strip()) for version, released, body in rows}


def check_citation(root: Path, version: str) -> None:
    """Require the version and its date in the citation."""
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    facts = dict(re.findall(r'^(version|date-released): "?([^"\n]+)"?$', text, re.M))
    released = read_changelog(root)[version][0]
    if facts != {"version": version, "date-released": released}:
        raise ReleaseError(f"CITATION.cff must have version {version} and date {released}.")


def check_golden_models(root: Path, version: str) -> None:
    """Require the model files that every later version will be tested with."""
    if not list((root / "tests" / "golden" / version).glob("*.arboleda")):
        raise ReleaseError(f"No model files of {version}: python -m tests.golden.make")


def check_dist(root: Path, _version: str) -> None:
    """Reject files of an earlier build, which could be published by mistake."""
    if any((root / "dist").glob("*")):
        raise ReleaseError("dist/ is not empty; remove what was built before.")


def read_git(root: Path, *arguments: str) -> str:
    """Return what git prints."""
    command = ["git", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"git {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout.rstrip("\n")


def run_command(name: str, command: str, root: Path, *, dry_run: bool) -> None:
    """Run a command, or print it only; raise ReleaseError if it fails."""
    print(f"{name}: {command}", flush=True)
    if not dry_run and subprocess.run(command.split(), cwd=root, check=False).returncode:
        raise ReleaseError(f"{name} failed ({command}); nothing was tagged.")


if __name__ == "__main__":
    sys.exit(main())
