"""Time AdaBoost (SAMME) with small trees in arboleda and scikit-learn.

    python benchmarks/adaboost.py [--repeats 3] [--threads 2] [--only stumps]

The workloads are W6a (400 stumps on 2,000 rows of ten normal columns, y = 1 if the sum of squares
exceeds 9.34), W6b and W6c (500 stumps, and 200 trees of depth 3, on one-hot Adult). Every
measurement runs `fit` on a NumPy array in memory, in a separate process, interleaved. Both
libraries must reach the same training accuracy, up to the effect of scikit-learn's random choice
among equal splits. Prints a Markdown table of medians and ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

DATA = Path(
    os.environ.get("ARBOLEDA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
Table = tuple[npt.NDArray[Any], npt.NDArray[Any]]


def squares() -> Table:
    """Generate ten normal columns; y is whether the sum of squares exceeds 9.34, its median."""
    X = np.random.default_rng(0).standard_normal((2000, 10))
    return X, (np.square(X).sum(axis=1) > 9.34).astype(int)


def adult() -> Table:
    """Load Adult, one-hot: the 32,561 training rows of UCI (the file has its test rows first)."""
    import pandas as pd

    frame = pd.read_csv(DATA / "adult" / "adult.csv.gz").iloc[16_281:]
    y = (frame.pop("income") == ">50K").to_numpy().astype(int)
    return pd.get_dummies(frame).to_numpy(np.float32), y


WORKLOADS = {
    "W6a 400 stumps, 2,000 x 10": (squares, 400, 1),
    "W6b 500 stumps, Adult one-hot": (adult, 500, 1),
    "W6c 200 trees of depth 3, Adult one-hot": (adult, 200, 3),
}

# Tolerance of training accuracies: splits of equal gain lead to other rounds.
CLOSE = 0.005


def measure(workload: str, contestant: str, threads: int) -> dict[str, float]:
    """Run one fit in this process."""
    make, n_rounds, depth = WORKLOADS[workload]
    X, y = make()
    model: Any
    if contestant == "arboleda":
        from arboleda import AdaBoostClassifier, DecisionTreeClassifier

        member: Any = DecisionTreeClassifier(max_depth=depth)
        model = AdaBoostClassifier(member, n_estimators=n_rounds, n_jobs=threads)
    else:
        from sklearn.ensemble import AdaBoostClassifier as Theirs
        from sklearn.tree import DecisionTreeClassifier as TheirTree

        model = Theirs(TheirTree(max_depth=depth), n_estimators=n_rounds, random_state=0)
    model.set_params(n_estimators=2).fit(X[:500], y[:500])  # exclude imports from the time
    model.set_params(n_estimators=n_rounds)
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    return {"fit_s": seconds, "train_accuracy": float(model.score(X, y))}


def run(workload: str, contestant: str, threads: int) -> dict[str, float]:
    """Run one measurement in a separate process."""
    command = [sys.executable, __file__, "--one", workload, contestant, "--threads", str(threads)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def compare(workloads: list[str], repeats: int, threads: int) -> None:
    """Run everything and print the table."""
    versions = ", ".join(
        f"{name} {version(name)}" for name in ("arboleda", "scikit-learn", "numpy")
    )
    print(f"{versions}, Python {platform.python_version()}; {os.cpu_count()} cores\n")
    print(
        f"| workload | arboleda, {threads} threads | arboleda, 1 thread | scikit-learn | faster |"
    )
    print("|---|---|---|---|---|")
    for workload in workloads:
        contestants = [("arboleda", threads), ("arboleda", 1), ("scikit-learn", 1)]
        runs: dict[tuple[str, int], list[dict[str, float]]] = {c: [] for c in contestants}
        for _ in range(repeats):
            for contestant in contestants:
                runs[contestant].append(run(workload, *contestant))
        scores = {r["train_accuracy"] for each in runs.values() for r in each}
        if max(scores) - min(scores) > CLOSE:
            raise SystemExit(f"{workload}: the training accuracies differ: {scores}")
        ours, one, theirs = (
            statistics.median(r["fit_s"] for r in runs[contestant]) for contestant in contestants
        )
        print(
            f"| {workload} | {ours:.3f} s | {one:.3f} s | {theirs:.2f} s | {theirs / ours:.0f}, "
            f"with 1 thread {theirs / one:.0f} times |"
        )


def main() -> None:
    """Run the benchmark with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="workloads whose names contain this")
    parser.add_argument(
        "--one", nargs=2, metavar=("WORKLOAD", "CONTESTANT"), help=argparse.SUPPRESS
    )
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(*arguments.one, arguments.threads)))
    else:
        chosen = [name for name in WORKLOADS if arguments.only in name]
        compare(chosen, arguments.repeats, arguments.threads)


if __name__ == "__main__":
    main()
