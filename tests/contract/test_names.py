"""Columns are matched by name: reordered, or refused by name; never silently exchanged."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor


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
def test_columns_other_than_fitted_are_refused(library: Any, names: list[str]) -> None:
    model = DecisionTreeClassifier().fit(frame(["a", "b", "c"], library), _TARGET)
    for method in (model.predict, model.predict_proba, model.apply, model.decision_path):
        with pytest.raises(ValueError, match="feature names"):
            method(frame(names, library))


def test_duplicate_names_are_refused() -> None:
    double = pd.DataFrame(np.zeros((3, 2)), columns=["same", "same"])
    with pytest.raises(ValueError, match="more than one column named 'same'"):
        DecisionTreeClassifier().fit(double, [0, 1, 0])


_ODD_NAMES = ["añil-鋼", "<script>x()</script>", "a\nb", '"[{', "x" * 10_000, ""]


def test_names_can_contain_anything() -> None:
    model = DecisionTreeClassifier().fit(frame(_ODD_NAMES), _TARGET)
    assert list(model.feature_names_in_) == _ODD_NAMES
    assert model.score(frame(_ODD_NAMES), _TARGET) == 1.0
    bad = frame(_ODD_NAMES)
    bad.iloc[4, 1] = np.inf
    with pytest.raises(ValueError, match=r"column '<script>x\(\)</script>', row 4 is inf"):
        model.predict(bad)


def test_non_text_names_are_ignored() -> None:
    assert not hasattr(DecisionTreeClassifier().fit(frame([0, 1, 2]), _TARGET), "feature_names_in_")
    with pytest.raises(TypeError, match="string names"):
        DecisionTreeClassifier().fit(frame(["a", 1]), _TARGET)


def test_names_in_only_one_of_fit_and_predict_warn() -> None:
    named = frame(["a", "b"])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        DecisionTreeClassifier().fit(named, _TARGET).predict(named.to_numpy())
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        DecisionTreeClassifier().fit(named.to_numpy(), _TARGET).predict(named)


_LIBRARIES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": lambda d: pl.DataFrame(d).to_arrow(),
}


@pytest.mark.parametrize("at_fit", _LIBRARIES)
@pytest.mark.parametrize("at_predict", _LIBRARIES)
def test_reordered_columns_are_matched_by_name(at_fit: str, at_predict: str) -> None:
    data = {"a": np.arange(30.0) % 7, "c": (["x", "y", "z"] * 10), "b": np.arange(30.0) % 2}
    y = (data["a"] > 3) + 2 * data["b"]
    model = DecisionTreeClassifier().fit(_LIBRARIES[at_fit](data), y)
    assert model.score(_LIBRARIES[at_fit](data), y) == 1.0
    other = {name: data[name] for name in ("b", "a", "c")}
    for method in ("predict", "predict_proba", "apply"):
        np.testing.assert_array_equal(
            getattr(model, method)(_LIBRARIES[at_predict](other)),
            getattr(model, method)(_LIBRARIES[at_fit](data)),
        )


def test_missing_and_extra_columns_are_named() -> None:
    model = DecisionTreeClassifier().fit(frame(["a", "b", "c"]), _TARGET)
    with pytest.raises(ValueError, match="X lacks 'b', 'c' and has 'd', unseen at fit"):
        model.predict(frame(["d", "a"]))
    with pytest.raises(ValueError, match="X has 'd', 'e', 'f', 'g', 'h' and 2 more, unseen"):
        model.predict(frame([*"abcdefghij"]))


@pytest.mark.parametrize("names", [[0, 1, 2], [("a", "x"), ("a", "y"), ("b", 1)]])
def test_non_text_names_are_matched(names: list[Any]) -> None:
    columns = pd.MultiIndex.from_tuples(names) if isinstance(names[0], tuple) else names
    X = pd.DataFrame(np.random.default_rng(1).normal(size=(30, 3)), columns=columns)
    model = DecisionTreeClassifier().fit(X, _TARGET)
    np.testing.assert_array_equal(model.predict(X[[names[2], names[0], names[1]]]), _TARGET)
    with pytest.raises(ValueError, match="X lacks"):
        model.predict(X[names[:2]])
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(X.to_numpy()), _TARGET)


def test_a_wrong_number_of_unnamed_columns_is_refused() -> None:
    model = DecisionTreeClassifier().fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="X has 2 features, but .* is expecting 3"):
        model.predict(np.eye(3)[:, :2])


# The one check of scikit-learn that fails: it wants an error for columns in another order, which
# are put right here. scikit-learn runs it on its own estimators only.
@pytest.mark.xfail(reason="reordered columns are put right", raises=AssertionError, strict=True)
@pytest.mark.parametrize("model", [DecisionTreeClassifier(), DecisionTreeRegressor()])
def test_scikit_learns_check_of_names(model: Any) -> None:
    check_dataframe_column_names_consistency("model", model)


def test_each_fit_learns_the_schema_again() -> None:
    model = DecisionTreeClassifier().fit(frame(["a", "b"]), _TARGET)
    model.fit(np.eye(3), [0, 1, 2])
    assert model.schema_.names is None
    assert (model.n_features_in_, model.schema_.n_columns) == (3, 3)
    np.testing.assert_array_equal(model.predict(np.eye(3)), [0, 1, 2])
