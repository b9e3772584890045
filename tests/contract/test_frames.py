"""Frames of every library and type give the columns of the numbers they hold, or a clear error."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.property.strategies import arrays_of

from arboleda import DecisionTreeClassifier

_NULLABLE = {"a": [1, None, 3, 4, 4], "b": [1.5, 2.5, None, 0.25, 7.0]}
_PLAIN = np.array([[1, 1.5], [np.nan, 2.5], [3, np.nan], [4, 0.25], [4, 7.0]])


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame(_NULLABLE),
        lambda: pd.DataFrame(_NULLABLE).convert_dtypes(),
        lambda: pd.DataFrame(_NULLABLE).convert_dtypes(dtype_backend="pyarrow"),
        lambda: pd.DataFrame(_NULLABLE, dtype=object),
        lambda: pl.DataFrame(_NULLABLE),
        lambda: _PLAIN.astype(object),
    ],
    ids=["numpy", "nullable", "arrow", "object", "polars", "array of objects"],
)
def test_missing_values_of_frames_are_nan(make: Callable[[], Any]) -> None:
    y = [0, 1, 2, 0, 1]
    model = DecisionTreeClassifier().fit(make(), y)
    assert arrays_of(model) == arrays_of(DecisionTreeClassifier().fit(_PLAIN, y))
    np.testing.assert_array_equal(model.predict(make()), y)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (
            pd.DataFrame({"a": [1, 2, 3], "day": pd.to_datetime(["2020", "2021", "2022"])}),
            "'day'.*dates",
        ),
        (pd.DataFrame({"a": [1, 2, 3], "took": pd.to_timedelta([1, 2, 3])}), "'took'.*durations"),
        (
            pd.DataFrame([[1, 2], [3, 4], [5, 6]], columns=["a", "a"]),
            "more than one column named 'a'",
        ),
        (pd.DataFrame({"s": [pd.NA, 1, "x"]}, dtype=object), "'s'.*'x' in row 2.*OneHotEncoder"),
    ],
)
def test_errors_name_the_column_the_value_and_the_remedy(frame: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DecisionTreeClassifier().fit(frame, [0, 1, 0])


_NUMBERS = [3, None, 1]
_COLUMNS: dict[str, Any] = {
    **{
        f"pandas {dtype}": lambda dtype=dtype: pd.DataFrame({"a": pd.array(_NUMBERS, dtype=dtype)})
        for dtype in (
            *("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt64", "Float32", "Float64"),
            *("int8[pyarrow]", "uint64[pyarrow]", "float[pyarrow]", "double[pyarrow]"),
        )
    },
    "pandas decimal": lambda: pd.DataFrame(
        {"a": pd.array(_NUMBERS, dtype=pd.ArrowDtype(pa.decimal128(4, 1)))}
    ),
    "pandas Decimal objects": lambda: pd.DataFrame({"a": [Decimal(3), None, Decimal(1)]}),
    "pandas NA objects": lambda: pd.DataFrame({"a": pd.Series([3, pd.NA, 1], dtype=object)}),
    "pandas sparse": lambda: pd.DataFrame({"a": pd.arrays.SparseArray([3.0, np.nan, 1.0])}),
    **{
        f"polars {dtype}": lambda dtype=dtype: pl.DataFrame({"a": pl.Series(_NUMBERS, dtype=dtype)})
        for dtype in (
            *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32),
            *(pl.UInt64, pl.Float32, pl.Float64, pl.Decimal(10, 2)),
        )
    },
    "polars Object": lambda: pl.DataFrame({"a": pl.Series([3, None, 1.0], dtype=pl.Object)}),
    "polars chunks": lambda: pl.concat(
        [pl.DataFrame({"a": [3, None]}), pl.DataFrame({"a": [1]})], rechunk=False
    ),
    **{
        f"arrow {dtype}": lambda dtype=dtype: pa.table({"a": pa.array(_NUMBERS, dtype)})
        for dtype in (
            *(pa.int8(), pa.int64(), pa.uint16(), pa.float32(), pa.float64()),
            *(pa.decimal128(5, 1),),
        )
    },
    "arrow half": lambda: pa.table({"a": pa.array(np.array([3, np.nan, 1], dtype="f2"))}),
    "arrow chunks": lambda: pa.table({"a": pa.chunked_array([[3], [], [None, 1]])}),
    "arrow batch": lambda: pa.RecordBatch.from_pydict({"a": _NUMBERS}),
    "numbers as pandas text": lambda: pd.DataFrame({"a": ["3", None, "1"]}),
    "numbers as arrow dictionary": lambda: pa.table({"a": pa.array(_NUMBERS).dictionary_encode()}),
    "numbers as pandas category": lambda: pd.DataFrame({"a": pd.Categorical(_NUMBERS)}),
    "numbers as polars Categorical": lambda: pl.DataFrame(
        {"a": pl.Series(["3", None, "1"], dtype=pl.Categorical)}
    ),
}


@pytest.mark.parametrize("container", _COLUMNS)
def test_every_type_of_number_is_read(reader: Any, container: str) -> None:
    X = _COLUMNS[container]()
    for table in (reader.fit(X, categorical_features=None), reader.read(X)):
        column = table.columns[0]
        assert column.dtype.kind == "f"
        np.testing.assert_array_equal(column, [3, np.nan, 1])


@pytest.mark.parametrize(
    ("X", "values"),
    [
        (pd.DataFrame({"a": pd.array([1, 2], dtype="Int64")}), [1, 2]),
        (pd.DataFrame({"a": pd.array([True, None], dtype="boolean")}), [1, np.nan]),
        (pd.DataFrame({"a": [True, None]}), [1, np.nan]),
        (pd.DataFrame({"a": [True, False]}), [1, 0]),
        (pd.DataFrame({"a": pd.array([True, None], dtype="bool[pyarrow]")}), [1, np.nan]),
        (pd.DataFrame({"a": pd.array([None, None], dtype="null[pyarrow]")}), [np.nan] * 2),
        (pl.DataFrame({"a": [True, None]}), [1, np.nan]),
        (pl.DataFrame({"a": [None, None]}), [np.nan, np.nan]),
        (pa.table({"a": pa.nulls(2)}), [np.nan, np.nan]),
        (pa.table({"a": [True, None]}), [1, np.nan]),
        (pl.DataFrame({"a": [2**63, 1]}, schema={"a": pl.UInt64}), [2**63, 1]),
    ],
)
def test_booleans_with_missing_values_are_read(reader: Any, X: Any, values: list[float]) -> None:
    for table in (reader.fit(X), reader.read(X)):
        np.testing.assert_array_equal(table.columns[0].astype(float), values)


@pytest.mark.parametrize(
    "column",
    [
        pd.date_range("2020", periods=2, tz="Europe/Madrid"),
        pd.to_timedelta([1, 2]),
        pd.period_range("2020", periods=2),
        pd.interval_range(0, 2),
        pd.Series([1j, 2]),
        pd.Series([[1], [2]]),
        pd.Series([b"1", b"x"]),
        pd.Series([date(2020, 1, 1), None]),
        pl.Series([date(2020, 1, 1), None]),
        pl.Series([1, 2]).cast(pl.Time),
        pl.Series([[1], [2]]),
        pl.Series([{"x": 1}, {"x": 2}]),
        pl.Series([b"1", b"x"]),
        pl.Series([object(), object()], dtype=pl.Object),
        pa.chunked_array([[date(2020, 1, 1), None]]),
        pa.chunked_array([[[1], [2]]]),
        pa.chunked_array([[{"x": 1}, None]]),
        pa.chunked_array([[b"x", None]]),
    ],
    ids=lambda column: str(getattr(column, "dtype", getattr(column, "type", None))),
)
def test_non_numeric_columns_are_refused_by_name(reader: Any, column: Any) -> None:
    if isinstance(column, pl.Series):
        X: Any = pl.DataFrame({"size": [1, 2], "odd one": column})
    elif isinstance(column, pa.ChunkedArray):
        X = pa.table({"size": [1, 2], "odd one": column})
    else:
        X = pd.DataFrame({"size": [1, 2], "odd one": column})
    with pytest.raises((ValueError, TypeError), match="'odd one'"):
        reader.fit(X)
    reader.fit(pd.DataFrame({"size": [1, 2], "odd one": [1, 2]}))
    with pytest.raises((ValueError, TypeError), match="'odd one'"):
        reader.read(X)


def test_empty_and_lazy_frames_are_refused(reader: Any) -> None:
    for library in (pd, pl):
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            reader.fit(library.DataFrame({"a": []}))
        with pytest.raises(ValueError, match=r"0 (sample|feature)\(s\)"):
            reader.fit(library.DataFrame())
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        reader.fit(pd.DataFrame(index=[0, 1]))
    with pytest.raises(ValueError, match=r"call collect\(\) first"):
        reader.fit(pl.LazyFrame({"a": [1]}))
    reader.fit(pl.DataFrame({"a": [1]}))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        reader.read(pl.DataFrame({"a": []}))


def test_infinity_in_a_frame_is_named(reader: Any) -> None:
    X = pl.DataFrame({"a": [1, 2], "b": [0.5, float("-inf")]})
    with pytest.raises(ValueError, match="column 'b', row 1 is -inf"):
        reader.fit(X)


_COLOURS = ["red", "blue", None, "red", "green", "blue"] * 6
_RANKS = {"red": 1.0, "blue": 5.0, None: 9.0, "green": 3.0}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_tree_splits_categories_by_label(library: Any) -> None:
    y = np.array([_RANKS[colour] for colour in _COLOURS])
    X = library({"size": np.arange(36.0) % 5, "colour": _COLOURS})
    model = DecisionTreeClassifier().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    levels = ["black", "green", "red", "blue", "white"]
    others = (
        pd.DataFrame({"colour": pd.Categorical(_COLOURS, categories=levels), "size": 0.0}),
        pl.DataFrame({"colour": pl.Series(_COLOURS, dtype=pl.Enum(levels)), "size": [0.0] * 36}),
        pa.table({"size": [0.0] * 36, "colour": pa.array(_COLOURS).dictionary_encode()}),
    )
    for other in others:
        np.testing.assert_array_equal(model.predict(other), y)
    unseen = pd.DataFrame({"size": 0.0, "colour": ["black", "white", None]})
    np.testing.assert_array_equal(model.predict(unseen), [9.0] * 3)
