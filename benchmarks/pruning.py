"""Time a pruning path with ten-fold choice of its penalty in arboleda and scikit-learn.

    python benchmarks/pruning.py [--repeats 5] [--threads 2]

The data are the 3,065 training rows of spambase. arboleda runs `PrunedTreeClassifier.fit`.
scikit-learn runs `cost_complexity_pruning_path`, then `cross_val_score` of a tree for every penalty
of that path, at the same geometric means and on the same folds, and a final fit with the best
penalty: what a user of scikit-learn would write. Every measurement runs in a separate process,
interleaved, and starts from NumPy arrays in memory. Prints a Markdown table of medians and ratios.
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
import pandas as pd
from sklearn.model_selection import StratifiedKFold

DATA = Path(
    os.environ.get("ARBOLEDA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
Array = npt.NDArray[Any]


def load_spambase() -> tuple[Array, Array, Array, Array]:
    """Load the training and test rows of spambase, split as in the book."""
    frame = pd.read_csv(DATA / "spambase" / "spam_esl.csv.gz")
    test = frame.pop("test").to_numpy() == 1
    y = frame.pop("spam").to_numpy()
    X = frame.to_numpy(np.float32)
    return X[~test], y[~test], X[test], y[test]


def choose_with_arboleda(
    X: Array, y: Array, folds: list[Any], threads: int
) -> tuple[Any, int, float]:
    """Choose the penalty in one call."""
    from arboleda import PrunedTreeClassifier

    model = PrunedTreeClassifier(cv=folds, rule="min", n_jobs=threads).fit(X, y)
    curve = model.pruning_curve_
    return model, len(curve.alpha), float(curve.mean_error.min())


def choose_with_sklearn(
    X: Array, y: Array, folds: list[Any], threads: int
) -> tuple[Any, int, float]:
    """Choose the penalty in a loop over all values."""
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y)
    alphas = np.unique(np.maximum(path.ccp_alphas, 0.0).round(12))
    middles = np.append(np.sqrt(alphas[:-1] * alphas[1:]), 1.0)
    scores = [
        cross_val_score(
            DecisionTreeClassifier(random_state=0, ccp_alpha=alpha), X, y, cv=folds, n_jobs=threads
        ).mean()
        for alpha in middles
    ]
    best = int(np.flatnonzero(scores == np.max(scores))[-1])
    model = DecisionTreeClassifier(random_state=0, ccp_alpha=alphas[best]).fit(X, y)
    return model, len(alphas), 1.0 - float(np.max(scores))


CONTESTANTS = {"arboleda": choose_with_arboleda, "scikit-learn": choose_with_sklearn}


def measure(contestant: str, threads: int) -> dict[str, float]:
    """Run one choice in this process."""
    X, y, X_test, y_test = load_spambase()
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    start = time.perf_counter()
    model, n_alphas, error = CONTESTANTS[contestant](X, y, folds, threads)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "n_alphas": n_alphas,
        "cv_error": error,
        "n_leaves": int(model.get_n_leaves()),
        "test_error": 1.0 - float(model.score(X_test, y_test)),
    }


def run(contestant: str, threads: int) -> dict[str, float]:
    """Run one measurement in a separate process."""
    command = [sys.executable, __file__, "--one", contestant, "--threads", str(threads)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def compare(repeats: int, threads: int) -> None:
    """Run everything and print the table."""
    versions = ", ".join(
        f"{name} {version(name)}" for name in ("arboleda", "scikit-learn", "numpy")
    )
    print(f"{versions}, Python {platform.python_version()}; {os.cpu_count()} cores\n")
    settings = [(name, n) for n in sorted({1, threads}) for name in CONTESTANTS]
    runs: dict[tuple[str, int], list[dict[str, float]]] = {each: [] for each in settings}
    for _ in range(repeats):
        for each in settings:
            runs[each].append(run(*each))
    errors = [r["cv_error"] for each in runs.values() for r in each]
    # Ties between splits are broken differently, so the trees are not identical.
    if max(errors) - min(errors) > 0.01:
        raise SystemExit(f"the cross-validated errors differ: {sorted(set(errors))}")
    print(
        "| threads | | median | best | penalties | leaves | error, ten folds | test error | ratio |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, n in settings:
        times = [r["seconds"] for r in runs[name, n]]
        base = statistics.median(r["seconds"] for r in runs["scikit-learn", n])
        last = runs[name, n][-1]
        print(
            f"| {n} | {name} | {statistics.median(times):.3f} s | {min(times):.3f} s "
            f"| {last['n_alphas']:.0f} | {last['n_leaves']:.0f} | {last['cv_error']:.4f} "
            f"| {last['test_error']:.4f} | {base / statistics.median(times):.1f} |"
        )


def main() -> None:
    """Run the benchmark with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--one", metavar="CONTESTANT", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one, arguments.threads)))
    else:
        compare(arguments.repeats, arguments.threads)


if __name__ == "__main__":
    main()
