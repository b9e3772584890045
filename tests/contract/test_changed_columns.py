"""Columns that change their type between fit and prediction, and tables of an odd shape."""

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor
from arboleda._engine.arrays import ArraySource
from arboleda._engine.frames import FrameSource, as_frame, read_frame


def _fitted(column: Any) -> DecisionTreeRegressor:
    X = pd.DataFrame({"code": column, "size": 0.0})
    return DecisionTreeRegressor(categorical_features=["code"]).fit(X, np.arange(len(X)))


@pytest.mark.parametrize(
    ("fitted", "given", "message"),
    [
        (["1", "2", "3"], [None, 2, 3], "column 'code' of X has 2.0 in row 1, a number, but"),
        (["1", "2", "3"], [1.0, 2.0, 3.0], "in fit were of kind text"),
        ([1, 2, 3], ["1", "2", "3"], "column 'code' of X has '1' in row 0, a text, but"),
        ([1, 2, 3], pd.Categorical(["1", "2", "3"]), "were of kind number"),
        (["1", "2", "3"], pd.Timestamp("2020-01-01"), "row 0, a date, but"),
        ([date(2020, 1, day) for day in (1, 2, 3)], [1, 2, 3], "were of kind date"),
    ],
)
def test_categories_of_another_type_are_refused(fitted: Any, given: Any, message: str) -> None:
    model = _fitted(fitted)
    X = pd.DataFrame({"size": [0.0] * 3})
    X["code"] = [given] * 3 if isinstance(given, pd.Timestamp) else given
    with pytest.raises(ValueError, match="convert the column to its type in fit") as error:
        model.predict(X)
    assert message in str(error.value)


@pytest.mark.parametrize("given", [[1.0, 2.0, 3.0], [True, 2, 3], [None] * 3, [7, 8, 9]])
def test_numbers_of_any_type_match_and_unseen_ones_are_allowed(given: Any) -> None:
    _fitted([1, 2, 3]).predict(pd.DataFrame({"code": pd.Series(given, dtype=object), "size": 0.0}))


def test_numpy_dates_among_objects_are_not_numbers() -> None:
    X = pd.DataFrame({"day": pd.Series([np.datetime64("2020-01-01"), 5.0, None], dtype=object)})
    for table in (X, X.to_numpy(), X.to_numpy().tolist()):
        with pytest.raises(ValueError, match=r"X has .*2020-01-01.* in row 0: include the column"):
            DecisionTreeClassifier(categorical_features=None).fit(table, [0, 1, 0])


def test_a_column_without_categories_in_fit_accepts_any() -> None:
    model = _fitted([None, None, None])
    assert model.predict(pd.DataFrame({"code": ["a"], "size": [0.0]})).tolist() == [1.0]


@pytest.mark.parametrize("rows", [[[1, 2], [3]], ([1, 2], (3, 4, 5)), [[1], [2], []]])
def test_errors_name_rows_of_different_lengths(rows: Any) -> None:
    with pytest.raises(ValueError, match=r"X has \d values in row 0 and \d in row [12]: all rows"):
        DecisionTreeClassifier().fit(rows, [0] * len(rows))


def test_integer_indices_are_not_taken_for_names() -> None:
    X = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    model = DecisionTreeClassifier(categorical_features=[0, "b"]).fit(X, [0, 1])
    assert model.schema_.kinds == ("categorical", "categorical", "numeric")
    with pytest.raises(TypeError, match="got: bool \\(True\\)"):
        DecisionTreeClassifier(categorical_features=["a", True]).fit(X, [0, 1])


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "?"])
def test_wide_frames_of_one_type_are_read_like_others(dtype: str) -> None:
    values = (np.random.default_rng(0).random((40, 30)) * 9).astype(dtype)
    X, y = pd.DataFrame(values).add_prefix("f"), values[:, 3] + 1.0
    model = DecisionTreeRegressor().fit(X, y)
    np.testing.assert_array_equal(model.predict(X[X.columns[::-1]]), y)
    np.testing.assert_array_equal(model.predict(pl.from_pandas(X)), y)
    with pytest.raises(ValueError, match="lacks 'f29'"):
        model.predict(X.iloc[:, :-1])
    if dtype == "f8":
        X.loc[2, "f7"] = np.inf
        with pytest.raises(ValueError, match="column 'f7', row 2 is inf"):
            model.predict(X[X.columns[::-1]])


def test_one_row_of_a_wide_frame_is_not_read_column_by_column() -> None:
    one = pd.DataFrame(np.zeros((1, 4000))).add_prefix("f")
    frame = as_frame(one)
    assert frame is not None
    assert isinstance(read_frame(frame), ArraySource)
    mixed = as_frame(one.astype({"f0": "float32"}))
    assert mixed is not None
    assert isinstance(read_frame(mixed), FrameSource)
