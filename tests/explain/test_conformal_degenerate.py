"""Degenerate tables: a documented result, or a clear error."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from arboleda import (
    BaggingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.explain import prediction_interval, prediction_set

_draw = np.random.default_rng(0)
X = _draw.normal(size=(120, 3))
Y = X[:, 0] + _draw.normal(size=120)
CODES = np.arange(120) % 3
FOREST = RandomForestRegressor(30, keep_rows=True, random_state=0)
METHODS: dict[str, dict[str, Any]] = {
    "absolute": {},
    "normalized": {"random_state": 0},
    "quantile": {},
    "jackknife+ab": {},
    "cv+": {"cv": 3, "random_state": 0},
}
_NAN = np.where(np.arange(3) == 1, np.nan, X)

# Table -> X, y of fitting and of calibration, and what is refused.
TABLES: dict[str, tuple[Any, Any, str | None]] = {
    "no row": (X[:0], Y[:0], r"0 sample\(s\)"),
    "no column": (X[:, :0], Y, r"0 feature\(s\)"),
    "one column": (X[:, :1], Y, None),
    "constant columns": (X * 0, Y, None),
    "constant target": (X, np.full(120, 3.5), None),
    "a column of NaN": (_NAN, Y, None),
    "infinity": (np.where(X > 2, np.inf, X), Y, "is inf"),
    "a target that is NaN": (X, np.where(np.arange(120) == 7, np.nan, Y), "row 7 is nan"),
    "a target that is infinite": (X, np.where(np.arange(120) == 7, np.inf, Y), "row 7 is inf"),
    "text as target": (X, np.array(["a", "b"] * 60), "a regressor needs numbers|numbers"),
    "integers as target": (X, CODES, None),
    "booleans as target": (X, CODES > 1, None),
    "a large target": (X, Y * 1e150, None),
    "a small target": (X, Y * 1e-300, None),
    "sparse": (sparse.csr_matrix(X), Y, None),
    "a frame": (pd.DataFrame(X, columns=["a", "b", "c"]), Y, None),
    "a column as target": (X, Y[:, np.newaxis], None),
    "no table": (X[:, 0], Y, "1 dimension"),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("method", METHODS)
def test_intervals_are_predicted_or_errors_are_clear(method: str, table: str) -> None:
    given, y, refused = TABLES[table]
    usual = refused is not None
    forest = FOREST.fit(X, Y) if usual else FOREST.fit(given, np.ravel(y))
    name = "training" if method in ("jackknife+ab", "cv+") else "calibration"
    options = {name: (given, y), "method": method, **METHODS[method]}
    if refused is not None:
        with pytest.raises(ValueError, match=refused):
            prediction_interval(forest, **options)
        return
    calibrated = prediction_interval(forest, **options)
    found = calibrated.predict(given)
    assert np.isfinite(found.lower).all()
    assert np.isfinite(found.upper).all()
    assert (found.lower <= found.upper).all()
    assert found.covers(y).mean() >= 0.8
    if table == "constant target":
        assert (found.width == 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_huge_target_has_finite_bounds_or_is_refused(method: str) -> None:
    y = np.sign(Y) * 1e308
    name = "training" if method in ("jackknife+ab", "cv+") else "calibration"
    options = {name: (X, y), "method": method, **METHODS[method]}
    forest = FOREST.fit(X, Y)
    if method in ("normalized", "cv+"):
        with pytest.raises(ValueError, match=r"(beyond|overflows) float64"):
            prediction_interval(forest, **options)
        return
    found = prediction_interval(forest, **options).predict(X)
    assert (found.upper >= 9e307).all()
    assert (found.lower <= -9e307).all()
    assert np.isfinite(found.lower + found.upper).all()
    assert (found.width == np.inf).all()


@pytest.mark.parametrize("n_rows", [1, 2, 8])
@pytest.mark.parametrize("method", METHODS)
def test_few_rows_give_infinite_intervals_with_a_warning(method: str, n_rows: int) -> None:
    forest = FOREST.fit(X[:n_rows], Y[:n_rows]) if method == "jackknife+ab" else FOREST.fit(X, Y)
    name = "training" if method in ("jackknife+ab", "cv+") else "calibration"
    options = {name: (X[:n_rows], Y[:n_rows]), "method": method, **METHODS[method]}
    if method == "cv+":
        options["cv"] = 2
    refused = {("normalized", 1): "none is left", ("jackknife+ab", 1): "was fitted on all rows",
               ("cv+", 1): "between 2 and the number of rows"}.get((method, n_rows))  # fmt: skip
    if refused:
        with pytest.raises(ValueError, match=refused):
            prediction_interval(forest, **options)
        return
    with pytest.warns(UserWarning, match="needs at least 9 (calibration|training) rows"):
        calibrated = prediction_interval(forest, **options)
    found = calibrated.predict(X)
    assert (found.lower == -np.inf).all()
    assert (found.upper == np.inf).all()
    assert np.isfinite(found.prediction).all()
    assert (found.width == np.inf).all()
    assert found.covers(Y).all()


def test_too_few_rows_for_another_coverage_raise_a_warning() -> None:
    calibrated = prediction_interval(FOREST.fit(X, Y), calibration=(X[:12], Y[:12]))
    with pytest.warns(UserWarning, match="coverage=0.99 needs at least 99 calibration rows"):
        found = calibrated.predict(X, coverage=0.99)
    assert np.isinf(found.width).all()


def test_a_curve_can_exceed_the_guaranteed_coverage() -> None:
    calibrated = prediction_interval(FOREST.fit(X, Y), calibration=(X[:12], Y[:12]))
    curve = calibrated.coverage_curve(X, Y, coverages=(0.5, 0.99))
    assert curve.size.tolist()[1] == np.inf
    assert curve.covered[1] == 1.0
    assert curve.standard_error[1] == 0.0


def test_bounds_beyond_float64_are_infinite() -> None:
    model = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    far = np.linspace(0, 1e308, 20)[:, np.newaxis]
    calibrated = prediction_interval(model, calibration=(far, np.zeros(20)))
    found = calibrated.predict([[-1.7e308], [1.7e308]])
    assert found.lower[0] == -np.inf
    assert found.upper[1] == np.inf


def test_predictions_that_are_not_finite_are_refused() -> None:
    model = LinearRegression().fit([[0.0], [1.0]], [0.0, 1e10])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of NumPy's, in their own predict
        with pytest.raises(ValueError, match="for row 1"):
            prediction_interval(model, calibration=([[1.0], [1e305]], [0.0, 0.0]))


@pytest.mark.parametrize("method", ["absolute", "jackknife+ab"])
def test_an_unfitted_estimator_is_refused(method: str) -> None:
    name = "training" if method == "jackknife+ab" else "calibration"
    with pytest.raises(NotFittedError):
        prediction_interval(RandomForestRegressor(), method=method, **{name: (X, Y)})


def test_a_class_is_not_an_estimator() -> None:
    with pytest.raises(TypeError, match="is a class"):
        prediction_interval(LinearRegression, calibration=(X, Y))
    with pytest.raises(TypeError, match="is a class"):
        prediction_set(RandomForestClassifier, calibration=(X, CODES))


def test_another_number_of_columns_is_refused_by_the_estimator() -> None:
    calibrated = prediction_interval(FOREST.fit(X, Y), calibration=(X, Y))
    with pytest.raises(ValueError, match="2 features"):
        calibrated.predict(X[:, :2])


def test_an_unknown_column_is_refused_by_the_estimator() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    calibrated = prediction_interval(FOREST.fit(frame, Y), training=(frame, Y))
    with pytest.raises(ValueError, match="'c'|c"):
        calibrated.predict(frame.rename(columns={"c": "d"}))


def test_a_spread_beyond_float64_is_refused() -> None:
    bag = BaggingRegressor(LinearRegression(), 5, random_state=0).fit(X, Y * 1e153)
    wide = X * 1e30
    with pytest.raises(ValueError, match="variance of the members.* overflows float64"):
        prediction_interval(bag, calibration=(wide, Y), method="normalized")


def test_rows_predicted_with_certainty_keep_a_width() -> None:
    # All trees agree; the half width is that of the residuals alone.
    forest = RandomForestRegressor(10, random_state=0).fit(X, np.zeros(120))
    found = prediction_interval(
        forest, calibration=(X, Y), method="normalized", random_state=0
    ).predict(X)
    assert np.ptp(found.width) == 0
    assert found.width[0] > 0


def test_several_targets_of_boosting_by_quantiles_are_refused() -> None:
    model = HistGradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.9], max_iter=3)
    with pytest.raises(ValueError, match="method='quantile'"):
        prediction_interval(model.fit(X, Y), calibration=(X, Y))


_SETS: dict[str, tuple[Any, Any, str | None]] = {
    "no row": (X[:0], CODES[:0], r"0 sample\(s\)"),
    "no column": (X[:, :0], CODES, r"0 feature\(s\)"),
    "one column": (X[:, :1], CODES, None),
    "one class": (X, np.zeros(120, int), None),
    "a class of one row": (X, np.where(np.arange(120) == 5, 9, CODES), None),
    "a class each four rows": (X, np.arange(120) // 4, None),
    "a column of NaN": (_NAN, CODES, None),
    "infinity": (np.where(X > 2, np.inf, X), CODES, "is inf"),
    "a label that is NaN": (X, np.where(CODES == 1, np.nan, 0.0), "row 1 is nan"),
    "a label that is None": (X, np.array(["a", None, "b"] * 40, dtype=object), "missing value"),
    "text and numbers": (X, np.array(["a", 1, 2] * 40, dtype=object), "mixes text"),
    "two columns of labels": (X, np.c_[CODES, CODES], "one value per row"),
}


@pytest.mark.parametrize("table", _SETS)
@pytest.mark.parametrize("method", ["lac", "aps"])
@pytest.mark.parametrize("rows", ["calibration", "training"])
def test_sets_are_predicted_or_errors_are_clear(rows: str, method: Any, table: str) -> None:
    given, y, refused = _SETS[table]
    model = RandomForestClassifier(30, random_state=0)
    if refused is not None:
        with pytest.raises(ValueError, match=refused):
            prediction_set(model.fit(X, CODES), method=method, **{rows: (given, y)})
        return
    model.fit(given, y)
    calibrated = prediction_set(model, method=method, random_state=0, **{rows: (given, y)})
    found = calibrated.predict(given)
    assert found.contains.shape == (120, len(model.classes_))
    assert found.covers(y).mean() >= 0.8
    assert np.isfinite(calibrated.limits()).all()


@pytest.mark.parametrize("n_rows", [1, 8])
def test_few_rows_give_full_sets_with_a_warning(n_rows: int) -> None:
    model = RandomForestClassifier(10, random_state=0).fit(X, CODES)
    with pytest.warns(UserWarning, match="needs at least 9 calibration rows"):
        calibrated = prediction_set(model, calibration=(X[:n_rows], CODES[:n_rows]))
    assert calibrated.predict(X).contains.all()


def test_a_class_without_calibration_rows_is_in_every_set() -> None:
    model = RandomForestClassifier(10, random_state=0).fit(X, CODES)
    known = CODES < 2
    with pytest.warns(UserWarning, match=r"2 \(0\)"):
        calibrated = prediction_set(model, calibration=(X[known], CODES[known]), by_class=True)
    assert calibrated.predict(X).contains[:, 2].all()


def test_coverage_refuses_y_of_another_length() -> None:
    model = RandomForestClassifier(10, random_state=0).fit(X, CODES)
    sets = prediction_set(model, calibration=(X, CODES)).predict(X)
    with pytest.raises(ValueError, match="there are 120 sets"):
        sets.covers(CODES[:3])
    intervals = prediction_interval(FOREST.fit(X, Y), calibration=(X, Y)).predict(X)
    with pytest.raises(ValueError, match="there are 120 intervals"):
        intervals.covers(Y[:3])


def test_a_single_row_can_be_predicted() -> None:
    calibrated = prediction_interval(FOREST.fit(X, Y), training=(X, Y))
    one = calibrated.predict(X[:1])
    assert one.lower.shape == (1,)
    assert calibrated.coverage_curve(X[:1], Y[:1]).n_rows == 1


def test_warnings_point_to_the_line_of_the_user() -> None:
    forest = RandomForestRegressor(2, random_state=0).fit(X, Y)
    classes = RandomForestClassifier(10, random_state=0).fit(X, CODES)
    intervals = prediction_interval(forest, calibration=(X, Y))
    sets = prediction_set(classes, calibration=(X, CODES))
    for call in (
        lambda: prediction_interval(forest, calibration=(X[:3], Y[:3])),
        lambda: intervals.predict(X, coverage=0.999),
        lambda: prediction_interval(forest, training=(X, Y)),  # of rows that no member left out
        lambda: prediction_set(classes, calibration=(X[:3], CODES[:3])),
        lambda: prediction_set(classes, calibration=(X[:3], CODES[:3]), by_class=True),
        lambda: sets.predict(X, coverage=0.999),
    ):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            call()
        assert [(one.filename, one.lineno) for one in warned] == [
            (__file__, call.__code__.co_firstlineno)
        ]


@pytest.mark.parametrize("options", [{}, {"spread": RandomForestRegressor(3)}])
def test_holdout_residuals_beyond_float64_are_refused(options: Any) -> None:
    y = np.full(len(X), 1e308)
    forest = RandomForestRegressor(1).fit(X, -y)
    with pytest.raises(ValueError, match="overflows float64"):
        prediction_interval(forest, calibration=(X, y), method="normalized", **options)
