"""Difficult inputs: values near the float64 limits, few rows, wrong shapes, interrupted fits."""

import pickle
import signal
import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from arboleda import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

RANDOM = np.random.default_rng(0)
N = 200
X = RANDOM.normal(size=(N, 3))
SCORE = X[:, 0] + 0.3 * RANDOM.normal(size=N)
EVERY = pytest.mark.parametrize(
    "maker",
    [
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    ],
)
REGRESSORS = pytest.mark.parametrize(
    "maker", [GradientBoostingRegressor, HistGradientBoostingRegressor]
)


def small(maker: Any, n: int = 5, **options: Any) -> Any:
    return maker(
        **{"n_estimators" if hasattr(maker(), "n_estimators") else "max_iter": n}, **options
    )


def target(maker: Any) -> Any:
    return SCORE if "Regressor" in maker.__name__ else (SCORE > 0).astype(int)


def stopping(maker: Any) -> dict[str, Any]:
    return {"n_iter_no_change": 3} if hasattr(maker(), "n_estimators") else {"early_stopping": True}


@EVERY
def test_columns_of_any_scale_are_fitted(maker: Any) -> None:
    """Multiply columns by a power of two: the same trees, thresholds scaled alike."""
    y = target(maker)
    plain = small(maker).fit(X, y)
    for power in (-1000, -60, 900):
        scaled = small(maker).fit(np.ldexp(X, power), y)
        np.testing.assert_array_equal(scaled.predict(np.ldexp(X, power)), plain.predict(X))


@REGRESSORS
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
def test_targets_of_any_scale_are_fitted(maker: Any, loss: str) -> None:
    plain = small(maker, loss=loss).fit(X, SCORE).predict(X)
    for power in (-900, -300, 300, 1000):
        scaled = small(maker, loss=loss).fit(X, np.ldexp(SCORE, power)).predict(X)
        np.testing.assert_array_equal(scaled, np.ldexp(plain, power))


@REGRESSORS
def test_a_learning_rate_that_diverges_is_named(maker: Any) -> None:
    with pytest.raises(ValueError, match="lower the learning rate"):
        small(maker, 400, learning_rate=1e10).fit(X, SCORE)


@EVERY
def test_weights_of_any_scale_are_fitted(maker: Any) -> None:
    y = target(maker)
    least = {"min_child_weight": 0.0} if hasattr(maker(), "max_iter") else {}
    plain = small(maker, **least).fit(X, y, np.ones(N)).predict(X)
    for power in (-300, 300, 900):
        scaled = small(maker, **least).fit(X, y, np.full(N, np.ldexp(1.0, power))).predict(X)
        np.testing.assert_array_equal(scaled, plain)


@EVERY
def test_weights_over_many_orders_of_magnitude_are_fitted(maker: Any) -> None:
    """Rows of tiny weight do not change what rows of large weight determine."""
    y = target(maker).astype(float)
    weight = 10.0 ** RANDOM.uniform(-6, 6, N)
    model = small(maker, 20).fit(X, y, weight)
    heavy = weight > np.quantile(weight, 0.8)
    fitted = (
        model.predict(X[heavy]) if "Regr" in maker.__name__ else model.predict_proba(X)[heavy, 1]
    )
    constant = np.average(y, weights=weight)
    error, before = (
        np.average((y[heavy] - predicted) ** 2, weights=weight[heavy])
        for predicted in (fitted, constant)
    )
    assert error < 0.8 * before


@EVERY
def test_early_stopping_works_with_few_rows(maker: Any) -> None:
    y = target(maker)
    for n in (1, 3, 5):
        with pytest.raises(ValueError, match=f"validation_fraction=0.1 of n_samples={n}"):
            small(maker, **stopping(maker)).fit(X[:n], y[:n])
    for n in (1, 2, 20):
        fitted = small(maker).fit(X[:n], y[:n])
        assert np.isfinite(fitted.predict(X)).all()


@pytest.mark.filterwarnings("ignore:early stopping kept no tree")
@pytest.mark.parametrize("maker", [GradientBoostingClassifier, HistGradientBoostingClassifier])
def test_early_stopping_works_with_rare_classes(maker: Any) -> None:
    """A class of one row stays in the training rows."""
    y = np.zeros(N, int)
    y[3], y[4], y[5:9] = 1, 2, 3
    model = small(maker, 10, **stopping(maker), random_state=0).fit(X, y)
    predicted = model.predict_proba(X)
    assert predicted.shape == (N, 4)
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0)


