"""Compare trees that all outputs share with one tree for each output.

    python benchmarks/shared_trees.py [--folds 3] [--only letters,...] [--jobs 2]

Classes: log-loss and seconds of a fit, means over the folds. Rounds are chosen by early stopping in
each fold (at most 1,000, patience 20), with default parameters otherwise. `1000 targets` and
`10 targets` are made tables of 5,000 rows x 20 columns, with 50 rounds: R2 and seconds. Prints
Markdown.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, make_regression
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import KFold, StratifiedKFold

from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor

DATA = Path(
    os.environ.get("ARBOLEDA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
SHARED = {"multi_strategy": "multi_output_tree"}
VARIANTS: dict[str, dict[str, Any]] = {
    "separate trees, 31 leaves": {},
    "shared, 31 leaves": SHARED,
    "shared, 127 leaves": {**SHARED, "max_leaf_nodes": 127},
    "shared, 127 leaves, projection": {
        **SHARED,
        "max_leaf_nodes": 127,
        "output_sketch": "projection",
    },
}


def letters() -> tuple[Any, Any]:
    path = DATA / "letter_recognition" / "letter-recognition.data.gz"
    frame = pd.read_csv(path, header=None)
    return frame.iloc[:, 1:].to_numpy(float), frame[0].to_numpy()


def covertype() -> tuple[Any, Any]:
    frame = pd.read_csv(DATA / "covertype_15k" / "train.csv.gz").drop(columns="Id")
    y = frame.pop("Cover_Type").to_numpy()
    return frame.to_numpy(float), y


def digits() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X, y


def mnist() -> tuple[Any, Any]:
    data = np.load(DATA / "mnist" / "mnist.npz")
    return data["X_train"][:10_000].reshape(10_000, -1).astype(np.float32), data["y_train"][:10_000]


CLASSES = {"letters": letters, "covertype": covertype, "digits": digits, "MNIST": mnist}


def measure_classes(name: str, n_folds: int, n_jobs: int) -> None:
    X, y = CLASSES[name]()
    for variant, parameters in VARIANTS.items():
        losses, seconds, rounds = [], [], []
        for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
            model = HistGradientBoostingClassifier(
                max_iter=1000,
                early_stopping=True,
                n_iter_no_change=20,
                random_state=0,
                n_jobs=n_jobs,
                **parameters,
            )
            start = time.perf_counter()
            model.fit(X[train], y[train])
            seconds.append(time.perf_counter() - start)
            losses.append(log_loss(y[test], model.predict_proba(X[test])))
            rounds.append(model.n_iter_)
        print(
            f"| {name} | {variant} | {np.mean(losses):.4f} | {np.mean(rounds):.0f} | "
            f"{np.mean(seconds):.2f} |",
            flush=True,
        )


def measure_targets(n_targets: int, n_jobs: int) -> None:
    X, y = make_regression(
        5_000, 20, n_informative=15, n_targets=n_targets, noise=10.0, random_state=0
    )
    train, test = next(KFold(5, shuffle=True, random_state=0).split(X))
    for variant, parameters in VARIANTS.items():
        if n_targets > 100 and "projection" not in variant:
            continue
        model = HistGradientBoostingRegressor(
            max_iter=50, early_stopping=False, random_state=0, n_jobs=n_jobs, **parameters
        )
        start = time.perf_counter()
        model.fit(X[train], y[train])
        seconds = time.perf_counter() - start
        score = r2_score(y[test], model.predict(X[test]))
        print(f"| {n_targets} targets | {variant} | R2 {score:.3f} | 50 | {seconds:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    only = given.only.split(",") if given.only else [*CLASSES, "targets"]
    print("| table | trees | log-loss | rounds | seconds |\n|---|---|---|---|---|")
    for name in CLASSES:
        if name in only:
            measure_classes(name, given.folds, given.jobs)
    if "targets" in only:
        for n_targets in (10, 1000):
            measure_targets(n_targets, given.jobs)


if __name__ == "__main__":
    main()
