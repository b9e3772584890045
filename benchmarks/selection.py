"""Compare greedy selection over the study's catalogue with the best single model on real tables.

    python benchmarks/selection.py [--tables saheart adult] [--rows 1500] [--out results.json]

The members are all models of the catalogue, with the middle candidate of their grids. Scores are
from five-fold cross-validation; within the training rows of a fold, the members' five-fold
out-of-fold predictions are computed once, and every combination is based on them. The metric is
log-loss or root mean squared error; test rows are not used before they are predicted. "Best member"
has the best score within the training rows, as a user would choose; "in hindsight" is the best over
the test folds. Prints a Markdown table of means over the five folds.
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
from arboleda.catalogue import Setting, select_models
from arboleda.combine import out_of_fold_outputs, outputs_of
from arboleda.combine._greedy_selection import make_ensemble_scorer, select_greedily
from arboleda.combine._weighted_mean import constrained_weights
from tables import TABLES, Problem, make_problem

COLUMNS = ("best member", "in hindsight", "mean of all", "greedy, once", "greedy", "simplex")


def make_members(task: str, n_rows: int, n_classes: int) -> list[tuple[str, Any]]:
    """Return one member for each model of the catalogue, with its preparation."""
    setting = Setting(n_rows, n_classes, seed=0)
    found = []
    for model in select_models(task):
        grid = model.grid(setting)
        made = model.make(setting, grid[len(grid) // 2])
        found.append(
            (model.key, make_pipeline(make_preparation(scaled=model.style == "scaled"), made))
        )
    return found


def make_preparation(*, scaled: bool) -> Any:
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


def draw_rows(arguments: Problem, n_rows: int) -> Problem:
    """Draw a fixed random sample of the rows, without classes too rare for nested folds."""
    rows = np.sort(np.random.default_rng(0).permutation(len(arguments.target))[:n_rows])
    frame, target = arguments.frame.iloc[rows], arguments.target[rows]
    if arguments.task != "regression":
        kept = np.bincount(target)[target] >= 10
        frame, target = frame[kept], target[kept]
    return make_problem(frame, target, arguments.task)


def compute_loss(task: str, target: Any, predictions: Any) -> float:
    if task == "regression":
        return float(root_mean_squared_error(target, predictions))
    return float(
        log_loss(
            target,
            predictions / predictions.sum(axis=1, keepdims=True),
            labels=range(predictions.shape[1]),
        )
    )


def learn_weights(found: Any, target: Any, scoring: str) -> dict[str, Any]:
    """Learn the weights of each combination from the members' out-of-fold predictions."""
    outputs, n_members = found.outputs, len(found.names)
    scorer = make_ensemble_scorer(scoring, outputs, target, np.ones(len(target)), found.classes)
    alone = [scorer.score_with(member) for member in range(n_members)]
    random = np.random.RandomState(0)
    bags = [random.choice(n_members, n_members // 2, replace=False) for _ in range(20)]
    parts = [select_greedily(scorer, bag.tolist(), None, 50) for bag in bags]
    return {
        "best member": np.eye(n_members)[int(np.argmax(alone))],
        "mean of all": np.full(n_members, 1 / n_members),
        "greedy, once": select_greedily(scorer, range(n_members), None, 50).shares(n_members),
        "greedy": np.mean([part.shares(n_members) for part in parts], axis=0),
        "simplex": constrained_weights(outputs, target, "simplex"),
    }


def measure(arguments: Problem) -> dict[str, Any]:
    """Return the mean test loss of every combination and of every member over the folds."""
    regression = arguments.task == "regression"
    scoring = "neg_root_mean_squared_error" if regression else "neg_log_loss"
    named = make_members(arguments.task, len(arguments.target), len(np.unique(arguments.target)))
    losses: list[dict[str, float]] = []
    chosen: list[dict[str, float]] = []
    for train, test in arguments.folds():
        X, y = arguments.frame.iloc[train], arguments.target[train]
        held_out, target = arguments.frame.iloc[test], arguments.target[test]
        found = out_of_fold_outputs(named, X, y, cv=5, n_jobs=1)
        fitted = [(name, clone(member).fit(X, y)) for name, member in named]
        predictions = outputs_of(fitted, held_out, found.classes).outputs
        weights = learn_weights(found, y, scoring)
        losses_of_fold = {
            f"member {n}": compute_loss(arguments.task, target, s)
            for n, s in zip(found.names, predictions, strict=True)
        }
        for name, each in weights.items():
            losses_of_fold[name] = compute_loss(
                arguments.task, target, np.tensordot(each, predictions, 1)
            )
        losses.append(losses_of_fold)
        chosen.append(dict(zip(found.names, np.round(weights["greedy"], 3).tolist(), strict=True)))
    mean = {name: float(np.mean([fold[name] for fold in losses])) for name in losses[0]}
    mean["in hindsight"] = min(v for name, v in mean.items() if name.startswith("member "))
    return {"mean": mean, "folds": losses, "weights": chosen, "rows": len(arguments.target)}


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
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    results: dict[str, Any] = {}
    for name in arguments.tables:
        results[name] = measure(draw_rows(TABLES[name](), arguments.rows))
        print(name, json.dumps(results[name]["mean"]), file=sys.stderr, flush=True)
        if arguments.out is not None:
            arguments.out.write_text(json.dumps(results, indent=1))
    show(results)


if __name__ == "__main__":
    main()
