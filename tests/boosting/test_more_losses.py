"""Expectiles, pseudo-Huber, percentage errors and focal loss: twins, limits, errors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from arboleda import (
    BoostingClassifier,
    BoostingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    load,
)
from arboleda.boosting._held_out import compute_row_losses

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-2, 2, size=(400, 3))
Y = np.exp(X[:, 0]) + RANDOM.normal(size=400) * (0.5 + np.abs(X[:, 1]))
LABELS = (Y > 1.5).astype(int)


def regressor(**parameters: Any) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(**{"max_iter": 15, **parameters})


def classifier(**parameters: Any) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(**{"max_iter": 15, **parameters})


def own_expectile(y: Any, raw: Any) -> Any:
    side = np.where(y < raw, 0.2, 0.8)
    return 2.0 * side * (raw - y), 2.0 * side


def own_pseudo_huber(y: Any, raw: Any) -> Any:
    stretch = np.sqrt(1.0 + ((raw - y) / 0.7) ** 2)
    return (raw - y) / stretch, 1.0 / stretch


def own_focal(y: Any, raw: Any) -> Any:
    """The derivatives by differences of the loss, and log-loss's with the factor as a floor."""
    sign = 2.0 * y - 1.0

    def loss(margin: Any) -> Any:
        return expit(-margin) ** 1.5 * np.logaddexp(0.0, -margin)

    z, step = sign * raw, 1e-4
    slope = (loss(z + step) - loss(z - step)) / (2.0 * step)
    bend = (loss(z + step) - 2.0 * loss(z) + loss(z - step)) / step**2
    p = expit(z)
    return sign * slope, np.maximum(bend, (1.0 - p) ** 2.5 * p)


@pytest.mark.parametrize(
    ("built_in", "own"),
    [
        (regressor(loss="expectile", expectile=0.8), own_expectile),
        (regressor(loss="pseudo_huber", huber_slope=0.7), own_pseudo_huber),
        (classifier(loss="focal", focal_gamma=1.5), own_focal),
    ],
)
def test_a_loss_matches_its_derivatives(built_in: Any, own: Callable[[Any, Any], Any]) -> None:
    y = LABELS if hasattr(built_in, "focal_gamma") else Y
    start = np.full(len(y), 0.25)
    weight = RANDOM.integers(1, 4, size=400)
    predict = "decision_function" if hasattr(built_in, "focal_gamma") else "predict"
    ours = built_in.fit(X, y, weight, init_score=start)
    custom = type(built_in)(loss=own, max_iter=15).fit(X, y, weight, init_score=start)
    np.testing.assert_allclose(
        getattr(ours, predict)(X), getattr(custom, predict)(X), rtol=1e-4, atol=1e-5
    )
    assert np.ptp(getattr(ours, predict)(X)) > 0.5


def test_percentage_error_is_weighted_absolute_error() -> None:
    y = 4.0 * Y
    weight = RANDOM.integers(1, 4, size=400).astype(float)
    ours = regressor(loss="mape").fit(X, y, weight)
    twin = regressor(loss="absolute_error")
    twin.fit(X, y, weight / np.maximum(1.0, np.abs(y)))
    np.testing.assert_allclose(ours.predict(X), twin.predict(X), rtol=1e-9)
    assert ours.ensemble_.start[0] < np.median(y)


