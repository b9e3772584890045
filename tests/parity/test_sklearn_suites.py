"""scikit-learn's own tests of trees and ensembles, with our classes in the place of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn
from tests.parity.sklearn_differences import EXPECTED, INTERNALS, REASONS, SCIKIT_LEARN, WORDING

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide" / "differences_from_scikit_learn.md"
QUICK = ("tree/tests/test_monotonic_tree.py", "tree/tests/test_export.py")


def outcomes_of(suite: str, folder: Path) -> dict[str, str]:
    """Run a suite in a process of its own; the outcome of each test by its name."""
    if not sklearn.__version__.startswith(SCIKIT_LEARN + "."):
        pytest.skip(f"the differences are those of the tests of scikit-learn {SCIKIT_LEARN}")
    library = Path(sklearn.__file__).parent
    written = folder / "outcomes.json"
    options = ["-p", "tests.parity.sklearn_suites_plugin", "-p", "no:cacheprovider", "-q"]
    options += ["-c", os.devnull, "--rootdir", str(library), "--import-mode=importlib"]
    # Their random numbers are those of one seed, and our package may lie anywhere.
    environment = os.environ | {
        "ARBOLEDA_SUITE_OUTCOMES": str(written),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "SKLEARN_TESTS_GLOBAL_RANDOM_SEED": "42",
    }
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(library / suite)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert written.exists(), run.stdout[-2000:] + run.stderr[-2000:]
    outcomes: dict[str, str] = json.loads(written.read_text("utf-8"))
    return outcomes


def check(suite: str, folder: Path) -> None:
    """The tests that fail are those that are expected to."""
    outcomes = outcomes_of(suite, folder)
    assert len(outcomes) > 10
    failed = {name for name, outcome in outcomes.items() if outcome == "failed"}
    expected = EXPECTED[suite]
    assert sorted(name for name in failed if name.split("[")[0] not in expected) == []
    failing = {name.split("[")[0] for name in failed}
    assert sorted(set(expected) - failing) == [], "they pass now: remove them from the table"


@pytest.mark.parametrize("suite", QUICK)
def test_a_quick_suite_passes(suite: str, tmp_path: Path) -> None:
    check(suite, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("suite", [suite for suite in EXPECTED if suite not in QUICK])
def test_a_suite_passes(suite: str, tmp_path: Path) -> None:
    check(suite, tmp_path)


def test_every_expected_difference_has_a_reason() -> None:
    reasons = {reason for tests in EXPECTED.values() for reason in tests.values()}
    assert reasons == {*REASONS, INTERNALS, WORDING}


def test_the_guide_has_every_reason() -> None:
    headings = [
        line.removeprefix("### ")
        for line in GUIDE.read_text("utf-8").splitlines()
        if line.startswith("### ")
    ]
    assert sorted(headings) == sorted(REASONS.values())
