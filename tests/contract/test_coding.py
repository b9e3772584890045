"""Codes of tables: edges from given rows only, and other tables coded by learned edges."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from arboleda._engine.table import check_table


def as_native_table(X: Any) -> Any:
    return check_table(BaseEstimator(), X, reset=True)


def codes(x: Any, edges: tuple[Any, Any]) -> Any:
    """Number of midpoints below each value; one more than the last code where it is missing."""
    low, high = edges
    middles = high[:-1] / 2 + low[1:] / 2
    return np.where(np.isnan(x), len(low), (x[:, None] > middles).sum(axis=1))


@pytest.fixture(scope="module")
def X() -> Any:
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 4))
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2] *= random.random(3000) < 0.2
    X[random.random(X.shape) < 0.02] = np.nan
    return X


@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("max_bins", [None, 255, 8])
def test_edges_use_only_the_given_rows(X: Any, container: Any, max_bins: Any) -> None:
    rows = np.flatnonzero(np.arange(3000) % 3).astype(np.uint32)
    spoiled = X.copy()
    spoiled[::3] = 1000 * spoiled[::3] + 7  # the other rows
    plain, other = (as_native_table(container(Z)).code(2, max_bins, rows) for Z in (X, spoiled))
    alone = as_native_table(container(X[rows])).code(1, max_bins)
    for j in range(4):
        for low, high in ((plain.edges(j), alone.edges(j)), (plain.edges(j), other.edges(j))):
            np.testing.assert_array_equal(low, high)
        np.testing.assert_array_equal(plain.codes(j)[rows], alone.codes(j))
        np.testing.assert_array_equal(other.codes(j), codes(spoiled[:, j], plain.edges(j)))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("max_bins", [None, 8])
def test_another_table_is_coded_by_midpoints(X: Any, container: Any, max_bins: Any) -> None:
    learned = as_native_table(container(X[:2000])).code(1, max_bins)
    other = np.vstack([X[2000:] * 1.3, np.full((1, 4), 1e9), np.full((1, 4), -1e9)])
    coded = as_native_table(container(other)).code_like(learned, 2)
    for j in range(4):
        np.testing.assert_array_equal(coded.codes(j), codes(other[:, j], learned.edges(j)))


def test_float32_and_float64_of_the_same_numbers_have_the_same_codes(X: Any) -> None:
    narrow = X.astype(np.float32)
    a, b = (as_native_table(Z).code(1, 64) for Z in (narrow, narrow.astype(float)))
    for j in range(4):
        np.testing.assert_array_equal(a.codes(j), b.codes(j))
        np.testing.assert_array_equal(a.edges(j), b.edges(j))


def test_mismatched_rows_and_columns_are_refused(X: Any) -> None:
    table = as_native_table(X)
    with pytest.raises(ValueError, match="rows to learn codes from"):
        table.code(1, 8, np.array([5, 4], np.uint32))
    with pytest.raises(ValueError, match="no row is given"):
        table.code(1, 8, np.array([], np.uint32))
    with pytest.raises(ValueError, match="the columns differ"):
        as_native_table(X[:, :2]).code_like(table.code(1, 8), 1)
