"""Partial dependence over 100 points: one walk of each row, a prediction a point, and the peer.

    python benchmarks/dependence.py [--rows 5000] [--trees 100] [--repeats 3] [--threads 1]

Friedman's first function with 10 columns; the curve of the column 0 over all rows, by models of as
many trees of the same size on both sides.

| way | what |
|---|---|
| ours, one walk | `explain.partial_dependence`: a row walks down a tree with all points |
| ours, point by point | the same by our own `predict`, a table for each point |
| theirs, brute | scikit-learn's `partial_dependence(method="brute")` of scikit-learn's model |
| theirs, recursion | its `method="recursion"`: of trees' own training weights, not of rows given |

The first three are exact means over the rows; the curves of the first two are compared bit by bit
before anything is told. Recursion gives another curve, for regression trees without weights alone.
Prints a Markdown table of the best of several runs, in turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import sklearn.ensemble
from sklearn.datasets import make_friedman1
from sklearn.inspection import partial_dependence as theirs

import arboleda
from arboleda.explain import partial_dependence
from arboleda.explain._curves import curves
from arboleda.explain._outputs import output_reader
from arboleda.explain._rows import read_rows

WAYS = ("ours, one walk", "ours, point by point", "theirs, brute", "theirs, recursion")


def models(n_trees: int, threads: int) -> dict[str, tuple[Any, Any]]:
    """Our model and the peer's, not fitted, by name."""
    boosting = {"max_iter": n_trees, "early_stopping": False, "random_state": 0}
    forest = {"n_estimators": n_trees, "random_state": 0, "n_jobs": threads}
    return {
        "boosting, 31 leaves": (
            arboleda.HistGradientBoostingRegressor(**boosting, n_jobs=threads),
            sklearn.ensemble.HistGradientBoostingRegressor(**boosting),
        ),
        "forest, full depth": (
            arboleda.RandomForestRegressor(**forest),
            sklearn.ensemble.RandomForestRegressor(**forest),
        ),
    }


def one_walk(model: Any, X: Any) -> Any:
    return partial_dependence(model, X, 0).average[0]


def point_by_point(model: Any, X: Any) -> Any:
    rows, read = read_rows(X), output_reader(model)
    grid = partial_dependence(model, X[:500], 0).grid[0]
    total = np.zeros(len(grid))
    for _, points, said in curves(read, rows, {0: grid}, by_trees=False):
        total[points] += said.sum(axis=(0, 2))
    return total / len(X)


def check(model: Any, X: Any) -> None:
    """Both of our ways say the same of every row."""
    rows, read = read_rows(X[:200]), output_reader(model)
    grid = {0: np.linspace(0, 1, 9)}
    walked = np.concatenate([said for _, _, said in curves(read, rows, grid)], axis=1)
    asked = np.concatenate([said for _, _, said in curves(read, rows, grid, by_trees=False)], 1)
    if not np.array_equal(walked, asked):
        raise SystemExit("one walk and many predictions differ")


def measure(name: str, pair: tuple[Any, Any], X: Any, y: Any, repeats: int) -> None:
    own, peer = (model.fit(X, y) for model in pair)
    check(own, X)
    runs: tuple[Callable[[], Any], ...] = (
        partial(one_walk, own, X),
        partial(point_by_point, own, X),
        partial(theirs, peer, X, [0], method="brute"),
        partial(theirs, peer, X, [0], method="recursion"),
    )
    best = [np.inf] * len(runs)
    for _ in range(repeats):
        for place, run in enumerate(runs):
            begin = time.perf_counter()
            run()
            best[place] = min(best[place], time.perf_counter() - begin)
    cells = " | ".join(f"{seconds:.3f} s ({seconds / best[2]:.3f})" for seconds in best)
    print(f"| {name} | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    X, y = make_friedman1(given.rows, random_state=0)
    print(f"{given.rows:,} rows, {given.trees} trees, {given.threads} thread(s)\n")
    print(f"| model | {' | '.join(WAYS)} |")
    print("|---" * (len(WAYS) + 1) + "|")
    for name, pair in models(given.trees, given.threads).items():
        measure(name, pair, X, y, given.repeats)


if __name__ == "__main__":
    main()
