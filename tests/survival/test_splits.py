"""Splits: the log-rank statistic by its definition, for every partition a node can have."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.survival.times import made, structured

from arboleda import SurvivalTree

Bools = npt.NDArray[np.bool_]


def log_rank(y: npt.NDArray[Any], left: Bools, weight: npt.NDArray[Any]) -> float:
    """Return the log-rank statistic of two groups, time by time as in the textbook."""
    difference = variance = 0.0
    for t in np.unique(y["time"][y["event"]]):
        at_risk = y["time"] >= t
        dead = (y["time"] == t) & y["event"]
        n, n_left = weight[at_risk].sum(), weight[at_risk & left].sum()
        d, d_left = weight[dead].sum(), weight[dead & left].sum()
        difference += d_left - d * n_left / n
        if n > 1:
            variance += d * (n_left / n) * (1 - n_left / n) * (n - d) / (n - 1)
    return difference**2 / variance if variance > 0 else 0.0


def log_rank_score(y: npt.NDArray[Any], left: Bools, weight: npt.NDArray[Any]) -> float:
    """Return the standardised sum of log-rank scores, up to a factor of the node."""
    residual = y["event"].astype(float)
    for t in np.unique(y["time"][y["event"]]):
        at_risk = y["time"] >= t
        dead = (y["time"] == t) & y["event"]
        residual[at_risk] -= weight[dead].sum() / weight[at_risk].sum()
    whole, part = weight.sum(), weight[left].sum()
    return float((weight * residual)[left].sum() ** 2 / (part * (whole - part)))


STATISTIC = {"logrank": log_rank, "logrank_score": log_rank_score}


def candidates(X: npt.NDArray[Any]) -> list[Bools]:
    """Return the left sides of all splits by a threshold, missing values on either side."""
    sides = []
    for column in X.T:
        missing = np.isnan(column)
        for threshold in np.unique(column[~missing]):
            below = column <= threshold
            sides += [below, below | missing]
    return [side for side in sides if 3 <= side.sum() <= len(X) - 3]


@pytest.mark.parametrize("criterion", ["logrank", "logrank_score"])
@pytest.mark.parametrize("seed", range(4))
def test_the_split_has_the_largest_statistic(criterion: Any, seed: int) -> None:
    X, y = made(40, seed)
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.15] = np.nan
    weight = rng.integers(1, 4, 40).astype(float)
    tree = SurvivalTree(criterion=criterion, max_depth=1).fit(X, y, weight)
    leaves = tree.apply(X)
    statistic = STATISTIC[criterion]
    best = max(statistic(y, side, weight) for side in candidates(X))
    assert statistic(y, leaves == leaves.min(), weight) == pytest.approx(best, rel=1e-9)


def test_a_worked_split() -> None:
    # Times 1, 2, 3, 4, all events; x parts {1, 2} from {3, 4}. The expected events of the left side
    # are 2/4 + 1/3, the variance 2/4 2/4 + 1/3 2/3.
    y = structured([True] * 4, [1.0, 2.0, 3.0, 4.0])
    left = np.array([True, True, False, False])
    expected = (2 - (1 / 2 + 1 / 3)) ** 2 / (1 / 4 + 2 / 9)
    assert log_rank(y, left, np.ones(4)) == pytest.approx(expected)
    scipy_stats = pytest.importorskip("scipy.stats")
    sides = (scipy_stats.CensoredData(y["time"][side]) for side in (left, ~left))
    assert scipy_stats.logrank(*sides).statistic ** 2 == pytest.approx(expected)
    tree = SurvivalTree(min_samples_split=2, min_samples_leaf=2)
    tree.fit(left[:, np.newaxis].astype(float), y)
    assert tree.get_n_leaves() == 2


def test_categories_are_ordered_by_their_residuals() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    group = rng.integers(0, 6, 300)
    y = structured(rng.random(300) < 0.8, rng.exponential(np.where(group % 2, 1.0, 8.0)))
    X = pd.DataFrame({"group": pd.Categorical([f"g{g}" for g in group])})
    tree = SurvivalTree(max_depth=1).fit(X, y)
    leaves = tree.apply(X)
    assert len({(leaf, g % 2) for leaf, g in zip(leaves, group, strict=True)}) == 2


def test_nodes_without_a_statistic_are_leaves() -> None:
    # The only event is that of the last row at risk: no split changes anything.
    y = structured([False] * 9 + [True], np.arange(10.0))
    assert SurvivalTree().fit(np.arange(10.0)[:, np.newaxis], y).get_n_leaves() == 1
    same_time = structured([True] * 10, np.ones(10))
    assert SurvivalTree().fit(np.arange(10.0)[:, np.newaxis], same_time).get_n_leaves() == 1


def test_weights_count_like_repeated_rows() -> None:
    X, y = made(60, 3)
    weight = np.random.default_rng(0).integers(0, 4, 60)
    again = np.repeat(np.arange(60), weight)
    tree = SurvivalTree(min_samples_split=2, min_samples_leaf=1)
    weighted = tree.fit(X, y, weight)
    curves = weighted.predict_survival_function(X)
    times = weighted.unique_times_
    repeated = SurvivalTree(min_samples_split=2, min_samples_leaf=1).fit(X[again], y[again])
    np.testing.assert_array_equal(times, repeated.unique_times_)
    np.testing.assert_allclose(curves, repeated.predict_survival_function(X), rtol=1e-12)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-12)