def test_limits_are_the_losses_that_are_known() -> None:
    squared = regressor().fit(X, Y).predict(X)
    half = regressor(loss="expectile", expectile=0.5).fit(X, Y).predict(X)
    np.testing.assert_allclose(half, squared, rtol=1e-9)
    wide = regressor(loss="pseudo_huber", huber_slope=1e6).fit(X, Y).predict(X)
    np.testing.assert_allclose(wide, squared, rtol=1e-6)
    log_loss = classifier().fit(X, LABELS).decision_function(X)
    plain = classifier(loss="focal", focal_gamma=0.0).fit(X, LABELS).decision_function(X)
    np.testing.assert_allclose(plain, log_loss, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("level", [0.1, 0.9])
def test_expectiles_balance_their_errors(level: float) -> None:
    model = regressor(loss="expectile", expectile=level, max_iter=200, max_leaf_nodes=4)
    errors = Y - model.fit(X, Y).predict(X)
    above, below = np.maximum(errors, 0.0).mean(), np.maximum(-errors, 0.0).mean()
    assert level * above == pytest.approx((1.0 - level) * below, rel=0.05)
    start = Y - model.ensemble_.start[0]
    assert level * np.maximum(start, 0.0).sum() == pytest.approx(
        (1.0 - level) * np.maximum(-start, 0.0).sum(), rel=1e-12
    )


def test_pseudo_huber_resists_outliers() -> None:
    y = Y.copy()
    y[::20] += 1e6
    fitted = regressor(loss="pseudo_huber", max_iter=100).fit(X, y).predict(X)
    assert np.abs(fitted - Y)[np.arange(400) % 20 != 0].mean() < 2.0


def test_focal_loss_leaves_probabilities_nearer_to_the_middle() -> None:
    plain = classifier(max_iter=60).fit(X, LABELS).predict_proba(X)[:, 1]
    focal = classifier(loss="focal", max_iter=60).fit(X, LABELS).predict_proba(X)[:, 1]
    assert np.abs(focal - 0.5).mean() < np.abs(plain - 0.5).mean()
    labels = np.c_[LABELS, X[:, 2] > 0].astype(int)
    both = classifier(loss="focal").fit(X, labels)
    alone = classifier(loss="focal").fit(X, labels[:, 0])
    np.testing.assert_array_equal(both.decision_function(X)[:, 0], alone.decision_function(X))


@pytest.mark.parametrize(
    "model",
    [
        regressor(loss="expectile", expectile=0.7),
        regressor(loss="pseudo_huber", huber_slope=0.5),
        regressor(loss="mape"),
        classifier(loss="focal", focal_gamma=3.0),
    ],
)
def test_losses_of_rows_and_model_files(model: Any, tmp_path: Path) -> None:
    y = LABELS if "focal" in model.loss else Y
    model.set_params(early_stopping=True).fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    raw = model._raw_scores(X[300:])
    mean = compute_row_losses(model.loss_, y[300:].astype(float), raw).mean()
    assert mean == pytest.approx(model.history_["validation_loss"][model.n_iter_], rel=1e-12)
    model.save(tmp_path / "model.arboleda")
    np.testing.assert_array_equal(load(tmp_path / "model.arboleda").predict(X), model.predict(X))


def test_several_targets_have_the_loss_of_one() -> None:
    targets = np.c_[Y, X[:, 1]]
    for parameters in ({"loss": "pseudo_huber"}, {"loss": "expectile", "expectile": 0.3}):
        both = regressor(**parameters).fit(X, targets).predict(X)
        np.testing.assert_array_equal(both[:, 0], regressor(**parameters).fit(X, Y).predict(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (regressor(loss="expectile"), "requires expectile: a level between 0 and 1"),
        (regressor(loss="expectile", expectile=1.0), "The 'expectile' parameter"),
        (regressor(loss="pseudo_huber", huber_slope=0.0), "The 'huber_slope' parameter"),
        (regressor(loss="mape", linear_leaves=True), "does not have: set linear_leaves=False"),
        (classifier(loss="focal", focal_gamma=-1.0), "The 'focal_gamma' parameter"),
        (classifier(loss="focal"), "loss='focal' is only suitable for a binary"),
        (GradientBoostingRegressor(loss="mape"), "The 'loss' parameter"),
        (GradientBoostingClassifier(loss="focal"), "The 'loss' parameter"),
        (BoostingRegressor(loss="pseudo_huber"), "The 'loss' parameter"),
        (BoostingClassifier(loss="focal"), "The 'loss' parameter"),
    ],
)
def test_errors(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(X, np.arange(400) % 3)
