"""Missing values imputed by proximity, against a twin in the order of the manual."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris

from arboleda import RandomForestClassifier, RandomForestRegressor


def with_gaps(share: float = 0.15) -> tuple[Any, Any, Any]:
    """Iris with gaps, its labels, and the true values."""
    X, y = load_iris(return_X_y=True)
    gaps = np.random.default_rng(0).random(X.shape) < share
    return np.where(gaps, np.nan, X), y, X


def naive(forest: Any, X: Any, y: Any, n_rounds: int) -> Any:
    """Gap by gap, row by row."""
    missing = np.isnan(X)
    filled = X.copy()
    for i, j in np.argwhere(missing):
        filled[i, j] = np.median(X[~missing[:, j], j])
    for _ in range(n_rounds):
        fitted = clone(forest).fit(filled, y)
        near = fitted.proximity(filled).toarray()
        following = filled.copy()
        for i, j in np.argwhere(missing):
            weight = near[i] * ~missing[:, j]
            if weight.sum() > 0:
                following[i, j] = (weight * np.nan_to_num(X[:, j])).sum() / weight.sum()
        filled = following
    return filled


@pytest.mark.parametrize("n_rounds", [0, 1, 3])
def test_numbers_are_imputed_as_in_breimans_manual(n_rounds: int) -> None:
    X, y, _ = with_gaps()
    forest = RandomForestClassifier(10, random_state=0)
    found = forest.impute(X, y, n_rounds=n_rounds)
    np.testing.assert_allclose(found, naive(forest, X, y, n_rounds), rtol=1e-12)
    np.testing.assert_array_equal(found[~np.isnan(X)], X[~np.isnan(X)])


def test_proximity_imputes_better_than_the_median() -> None:
    X, y, truth = with_gaps()
    forest = RandomForestClassifier(100, random_state=0)
    gaps = np.isnan(X)
    by_median, by_proximity = (
        np.abs(forest.impute(X, y, n_rounds=n) - truth)[gaps].mean() for n in (0, 5)
    )
    assert by_proximity < 0.5 * by_median


def frame_with_gaps() -> tuple[pd.DataFrame, Any]:
    """A number, a category that determines it, and a column without missing values."""
    random = np.random.default_rng(0)
    number = random.normal(size=200)
    kind = np.where(number > 0, "high", "low").astype(object)
    kind[random.random(200) < 0.2] = None
    seen = np.where(random.random(200) < 0.2, np.nan, number)
    frame = pd.DataFrame(
        {"kind": pd.Categorical(kind), "number": seen, "whole": np.arange(200)},
        index=pd.Index(range(1000, 1200)),
    )
    return frame, number


def test_a_frame_of_pandas_keeps_its_index_and_types() -> None:
    frame, number = frame_with_gaps()
    filled = RandomForestRegressor(30, random_state=0).impute(frame, number)
    assert not filled.isna().any().any()
    pd.testing.assert_index_equal(filled.index, frame.index)
    assert filled.dtypes.tolist() == frame.dtypes.tolist()
    pd.testing.assert_series_equal(filled["whole"], frame["whole"])
    was_there = frame["kind"].notna()
    assert (filled["kind"][was_there] == frame["kind"][was_there]).all()
    expected = np.where(number > 0, "high", "low")
    assert np.mean(filled["kind"][~was_there] == expected[~was_there]) > 0.85


def test_a_frame_of_polars_is_imputed_alike() -> None:
    frame, number = frame_with_gaps()
    other = pl.DataFrame(
        {
            "kind": pl.Series(
                [kind if isinstance(kind, str) else None for kind in frame["kind"]],
                dtype=pl.Categorical,
            ),
            "number": pl.Series([None if np.isnan(v) else v for v in frame["number"]]),
            "whole": frame["whole"].to_numpy(),
        }
    )
    forest = RandomForestRegressor(10, random_state=0)
    filled = forest.impute(other, number)
    assert isinstance(filled, pl.DataFrame)
    assert filled.schema == other.schema
    of_pandas = forest.impute(frame, number)
    assert filled["kind"].to_list() == of_pandas["kind"].tolist()
    np.testing.assert_array_equal(filled["number"].to_numpy(), of_pandas["number"].to_numpy())


def test_imputation_starts_with_the_most_frequent_category() -> None:
    X = np.array([["a", 1.0], ["b", 2.0], ["b", 3.0], [None, 4.0]], dtype=object)
    forest = RandomForestClassifier(3, categorical_features=[0], random_state=0)
    filled = forest.impute(X, [0, 1, 1, 0], n_rounds=0)
    assert filled[:, 0].tolist() == ["a", "b", "b", "b"]
    assert X[3, 0] is None


def test_a_complete_table_is_returned_as_a_copy() -> None:
    X, y = load_iris(return_X_y=True)
    filled = RandomForestClassifier(3).impute(X, y)
    np.testing.assert_array_equal(filled, X)
    assert not np.shares_memory(filled, X)


def test_columns_that_cannot_be_imputed_are_refused_by_name() -> None:
    X, y, _ = with_gaps()
    forest = RandomForestClassifier(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(c=np.nan)
    with pytest.raises(ValueError, match="column 'c' of X has only missing values"):
        forest.impute(frame, y)
    with pytest.raises(ValueError, match="toarray"):
        forest.impute(sparse.csr_matrix(X), y)
    for wrong in (-1, 2.5, True):
        with pytest.raises(ValueError, match="n_rounds must be an integer >= 0"):
            forest.impute(X, y, n_rounds=wrong)
