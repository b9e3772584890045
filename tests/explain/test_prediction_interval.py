"""Intervals from calibration rows equal the papers' formulas, and change as expected."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda import (
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.explain import prediction_interval

_draw = np.random.default_rng(0)
X = _draw.normal(size=(300, 3))
Y = X[:, 0] * 2 + _draw.normal(size=300) * (0.2 + np.abs(X[:, 1]))
FIT, CAL, NEW = slice(0, 100), slice(100, 220), slice(220, 300)
CALIBRATION = (X[CAL], Y[CAL])


@pytest.fixture(scope="module")
def forest() -> RandomForestRegressor:
    return RandomForestRegressor(20, keep_rows=True, random_state=0).fit(X[FIT], Y[FIT])


def kth(scores: Any, coverage: float) -> float:
    """The papers' quantile, by counting."""
    scores = sorted(scores)
    k = math.ceil((len(scores) + 1) * coverage - 1e-9)
    return scores[k - 1]


def test_absolute_residuals_match_the_definition() -> None:
    model = LinearRegression().fit(X[FIT], Y[FIT])
    q = kth([abs(y - f) for y, f in zip(Y[CAL], model.predict(X[CAL]), strict=True)], 0.9)
    calibrated = prediction_interval(model, calibration=CALIBRATION)
    found = calibrated.predict(X[NEW])
    predicted = model.predict(X[NEW])
    assert np.array_equal(found.lower, predicted - q)
    assert np.array_equal(found.upper, predicted + q)
    assert np.array_equal(found.prediction, predicted)
    assert (calibrated.method, calibrated.n_rows) == ("absolute", 120)
    assert calibrated.guaranteed_coverage == found.coverage == 0.9
    assert calibrated.half_width == q


def test_residuals_are_scaled_by_the_spread_of_trees(forest: RandomForestRegressor) -> None:
    found = prediction_interval(
        forest, calibration=CALIBRATION, method="normalized", random_state=5
    ).predict(X[NEW])
    trees = [tree.predict for tree in forest.estimators_]
    order = np.random.RandomState(5).permutation(120)
    aside, scored = X[CAL][order[:12]], order[12:]

    def spread(table: Any) -> Any:
        return np.std([predict(table) for predict in trees], axis=0)

    floor = 0.1 * spread(aside).mean()
    residuals = np.abs(Y[CAL] - forest.predict(X[CAL]))[scored]
    q = kth(residuals / (spread(X[CAL][scored]) + floor), 0.9)
    half = q * (spread(X[NEW]) + floor)
    assert found.lower == pytest.approx(forest.predict(X[NEW]) - half)
    assert found.upper == pytest.approx(forest.predict(X[NEW]) + half)


def test_residuals_are_scaled_by_another_model() -> None:
    model = LinearRegression().fit(X[FIT], Y[FIT])
    found = prediction_interval(
        model, calibration=CALIBRATION, method="normalized", spread=KNeighborsRegressor(10),
        random_state=5,
    ).predict(X[NEW])  # fmt: skip
    order = np.random.RandomState(5).permutation(120)
    aside, scored = np.sort(order[:60]), order[60:]
    residuals = np.abs(Y[CAL] - model.predict(X[CAL]))
    errors = KNeighborsRegressor(10).fit(X[CAL][aside], residuals[aside])
    floor = 0.1 * errors.predict(X[CAL][aside]).mean()
    q = kth(residuals[scored] / (errors.predict(X[CAL][scored]) + floor), 0.9)
    half = q * (errors.predict(X[NEW]) + floor)
    assert found.upper - found.prediction == pytest.approx(half)
    assert found.prediction - found.lower == pytest.approx(half)


def naive_quantiles(low: Any, high: Any, low_new: Any, high_new: Any) -> Any:
    """Romano, Patterson and Candes (2019), equations (6) to (8)."""
    scores = [max(lo - y, y - hi) for lo, hi, y in zip(low, high, Y[CAL], strict=True)]
    q = kth(scores, 0.9)
    return low_new - q, high_new + q


