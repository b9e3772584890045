"""Time partial dependence over 100 points: one walk per row, separate predictions, scikit-learn.

    python benchmarks/dependence.py [--rows 5000] [--trees 100] [--repeats 3] [--threads 1]

Friedman's first function with 10 columns; the curve of column 0 over all rows, for models fitted by
scikit-learn and the same models converted by `arboleda.from_sklearn`, with equal predictions.

| method | description |
|---|---|
| arboleda, one walk | `explain.partial_dependence`: a row descends a tree with all points |
| arboleda, point by point | the same with `predict`, one table for each point |
| scikit-learn, brute | `partial_dependence(method="brute")` |
| scikit-learn, recursion | `method="recursion"`: means over training rows, not the given rows |

The curves of the first three are compared before their times, the first two bit by bit. Recursion
gives another curve, and only for regression trees without sample weights. Prints a Markdown table
of the best of several interleaved runs, with ratios to scikit-learn's brute force.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.inspection import partial_dependence as sklearn_dependence

import arboleda
from arboleda.explain import partial_dependence
from arboleda.explain._curves import iter_ice_curves, make_grid
from arboleda.explain._outputs import make_output_reader
from arboleda.explain._rows import read_rows

METHODS = (
    "arboleda, one walk",
    "arboleda, point by point",
    "scikit-learn, brute",
    "scikit-learn, recursion",
)


def make_models(n_trees: int, threads: int) -> dict[str, Any]:
    """Return unfitted models by name."""
    return {
        "boosting, 31 leaves": HistGradientBoostingRegressor(
            max_iter=n_trees, early_stopping=False, random_state=0
        ),
        "forest, full depth": RandomForestRegressor(n_trees, random_state=0, n_jobs=threads),
    }


def compute_in_one_walk(model: Any, X: Any) -> Any:
    return partial_dependence(model, X, 0).average[0]


def compute_point_by_point(model: Any, X: Any) -> Any:
    rows, read = read_rows(X), make_output_reader(model)
    grid = make_grid(rows, 0, 100, (0.05, 0.95))
    total = np.zeros(len(grid))
    for _, points, values in iter_ice_curves(read, rows, {0: grid}, by_trees=False):
        total[points] += values.sum(axis=(0, 2))
    return total / len(X)


def check(own: Any, peer: Any, X: Any) -> None:
    """Check that all exact methods give the same curve."""
    rows, read = read_rows(X[:200]), make_output_reader(own)
    found = partial_dependence(own, X[:200], 0)
    walked, predicted = (
        np.concatenate(
            [values for _, _, values in iter_ice_curves(read, rows, {0: found.grid[0]}, **how)], 1
        )
        for how in ({}, {"by_trees": False})
    )
    expected = sklearn_dependence(peer, X[:200], [0], method="brute")["average"]
    if not np.array_equal(walked, predicted) or not np.allclose(found.average, expected, rtol=1e-9):
        raise SystemExit("the curves of the exact methods differ")


def measure(name: str, peer: Any, X: Any, y: Any, repeats: int, threads: int) -> None:
    peer.fit(X, y)
    own = arboleda.from_sklearn(peer).set_params(n_jobs=threads)
    check(own, peer, X)
    runs: tuple[Callable[[], Any], ...] = (
        partial(compute_in_one_walk, own, X),
        partial(compute_point_by_point, own, X),
        partial(sklearn_dependence, peer, X, [0], method="brute"),
        partial(sklearn_dependence, peer, X, [0], method="recursion"),
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
    arguments = parser.parse_args()
    X, y = make_friedman1(arguments.rows, random_state=0)
    print(f"{arguments.rows:,} rows, {arguments.trees} trees, {arguments.threads} thread(s)\n")
    print(f"| model | {' | '.join(METHODS)} |")
    print("|---" * (len(METHODS) + 1) + "|")
    for name, model in make_models(arguments.trees, arguments.threads).items():
        measure(name, model, X, y, arguments.repeats, arguments.threads)


if __name__ == "__main__":
    main()
