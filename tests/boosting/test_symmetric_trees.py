"""Symmetric trees against a naive search: one split per level, with enough rows everywhere."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor

N, LEAST_ROWS, DEPTH = 400, 20, 3


def naive_groups(X: Any, g: Any, h: Any) -> Any:
    """Divide the rows level by level by the split with the largest sum of scores over all groups.

    A group that a split would leave with too few rows on a side counts with its undivided score.
    """
    group = np.zeros(len(X), dtype=int)
    for _ in range(DEPTH):
        best = (0.0, None)
        for column in range(X.shape[1]):
            for value in np.unique(X[:, column])[:-1]:
                left = X[:, column] <= value
                gain, parts = 0.0, np.zeros(len(X), dtype=int)
                for label in np.unique(group):
                    rows = group == label
                    sides = [rows & left, rows & ~left]
                    if min(side.sum() for side in sides) < LEAST_ROWS:
                        continue
                    after = sum(g[side].sum() ** 2 / h[side].sum() for side in sides)
                    gain += after - g[rows].sum() ** 2 / h[rows].sum()
                    parts[sides[1]] = 1
                if gain > best[0] * (1 + 1e-9):
                    best = (gain, parts)
        if best[1] is None:
            break
        group = 2 * group + best[1]
    return group


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma", "log_loss"])
def test_levels_match_a_naive_search(loss: str, seed: int) -> None:
    """Also where hessians differ so much that they hardly reflect the number of rows."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 9, size=(N, 3)).astype(float)
    y = np.exp(X[:, 0] / 4 + random.normal(size=N) * 1.5)
    weight = random.integers(1, 60, N).astype(float)
    maker: Any = HistGradientBoostingRegressor
    if loss == "log_loss":
        y, maker = (np.median(y) < y).astype(float), HistGradientBoostingClassifier
    model = maker(
        loss=loss, growth="symmetric", max_depth=DEPTH, max_leaf_nodes=None, max_iter=1,
        min_samples_leaf=LEAST_ROWS, min_child_weight=0.0, early_stopping=False,
    ).fit(X, y, weight)  # fmt: skip
    mean = np.average(y, weights=weight)
    g, h = {
        "squared_error": (mean - y, np.ones(N)),
        "poisson": (mean - y, np.full(N, mean)),
        "gamma": (1 - y / mean, y / mean),
        "log_loss": (mean - y, np.full(N, mean * (1 - mean))),
    }[loss]
    assert expit(model.ensemble_.start[0]) == pytest.approx(mean) if loss == "log_loss" else True
    leaves = model.apply(X).reshape(-1)
    expected = naive_groups(X, weight * g, weight * h)
    assert len(np.unique(leaves)) > 4
    assert np.unique(leaves, return_counts=True)[1].min() >= LEAST_ROWS
    pairs = {(int(leaf), int(group)) for leaf, group in zip(leaves, expected, strict=True)}
    assert len(pairs) == len(np.unique(leaves)) == len(np.unique(expected))
