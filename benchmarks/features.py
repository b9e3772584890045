"""Selecting columns: MRMRSelector and JMISelector beside the same criterion over scikit-learn's.

    python benchmarks/features.py [COLUMNS] [ROWS] [SELECTED]

Numbers of a normal law, of which ten tell of two classes, or of a target of numbers. "a pass" is
what a criterion asks once for every selected column: the information of each column with one other.
scikit-learn counts the same bins column by column (``mutual_info_classif`` of discrete columns);
both say the same, once ours is given back what chance shows, which is checked. Its selection would
take one pass for each selected column, for JMI two. The best of three, on one thread, in seconds.
"""

import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from sklearn.feature_selection import mutual_info_classif

from arboleda import JMISelector, MRMRSelector, __version__
from arboleda._engine.columns import Table
from arboleda.features._counting import LevelColumns, Levels
from arboleda.features._expected_information import compute_expected_terms


def best(make: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        make()
        times.append(time.perf_counter() - start)
    return min(times)


def one_pass(X: Any, y: Any) -> tuple[float, float]:
    """Seconds of ours and of scikit-learn's, which must find the same."""
    n_rows, n_columns = X.shape
    columns = LevelColumns(Table(list(X.T), n_rows, (0,) * n_columns), 5, 1)
    target = Levels.of_codes(y)
    bins = np.column_stack([columns.column(j).codes for j in range(n_columns)])
    ours = best(lambda: columns.compute_information(target))
    theirs = best(lambda: mutual_info_classif(bins, y, discrete_features=True))
    found = columns.compute_information(target)
    by_chance = [
        compute_expected_terms(columns.column(j).counts(), target.counts(), n_rows).sum()
        for j in range(n_columns)
    ]
    np.testing.assert_allclose(
        np.maximum(found + by_chance, 0.0),
        mutual_info_classif(bins, y, discrete_features=True),
        atol=1e-9,
    )
    return ours, theirs


def main(n_columns: int = 10_000, n_rows: int = 1_000, n_selected: int = 30) -> None:
    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, n_columns))
    y = X[:, :10].sum(axis=1) + 2 * random.standard_normal(n_rows)
    print(
        f"arboleda {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}, "
        f"{platform.machine()}; {n_rows:,} rows, {n_columns:,} columns, {n_selected} selected"
    )
    ours, theirs = one_pass(X, (y > 0).astype(np.intp))
    print(f"a pass: {ours:.3f}, scikit-learn {theirs:.3f}: {theirs / ours:.1f} times as long")
    for selector in (MRMRSelector, JMISelector):
        for name, target in (("two classes", y > 0), ("numbers", y)):
            fitted = selector(n_selected, n_jobs=1).fit(X, target)
            taken = best(lambda s=selector, t=target: s(n_selected, n_jobs=1).fit(X, t))  # type: ignore[misc]
            right = int((fitted.order_[:10] < 10).sum())
            print(f"{selector.__name__}, {name}: {taken:.2f}; {right} of the first 10 are useful")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