@EVERY
@pytest.mark.parametrize("smallest", [{"max_leaf_nodes": 2}, {"max_depth": 1}])
def test_stumps_are_boosted(maker: Any, smallest: dict[str, int]) -> None:
    model = small(maker, **smallest).fit(X, target(maker))
    assert {len(tree.feature) for tree in model.ensemble_.trees} == {3}


@EVERY
def test_more_columns_than_rows_are_fitted(maker: Any) -> None:
    wide = sparse.random(60, 20_000, 0.01, format="csr", random_state=0)
    model = small(maker, 2).fit(wide, target(maker)[:60])
    np.testing.assert_array_equal(model.predict(wide), model.predict(wide.toarray()))


@EVERY
def test_copies_of_columns_change_nothing(maker: Any) -> None:
    y = target(maker)
    twice = np.column_stack([X, X, np.full(N, 7.0), np.full(N, np.nan)])
    np.testing.assert_array_equal(
        small(maker).fit(twice, y).predict(twice), small(maker).fit(X, y).predict(X)
    )


@EVERY
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y, w: (X[..., None], y, w), "dim 3"),
        (lambda X, y, w: (X[:, 0], y, w), "Expected 2D array"),
        (lambda X, y, w: (X, y[1:], w), "inconsistent numbers of samples"),
        (lambda X, y, w: (X, np.where(np.arange(N) == 5, np.nan, y), w), "row 5"),
        (lambda X, y, w: (X, np.column_stack([y, y]), w), "1d array"),
        (lambda X, y, w: (X, y, w[1:]), "sample_weight"),
        (lambda X, y, w: (X, y, 0 * w), "zero for every row"),
        (lambda X, y, w: (np.where(np.arange(N)[:, None] == 2, np.inf, X), y, w), "row 2"),
    ],
)
def test_invalid_shapes_and_values_leave_the_model_unchanged(
    maker: Any, change: Any, message: str
) -> None:
    y = target(maker).astype(float)
    model = small(maker).fit(X, y)
    before = pickle.dumps(model.ensemble_)
    if message == "1d array" and issubclass(
        maker, HistGradientBoostingClassifier | HistGradientBoostingRegressor
    ):
        pytest.skip("takes several targets")
    with pytest.raises(ValueError, match=message):
        model.fit(*change(X, y, np.ones(N)))
    assert pickle.dumps(model.ensemble_) == before
    model.predict(X)


@EVERY
def test_a_callback_that_raises_leaves_the_model_unchanged(maker: Any) -> None:
    y = target(maker)
    model = small(maker).fit(X, y)
    before = pickle.dumps(model.ensemble_)

    def fail(current: Any) -> bool:
        raise RuntimeError(f"after round {current.iteration}")

    model.set_params(callbacks=[fail])
    with pytest.raises(RuntimeError, match="after round 1"):
        model.fit(X[:, :2], y)
    assert pickle.dumps(model.ensemble_) == before
    assert model.n_features_in_ == 3


@EVERY
def test_ctrl_c_leaves_the_model_unchanged(maker: Any) -> None:
    y = target(maker)
    model = small(maker).fit(X, y)
    before = pickle.dumps(model.ensemble_)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    model.set_params(**small(maker, 10_000_000).get_params())
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], y)
    timer.join()
    assert pickle.dumps(model.ensemble_) == before
    assert model.n_features_in_ == 3
    model.set_params(**small(maker).get_params()).fit(X, y)
    assert pickle.dumps(model.ensemble_) == before


@EVERY
def test_frames_with_reordered_columns_and_unseen_categories_are_predicted(maker: Any) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["word"] = pd.Categorical(np.array(["x", "y", "z"])[np.arange(N) % 3])
    model = small(maker).fit(frame, target(maker))
    turned = frame[["word", "c", "a", "b"]]
    np.testing.assert_array_equal(model.predict(turned), model.predict(frame))
    new = frame.assign(word="never seen")
    missing = frame.assign(word=pd.Categorical([None] * N, categories=["x", "y", "z"]))
    np.testing.assert_array_equal(model.predict(new), model.predict(missing))
    with pytest.raises(ValueError, match="'c'"):
        model.predict(frame.drop(columns="c"))
