"""Time Shapley values of tree ensembles by arboleda, shap, XGBoost and LightGBM.

    python -P benchmarks/shapley.py boosting [--trees 500] [--leaves 31] [--rows 10000]
    python -P benchmarks/shapley.py forest [--trees 100] [--rows 1000] [--their-rows 20]

`boosting` fits a model with the same number of trees, leaves and columns with each library to the
same rows and explains them; `shap` explains scikit-learn's model. `forest` compares fully grown
forests on Adult with `shap`, which gets fewer rows: times are per row. Both check that the values
add up to the scores, and print Markdown. The best of several runs is reported. -P prevents Python
from importing files in this folder as packages of the same name.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt
import pandas as pd
import shap
import sklearn
import xgboost
from sklearn.ensemble import HistGradientBoostingClassifier as TheirBoosting
from sklearn.ensemble import RandomForestClassifier as TheirForest

from arboleda import HistGradientBoostingClassifier, RandomForestClassifier
from arboleda.explain import shap_values

DATA = Path(
    os.environ.get("ARBOLEDA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
N_COLUMNS = 28
Floats = npt.NDArray[Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["boosting", "forest"])
    parser.add_argument("--trees", type=int)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--their-rows", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    peers = (shap, xgboost, lightgbm, sklearn)
    versions = ", ".join(f"{peer.__name__} {peer.__version__}" for peer in peers)
    print(f"{versions}; {os.cpu_count()} cores, {platform.machine()}, {options.threads} threads\n")
    if options.what == "boosting":
        compare_boosting(options)
    else:
        compare_forests(options)


def compare_boosting(options: argparse.Namespace) -> None:
    n_trees, n_rows = options.trees or 500, options.rows or 10_000
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, N_COLUMNS))
    score = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + X[:, 3] + np.abs(X[:, 4])
    y = (score + random.normal(size=n_rows) > 0.8).astype(int)
    sizes = {"max_iter": n_trees, "max_leaf_nodes": options.leaves, "early_stopping": False}
    ours = HistGradientBoostingClassifier(**sizes, random_state=0).fit(X, y)
    theirs = TheirBoosting(**sizes, random_state=0).fit(X, y)
    light = lightgbm.LGBMClassifier(
        n_estimators=n_trees, num_leaves=options.leaves, n_jobs=options.threads, verbose=-1
    ).fit(X, y)
    shape = {"max_leaves": options.leaves, "max_depth": 0, "grow_policy": "lossguide"}
    extreme = xgboost.XGBClassifier(
        n_estimators=n_trees, **shape, learning_rate=0.1, n_jobs=options.threads
    ).fit(X, y)
    matrix = xgboost.DMatrix(X, nthread=options.threads)
    explainer = shap.TreeExplainer(theirs)
    found = shap_values(ours, X, n_jobs=options.threads)
    assert np.allclose(found.scores, ours.decision_function(X), atol=1e-9)
    runs: dict[str, Callable[[], Any]] = {
        "arboleda": lambda: shap_values(ours, X, n_jobs=options.threads),
        "XGBoost `pred_contribs`": lambda: extreme.get_booster().predict(
            matrix, pred_contribs=True
        ),
        "LightGBM `pred_contrib`": lambda: light.predict(X, pred_contrib=True),
        "shap on scikit-learn's": lambda: explainer.shap_values(X, check_additivity=False),
    }
    print(f"{n_trees} trees of {options.leaves} leaves, {n_rows:,} rows, {N_COLUMNS} columns\n")
    print_times({name: best_time(run, options.repeats) for name, run in runs.items()}, "seconds")


def compare_forests(options: argparse.Namespace) -> None:
    n_trees, n_rows = options.trees or 100, options.rows or 1000
    X, y = load_adult()
    ours = RandomForestClassifier(n_trees, random_state=0, n_jobs=options.threads).fit(X, y)
    theirs = TheirForest(n_trees, random_state=0, n_jobs=options.threads).fit(X, y)
    leaves = np.mean([tree.get_n_leaves() for tree in ours.estimators_])
    explainer = shap.TreeExplainer(theirs)
    few = X[: options.their_rows]
    found = shap_values(ours, X[:n_rows], n_jobs=options.threads)
    assert np.allclose(found.scores, ours.predict_proba(X[:n_rows]), atol=1e-9)
    print(f"{n_trees} trees of {leaves:,.0f} leaves, {X.shape[1]} columns of Adult\n")
    ours_each = best_time(lambda: shap_values(ours, X[:n_rows], n_jobs=options.threads), 1) / n_rows
    theirs_each = best_time(lambda: explainer.shap_values(few, check_additivity=False), 1)
    print_times(
        {
            "arboleda": 1e3 * ours_each,
            "shap on scikit-learn's": 1e3 * theirs_each / len(few),
        },
        "milliseconds per row",
    )


def load_adult() -> tuple[Floats, Floats]:
    table = pd.read_csv(DATA / "adult" / "adult.csv.gz", na_values="?").dropna()
    target = table.columns[-1]
    y = pd.factorize(table[target])[0]
    columns = table.drop(columns=target)
    for name in columns.select_dtypes(exclude="number"):
        columns[name] = pd.factorize(columns[name])[0]
    return columns.to_numpy(dtype=np.float64), y


def best_time(run: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def print_times(times: dict[str, float], unit: str) -> None:
    ours = next(iter(times.values()))
    print(f"| | {unit} | ratio to arboleda |\n|---|---|---|")
    for name, seconds in times.items():
        print(f"| {name} | {seconds:.2f} | {seconds / ours:.1f} |")


if __name__ == "__main__":
    main()
