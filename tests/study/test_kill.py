"""A study killed at any moment resumes where it was, and leaves no process behind."""

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest

from arboleda.study import Study

Timeless = Callable[[Any], Any]
# Cheap fits, and enough of them to be killed among; combinations of them come last.
MODELS = "mean,cart,ridge,lasso,gradient_boosting"


@pytest.fixture(scope="module")
def small(
    tmp_path_factory: pytest.TempPathFactory, all_permutations: None
) -> tuple[Path, dict[str, Any]]:
    """A small table, and the facts of its study when nothing interrupts it."""
    folder = tmp_path_factory.mktemp("small")
    draw = np.random.default_rng(0)
    x = draw.normal(size=(80, 3))
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(kind=draw.choice(["u", "v"], 80))
    frame["y"] = x[:, 0] + x[:, 1] ** 2 + draw.normal(size=80)
    frame.to_csv(folder / "small.csv", index=False)
    whole = Study(folder / "small.csv", target="y", output_dir=folder / "o", models=MODELS).run()
    return folder / "small.csv", whole.facts


def start(table: Path, out: Path, jobs: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "arboleda", "study", str(table), "--target", "y"]
    command += ["--models", MODELS, "--out", str(out), "--jobs", str(jobs)]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=out.parent
    )


def wait_for_candidates(process: subprocess.Popen[str], n_candidates: int) -> list[psutil.Process]:
    """Wait until so many candidates have a score; return the processes it has started."""
    assert process.stderr is not None
    while n_candidates:
        line = process.stderr.readline()
        assert line, "the study ended early"
        n_candidates -= " ± " in line
    return psutil.Process(process.pid).children(recursive=True)


def kill_after_candidates(
    process: subprocess.Popen[str], n_candidates: int
) -> list[psutil.Process]:
    """Kill it once so many candidates have a score; return the processes it had started."""
    assert process.stderr is not None
    children = wait_for_candidates(process, n_candidates)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    return children


def stored(out: Path) -> list[tuple[str, str, str]]:
    if not (out / "ledger.sqlite").exists():
        return []
    connection = sqlite3.connect(out / "ledger.sqlite")
    try:
        return connection.execute("SELECT model, params, fold FROM work").fetchall()
    finally:
        connection.close()


def finish(table: Path, out: Path, jobs: int) -> dict[str, Any]:
    """Run it to its end and check that what was stored is not done again."""
    n_folds = sum(fold != "test" for _, _, fold in stored(out))
    process = start(table, out, jobs)
    _, output = process.communicate(timeout=100)
    assert process.returncode == 0, output
    if n_folds:
        assert f", {n_folds} already done." in output
    facts: dict[str, Any] = json.loads((out / "results.json").read_text())
    return facts


@pytest.mark.parametrize(
    ("jobs", "moments"), [pytest.param(1, [2, 20], marks=pytest.mark.slow), (2, [12])]
)
def test_a_killed_study_resumes(
    tmp_path: Path,
    small: tuple[Path, dict[str, Any]],
    timeless: Timeless,
    jobs: int,
    moments: list[int],
) -> None:
    table, expected = small
    out = tmp_path / "study"
    before = 0
    for n_candidates in moments:
        children = kill_after_candidates(start(table, out, jobs), n_candidates)
        assert (len(children) >= 2) == (jobs == 2)
        _, alive = psutil.wait_procs(children, timeout=20)
        assert alive == []
        assert len(stored(out)) > before
        before = len(stored(out))
        assert not (out / "results.json").exists()
    assert timeless(finish(table, out, jobs)) == timeless(expected)
    work = stored(out)
    assert len(work) == len(set(work)) > before


def test_ctrl_c_keeps_finished_work(tmp_path: Path, small: tuple[Path, dict[str, Any]]) -> None:
    process = start(small[0], tmp_path / "study", jobs=2)
    children = wait_for_candidates(process, 4)
    # A terminal sends Ctrl-C to the whole group.
    for each in [process, *children]:
        each.send_signal(signal.SIGINT)
    _, output = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output.splitlines()[-1] == (
        "arboleda: interrupted; finished work is saved, run the same command to resume."
    )
    assert "Traceback" not in output
    assert stored(tmp_path / "study")
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
