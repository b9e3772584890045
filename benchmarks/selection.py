"""Greedy selection over the study's catalogue against the best single model, on the real tables.

    python benchmarks/selection.py [--tables saheart adult] [--rows 1500] [--out results.json]

Every model of the catalogue, at the middle of its grid, is a member. Five-fold cross-validation;
within a fold's training rows the members' answers are computed once, five-fold out of fold, and
every combination is made of these same answers. Judged by log-loss, or by root mean squared error;
nothing of the test rows is seen before they are predicted. "Best member" is the one with the best
score within the training rows, what a user would pick; "in hindsight" is the one that turned out
best over the test folds. Prints a Markdown table of means over the five folds.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parent / "quality"))
from tables import TABLES, Problem, problem

from arboleda.combine import out_of_fold_outputs, outputs_of
from arboleda.combine._constrained_weights import constrained_weights
from arboleda.combine._ensemble_scorers import make_ensemble_scorer
from arboleda.combine._greedy_selection import select_greedily
from arboleda.study.catalogue import Setting, models_for

COLUMNS = ("best member", "in hindsight", "mean of all", "greedy, once", "greedy", "simplex")


def members(task: str, n_rows: int, n_classes: int) -> list[tuple[str, Any]]:
    """One member for each model of the catalogue, with its preparation."""
    setting = Setting(n_rows, n_classes, seed=0)
    found = []
    for model in models_for(task):
        grid = model.grid(setting)
        made = model.make(setting, grid[len(grid) // 2])
        found.append((model.key, make_pipeline(preparation(scaled=model.style == "scaled"), made)))
    return found


def preparation(*, scaled: bool) -> Any:
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=5, sparse_output=False
    )
    numbers = "passthrough"
    if scaled:
        numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return make_column_transformer(
        (one_hot, make_column_selector(dtype_include="category")),
        (numbers, make_column_selector(dtype_exclude="category")),
        sparse_threshold=0,
    )


def some(given: Problem, n_rows: int) -> Problem:
    """A fixed random part of the rows, without classes too rare for folds within folds."""
    rows = np.sort(np.random.default_rng(0).permutation(len(given.target))[:n_rows])
    frame, target = given.frame.iloc[rows], given.target[rows]
    if given.task != "regression":
        kept = np.bincount(target)[target] >= 10
        frame, target = frame[kept], target[kept]
    return problem(frame, target, given.task)


def loss(task: str, target: Any, said: Any) -> float:
    if task == "regression":
        return float(root_mean_squared_error(target, said))
    return float(
        log_loss(target, said / said.sum(axis=1, keepdims=True), labels=range(said.shape[1]))
    )


def weights_of(found: Any, target: Any, scoring: str) -> dict[str, Any]:
    """Weights of each combination, from what the members say out of fold."""
    outputs, n_members = found.outputs, len(found.names)
    judge = make_ensemble_scorer(scoring, outputs, target, np.ones(len(target)), found.classes)
    alone = [judge.score_with(member) for member in range(n_members)]
    random = np.random.RandomState(0)
    bags = [random.choice(n_members, n_members // 2, replace=False) for _ in range(20)]
    parts = [select_greedily(judge, bag.tolist(), None, 50) for bag in bags]
    return {
        "best member": np.eye(n_members)[int(np.argmax(alone))],
        "mean of all": np.full(n_members, 1 / n_members),
        "greedy, once": select_greedily(judge, range(n_members), None, 50).shares(n_members),
        "greedy": np.mean([part.shares(n_members) for part in parts], axis=0),
        "simplex": constrained_weights(outputs, target, "simplex"),
    }


def measure(given: Problem) -> dict[str, Any]:
    """Mean test loss of every combination and of every member over the folds."""
    regression = given.task == "regression"
    scoring = "neg_root_mean_squared_error" if regression else "neg_log_loss"
    named = members(given.task, len(given.target), len(np.unique(given.target)))
    losses: list[dict[str, float]] = []
    chosen: list[dict[str, float]] = []
    for train, test in given.folds():
        X, y = given.frame.iloc[train], given.target[train]
        held_out, target = given.frame.iloc[test], given.target[test]
        found = out_of_fold_outputs(named, X, y, cv=5, n_jobs=1)
        fitted = [(name, clone(member).fit(X, y)) for name, member in named]
        said = outputs_of(fitted, held_out, found.classes).outputs
        weights = weights_of(found, y, scoring)
        one = {
            f"member {n}": loss(given.task, target, s)
            for n, s in zip(found.names, said, strict=True)
        }
        for name, each in weights.items():
            one[name] = loss(given.task, target, np.tensordot(each, said, 1))
        losses.append(one)
        chosen.append(dict(zip(found.names, np.round(weights["greedy"], 3).tolist(), strict=True)))
    mean = {name: float(np.mean([one[name] for one in losses])) for name in losses[0]}
    mean["in hindsight"] = min(v for name, v in mean.items() if name.startswith("member "))
    return {"mean": mean, "folds": losses, "weights": chosen, "rows": len(given.target)}


def show(results: dict[str, Any]) -> None:
    print("| table | rows | " + " | ".join(COLUMNS) + " |")
    print("|---|---:|" + "---:|" * len(COLUMNS))
    for name, result in results.items():
        values = " | ".join(f"{result['mean'][column]:.4g}" for column in COLUMNS)
        print(f"| {name} | {result['rows']:,} | {values} |")
    for other in ("best member", "in hindsight"):
        won = sum(r["mean"]["greedy"] < r["mean"][other] for r in results.values())
        print(f"\nGreedy selection is better than {other} on {won} of {len(results)} tables.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    results: dict[str, Any] = {}
    for name in given.tables:
        results[name] = measure(some(TABLES[name](), given.rows))
        print(name, json.dumps(results[name]["mean"]), file=sys.stderr, flush=True)
        if given.out is not None:
            given.out.write_text(json.dumps(results, indent=1))
    show(results)


if __name__ == "__main__":
    main()
