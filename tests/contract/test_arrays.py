"""Every layout and type of table gives the tree of its numbers as float64, or a clear error."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
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
def test_every_layout_and_type_gives_the_same_columns(
    dtype: str, layout: str, tmp_path: Path
) -> None:
    plain = values(dtype)
    if layout == "memmap" and dtype == "object":
        pytest.skip("a file cannot hold objects")
    y = (np.nan_to_num(plain[:, 0]) > np.nan_to_num(plain[:, 1])) + 1.0
    X = laid_out(plain.astype(dtype), layout, tmp_path)
    expected = DecisionTreeClassifier().fit(plain, y)
    model = DecisionTreeClassifier().fit(X, y)
    assert arrays_of(model) == arrays_of(expected)
    assert expected.get_n_leaves() >= 3
    for method in ("predict", "predict_proba", "apply"):
        np.testing.assert_array_equal(getattr(model, method)(X), getattr(expected, method)(plain))
    assert (model.decision_path(X) != expected.decision_path(plain)).nnz == 0
    regressor = DecisionTreeRegressor().fit(X, plain[:, 2])
    np.testing.assert_array_equal(
        regressor.predict(X), DecisionTreeRegressor().fit(plain, plain[:, 2]).predict(plain)
    )


def test_fitting_does_not_modify_the_table() -> None:
    X = values("f8")
    copy, y = X.copy(), np.arange(_ROWS) % 2
    DecisionTreeClassifier().fit(X, y).predict(X)
    np.testing.assert_array_equal(X, copy)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([["a"], ["b"]]), "column 0 of X has 'a' in row 0"),
        (np.array([["a"], ["b"]], dtype=object), "column 0 of X has 'a' in row 0"),
        (np.array([[1], [2]], dtype="M8[D]"), "column 0 of X has dates"),
        (np.array([[1], [2]], dtype="m8[s]"), "column 0 of X has dates or durations"),
        (np.array([[1j], [2]]), "Complex"),
        (np.array([[(1, 2.0)], [(3, 4.0)]], dtype="i4,f8"), "X has values of type .*f0"),
        (np.array([[np.longdouble("1e400")], [1]]), "infinity"),
    ],
    ids=["text", "text object", "date", "duration", "complex", "record", "too large"],
)
def test_non_numeric_values_are_refused(X: Array, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        DecisionTreeClassifier().fit(X, [0, 1])
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises((ValueError, TypeError), match=message):
        model.predict(X)


@pytest.mark.parametrize("categorical", [None, [0]])
def test_masked_values_are_missing(reader: Any, categorical: Any) -> None:
    X = np.ma.MaskedArray([[5, 1], [7, 2]], mask=[[True, False], [False, False]])
    table = reader.fit(X, categorical_features=categorical)
    expected = [np.nan, 7] if categorical is None else [65535, 0]
    np.testing.assert_array_equal(table.columns[0], expected)
    np.testing.assert_array_equal(table.columns[1], [1, 2])


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.array([[1, "x"], [2, "y"], [3, "z"]], dtype=object), "column 1.*'x' in row 0"),
        ([[1, 2], [2, "r"], [3, 4]], "column 1.*'r' in row 1"),
        (np.array([["2020"], ["2021"], ["2022"]], dtype="M8[D]"), "column 0.*dates"),
        ([[1, 10**400], [2, 3], [4, 5]], "column 1.*has 10{90}.*in row 0"),
        (np.array([[1, 10**400], [2, 3], [4, 5]], dtype=object), "column 1.*has 10{90}"),
        ([[1, [2]], [3, [4]], [5, [6]]], "(?i)column 1.*list|inhomogeneous|sequence"),
    ],
)
def test_errors_name_the_column_the_value_and_the_remedy(X: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        DecisionTreeClassifier().fit(X, [0, 1, 0])
    with pytest.raises((ValueError, TypeError), match=words):
        DecisionTreeClassifier().fit([[1, 2], [3, 4]], [0, 1]).predict(X)


def test_text_and_numbers_in_one_list_are_refused() -> None:
    X = [["red", 1.5], ["blue", 2.5], ["red", 3.5], [None, 0.5]]
    model = DecisionTreeClassifier(categorical_features=[0]).fit(X, [1, 0, 1, 0])
    assert model.schema_.levels == (("blue", "red"), None)
    np.testing.assert_array_equal(model.predict(X), [1, 0, 1, 0])
    with pytest.raises(ValueError, match="column 1 of X has 'much' in row 0"):
        model.predict([["red", "much"]])


def test_integers_beyond_64_bits_are_handled() -> None:
    X = [[10**30], [1], [2**70]]
    np.testing.assert_array_equal(DecisionTreeClassifier().fit(X, [0, 1, 0]).predict(X), [0, 1, 0])
