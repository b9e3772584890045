"""Partial dependence and individual curves beside scikit-learn's, and with odd input."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.ensemble
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence as reference
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from arboleda import (
    DecisionTreeRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.explain import Dependence, partial_dependence

IRIS, SPECIES = load_iris(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
WEIGHTS = np.random.default_rng(0).integers(0, 4, 150).astype(float)


@pytest.mark.parametrize("features", [[2], [1, 3]], ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["even", "weighted"])
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (RandomForestClassifier(5, random_state=0), SPECIES),
        (HistGradientBoostingClassifier(max_iter=5, random_state=0), SPECIES > 0),
        (DecisionTreeRegressor(random_state=0), SPECIES),
        (make_pipeline(StandardScaler(), LogisticRegression()), SPECIES),
        (sklearn.ensemble.RandomForestRegressor(5, random_state=0), SPECIES),
        (Perceptron(random_state=0), SPECIES),
    ],
    ids=lambda value: type(value).__name__,
)
def test_averages_and_curves_match_scikit_learn(
    model: Any, y: Any, features: list[int], weight: Any
) -> None:
    model.fit(IRIS, y)
    # With weights scikit-learn gives no individual curves.
    kind = "both" if weight is None else "average"
    options = {"grid_resolution": 9, "percentiles": (0.1, 0.9), "sample_weight": weight}
    expected = reference(model, IRIS, features, method="brute", kind=kind, **options)
    found = partial_dependence(model, IRIS, features, kind=kind, **options)
    for own, theirs in zip(found.grid, expected["grid_values"], strict=True):
        np.testing.assert_allclose(own, theirs, rtol=1e-12)
    n_outputs = len(expected["average"])  # scikit-learn returns only the second of two classes
    np.testing.assert_allclose(found.average[-n_outputs:], expected["average"], atol=1e-12)
    if weight is None:
        individual = found.individual
        assert individual is not None
        np.testing.assert_allclose(individual[-n_outputs:], expected["individual"], atol=1e-12)
        np.testing.assert_allclose(individual.mean(axis=1), found.average, atol=1e-12)


def test_the_grid_has_all_of_few_values_and_ends_with_missing() -> None:
    frame = pd.DataFrame(
        {
            "rooms": [1, 2, 3, 3, 2, 1] * 4,
            "kind": ["flat", None, "house", "flat", "house", "farm"] * 4,
            "area": [10.0, 20.0, np.nan, 40.0, 50.0, 60.0] * 4,
        }
    )
    y = np.arange(24.0)
    model = RandomForestRegressor(5, random_state=0).fit(frame, y)
    rooms = partial_dependence(model, frame, "rooms")
    assert rooms.grid[0].tolist() == [1, 2, 3]
    kind = partial_dependence(model, frame, "kind", kind="individual")
    assert kind.grid[0].tolist() == ["farm", "flat", "house", None]
    assert kind.categorical == (True,)
    assert kind.density[0].tolist() == [4, 8, 8, 4]
    assert kind.individual is not None
    for place, label in enumerate(kind.grid[0]):
        changed = frame.assign(kind=pd.Series([label] * 24, dtype=object))
        np.testing.assert_array_equal(kind.individual[0, :, place], model.predict(changed))
    area = partial_dependence(model, frame, ["area", "kind"], grid_resolution=3)
    np.testing.assert_allclose(area.grid[0][:3], [10.0, 35.0, 60.0], atol=10)
    assert np.isnan(area.grid[0][3])
    assert area.average.shape == (1, 4, 4)
    expected = model.predict(frame.assign(area=np.nan, kind="flat")).mean()
    assert area.average[0, 3, 1] == pytest.approx(expected)
    assert area.density[0].tolist() == frame["area"].dropna().tolist()


@pytest.mark.parametrize(
    "container", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"]
)
def test_pipelines_over_frames_predict_frames(container: Any) -> None:
    columns = {"u": [0.5, 1.5, 2.5, 3.5] * 5, "c": ["x", "y", "x", "z"] * 5}
    frame, y = pd.DataFrame(columns), np.arange(20.0)
    encode = make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough")
    model = make_pipeline(encode, LinearRegression())
    if container is pa.table:  # scikit-learn's transformers accept no missing values
        model = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=2, random_state=0)
    model.fit(container(columns) if container is not pa.table else frame, y)
    found = partial_dependence(model, container(columns), "c")
    expected = [model.predict(_like(container, {**columns, "c": [c] * 20})).mean() for c in "xyz"]
    np.testing.assert_allclose(found.average[0], expected)


def _like(container: Any, columns: dict[str, Any]) -> Any:
    return container(columns) if container is not pa.table else pd.DataFrame(columns)


def test_an_unused_column_changes_no_bit() -> None:
    draw = np.random.default_rng(0)
    X = np.column_stack([draw.normal(size=200), np.ones(200)])
    model = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    for kind in ("both", "ale"):
        found = partial_dependence(model, X, 1, kind=kind, custom_values={1: [0.0, 1.0, 2.0]})
        assert (found.average == found.average[:, :1]).all()
    assert (partial_dependence(model, X, 1, kind="ale").average == 0).all()


def test_centred_curves_start_at_zero() -> None:
    model = RandomForestRegressor(5, random_state=0).fit(DIABETES, PROGRESS)
    plain = partial_dependence(model, DIABETES, 2, kind="both", grid_resolution=7)
    found = partial_dependence(model, DIABETES, 2, kind="both", grid_resolution=7, centered=True)
    assert plain.individual is not None
    assert found.individual is not None
    np.testing.assert_array_equal(found.individual, plain.individual - plain.individual[..., :1])
    np.testing.assert_array_equal(found.average, plain.average - plain.average[..., :1])


@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize("kind", ["both", "ale"])
def test_threads_change_no_bit(n_jobs: int, kind: Any) -> None:
    model = RandomForestClassifier(7, random_state=0, n_jobs=1).fit(IRIS, SPECIES)
    expected = partial_dependence(model, IRIS, [2], kind=kind)
    found = partial_dependence(model.set_params(n_jobs=n_jobs), IRIS, [2], kind=kind)
    np.testing.assert_array_equal(found.average, expected.average)


def test_a_dependence_has_a_frame_and_a_description() -> None:
    model = RandomForestClassifier(5, random_state=0).fit(IRIS, SPECIES)
    found = partial_dependence(model, IRIS, [2, 3], grid_resolution=4)
    assert repr(found) == (
        "Dependence(kind='average', features=['x[2]', 'x[3]'], n_points=[4, 4], n_outputs=3)"
    )
    frame = found.to_frame()
    assert list(frame.columns) == ["output", "x[2]", "x[3]", "average"]
    assert len(frame) == 3 * 4 * 4
    one = frame[(frame["output"] == "1") & (frame["x[2]"] == found.grid[0][2])]
    np.testing.assert_array_equal(one["average"], found.average[1, 2])
    np.testing.assert_array_equal(one["x[3]"], found.grid[1])


def regressor() -> Any:
    return RandomForestRegressor(3, random_state=0).fit(DIABETES, PROGRESS)


ODD = [-1e308, -1e308, 1e308, 1e308, 0.0, 5e-324]


@pytest.mark.parametrize("kind", ["both", "ale"])
@pytest.mark.parametrize(
    ("column", "n_points"),
    [(ODD, {4}), (2 * np.linspace(-5e307, 5e307, 500), {41, 100}), ([7.0], {1}), ([7.0] * 5, {1})],
    ids=["huge", "many huge", "one row", "constant"],
)
def test_unusual_columns_are_supported(kind: Any, column: Any, n_points: set[int]) -> None:
    X = np.column_stack([column, np.arange(len(column))])
    y = np.arange(len(column), dtype=float)
    found = partial_dependence(DecisionTreeRegressor().fit(X, y), X, 0, kind=kind)
    assert len(found.grid[0]) in n_points
    assert np.isfinite(found.grid[0]).all()
    assert np.isfinite(found.average).all()
    both = partial_dependence(DecisionTreeRegressor().fit(X, y), X, [0, 1], kind=kind)
    assert np.isfinite(both.average).all()


def test_a_column_without_values_has_one_point_and_no_accumulated_effect() -> None:
    X = np.column_stack([np.full(9, np.nan), np.arange(9)])
    model = DecisionTreeRegressor(random_state=0).fit(X, np.arange(9.0))
    found = partial_dependence(model, X, 0)
    assert np.isnan(found.grid[0]).tolist() == [True]
    assert found.average[0, 0] == pytest.approx(4.0)
    with pytest.raises(ValueError, match=r"'x\[0\]' has no value in any row"):
        partial_dependence(model, X, 0, kind="ale")


def test_targets_near_the_float64_limit_are_supported() -> None:
    X = np.arange(6.0).reshape(-1, 1)
    model = DecisionTreeRegressor().fit(X, [-1e308, 1e308] * 3)
    assert np.isfinite(partial_dependence(model, X, 0).average).all()
    with pytest.raises(ValueError, match="overflow float64"):
        partial_dependence(model, X, 0, kind="ale")


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"estimator": RandomForestRegressor()}, NotFittedError, "call fit first"),
        ({"estimator": RandomForestRegressor}, TypeError, "is a class"),
        ({"features": "bmi"}, ValueError, "'bmi' is not a column of X"),
        ({"features": 10}, ValueError, "column 10 does not exist"),
        ({"features": [1, 1]}, ValueError, "twice"),
        ({"features": []}, ValueError, "one or two columns"),
        ({"features": [0, 1, 2]}, ValueError, "one or two columns"),
        ({"features": None}, TypeError, "a name or an index"),
        ({"kind": "mean"}, ValueError, "kind must be one of"),
        ({"kind": "ale", "centered": True}, ValueError, "already centred"),
        ({"response_method": "transform"}, ValueError, "response_method must be"),
        ({"grid_resolution": 1}, ValueError, "at least 2"),
        ({"grid_resolution": 2.5}, ValueError, "at least 2"),
        ({"percentiles": (0.9, 0.1)}, ValueError, "two ascending numbers"),
        ({"percentiles": (0, 1, 1)}, ValueError, "two ascending numbers"),
        ({"sample_weight": np.zeros(442)}, ValueError, "0 in every row|non-zero"),
        ({"sample_weight": -np.ones(442)}, ValueError, "[Nn]egative"),
        ({"sample_weight": np.ones(3)}, ValueError, "sample_weight"),
        ({"response_method": ["predict"]}, ValueError, "response_method must be"),
        ({"percentiles": 0.5}, ValueError, "two ascending numbers"),
        ({"custom_values": [0, 1]}, TypeError, "must map columns to their points"),
        ({"custom_values": {3: [0, 1]}}, ValueError, "not among features"),
        ({"custom_values": {2: []}}, ValueError, "must be a non-empty list"),
        ({"custom_values": {2: [np.inf]}}, ValueError, "infinity"),
        ({"custom_values": {2: ["much"]}}, ValueError, "'much'"),
        ({"custom_values": {2: [1, 0]}, "kind": "ale"}, ValueError, "ascend"),
        ({"custom_values": {2: [0, 0]}, "kind": "ale"}, ValueError, "must be distinct"),
        ({"custom_values": {2: [7, 8]}, "kind": "ale"}, ValueError, "no row of X"),
        ({"X": DIABETES[:, :3]}, ValueError, "features"),
        ({"X": np.where(DIABETES > 0.1, np.inf, DIABETES)}, ValueError, "infinity"),
        ({"X": DIABETES[:0]}, ValueError, "0 sample"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_invalid_arguments_are_refused(changed: Any, error: type[Exception], message: str) -> None:
    arguments = {"estimator": regressor(), "X": DIABETES, "features": 2, **changed}
    with pytest.raises(error, match=message):
        partial_dependence(
            arguments.pop("estimator"), arguments.pop("X"), arguments.pop("features"), **arguments
        )


def test_unknown_labels_are_refused_by_name() -> None:
    frame = pd.DataFrame({"c": ["a", "b"] * 5, "u": range(10)})
    model = RandomForestRegressor(3, random_state=0).fit(frame, range(10))
    found = partial_dependence(model, frame, "c", custom_values={"c": ["b"]})
    assert found.grid[0].tolist() == ["b"]
    with pytest.raises(ValueError, match="'z', which no row of X has"):
        partial_dependence(model, frame, "c", custom_values={"c": ["z"]})


def test_a_result_is_a_dependence() -> None:
    assert isinstance(partial_dependence(regressor(), DIABETES, 2), Dependence)


def test_individual_curves_have_a_frame() -> None:
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    model = RandomForestRegressor(5, random_state=0).fit(X, [0.0, 1.0, 5.0])
    found = partial_dependence(model, X, 0, kind="individual")
    frame = found.to_frame()
    assert list(frame.columns) == ["output", "row", "x[0]", "individual"]
    assert found.individual is not None
    assert len(frame) == found.individual.size == 9
    for row in range(3):
        for point in (0.0, 1.0, 2.0):
            [value] = frame.query("row == @row and `x[0]` == @point")["individual"]
            assert value == model.predict([[point, X[row, 1]]])[0]
    both = partial_dependence(model, X, [0, 1], kind="both").to_frame()
    assert list(both.columns) == ["output", "row", "x[0]", "x[1]", "individual", "average"]
    means = both.groupby(["x[0]", "x[1]"])[["individual", "average"]].mean()
    np.testing.assert_allclose(means["individual"], means["average"])
