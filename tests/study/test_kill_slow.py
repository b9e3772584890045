"""A study killed at a hundred random moments ends like one that was never stopped."""

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

pytestmark = pytest.mark.usefixtures("all_permutations")

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


def get_column_names(work: set[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    """Without the checksums of the files of scikit-learn's models, which hold the hour."""
    steps = ("importance", "surrogate")
    return {(m, p, f.split(" ")[0] if f.startswith(steps) else f) for m, p, f in work}


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
def test_a_study_survives_many_kills(
    tmp_path: Path, timeless: Timeless, jobs: int, n_rows: int, models: str
) -> None:
    table = write(tmp_path, n_rows)
    expected = Study(table, target="y", output_dir=tmp_path / "whole", models=models).run()
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
    assert get_column_names(work_of(out)) == get_column_names(work_of(expected.folder))


def people(folder: Path) -> Path:
    """A table with columns of every kind, with groups and with times."""
    draw = np.random.default_rng(3)
    n = 150
    frame = pd.DataFrame(
        {
            "who": draw.integers(0, 30, n),
            "when": draw.permutation(n),
            "size": draw.normal(size=n),
            "town": draw.choice(["Rome", "Oslo", "Lima"], n),
            "age": np.where(draw.random(n) < 0.1, np.nan, draw.integers(18, 90, n)),
        }
    )
    score = frame["size"] + (frame["town"] == "Oslo") + draw.normal(size=n)
    frame["y"] = np.where(score > 0.3, "yes", "no")
    frame["price"] = score * frame["size"]
    frame.to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


CLASSES = {"target": "y", "models": "most_frequent,lda,cart,svm,random_forest"}
VALUES = {"target": "price", "models": "mean,ridge,cart,gradient_boosting"}
COSTS = {"yes": {"no": 5.0}, "no": {"yes": 1.0}}


# Everything that a study reports is in one of them: combinations, calibration, costs, rejected
# rows, groups, a learning curve, importances, a small tree, cautions.
@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "options",
    [
        {
            **CLASSES,
            "metric": "roc_auc",
            "cost_matrix": COSTS,
            "reject_cost": 0.4,
            "score_by": "town,age",
        },
        {**CLASSES, "metric": "log_loss", "groups": "who", "cv": "group:3", "score_by": ["town"]},
        {**CLASSES, "metric": "mcc", "time": "when", "cv": "time:3"},
        {**CLASSES, "cv": "5x3", "test_size": 0.3, "random_state": 7},
        {**CLASSES, "models": "most_frequent,lda,naive_bayes", "cv": "loo"},
        {**CLASSES, "models": "most_frequent,lda,cart", "cv": "bootstrap:10"},
        {**CLASSES, "preset": "best", "models": "best_leafwise,best_linear,best_neighbours"},
        {**CLASSES, "preset": "thesis", "models": "cart,logistic,adaboost"},
        {**VALUES, "metric": "mae", "score_by": ["town"]},
        {**VALUES, "preset": "thesis", "time": "when", "cv": "time:4"},
        {**VALUES, "models": "mean,ridge,lasso", "groups": "who", "lang": "es"},
    ],
    ids=lambda options: (
        f"{options.get('preset', 'quick')} {options.get('cv', 5)} {options['target']}"
    ),
)
def test_the_facts_do_not_depend_on_the_processes(
    tmp_path: Path, timeless: Timeless, options: dict[str, Any]
) -> None:
    table = people(tmp_path)
    expected = Study(table, output_dir=tmp_path / "one", n_jobs=1, **options).run()
    again = Study(table, output_dir=tmp_path / "again", n_jobs=1, **options).run()
    assert timeless(again.facts) == timeless(expected.facts)
    assert models_of(again.folder) == models_of(expected.folder)
    two = Study(table, output_dir=tmp_path / "two", n_jobs=2, **options).run()
    assert timeless(two.facts) == timeless(expected.facts)
    assert models_of(two.folder) == models_of(expected.folder)
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "arboleda", "study"]
    command += ["--config", str(two.folder / "study.toml"), "--out", str(out)]
    # While folds are scored, twice, and while models are tested.
    for files, at_least in (("predictions/*.npy", 2), ("predictions/*.npy", 12), ("models/*", 2)):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(list(out.glob(files))) < at_least and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    ended = Study(table, output_dir=out, n_jobs=1, **options).run()
    assert timeless(ended.facts) == timeless(expected.facts)
    assert models_of(out) == models_of(expected.folder)
    assert get_column_names(work_of(out)) == get_column_names(work_of(expected.folder))