def test_quantiles_of_a_forest_are_calibrated(forest: RandomForestRegressor) -> None:
    found = prediction_interval(forest, calibration=CALIBRATION, method="quantile").predict(X[NEW])
    levels = [(1 - 0.9) / 2, (1 + 0.9) / 2]
    ends = [
        *forest.predict_quantiles(X[CAL], levels).T,
        *forest.predict_quantiles(X[NEW], levels).T,
    ]
    lower, upper = naive_quantiles(*ends)
    assert np.array_equal(found.lower, lower)
    assert np.array_equal(found.upper, upper)
    assert np.array_equal(found.prediction, forest.predict_quantiles(X[NEW], 0.5))


@pytest.mark.parametrize("levels", [[0.5, 0.95, 0.05], [0.05, 0.95]])
@pytest.mark.parametrize("kind", [HistGradientBoostingRegressor, GradientBoostingRegressor])
def test_quantiles_of_boosting_are_calibrated(kind: Any, levels: list[float]) -> None:
    name = "quantile" if kind is HistGradientBoostingRegressor else "alpha"
    rounds = "max_iter" if kind is HistGradientBoostingRegressor else "n_estimators"
    model = kind(loss="quantile", **{name: levels, rounds: 5}).fit(X[FIT], Y[FIT])
    model = make_pipeline(StandardScaler(), model).fit(X[FIT], Y[FIT])
    found = prediction_interval(model, calibration=CALIBRATION, method="quantile").predict(X[NEW])
    low, high = levels.index(0.05), levels.index(0.95)
    before, predicted = model.predict(X[CAL]), model.predict(X[NEW])
    lower, upper = naive_quantiles(
        before[:, low], before[:, high], predicted[:, low], predicted[:, high]
    )
    assert np.array_equal(found.lower, lower)
    assert np.array_equal(found.upper, upper)
    middle = predicted[:, levels.index(0.5)] if 0.5 in levels else predicted.mean(axis=1)
    assert found.prediction == pytest.approx(middle)


def test_crossed_quantiles_collapse_to_the_middle(
    forest: RandomForestRegressor,
) -> None:
    # The limit of 2 of 100 rows lies in the middle of wide intervals, and beyond that of others.
    calibrated = prediction_interval(forest, calibration=CALIBRATION, method="quantile")
    found = calibrated.predict(X[NEW], coverage=0.02)
    ends = forest.predict_quantiles(X[NEW], [(1 - 0.9) / 2, (1 + 0.9) / 2])
    limit = (ends[:, 0] - found.lower)[found.width > 0]
    crossed = found.width == 0
    assert limit == pytest.approx(limit[0])
    assert 0 < crossed.sum() < len(crossed)
    assert np.diff(ends[crossed], axis=1).max() <= -2 * limit[0]
    assert found.lower[crossed] == pytest.approx(ends[crossed].mean(axis=1))


METHODS: dict[str, dict[str, Any]] = {
    "absolute": {"calibration": True},
    "normalized": {"calibration": True, "random_state": 0},
    "quantile": {"calibration": True},
    "jackknife+ab": {"calibration": False},
    "cv+": {"calibration": False, "cv": 5, "random_state": 0},
}


def calibrated_by(method: str, model: Any, shift: float = 0.0) -> Any:
    """An interval of a method, with a constant added to all targets."""
    options = dict(METHODS[method])
    rows = CAL if options.pop("calibration") else FIT
    pair = {"calibration" if rows is CAL else "training": (X[rows], Y[rows] + shift)}
    return prediction_interval(model, method=method, **pair, **options)


