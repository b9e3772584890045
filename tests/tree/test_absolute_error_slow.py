"""Absolute error stays exact and near-linear where there are very many distinct targets."""

import time

import numpy as np
import pytest

from arboleda import DecisionTreeRegressor

pytestmark = pytest.mark.slow


def seconds(n_rows: int) -> float:
    """Shortest time of a few fits."""
    random = np.random.default_rng(1)
    X = random.normal(size=(n_rows, 4))
    y = X[:, 0] + random.normal(size=n_rows)
    times = []
    for _ in range(5):
        start = time.process_time()
        DecisionTreeRegressor(criterion="absolute_error", max_depth=4, n_jobs=1).fit(X, y)
        times.append(time.process_time() - start)
    return min(times)


def test_doubling_the_rows_about_doubles_the_time() -> None:
    """At most 2.6-fold each; a quadratic search would take four times as long."""
    times = [seconds(n_rows) for n_rows in (25_000, 50_000, 100_000, 200_000)]
    assert times[-1] / times[0] < 2.6**3, times


def test_a_hundred_thousand_distinct_targets_are_fast() -> None:
    """The root of a tree on one column, against running medians of sorted lists."""
    random = np.random.default_rng(2)
    n_rows = 100_000
    x = random.permutation(n_rows).astype(float)
    y = np.sin(x / 9000) * 3 + random.normal(size=n_rows)
    tree = DecisionTreeRegressor(criterion="absolute_error", max_depth=1)
    tree = tree.fit(x.reshape(-1, 1), y).tree_
    ordered = y[np.argsort(x)]

    def loss(n_left: int) -> float:
        return sum(
            np.abs(side - np.median(side)).sum() for side in (ordered[:n_left], ordered[n_left:])
        )

    chosen = int(tree.threshold[0] + 0.5)
    found = tree.n_node_samples[1:] @ tree.impurity[1:]
    assert found == pytest.approx(loss(chosen), rel=1e-12)
    others = [*range(500, n_rows, 1500), chosen - 1, chosen + 1]
    assert all(loss(n_left) >= found * (1 - 1e-12) for n_left in others)
