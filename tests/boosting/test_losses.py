"""Losses: several quantiles, custom losses, valid targets, weights, degenerate targets."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.metrics import mean_pinball_loss, mean_tweedie_deviance

from arboleda import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-2, 2, size=(500, 3))
MEAN = np.exp(0.6 * X[:, 0] - 0.3 * X[:, 1])
Y = MEAN + RANDOM.normal(size=500) * (1 + np.abs(X[:, 0]))
AMOUNT = RANDOM.poisson(MEAN) * RANDOM.gamma(3.0, 0.5, size=500)
LABELS = np.digitize(Y, [0.5, 1.5])
BOTH = [GradientBoostingRegressor, HistGradientBoostingRegressor]


def quantile_model(maker: Any, levels: Any, **options: Any) -> Any:
    name = "alpha" if maker is GradientBoostingRegressor else "quantile"
    return maker(loss="quantile", **{name: levels}, **options)


@pytest.mark.parametrize("maker", BOTH)
def test_several_quantiles_never_cross(maker: Any) -> None:
    levels = [0.9, 0.1, 0.5]
    model = quantile_model(maker, levels).fit(X, Y)
    probe = RANDOM.uniform(-3, 3, size=(2000, 3))
    found = model.predict(probe)
    assert found.shape == (2000, 3)
    assert (found[:, 1] <= found[:, 2]).all()
    assert (found[:, 2] <= found[:, 0]).all()
    assert model.n_trees_per_iteration_ == 3
    for stage in model.staged_predict(probe[:50]):
        assert (np.diff(stage[:, [1, 2, 0]]) >= 0).all()
    # Each column is near the model of that quantile alone, and covers its share of the rows.
    for k, level in enumerate(levels):
        alone = quantile_model(maker, level).fit(X, Y)
        ours = mean_pinball_loss(Y, model.predict(X)[:, k], alpha=level)
        assert ours < 1.05 * mean_pinball_loss(Y, alone.predict(X), alpha=level)
        assert abs((model.predict(X)[:, k] >= Y).mean() - level) < 0.1
    assert 0.1 < model.score(X, Y) < 1.0


@pytest.mark.parametrize("maker", BOTH)
@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_losses_of_amounts_reduce_their_deviance(maker: Any, loss: str) -> None:
    power = {"poisson": 1.0, "gamma": 2.0, "tweedie": 1.5}[loss]
    y = AMOUNT + 0.1 if loss == "gamma" else AMOUNT
    model = maker(loss=loss).fit(X, y)
    fitted = model.predict(X)
    assert fitted.min() > 0
    constant = np.full_like(y, y.mean())
    deviance = mean_tweedie_deviance(y, fitted, power=power)
    assert deviance < 0.8 * mean_tweedie_deviance(y, constant, power=power)


def own_squared(y: Any, raw: Any) -> Any:
    return raw - y, np.ones_like(y)


def own_binary(y: Any, raw: Any) -> Any:
    p = expit(raw)
    return p - y, p * (1 - p)


def own_softmax(y: Any, raw: Any) -> Any:
    p = softmax(raw, axis=1)
    return p - np.eye(raw.shape[1])[y.astype(int)], p * (1 - p)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_custom_loss_matches_the_built_in_one(weighted: bool) -> None:
    """But for the start, which a custom loss takes at 0: targets and classes are centred."""
    weight = np.where(np.arange(500) % 2, 2.0, 1.0) if weighted else None
    centred = Y - np.average(Y, weights=weight)
    own = HistGradientBoostingRegressor(loss=own_squared, max_iter=30).fit(X, centred, weight)
    built_in = HistGradientBoostingRegressor(max_iter=30).fit(X, centred, weight)
    np.testing.assert_allclose(own.predict(X), built_in.predict(X), atol=1e-9)

    half = np.argsort(Y).argsort() >= 250
    balance = (
        None
        if not weighted
        else weight * np.where(half, 1 / weight[half].sum(), 1 / weight[~half].sum()) * 100
    )
    own = HistGradientBoostingClassifier(loss=own_binary, max_iter=30).fit(X, half, balance)
    built_in = HistGradientBoostingClassifier(max_iter=30).fit(X, half, balance)
    np.testing.assert_allclose(own.predict_proba(X), built_in.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(own.predict(X), built_in.predict(X))

    three = np.argsort(Y[:498]).argsort() // 166
    own = HistGradientBoostingClassifier(loss=own_softmax, max_iter=10).fit(X[:498], three)
    built_in = HistGradientBoostingClassifier(max_iter=10).fit(X[:498], three)
    np.testing.assert_allclose(own.predict_proba(X), built_in.predict_proba(X), atol=1e-9)


def test_a_custom_loss_works_with_exact_trees() -> None:
    centred = Y - Y.mean()
    own = GradientBoostingRegressor(loss=own_squared, n_estimators=20).fit(X, centred)
    built_in = GradientBoostingRegressor(n_estimators=20).fit(X, centred)
    np.testing.assert_allclose(own.predict(X), built_in.predict(X), atol=1e-6)


def test_a_custom_loss_is_checked() -> None:
    def short(y: Any, raw: Any) -> Any:
        return raw[:-1], raw[:-1]

    def negative(y: Any, raw: Any) -> Any:
        return raw, raw - 1

    with pytest.raises(
        ValueError, match=r"gradient of shape \(499,\) for scores of shape \(500,\)"
    ):
        HistGradientBoostingRegressor(loss=short).fit(X, Y)
    with pytest.raises(
        ValueError, match="the hessian -1.0 for row 0: it must be finite and non-neg"
    ):
        HistGradientBoostingRegressor(loss=negative).fit(X, Y)
    with pytest.raises(ValueError, match="early stopping needs a score"):
        HistGradientBoostingRegressor(loss=own_squared, early_stopping=True).fit(X, Y)
    stopped = HistGradientBoostingRegressor(
        loss=own_squared, early_stopping=True, scoring="r2", max_iter=20
    )
    assert stopped.fit(X, Y).validation_score_.size == stopped.n_iter_ + 1


@pytest.mark.parametrize("maker", BOTH)
def test_targets_outside_the_range_of_a_loss_are_refused(maker: Any) -> None:
    negative = AMOUNT.copy()
    negative[7] = -2.0
    for loss in ("poisson", "tweedie"):
        with pytest.raises(
            ValueError,
            match=rf"loss='{loss}' requires non-negative y .*, but y is -2.0 in row 7;",
        ):
            maker(loss=loss).fit(X, negative)
        with pytest.raises(ValueError, match="y is 0 in every row"):
            maker(loss=loss).fit(X, np.zeros(500))
    zero = int(np.flatnonzero(AMOUNT == 0)[0])
    with pytest.raises(
        ValueError, match=f"requires strictly positive y, but y is 0.0 in row {zero}"
    ):
        maker(loss="gamma").fit(X, AMOUNT)
    # A row that does not count may hold anything.
    weight = np.ones(500)
    weight[7] = 0.0
    maker(loss="poisson", **rounds(maker, 2)).fit(X, negative, weight)
    for bad in (np.nan, np.inf):
        y = Y.copy()
        y[3] = bad
        with pytest.raises(ValueError, match="row 3"):
            maker().fit(X, y)


def rounds(maker: Any, n: int) -> dict[str, int]:
    return {"n_estimators" if hasattr(maker(), "n_estimators") else "max_iter": n}


def test_quantile_levels_are_checked() -> None:
    for levels, message in (
        (None, "requires quantile: a level between 0 and 1"),
        ([], "requires quantile"),
        ([0.1, 1.5], "quantile must hold levels between 0 and 1, got 1.5"),
        ([0.5, 0.5], "holds a level twice"),
        ("half", "quantile"),
    ):
        with pytest.raises(ValueError, match=message):
            HistGradientBoostingRegressor(loss="quantile", quantile=levels).fit(X, Y)
    with pytest.raises(ValueError, match="loss='huber' takes one level"):
        GradientBoostingRegressor(loss="huber", alpha=[0.1, 0.9]).fit(X, Y)


@pytest.mark.parametrize("maker", [GradientBoostingClassifier, HistGradientBoostingClassifier])
def test_class_weights_match_sample_weights(maker: Any) -> None:
    by_class = maker(class_weight={0: 1.0, 1: 2.0, 2: 0.5}, **rounds(maker, 10)).fit(X, LABELS)
    by_row = maker(**rounds(maker, 10)).fit(X, LABELS, np.array([1.0, 2.0, 0.5])[LABELS])
    np.testing.assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))
    rare = (np.quantile(Y, 0.95) < Y).astype(int)
    plain = maker(**rounds(maker, 10)).fit(X, rare)
    balanced = clone(plain).set_params(class_weight="balanced").fit(X, rare)
    assert balanced.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.05
    ones = clone(plain).fit(X, rare, np.ones(500))
    np.testing.assert_array_equal(ones.predict_proba(X), plain.predict_proba(X))
    with pytest.raises(ValueError, match=r"class 0 the weight -1\.0: weights must be finite"):
        maker(class_weight={0: -1.0}).fit(X, LABELS)


@pytest.mark.parametrize("maker", [GradientBoostingClassifier, HistGradientBoostingClassifier])
def test_one_class_makes_a_constant_model(maker: Any) -> None:
    model = maker().fit(X, np.full(500, "only"))
    assert model.predict(X[:2]).tolist() == ["only", "only"]
    np.testing.assert_array_equal(model.predict_proba(X[:2]), np.ones((2, 1)))
    assert model.best_iteration_ == 0
    assert list(model.staged_predict(X)) == []
    np.testing.assert_array_equal(model.feature_importances_, np.zeros(3))
    # So does a class whose rows alone have a weight.
    weight = (LABELS == 1).astype(float)
    model = maker(**rounds(maker, 3)).fit(X, LABELS, weight)
    assert set(model.predict(X)) == {1}


@pytest.mark.parametrize(
    "maker",
    [
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        GradientBoostingRegressor,
        HistGradientBoostingRegressor,
    ],
)
def test_degenerate_tables_are_fitted(maker: Any) -> None:
    y = Y if "Regressor" in maker.__name__ else LABELS
    constant = maker(**rounds(maker, 3)).fit(np.ones((500, 2)), y)
    assert len(np.unique(constant.predict(X[:, :2]).round(12))) == 1
    empty = maker(**rounds(maker, 3)).fit(np.full((500, 1), np.nan), y)
    assert empty.predict(X[:4, :1]).shape == (4,)
    one = maker(**rounds(maker, 3)).fit(X[:1], y[:1])
    assert one.predict(X[:1])[0] == y[0]
    with pytest.raises(ValueError, match="0 sample"):
        maker().fit(X[:0], y[:0])
    with pytest.raises(ValueError, match="`sample_weight`: -1.0 in row 2"):
        maker().fit(X[:4], y[:4], [1.0, 1.0, -1.0, 1.0])


def test_exponential_loss_requires_two_classes() -> None:
    model = HistGradientBoostingClassifier(loss="exponential", max_iter=40).fit(X, LABELS > 0)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(2 * model.decision_function(X)))
    assert model.score(X, LABELS > 0) > 0.85
    with pytest.raises(
        ValueError, match="loss='exponential' is only suitable for a binary .* n_classes=3"
    ):
        HistGradientBoostingClassifier(loss="exponential").fit(X, LABELS)