@pytest.mark.parametrize("method", METHODS)
def test_more_coverage_never_shortens_an_interval(
    method: str, forest: RandomForestRegressor
) -> None:
    calibrated = calibrated_by(method, forest)
    found = [calibrated.predict(X[NEW], coverage=c) for c in (0.3, 0.6, 0.8, 0.9, 0.95)]
    for narrow, wide in pairwise(found):
        assert (wide.lower <= narrow.lower).all()
        assert (wide.upper >= narrow.upper).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_added_to_the_target_moves_the_intervals(method: str) -> None:
    # Powers of two: nothing is rounded differently.
    def made(shift: float) -> Any:
        model = RandomForestRegressor(30, keep_rows=True, random_state=0)
        return calibrated_by(method, model.fit(X[FIT], Y[FIT] + shift), shift).predict(X[NEW])

    before, after = made(0.0), made(64.0)
    assert after.lower - 64 == pytest.approx(before.lower, abs=1e-9)
    assert after.upper - 64 == pytest.approx(before.upper, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_the_curve_matches_the_coverage_of_predict(
    method: str, forest: RandomForestRegressor
) -> None:
    calibrated = calibrated_by(method, forest)
    curve = calibrated.coverage_curve(X[NEW], Y[NEW], coverages=[0.9, 0.5, 0.9])
    assert curve.promised.tolist() == [0.5, 0.9]
    for point, coverage in enumerate(curve.promised):
        found = calibrated.predict(X[NEW], coverage=coverage)
        assert curve.covered[point] == found.covers(Y[NEW]).mean()
        assert curve.size[point] == pytest.approx(found.width.mean())
    assert (curve.n_rows, curve.name, curve.size_name) == (80, method, "mean width")
    share = curve.covered[0]
    assert curve.standard_error[0] == pytest.approx(math.sqrt(share * (1 - share) / 80))
    assert list(curve.to_frame()) == ["promised", "covered", "standard_error", "mean width"]


def test_the_curve_is_plotted_with_its_name(forest: RandomForestRegressor) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    curve = prediction_interval(forest, calibration=CALIBRATION).coverage_curve(X[NEW], Y[NEW])
    ax = curve.plot()
    assert curve.plot(ax, label="again") is ax
    names = ax.get_legend_handles_labels()[1]
    pyplot.close(ax.figure)
    assert {"absolute", "again"} <= set(names)


@pytest.mark.parametrize("container", ["pandas", "polars", "arrow", "list"])
@pytest.mark.parametrize("method", ["absolute", "normalized", "jackknife+ab", "cv+"])
def test_every_container_gives_the_same_intervals(method: str, container: str) -> None:
    kinds = ["a", "b", "c"]
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    frame["kind"] = pd.Categorical([kinds[i % 3] for i in range(300)])
    y = Y + frame["kind"].cat.codes.to_numpy()

    def intervals_of(table: Any) -> Any:
        model = RandomForestRegressor(30, random_state=0, categorical_features=[3])
        part = {"pandas": lambda t, s: t.iloc[s], "list": lambda t, s: t[s]}.get(
            container, lambda t, s: t[s.start : s.stop] if container == "polars" else
            t.slice(s.start, s.stop - s.start)
        )  # fmt: skip
        model.fit(part(table, FIT), y[FIT])
        name, rows = ("training", FIT) if method.endswith(("b", "cv+")) else ("calibration", CAL)
        calibrated = prediction_interval(
            model, method=method, random_state=0, **{name: (part(table, rows), y[rows])}
        )
        return calibrated.predict(part(table, NEW))

    tables = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
        "list": frame.assign(kind=frame["kind"].astype(str)).to_numpy().tolist(),
    }
    found = intervals_of(tables[container])
    plain = frame.assign(kind=frame["kind"].cat.codes).to_numpy().astype(float)
    model = RandomForestRegressor(30, random_state=0, categorical_features=[3]).fit(
        plain[FIT], y[FIT]
    )
    name, rows = ("training", FIT) if method.endswith(("b", "cv+")) else ("calibration", CAL)
    same = prediction_interval(
        model, method=method, random_state=0, **{name: (plain[rows], y[rows])}
    ).predict(plain[NEW])
    assert np.array_equal(found.lower, same.lower)
    assert np.array_equal(found.upper, same.upper)


def test_results_are_given_as_a_frame() -> None:
    model = LinearRegression().fit(X[FIT], Y[FIT])
    found = prediction_interval(model, calibration=CALIBRATION).predict(X[NEW])
    frame = found.to_frame()
    assert list(frame) == ["prediction", "lower", "upper"]
    assert np.array_equal(frame["upper"], found.upper)
    assert found.width == pytest.approx(found.upper - found.lower)
    assert (
        found.covers(Y[NEW].tolist()).sum()
        == ((found.lower <= Y[NEW]) & (Y[NEW] <= found.upper)).sum()
    )


