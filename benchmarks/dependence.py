"""Partial dependence over 100 points: one walk of each row, a prediction a point, and the peer.

    python benchmarks/dependence.py [--rows 5000] [--trees 100] [--repeats 3] [--threads 1]

Friedman's first function with 10 columns; the curve of the column 0 over all rows, by models of
scikit-learn's: itself, and read by `arboleda.from_sklearn`, so that all say the same of every row.

| way | what |
|---|---|
| ours, one walk | `explain.partial_dependence`: a row walks down a tree with all points |
| ours, point by point | the same by our own `predict`, a table for each point |
| theirs, brute | scikit-learn's `partial_dependence(method="brute")` |
| theirs, recursion | its `method="recursion"`: means over training rows, not over the rows given |

The curves of the first three are compared before anything is told, the first two bit by bit.
Recursion gives another curve, of regression trees without sample weights alone. Prints a Markdown
table of the best of several runs, in turn, and ratios to scikit-learn's brute force.
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
from sklearn.inspection import partial_dependence as theirs

import arboleda
from arboleda.explain import partial_dependence
from arboleda.explain._curves import iter_ice_curves
from arboleda.explain._grids import make_grid
from arboleda.explain._outputs import make_output_reader
from arboleda.explain._rows import read_rows

WAYS = ("ours, one walk", "ours, point by point", "theirs, brute", "theirs, recursion")


def models(n_trees: int, threads: int) -> dict[str, Any]:
    """Models, not fitted, by name."""
    return {
        "boosting, 31 leaves": HistGradientBoostingRegressor(
            max_iter=n_trees, early_stopping=False, random_state=0
        ),
        "forest, full depth": RandomForestRegressor(n_trees, random_state=0, n_jobs=threads),
    }


def one_walk(model: Any, X: Any) -> Any:
    return partial_dependence(model, X, 0).average[0]


def point_by_point(model: Any, X: Any) -> Any:
    rows, read = read_rows(X), make_output_reader(model)
    grid = make_grid(rows, 0, 100, (0.05, 0.95))
    total = np.zeros(len(grid))
    for _, points, said in iter_ice_curves(read, rows, {0: grid}, by_trees=False):
        total[points] += said.sum(axis=(0, 2))
    return total / len(X)


def check(own: Any, peer: Any, X: Any) -> None:
    """All exact ways say the same."""
    rows, read = read_rows(X[:200]), make_output_reader(own)
    found = partial_dependence(own, X[:200], 0)
    walked, asked = (
        np.concatenate(
            [said for _, _, said in iter_ice_curves(read, rows, {0: found.grid[0]}, **how)], 1
        )
        for how in ({}, {"by_trees": False})
    )
    expected = theirs(peer, X[:200], [0], method="brute")["average"]
    if not np.array_equal(walked, asked) or not np.allclose(found.average, expected, rtol=1e-9):
        raise SystemExit("one walk, many predictions and the peer differ")


def measure(name: str, peer: Any, X: Any, y: Any, repeats: int, threads: int) -> None:
    peer.fit(X, y)
    own = arboleda.from_sklearn(peer).set_params(n_jobs=threads)
    check(own, peer, X)
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
    for name, model in models(given.trees, given.threads).items():
        measure(name, model, X, y, given.repeats, given.threads)


if __name__ == "__main__":
    main()
