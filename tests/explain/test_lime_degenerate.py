"""Degenerate tables: a documented result, or a clear error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import NotFittedError

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier
from arboleda.explain import lime

_DRAW = np.random.default_rng(0)
_X = _DRAW.normal(size=(60, 3))
_Y = (_X[:, 0] > 0).astype(int)

_TABLES: dict[str, Any] = {
    "one row": _X[:1],
    "two rows": _X[:2],
    "one column": _X[:, :1],
    "constant columns": _X * 0,
    "a column of NaN": np.where([False, True, False], np.nan, _X),
    "all NaN": _X * np.nan,
    "gaps": np.where(_DRAW.random(_X.shape) < 0.3, np.nan, _X),
    "huge": np.sign(_X) * 1e308,
    "denormal": _X * 1e-310,
    "whole numbers": np.round(_X).astype(np.int8),
    "single precision": _X.astype(np.float32),
    "booleans": _X > 0,
    "text": np.array([["a", "b", "c"], ["d", "b", ""]] * 30, dtype=object),
    "sparse": sparse.csr_matrix(np.where(_X > 0, _X, 0.0)),
    "many categories": pd.DataFrame({"a": [f"c{k}" for k in range(60)]}),
}


@pytest.mark.parametrize("discretize", ["quartiles", None])
@pytest.mark.parametrize("table", _TABLES)
def test_the_explanation_is_finite(table: str, discretize: Any) -> None:
    X = _TABLES[table]
    n = X.shape[0]
    kinds = [0, 1, 2] if table == "text" else "from_dtype"
    model = DecisionTreeRegressor(max_depth=3, categorical_features=kinds)
    model.fit(X, np.arange(n, dtype=float))
    row = X.iloc[[0]] if isinstance(X, pd.DataFrame) else X[[0]]
    found = lime(model, X, discretize=discretize, n_samples=200, random_state=0).explain(row)
    for numbers in (found.weights, found.standard_error, found.stability, found.intercept):
        assert np.isfinite(numbers).all()
    assert 0.0 <= found.fidelity <= 1.0
    assert np.isfinite(found.local_prediction)
    assert len(found.conditions) == len(found.weights) == len(found.feature_names)


def test_a_constant_model_has_no_conditions() -> None:
    model = DummyRegressor(strategy="constant", constant=0.3).fit(_X, _Y)
    found = lime(model, _X, n_samples=50, random_state=0).explain(_X[0])
    assert found.conditions == []
    assert (found.intercept, found.fidelity, found.stability) == (0.3, 1.0, 1.0)
    assert found.to_frame().empty


def test_one_class_and_very_many_classes_are_explained() -> None:
    one = DecisionTreeClassifier().fit(_X, np.full(60, "a"))
    found = lime(one, _X, n_samples=50, random_state=0).explain(_X[0])
    assert (found.output_name, found.prediction, found.conditions) == ("a", 1.0, [])
    many = RandomForestClassifier(3, random_state=0).fit(_X, np.repeat(np.arange(30), 2))
    found = lime(many, _X, n_samples=200, random_state=0).explain(_X[8])
    assert found.class_names is not None
    assert len(found.class_names) == 30


@pytest.mark.parametrize("size", [1e150, 8e307, 1e-200, 1e-310])
def test_predictions_near_the_float64_limits_are_explained(size: float) -> None:
    names = ["a", "b", "c"]
    frame = pd.DataFrame(_X, columns=names)

    class Large(RegressorMixin, BaseEstimator):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Large:
            self.fitted_ = True
            return self

        def predict(self, X: Any) -> Any:
            return np.where(X["b"] > 0, size, -size)

    model = Large().fit(frame, _Y)
    found = lime(model, frame, n_samples=500, random_state=0).explain(frame.iloc[[0]])
    assert found.feature_names[0] == "b"
    assert np.isfinite(found.weights).all()
    assert abs(found.weights[0]) > size / 2
    assert 0.0 < found.fidelity <= 1.0


def test_invalid_arguments_are_refused() -> None:
    tree = DecisionTreeClassifier().fit(_X, _Y)
    explainer = lime(tree, _X, random_state=0)
    frame = pd.DataFrame(_X, columns=["a", "b", "c"])
    named = lime(DecisionTreeClassifier().fit(frame, _Y), frame, random_state=0)
    wrong: list[tuple[Any, type[Exception], str]] = [
        (lambda: lime(DecisionTreeClassifier(), _X), NotFittedError, "not fitted yet"),
        (lambda: lime(DecisionTreeClassifier, _X), TypeError, "is a class"),
        (lambda: lime(tree, _X[:0]), ValueError, "0 sample"),
        (lambda: lime(tree, np.where(_X > 2, np.inf, _X)), ValueError, "inf"),
        (lambda: lime(tree, _X, discretize="deciles"), ValueError, 'must be "quartiles" or None'),
        (
            lambda: lime(tree, _X, n_samples=3),
            ValueError,
            "n_samples must be an integer of at least 10, got 3",
        ),
        (
            lambda: lime(tree, _X, kernel_width=0),
            ValueError,
            "kernel_width must be a positive number or None, got 0",
        ),
        (lambda: lime(tree, _X, kernel_width="a"), ValueError, "kernel_width must be .*, got 'a'"),
        (
            lambda: lime(tree, _X, kernel_width=[1]),
            ValueError,
            r"kernel_width must be .*, got \[1\]",
        ),
        (lambda: lime(tree, _X, categorical_features="a"), ValueError, r"give \['a'\]"),
        (lambda: explainer.explain(_X[:2]), ValueError, "takes one row, got 2"),
        (lambda: explainer.explain(_X[0, :2]), ValueError, "has 2 values, but X_train has 3"),
        (lambda: explainer.explain(_X[:1, :2]), ValueError, "has 2 columns, but X_train has 3"),
        (lambda: explainer.explain(5), TypeError, "the row must be a table of one row"),
        (lambda: explainer.explain(np.array([0.0, np.inf, 1.0])), ValueError, "inf"),
        (
            lambda: explainer.explain(_X[0], n_features=0),
            ValueError,
            "n_features must be an integer of at least 1, got 0",
        ),
        (
            lambda: explainer.explain(_X[0], n_repeats=0),
            ValueError,
            "n_repeats must be an integer of at least 1, got 0",
        ),
        (lambda: explainer.explain(_X[0], output=2), ValueError, "output=2 is not an output of"),
        (
            lambda: named.explain({"a": 1.0, "b": 2.0}),
            ValueError,
            "lacks the column 'c' of X_train",
        ),
        (
            lambda: named.explain({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}),
            ValueError,
            "has the column 'd', which X_train does not have",
        ),
        (
            lambda: named.explain(frame.iloc[[0]].rename(columns={"b": "e"})),
            ValueError,
            "column 1 of the row is 'e', but 'b' in X_train",
        ),
    ]
    for call, error, message in wrong:
        with pytest.raises(error, match=message):
            call()
