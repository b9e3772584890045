"""Measure each rule of `BoostingClassifier` and `BoostingRegressor` on tables of its own.

    python benchmarks/quality/rules.py run [--part 0/2] [--only concrete,Auto]
    python benchmarks/quality/rules.py show

`run` fits every configuration without each of two of three folds of every table of
`more_tables.py` and adds the losses of those folds to `rules.jsonl`; what is there is not run
again. `show` prints, for each rule, the mean change of the logarithm of the loss over tables with
its standard error, and the gain when the rule is used on a table only if it is a gain of more than
two standard errors on all others (leave one table out).
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from more_tables import MORE_TABLES
from run import compute_score
from sklearn.model_selection import KFold, StratifiedKFold

import arboleda
from arboleda.boosting import _automatic_boosting as automatic
from arboleda.boosting._automatic_boosting import EFFORTS, EffortLevel

RESULTS = Path(__file__).with_name("rules.jsonl")
SMALLEST_LOSS = 1e-3  # a log-loss below this counts as this

NORMAL = EFFORTS["normal"]
LINEAR, CROSSES, SMALL_LEAVES, SMALL_TREES = NORMAL.changes
PENALTY = automatic.Change({"l2_regularization": 1.0}, lambda model, problem: True)


def with_changes(*changes: Any, **values: Any) -> EffortLevel:
    return replace(NORMAL, changes=changes, values=values)


# Name -> the level of effort, and constants of the module that differ.
CONFIGURATIONS: Mapping[str, tuple[EffortLevel, Mapping[str, Any]]] = {
    "no change": (with_changes(), {}),
    "not refitted": (with_changes(), {"refit_leaves": lambda member, *_: member.ensemble_}),
    # Tried on held-out rows
    "linear leaves": (with_changes(LINEAR), {}),
    "cross columns": (with_changes(CROSSES), {}),
    "small leaves": (with_changes(SMALL_LEAVES), {}),
    "small trees": (with_changes(SMALL_TREES), {}),
    "penalty": (with_changes(PENALTY), {}),
    "all but cross columns": (with_changes(LINEAR, SMALL_LEAVES, SMALL_TREES), {}),
    "all": (NORMAL, {}),
    "all, no margin": (NORMAL, {"_STANDARD_ERRORS": 0.0}),
    "all, two errors": (NORMAL, {"_STANDARD_ERRORS": 2.0}),
    # Always
    "always small leaves": (with_changes(min_samples_leaf=5), {}),
    "always small trees": (with_changes(max_leaf_nodes=16), {}),
    "smaller steps": (with_changes(learning_rate=0.03), {}),
    "four fifths of the rows": (with_changes(subsample=0.8), {}),
    "patience": (with_changes(n_iter_no_change=150), {}),
    "quick": (EFFORTS["quick"], {}),
    "high": (EFFORTS["high"], {}),
}


@contextmanager
def configured(level: EffortLevel, constants: Mapping[str, Any]) -> Iterator[None]:
    """Change the rules for a while."""
    before = {name: getattr(automatic, name) for name in ("EFFORTS", *constants)}
    vars(automatic).update({"EFFORTS": {**EFFORTS, "normal": level}, **constants})
    try:
        yield
    finally:
        vars(automatic).update(before)


def run_table(name: str, done: set[tuple[str, str, int]]) -> None:
    """Fit all configurations on the folds of one table."""
    problem = MORE_TABLES[name]()
    regression = problem.task == "regression"
    kind = arboleda.BoostingRegressor if regression else arboleda.BoostingClassifier
    folds = (KFold if regression else StratifiedKFold)(3, shuffle=True, random_state=0)
    for fold, (train, test) in enumerate(folds.split(problem.frame, problem.target)):
        for configuration, (level, constants) in CONFIGURATIONS.items():
            if fold == 2 or (name, configuration, fold) in done:
                continue
            start = time.process_time()
            with configured(level, constants):
                model: Any = kind(random_state=0, n_jobs=1)
                model.fit(problem.frame.iloc[train], problem.target[train])
            seconds = time.process_time() - start
            rows = problem.frame.iloc[test]
            predicted = model.predict(rows) if regression else model.predict_proba(rows)
            entry = {
                "table": name,
                "task": problem.task,
                "configuration": configuration,
                "fold": fold,
                "loss": compute_score(problem.task, problem.target[test], predicted),
                "cpu_s": round(seconds, 3),
            }
            with RESULTS.open("a") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.write(json.dumps(entry) + "\n")
        print(name, fold, flush=True)


def read_results() -> list[dict[str, Any]]:
    """Read the results of earlier runs."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text().splitlines()]


def compute_gains(
    results: list[dict[str, Any]], changed: str, plain: str, task: str | None = None
) -> dict[str, float]:
    """Return the mean difference of the logarithms of the losses of each table."""
    losses: dict[str, dict[tuple[str, int], float]] = defaultdict(dict)
    for each in results:
        if task is None or each["task"] == task:
            floor = 0.0 if each["task"] == "regression" else SMALLEST_LOSS
            place = each["table"], each["fold"]
            losses[each["configuration"]][place] = max(each["loss"], floor)
    gains: dict[str, list[float]] = defaultdict(list)
    for place, loss in losses[changed].items():
        if place in losses[plain]:
            gains[place[0]].append(float(np.log(loss / losses[plain][place])))
    return {table: float(np.mean(each)) for table, each in gains.items()}


def mean_and_error(values: Any) -> tuple[float, float]:
    values = np.asarray(values)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def leave_one_table_out(gains: Mapping[str, float]) -> float:
    """Return the mean gain where each table uses the rule only if the others are for it."""
    chosen = []
    for table in gains:
        mean, error = mean_and_error([gain for other, gain in gains.items() if other != table])
        chosen.append(gains[table] if mean < -2.0 * error else 0.0)
    return float(np.mean(chosen))


def show() -> None:
    """Print the effect of every configuration."""
    results = read_results()
    print("| configuration | all tables | left out | regression | binary | multiclass | CPU s |")
    print("|---|---|---|---|---|---|---|")
    seconds: dict[str, float] = defaultdict(float)
    for each in results:
        seconds[each["configuration"]] += each["cpu_s"]
    for name in CONFIGURATIONS:
        cells = []
        gains = compute_gains(results, name, "no change")
        if len(gains) < 2:
            continue
        for task in (None, "regression", "binary", "multiclass"):
            mean, error = mean_and_error(
                list(compute_gains(results, name, "no change", task).values())
            )
            cells.append(f"{100 * mean:+.2f} % ({100 * error:.2f})")
        cells.insert(1, f"{100 * leave_one_table_out(gains):+.2f} %")
        print(f"| {name} | {' | '.join(cells)} | {seconds[name]:.0f} |")


def main() -> None:
    """Run or show."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("action", choices=["run", "show"])
    parser.add_argument("--part", default="0/1", help="which share of the tables, such as 0/2")
    parser.add_argument("--only", default="", help="tables, separated by commas")
    arguments = parser.parse_args()
    if arguments.action == "show":
        show()
        return
    warnings.simplefilter("ignore")
    part, parts = map(int, arguments.part.split("/"))
    done = {(each["table"], each["configuration"], each["fold"]) for each in read_results()}
    chosen = arguments.only.split(",") if arguments.only else list(MORE_TABLES)
    for name in chosen[part::parts]:
        run_table(name, done)


if __name__ == "__main__":
    main()
