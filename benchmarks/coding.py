"""Time binning a table for boosting, 255 bins per column, in several libraries.

    python benchmarks/coding.py [ROWS] [COLUMNS] [THREADS]

Prints the best of three times in seconds and the ratio to arboleda. Libraries that are not
installed are left out.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from arboleda._engine.table import check_table


def time_best(make: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        make()
        times.append(time.perf_counter() - start)
    return min(times)


def make_runs(X: Any, n_threads: int) -> dict[str, Callable[[], Any]]:
    table = check_table(BaseEstimator(), X, reset=True)
    found: dict[str, Callable[[], Any]] = {"arboleda": lambda: table.code(n_threads, 255)}
    try:
        import lightgbm

        parameters = {"max_bin": 255, "num_threads": n_threads, "verbosity": -1}
        found["lightgbm"] = lambda: lightgbm.Dataset(X, params=parameters).construct()
    except ImportError:
        pass
    try:
        import xgboost

        found["xgboost"] = lambda: xgboost.QuantileDMatrix(X, max_bin=255, nthread=n_threads)
    except ImportError:
        pass
    from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

    found["scikit-learn"] = lambda: _BinMapper(n_bins=256, n_threads=n_threads).fit_transform(
        X.astype(np.float64)
    )
    return found


def main(n_rows: int = 1_000_000, n_columns: int = 28, n_threads: int = 2) -> None:
    X = np.random.default_rng(0).normal(size=(n_rows, n_columns)).astype(np.float32)
    seconds = {name: time_best(make) for name, make in make_runs(X, n_threads).items()}
    for name, value in seconds.items():
        print(f"{name:14s} {value:7.3f} s  {value / seconds['arboleda']:5.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