def test_a_wrapper_estimator_predicts_itself() -> None:
    model = TransformedTargetRegressor(LinearRegression(), func=np.arcsinh, inverse_func=np.sinh)
    model.fit(X[FIT], Y[FIT])
    found = prediction_interval(model, calibration=CALIBRATION).predict(X[NEW])
    assert np.array_equal(found.prediction, model.predict(X[NEW]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give exactly one of calibration"),
        ({"calibration": CALIBRATION, "training": CALIBRATION}, "give exactly one of calibration"),
        ({"calibration": CALIBRATION, "method": "jackknife+ab"}, "needs the training rows"),
        ({"calibration": CALIBRATION, "method": "cv+"}, "needs the training rows"),
        ({"training": CALIBRATION, "method": "absolute"}, "has not seen"),
        ({"training": CALIBRATION}, "has no members: give"),
        ({"calibration": CALIBRATION, "method": "best"}, "method must be one of"),
        (
            {"calibration": CALIBRATION, "method": "quantile"},
            "needs a model of at least two quantiles",
        ),
        ({"calibration": CALIBRATION, "method": "normalized"}, "has no members: give"),
        ({"calibration": CALIBRATION, "spread": LinearRegression()}, "spread is only valid for"),
        ({"calibration": (X[CAL], Y[FIT])}, "has 120 rows, but y has 100"),
        ({"calibration": (X[CAL], np.c_[Y[CAL], Y[CAL]])}, "one value per row"),
        (
            {"training": CALIBRATION, "method": "cv+", "cv": 1},
            "cv must be between 2 and the number of rows",
        ),
        (
            {"training": CALIBRATION, "method": "cv+", "cv": 121},
            "cv must be between 2 and the number of rows",
        ),
    ],
)
def test_invalid_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prediction_interval(LinearRegression().fit(X[FIT], Y[FIT]), **options)


def test_a_missing_pair_raises_type_error() -> None:
    with pytest.raises(TypeError, match=r"calibration=\(X, y\)"):
        prediction_interval(LinearRegression().fit(X[FIT], Y[FIT]), calibration=X[CAL])


def test_a_classifier_is_referred_to_prediction_sets() -> None:
    model = RandomForestClassifier(3, random_state=0).fit(X[FIT], Y[FIT] > 0)
    with pytest.raises(ValueError, match="prediction_set"):
        prediction_interval(model, calibration=CALIBRATION)


def test_several_targets_are_not_quantiles() -> None:
    two = LinearRegression().fit(X[FIT], np.c_[Y[FIT], Y[FIT]])
    with pytest.raises(ValueError, match="predicts 2 numbers per row"):
        prediction_interval(two, calibration=CALIBRATION)


def test_a_single_width_requires_equal_widths(forest: RandomForestRegressor) -> None:
    with pytest.raises(ValueError, match="the width differs from row to row"):
        _ = prediction_interval(forest, calibration=CALIBRATION, method="quantile").half_width


def test_a_forest_without_rows_cannot_predict_quantiles() -> None:
    forest = RandomForestRegressor(3, random_state=0).fit(X[FIT], Y[FIT])
    with pytest.raises(ValueError, match="keep_rows=True"):
        prediction_interval(forest, calibration=CALIBRATION, method="quantile")


def test_bagging_can_scale_residuals_by_spread() -> None:
    bag = BaggingRegressor(LinearRegression(), 8, max_features=2, random_state=0)
    bag.fit(X[FIT], Y[FIT])
    found = prediction_interval(
        bag, calibration=CALIBRATION, method="normalized", random_state=0
    ).predict(X[NEW])
    predictions = [
        m.predict(X[NEW][:, c])
        for m, c in zip(bag.estimators_, bag.estimators_features_, strict=True)
    ]
    spread = np.std(predictions, axis=0)
    slope = np.diff(found.width[:2]) / np.diff(spread[:2])
    assert np.diff(found.width) == pytest.approx(slope[0] * np.diff(spread))
