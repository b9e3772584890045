"""Time MRMRSelector and JMISelector, and mutual information compared with scikit-learn.

    python benchmarks/features.py [COLUMNS] [ROWS] [SELECTED]

The columns are normal, and ten of them are informative about two classes, or about a numeric
target. "A pass" is the work of a criterion for one selected column: the mutual information of each
column with another one. scikit-learn computes it column by column (``mutual_info_classif`` with
discrete columns); both results are equal, up to arboleda's correction for chance, which is checked.
A selection with scikit-learn would take one pass per selected column, for JMI two. Prints the best
of three times in seconds, on one thread.
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
from arboleda._engine.columns import DenseTable
from arboleda.features._counting import LevelColumns, Levels, compute_expected_terms


def time_best(make: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        make()
        times.append(time.perf_counter() - start)
    return min(times)


def time_one_pass(X: Any, y: Any) -> tuple[float, float]:
    """Return the seconds of arboleda and scikit-learn, after checking that they agree."""
    n_rows, n_columns = X.shape
    columns = LevelColumns(DenseTable(list(X.T), n_rows, (0,) * n_columns), 5, 1)
    target = Levels.of_codes(y)
    bins = np.column_stack([columns.column(j).codes for j in range(n_columns)])
    ours = time_best(lambda: columns.compute_information(target))
    theirs = time_best(lambda: mutual_info_classif(bins, y, discrete_features=True))
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
    ours, theirs = time_one_pass(X, (y > 0).astype(np.intp))
    print(f"a pass: {ours:.3f}, scikit-learn {theirs:.3f}: {theirs / ours:.1f} times as long")
    for selector in (MRMRSelector, JMISelector):
        for name, target in (("two classes", y > 0), ("numbers", y)):
            fitted = selector(n_selected, n_jobs=1).fit(X, target)
            taken = time_best(lambda s=selector, t=target: s(n_selected, n_jobs=1).fit(X, t))  # type: ignore[misc]
            right = int((fitted.order_[:10] < 10).sum())
            print(f"{selector.__name__}, {name}: {taken:.2f}; {right} of the first 10 are useful")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
