"""Approximate trees: neighbouring values share a bin."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.property.strategies import ARRAYS

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor


def arrays(model: Any) -> list[bytes]:
    return [getattr(model.tree_, name).tobytes() for name in ARRAYS]


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 5))
    X[:, 4] = np.round(X[:, 4])
    X[random.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0]) ** 2 + np.nan_to_num(X[:, 4]) + random.normal(size=3000) / 4
    return X, y


def test_bins_that_cover_all_values_are_exact(data: tuple[Any, Any]) -> None:
    X, y = data
    X = np.round(X, 1)
    most = max(len(np.unique(column[~np.isnan(column)])) for column in X.T)
    exact = DecisionTreeRegressor().fit(X, y)
    assert arrays(DecisionTreeRegressor(max_bins=most).fit(X, y)) == arrays(exact)
    assert arrays(DecisionTreeRegressor(max_bins=most // 2).fit(X, y)) != arrays(exact)


@pytest.mark.parametrize("max_bins", [2, 3, 16, 255, 256])
def test_thresholds_lie_between_bins(data: tuple[Any, Any], max_bins: int) -> None:
    X, y = data
    model = DecisionTreeRegressor(max_bins=max_bins).fit(X, y)
    tree = model.tree_
    for feature in range(X.shape[1]):
        used = np.unique(tree.threshold[tree.feature == feature])
        used = used[np.isfinite(used)]
        assert len(used) <= max_bins * (max_bins - 1) // 2
        values = np.sort(X[~np.isnan(X[:, feature]), feature])
        assert ((used >= values[0]) & (used < values[-1])).all()
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        assert tree.n_node_samples[leaf] == (leaves == leaf).sum()
        assert tree.value[leaf, 0, 0] == pytest.approx(y[leaves == leaf].mean())


def test_binned_trees_are_nearly_as_accurate(data: tuple[Any, Any]) -> None:
    X, y = data
    train, test = slice(0, 2000), slice(2000, None)
    scores = [
        DecisionTreeRegressor(max_bins=bins, max_leaf_nodes=40)
        .fit(X[train], y[train])
        .score(X[test], y[test])
        for bins in (None, 255, 32)
    ]
    assert scores[1] == pytest.approx(scores[0], abs=0.02)
    assert scores[2] == pytest.approx(scores[0], abs=0.1)


def test_bins_support_random_splits_and_missing_values(data: tuple[Any, Any]) -> None:
    X, y = data
    labels = (y > 1).astype(int)
    model = DecisionTreeClassifier(max_bins=8, splitter="random", random_state=0).fit(X, labels)
    leaves = model.apply(X)
    counts = np.bincount(leaves, minlength=model.tree_.node_count)
    reached = model.tree_.children_left < 0
    np.testing.assert_array_equal(counts[reached], model.tree_.n_node_samples[reached])


def test_bins_of_distinct_values_hold_equally_many_rows() -> None:
    x = np.concatenate([np.arange(100.0), np.full(50, np.nan)])  # missing rows take no room
    model = DecisionTreeRegressor(max_bins=10).fit(x[:, None], np.nan_to_num(x, nan=-1.0))
    used = model.tree_.threshold[(model.tree_.feature >= 0) & np.isfinite(model.tree_.threshold)]
    np.testing.assert_array_equal(np.sort(used), np.arange(9.5, 99, 10))


def test_a_sparse_column_of_one_bin_in_a_node_is_constant_there() -> None:
    """It does not use up the columns that a node may look at, no more than a dense one."""
    random = np.random.default_rng(2)
    X = np.where(random.random((600, 6)) < 0.1, random.normal(size=(600, 6)), 0.0)
    y = (X[:, 0] != 0) + random.normal(size=600) / 9
    for max_bins in (2, 3, 8):
        model = DecisionTreeRegressor(max_bins=max_bins, max_features=1, random_state=0)
        sparse = arrays(model.fit(csr_array(X), y))
        assert sparse == arrays(model.fit(X, y))


def test_categories_are_not_binned() -> None:
    x = np.arange(100).repeat(3)
    y = np.random.default_rng(0).random(100)[x] < 0.5
    model = DecisionTreeClassifier(max_bins=2, categorical_features=[0]).fit(x[:, None], y)
    assert model.score(x[:, None], y) == 1.0


@pytest.mark.parametrize("max_bins", [1, 0, -3, 2.5, "many"])
def test_too_few_bins_are_refused(max_bins: Any) -> None:
    with pytest.raises(ValueError, match="max_bins"):
        DecisionTreeClassifier(max_bins=max_bins).fit([[0.0], [1.0]], [0, 1])
