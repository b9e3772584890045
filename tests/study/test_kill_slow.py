"""A study killed at a hundred random moments in all ends as one that was never stopped."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda.study import Study

Timeless = Callable[[Any], Any]
KILLS = 25


def write(folder: Path, n_rows: int) -> Path:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(n_rows, 4))
    frame = pd.DataFrame(x, columns=list("abcd"))
    frame["y"] = x[:, 0] * x[:, 1] + draw.normal(size=n_rows)
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def work_of(out: Path) -> set[tuple[str, str, str]]:
    """The pieces of work in the ledger."""
    if not (out / "ledger.sqlite").exists():
        return set()
    connection = sqlite3.connect(out / "ledger.sqlite")
    try:
        return set(connection.execute("SELECT model, params, fold FROM work"))
    finally:
        connection.close()


def models_of(out: Path) -> dict[str, bytes]:
    """The bytes of the models in this library's own format, which holds no time."""
    return {path.name: path.read_bytes() for path in (out / "models").glob("*.arboleda")}


# A table of many rows is searched in rounds: first looks, then those that go on.
@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("n_rows", "models"), [(300, "core"), (32_000, "mean,cart,gradient_boosting,ridge")]
)
def test_many_kills(
    tmp_path: Path, timeless: Timeless, jobs: int, n_rows: int, models: str
) -> None:
    table = write(tmp_path, n_rows)
    expected = Study(table, target="y", out=tmp_path / "whole", models=models).run()
    looks = [c for m in expected.facts["models"] for c in m["candidates"]]
    assert any(c["status"] == "stopped" for c in looks) == (n_rows > 300)
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "arboleda", "study", str(table), "--models", models]
    command += ["--target", "y", "--out", str(out), "--jobs", str(jobs)]
    moment = random.Random(jobs)
    done: set[tuple[str, str, str]] = set()
    for _ in range(KILLS):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moment.uniform(1.0, 6.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = work_of(out)
        assert now >= done
        done = now
    subprocess.run(command, check=True, capture_output=True)
    assert timeless(json.loads((out / "results.json").read_text())) == timeless(expected.facts)
    assert models_of(out) == models_of(expected.folder)
    assert work_of(out) == work_of(expected.folder)
