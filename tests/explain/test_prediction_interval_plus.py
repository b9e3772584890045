"""Jackknife+-after-bootstrap and CV+ equal the papers' sums, written as loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingRegressor as TheirBagging
from sklearn.ensemble import ExtraTreesRegressor as TheirExtraTrees
from sklearn.ensemble import GradientBoostingRegressor as TheirBoosting
from sklearn.ensemble import RandomForestRegressor as TheirForest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from arboleda import (
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    RandomForestRegressor,
    RandomSubspaceRegressor,
)
from arboleda.explain import _prediction_interval_plus, prediction_interval
from arboleda.explain._outputs import compute_oob_mask
from arboleda.explain._prediction_interval_plus import iter_subset_means

_draw = np.random.default_rng(0)
X = _draw.normal(size=(50, 3))
Y = X[:, 0] * 2 + _draw.normal(size=50)
NEW = _draw.normal(size=(9, 3))


def naive_ends(left_out_new: Any, residuals: Any, coverage: float) -> tuple[float, float]:
    """The ends for one new row from n predictions: floor(alpha (n + 1)) and ceil of the rest."""
    n = len(residuals)
    first = math.floor((1 - coverage) * (n + 1) + 1e-9) - 1
    last = math.ceil(coverage * (n + 1) - 1e-9) - 1
    low = sorted(m - r for m, r in zip(left_out_new, residuals, strict=True))
    high = sorted(m + r for m, r in zip(left_out_new, residuals, strict=True))
    return low[first], high[last]


def naive_after_bootstrap(model: Any, X: Any, y: Any, new: Any, coverage: float) -> Any:
    """Algorithm 2 of Kim, Xu and Barber (2020), row by row, member by member."""
    if hasattr(model, "steps"):
        X, new, model = model[:-1].transform(X), model[:-1].transform(new), model[-1]
    features = getattr(model, "estimators_features_", None)

    def predict_member(b: int, row: Any) -> float:
        part = row if features is None else row[features[b]]
        return float(model.estimators_[b].predict(part.reshape(1, -1))[0])

    members = range(len(model.estimators_))
    bags = [set(np.asarray(rows).tolist()) for rows in model.estimators_samples_]
    others = [[b for b in members if i not in bags[b]] for i in range(len(y))]
    residuals = [
        abs(y[i] - sum(predict_member(b, X[i]) for b in others[i]) / len(others[i]))
        for i in range(len(y))
    ]
    ends = []
    for row in new:
        predictions = [predict_member(b, row) for b in members]
        left_out = [sum(predictions[b] for b in others[i]) / len(others[i]) for i in range(len(y))]
        ends.append(naive_ends(left_out, residuals, coverage))
    return np.transpose(ends)


MODELS: dict[str, Any] = {
    "forest": RandomForestRegressor(30, random_state=0),
    "extra trees": ExtraTreesRegressor(30, bootstrap=True, random_state=0),
    "part of the rows": RandomForestRegressor(20, max_samples=0.4, random_state=0),
    "bagging": BaggingRegressor(n_estimators=30, random_state=0),
    "bagging of lines": BaggingRegressor(Ridge(), 30, max_features=2, random_state=0),
    "pasting": BaggingRegressor(n_estimators=20, max_samples=0.5, bootstrap=False, random_state=0),
    "their forest": TheirForest(30, random_state=0),
    "their extra trees": TheirExtraTrees(30, bootstrap=True, random_state=0),
    "their bagging": TheirBagging(Ridge(), 30, max_features=2, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), RandomForestRegressor(30, random_state=0)),
}


@pytest.mark.parametrize("name", MODELS)
def test_jackknife_after_bootstrap_matches_three_loops(name: str) -> None:
    model = MODELS[name].fit(X, Y)
    calibrated = prediction_interval(model, training=(X, Y), coverage=0.8)
    found = calibrated.predict(NEW)
    lower, upper = naive_after_bootstrap(model, X, Y, NEW, 0.8)
    assert found.lower == pytest.approx(lower, rel=1e-9, abs=1e-9)
    assert found.upper == pytest.approx(upper, rel=1e-9, abs=1e-9)
    assert np.array_equal(found.prediction, model.predict(NEW))
    assert (calibrated.method, calibrated.n_rows) == ("jackknife+ab", 50)
    assert calibrated.guaranteed_coverage == pytest.approx(0.6)


def naive_cv(model: Any, X: Any, y: Any, new: Any, fold_of: Any, coverage: float) -> Any:
    """Barber et al. (2021), section 3: CV+, one fit a fold."""
    fits = {
        f: type(model)(**model.get_params()).fit(X[fold_of != f], y[fold_of != f])
        for f in set(fold_of.tolist())
    }
    residuals = [abs(y[i] - fits[fold_of[i]].predict(X[i : i + 1])[0]) for i in range(len(y))]
    ends = [
        naive_ends(
            [fits[f].predict(row.reshape(1, -1))[0] for f in fold_of.tolist()], residuals, coverage
        )
        for row in new
    ]
    return np.transpose(ends)


@pytest.mark.parametrize("n_folds", [2, 7, 50])
def test_cv_plus_matches_loops(n_folds: int) -> None:
    calibrated = prediction_interval(
        Ridge(), training=(X, Y), method="cv+", cv=n_folds, random_state=3, coverage=0.8
    )
    fold_of = np.empty(50, int)
    splits = KFold(n_folds, shuffle=True, random_state=3).split(X)
    for fold, (_, outside) in enumerate(splits):
        fold_of[outside] = fold
    found = calibrated.predict(NEW)
    lower, upper = naive_cv(Ridge(), X, Y, NEW, fold_of, 0.8)
    assert found.lower == pytest.approx(lower, rel=1e-9)
    assert found.upper == pytest.approx(upper, rel=1e-9)
    models = [Ridge().fit(X[fold_of != f], Y[fold_of != f]) for f in range(n_folds)]
    assert found.prediction == pytest.approx(np.mean([m.predict(NEW) for m in models], axis=0))


def test_cv_plus_keeps_its_guarantee() -> None:
    # Theorem 4 of Barber et al.: 1 - 2 alpha - min(2 (1 - 1/K) / (n/K + 1), (1 - K/n) / (K + 1)).
    def guaranteed(cv: int, coverage: float = 0.9) -> float:
        return prediction_interval(
            Ridge(), training=(X, Y), method="cv+", cv=cv, coverage=coverage
        ).guaranteed_coverage

    assert guaranteed(50) == pytest.approx(0.8)
    assert guaranteed(10) == pytest.approx(0.8 - (1 - 10 / 50) / 11)
    assert guaranteed(2) == pytest.approx(0.8 - 2 * 0.5 / 26)
    assert guaranteed(10, 0.4) == 0.0


def test_a_given_splitter_is_used() -> None:
    found = prediction_interval(Ridge(), training=(X, Y), method="cv+", cv=KFold(5)).predict(NEW)
    lower, _ = naive_cv(Ridge(), X, Y, NEW, np.repeat(np.arange(5), 10), 0.9)
    assert found.lower == pytest.approx(lower)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (ShuffleSplit(5, random_state=0), "several test folds"),
        (TimeSeriesSplit(3), "into no test fold"),
    ],
)
def test_every_row_must_be_in_one_fold(cv: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prediction_interval(Ridge(), training=(X, Y), method="cv+", cv=cv)


def test_folds_by_group_can_be_given() -> None:
    groups = np.arange(50) // 5
    folds = list(GroupKFold(5).split(X, Y, groups))
    calibrated = prediction_interval(Ridge(), training=(X, Y), method="cv+", cv=folds)
    assert calibrated.n_rows == 50


def test_blocks_and_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    forest = RandomForestRegressor(40, random_state=0).fit(X, Y)
    calibrated = prediction_interval(forest, training=(X, Y))
    whole = calibrated.predict(NEW)
    one_by_one = [calibrated.predict(row.reshape(1, -1)) for row in NEW]
    assert whole.lower.tolist() == [found.lower[0] for found in one_by_one]
    monkeypatch.setattr(_prediction_interval_plus, "_BLOCK", 120)
    blocks = calibrated.predict(NEW)
    with threadpool_limits(1):
        one_thread = calibrated.predict(NEW)
    for found in (blocks, one_thread):
        assert np.array_equal(found.lower, whole.lower)
        assert np.array_equal(found.upper, whole.upper)


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1.0, 1e6, 1e300])
def test_means_are_accurate_to_a_fraction_of_the_range(scale: float) -> None:
    values = np.random.default_rng(0).normal(size=(5, 300)) * scale + 7 * scale
    chosen = np.random.default_rng(1).random((300, 11)) < 0.4
    usual = (float(values.min()), float(values.max()))
    found = np.vstack([means for _, means in iter_subset_means(values, chosen, usual)])
    for i in range(5):
        for j in range(11):
            mean = math.fsum(values[i, chosen[:, j]]) / chosen[:, j].sum()
            assert found[i, j] == pytest.approx(mean, rel=0, abs=1e-12 * np.ptp(values))


def test_equal_predictions_have_an_exact_mean() -> None:
    found = [
        m for _, m in iter_subset_means(np.full((2, 3), 0.1), np.eye(3, dtype=bool), (0.1, 0.1))
    ]
    assert (np.vstack(found) == 0.1).all()


def test_rows_without_weight_do_not_count() -> None:
    weight = np.ones(50)
    weight[10:20] = 0
    forest = RandomForestRegressor(30, random_state=0).fit(X, Y, sample_weight=weight)
    assert prediction_interval(forest, training=(X, Y)).n_rows == 40


def test_a_row_in_every_bag_is_ignored() -> None:
    forest = RandomForestRegressor(3, random_state=0).fit(X, Y)
    never = int((~compute_oob_mask(forest, 50).any(axis=0)).sum())
    assert never > 5
    with pytest.warns(
        UserWarning, match=f"{never} of 50 training rows are out of bag for no member"
    ):
        calibrated = prediction_interval(forest, training=(X, Y), coverage=0.5)
    assert np.isfinite(calibrated.predict(NEW).width).all()
    few = 1 - never / 51 + 0.001  # more rows than may be missed are unknown
    assert np.isinf(calibrated.predict(NEW, coverage=few).width).all()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RandomForestRegressor(5, bootstrap=False, random_state=0), "was fitted on all rows"),
        (
            TheirForest(5, bootstrap=False, random_state=0),
            "was fitted on all rows|estimators_samples_",
        ),
        (RandomSubspaceRegressor(n_estimators=5, random_state=0), "was fitted on all rows"),
        (TheirBoosting(n_estimators=5), "estimators_samples_"),
        (AdaBoostRegressor(n_estimators=5, random_state=0), "estimators_samples_|the mean of"),
        (Ridge(), "no members"),
    ],
)
def test_unsupported_ensembles_are_refused(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prediction_interval(model.fit(X, Y), training=(X, Y))


@pytest.mark.parametrize("name", ["forest", "bagging", "bagging of lines", "their forest"])
@pytest.mark.parametrize("n_rows", [40, 60])
def test_a_table_of_another_length_is_refused(name: str, n_rows: int) -> None:
    model = MODELS[name].fit(X, Y)
    rows = np.arange(n_rows) % 50
    with pytest.raises(ValueError, match="give its training rows in their original order"):
        prediction_interval(model, training=(X[rows], Y[rows]))
