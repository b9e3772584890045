"""Every layout and type of table gives the tree of its numbers as float64, or a clear error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pytest
from tests.property.strategies import arrays_of

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

Array = npt.NDArray[Any]

_ROWS, _COLUMNS = 60, 3
_TYPES = (
    *("f2", "f4", "f8", "longdouble", "object", ">f4", ">f8", ">i4", "bool"),
    *("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"),
)
_LAYOUTS = ("C", "F", "strided", "negative", "read-only", "memmap")


def values(dtype: str) -> Array:
    """Integers from 0 to 99, which every type but bool holds; float types also halves and NaN."""
    X = np.random.default_rng(0).integers(0, 100, (_ROWS, _COLUMNS)).astype(np.float64)
    if dtype == "bool":
        return X % 2
    if np.dtype(dtype).kind in "fO":
        X[::4] += 0.5
        X[::7, 1] = np.nan
    return X


def laid_out(X: Array, layout: str, folder: Path) -> Array:
    if layout == "C":
        return np.ascontiguousarray(X)
    if layout == "F":
        return np.asfortranarray(X)
    if layout == "strided":
        wide = np.zeros((2 * _ROWS, 3 * _COLUMNS), dtype=X.dtype)
        wide[::2, 1::3] = X
        return wide[::2, 1::3]
    if layout == "negative":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if layout == "read-only":
        fixed = X.copy()
        fixed.flags.writeable = False
        return fixed
    mapped = np.memmap(folder / "table", dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    return mapped


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("layout", _LAYOUTS)
def test_layouts_times_types(dtype: str, layout: str, tmp_path: Path) -> None:
    plain = values(dtype)
    if layout == "memmap" and dtype == "object":
        pytest.skip("a file cannot hold objects")
    y = (np.nan_to_num(plain[:, 0]) > np.nan_to_num(plain[:, 1])) + 1.0
    X = laid_out(plain.astype(dtype), layout, tmp_path)
    expected = DecisionTreeClassifier().fit(plain, y)
    model = DecisionTreeClassifier().fit(X, y)
    assert arrays_of(model) == arrays_of(expected)
    assert expected.get_n_leaves() >= 3
    for answer in ("predict", "predict_proba", "apply"):
        np.testing.assert_array_equal(getattr(model, answer)(X), getattr(expected, answer)(plain))
    assert (model.decision_path(X) != expected.decision_path(plain)).nnz == 0
    regressor = DecisionTreeRegressor().fit(X, plain[:, 2])
    np.testing.assert_array_equal(
        regressor.predict(X), DecisionTreeRegressor().fit(plain, plain[:, 2]).predict(plain)
    )


def test_fitting_leaves_the_table_as_it_was() -> None:
    X = values("f8")
    copy, y = X.copy(), np.arange(_ROWS) % 2
    DecisionTreeClassifier().fit(X, y).predict(X)
    np.testing.assert_array_equal(X, copy)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([["a"], ["b"]]), "column 0 of X holds 'a' in row 0"),
        (np.array([["a"], ["b"]], dtype=object), "column 0 of X holds 'a' in row 0"),
        (np.array([[1], [2]], dtype="M8[D]"), "column 0 of X holds dates"),
        (np.array([[1], [2]], dtype="m8[s]"), "column 0 of X holds dates or durations"),
        (np.array([[1j], [2]]), "Complex"),
        (np.array([[(1, 2.0)], [(3, 4.0)]], dtype="i4,f8"), "(?i)void|cast|dtype"),
        (np.array([[np.longdouble("1e400")], [1]]), "infinity"),
    ],
    ids=["text", "text object", "date", "duration", "complex", "record", "too large"],
)
def test_what_is_no_number_is_refused(X: Array, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        DecisionTreeClassifier().fit(X, [0, 1])
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises((ValueError, TypeError), match=message):
        model.predict(X)


def frame(columns: list[Any], library: Any = pd) -> Any:
    X = np.random.default_rng(1).normal(size=(30, len(columns)))
    return library.DataFrame({name: X[:, j] for j, name in enumerate(columns)})


_TARGET = np.arange(30) % 3


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    "names",
    [["a", "b", "d"], ["a", "b"], ["a", "b", "c", "d"], ["A", "b", "c"]],
    ids=["renamed", "missing", "extra", "case"],
)
def test_other_columns_than_fitted_are_refused(library: Any, names: list[str]) -> None:
    model = DecisionTreeClassifier().fit(frame(["a", "b", "c"], library), _TARGET)
    for method in (model.predict, model.predict_proba, model.apply, model.decision_path):
        with pytest.raises(ValueError, match="feature names"):
            method(frame(names, library))


def test_duplicate_names_are_refused() -> None:
    double = pd.DataFrame(np.zeros((3, 2)), columns=["same", "same"])
    with pytest.raises(ValueError, match="more than one column named 'same'"):
        DecisionTreeClassifier().fit(double, [0, 1, 0])


_ODD_NAMES = ["añil-鋼", "<script>x()</script>", "a\nb", '"[{', "x" * 10_000, ""]


def test_names_may_hold_anything() -> None:
    model = DecisionTreeClassifier().fit(frame(_ODD_NAMES), _TARGET)
    assert list(model.feature_names_in_) == _ODD_NAMES
    assert model.score(frame(_ODD_NAMES), _TARGET) == 1.0
    bad = frame(_ODD_NAMES)
    bad.iloc[4, 1] = np.inf
    with pytest.raises(ValueError, match=r"column '<script>x\(\)</script>', row 4 is inf"):
        model.predict(bad)


def test_names_that_are_no_text() -> None:
    assert not hasattr(DecisionTreeClassifier().fit(frame([0, 1, 2]), _TARGET), "feature_names_in_")
    with pytest.raises(TypeError, match="string names"):
        DecisionTreeClassifier().fit(frame(["a", 1]), _TARGET)


def test_names_on_one_side_only_warn() -> None:
    named = frame(["a", "b"])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        DecisionTreeClassifier().fit(named, _TARGET).predict(named.to_numpy())
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        DecisionTreeClassifier().fit(named.to_numpy(), _TARGET).predict(named)


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


def test_fitted_on_pandas_asked_on_polars() -> None:
    model = DecisionTreeClassifier().fit(frame(["a", "b"]), _TARGET)
    np.testing.assert_array_equal(model.predict(frame(["a", "b"], pl)), _TARGET)


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
        (np.array([[1, "x"], [2, "y"], [3, "z"]], dtype=object), "column 1.*'x' in row 0"),
        ([[1, 2], [2, "r"], [3, 4]], "column 1.*'r' in row 1"),
        (np.array([["2020"], ["2021"], ["2022"]], dtype="M8[D]"), "column 0.*dates"),
    ],
)
def test_a_refusal_names_the_column_the_value_and_the_remedy(frame: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DecisionTreeClassifier().fit(frame, [0, 1, 0])
