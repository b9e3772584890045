"""Plain arrays of numbers skip scikit-learn's validation, with the same outcome.

An array of a class derived from NumPy's does not skip it: both must give the same result.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from arboleda import AdaBoostClassifier, DecisionTreeClassifier, DecisionTreeRegressor

_X = np.random.default_rng(0).normal(size=(30, 3))
_Y = (_X[:, 0] > 0).astype(np.int64)


class Validated(np.ndarray):
    """An array of a derived class."""


def with_value(array: Any, value: Any) -> Any:
    changed = array.copy()
    changed[(2,) * array.ndim] = value
    return changed


TABLES = {
    "float": _X,
    "float16": with_value(_X.astype(np.float16), np.inf),
    "longdouble": with_value(_X.astype(np.longdouble), np.nan),
    "beyond float64": with_value(_X.astype(np.longdouble), np.longdouble("1e4000")),
    "infinity": with_value(_X.astype(np.float32), -np.inf),
    "boolean": _X > 0,
    "beyond 2^53": np.full((30, 3), 2**64 - 1, dtype=np.uint64),
    "big-endian": _X.astype(">f4"),
    "negative zero": with_value(_X, -0.0),
    "complex": _X.astype(complex),
    "text": _X.astype(str),
    "objects": with_value(_X.astype(object), "a"),
    "dates": _X.astype("i8").astype("M8[s]"),
    "a structure": np.zeros((30, 3), dtype=[("a", "f8")]),
    "a value": np.array(1.0),
    "a row": _X[:, 0],
    "a cube": _X[:, :, None],
    "no rows": _X[:0],
    "no columns": _X[:, :0],
    "fewer rows": _X[:20],
}
TARGETS = {
    "whole": _Y,
    "boolean": _Y > 0,
    "beyond 2^53": _Y.astype(np.uint64) + np.uint64(2**53),
    "big-endian": _Y.astype(">i4"),
    "float": _Y.astype(float),
    "negative zero": with_value(_Y.astype(float), -0.0),
    "fractions": _X[:, 0],
    "two fractions": _Y + 0.5,
    "NaN": with_value(_Y.astype(np.float16), np.nan),
    "infinity": with_value(_Y.astype(float), np.inf),
    "as many classes as rows": np.arange(30),
    "a class for two rows": np.arange(30) // 2,
    "more classes than half the rows": np.minimum(np.arange(30), 15),
    "a column": _Y[:, None],
    "two columns": np.column_stack([_Y, 1 - _Y]),
    "two columns of floats": _X[:, :2],
    "a cube": _Y[:, None, None],
    "a value": np.array(1),
    "none": _Y[:0],
    "text": _Y.astype(str),
    "bytes": _Y.astype("S1"),
    "complex": _Y.astype(complex),
    "dates": _Y.astype("M8[s]"),
    "a structure": np.zeros(30, dtype=[("a", "i4")]),
    "fewer rows": _Y[:20],
}
MODELS = [DecisionTreeClassifier(), DecisionTreeRegressor(), AdaBoostClassifier(n_estimators=2)]


def outcome(model: Any, X: Any, y: Any) -> tuple[list[str], list[str]]:
    """The predictions, or the error; and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fitted = clone(model).fit(X, y)
            result = [
                repr(getattr(fitted, "classes_", None)),
                str(fitted.n_features_in_),
                repr(fitted.predict(_X)),
            ]
        except (TypeError, ValueError) as error:
            result = [type(error).__name__, str(error)]
    return result, [f"{warning.category.__name__}: {warning.message}" for warning in caught]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("table", TABLES)
def test_plain_tables_are_validated_like_derived_ones(model: Any, table: str) -> None:
    X = TABLES[table]
    assert outcome(model, X, _Y) == outcome(model, X.view(Validated), _Y)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("target", TARGETS)
def test_plain_targets_are_validated_like_derived_ones(model: Any, target: str) -> None:
    y = TARGETS[target]
    assert outcome(model, _X, y) == outcome(model, _X, y.view(Validated))


def test_names_of_an_earlier_table_are_forgotten() -> None:
    pd = pytest.importorskip("pandas")
    model = DecisionTreeClassifier().fit(pd.DataFrame(_X, columns=list("abc")), _Y)
    model.fit(_X[:, :2], _Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2
    with pytest.raises(ValueError, match="3 features.*expecting 2"):
        model.predict(_X)
