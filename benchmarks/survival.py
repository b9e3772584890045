"""Time random survival forests in arboleda and scikit-survival.

    python benchmarks/survival.py                             every number of rows
    python benchmarks/survival.py --rows 1000 --trees 10      small, to see that everything runs

A made table of 20 columns, of which three matter; about a third of the rows are censored. Both have
two threads, and scikit-survival low_memory=True, as the curves of its leaves would not fit in
memory otherwise. Its time grows with the square of the rows, so with many rows it grows fewer trees
(--their-trees), and its time for all is extrapolated. A package that is not installed is skipped.
"""

from __future__ import annotations

import argparse
import time
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

Table = tuple[npt.NDArray[np.float64], npt.NDArray[Any]]


def make_table(n_rows: int, seed: int) -> Table:
    """Generate rows and their times."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 20))
    times = random.exponential(np.exp(-X[:, 0] - 0.5 * X[:, 1] * X[:, 2]))
    censored_at = random.exponential(2.0, n_rows)
    y = np.empty(n_rows, dtype=[("event", "?"), ("time", "f8")])
    y["event"], y["time"] = times <= censored_at, np.minimum(times, censored_at)
    return X, y


def fit_arboleda(train: Table, n_trees: int) -> Any:
    from arboleda import RandomSurvivalForest

    return RandomSurvivalForest(n_trees, n_jobs=2, random_state=0).fit(*train)


def fit_scikit_survival(train: Table, n_trees: int) -> Any:
    from sksurv.ensemble import RandomSurvivalForest

    return RandomSurvivalForest(n_trees, n_jobs=2, random_state=0, low_memory=True).fit(*train)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="1000,4000,20000", help="numbers of rows")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--their-trees", type=int, default=2, help="of scikit-survival")
    arguments = parser.parse_args()
    for n_rows in map(int, arguments.rows.split(",")):
        train, test = make_table(n_rows, 0), make_table(1000, 1)
        began = time.perf_counter()
        model = fit_arboleda(train, arguments.trees)
        ours = time.perf_counter() - began
        print(f"{n_rows:>7,} rows  arboleda          {ours:9.2f} s  C {model.score(*test):.4f}")
        if find_spec("sksurv") is None:
            print("scikit-survival is not installed")
            continue
        began = time.perf_counter()
        fit_scikit_survival(train, arguments.their_trees)
        theirs = (time.perf_counter() - began) * arguments.trees / arguments.their_trees
        print(
            f"{n_rows:>7,} rows  scikit-survival   {theirs:9.2f} s  (from "
            f"{arguments.their_trees} trees)  ratio {ours / theirs:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
