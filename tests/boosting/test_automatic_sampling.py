"""`sampling="auto"`: which rows it draws, and what must not change a model."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

from arboleda import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda._engine import parallel as threads

N = 130_000
RANDOM = np.random.default_rng(2)
X = RANDOM.normal(size=(N, 5)).astype(np.float32)
X[:, 1] = np.round(X[:, 1] * 3)
X[RANDOM.random(N) < 0.1, 2] = np.nan
SIGNAL = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + np.nan_to_num(X[:, 2]) * (X[:, 3] > 0)
SCORE = SIGNAL + RANDOM.normal(size=N)
CLASSES = np.digitize(SCORE, [-0.5, 0.8])
WEIGHT = RANDOM.integers(0, 9, N).astype(float)
FEW: dict[str, Any] = {
    "max_iter": 4, "max_leaf_nodes": 9, "early_stopping": False, "random_state": 3,
    "sampling": "auto",
}  # fmt: skip

MODELS: dict[str, tuple[Any, Any, Any]] = {
    "two classes": (HistGradientBoostingClassifier(**FEW), SCORE > 0, None),
    "three classes, weights": (HistGradientBoostingClassifier(**FEW), CLASSES, WEIGHT),
    "three classes, shared trees": (
        HistGradientBoostingClassifier(**FEW | {"multi_strategy": "multi_output_tree"}),
        CLASSES, None,
    ),
    "regression": (HistGradientBoostingRegressor(**FEW), SCORE, None),
    "regression, symmetric, weights": (
        HistGradientBoostingRegressor(**FEW | {"growth": "symmetric", "max_depth": 3}),
        SCORE, WEIGHT,
    ),
    "quantile": (HistGradientBoostingRegressor(loss="quantile", quantile=0.8, **FEW), SCORE, None),
    "stopped early": (
        HistGradientBoostingClassifier(**FEW | {"early_stopping": True}), SCORE > 0, None,
    ),
    "monotone": (
        HistGradientBoostingRegressor(monotonic_cst=[0, 1, 0, 0, 0], **FEW), SCORE, WEIGHT,
    ),
    "linear leaves": (HistGradientBoostingRegressor(linear_leaves=True, **FEW), SCORE, None),
    "dropped trees": (HistGradientBoostingRegressor(drop_rate=0.5, **FEW), SCORE, None),
}  # fmt: skip
EVERY = pytest.mark.parametrize("name", MODELS)


def fit(name: str, **parameters: Any) -> bytes:
    model, y, weight = MODELS[name]
    return pickle.dumps(clone(model).set_params(**parameters).fit(X, y, weight).ensemble_)


@EVERY
def test_same_bytes_with_any_number_of_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "count_available_cores", lambda: 4)
    assert len({fit(name, n_jobs=n) for n in (1, 2, 4)}) == 1


@EVERY
def test_rows_are_drawn_from_large_tables(name: str) -> None:
    drawn = fit(name)
    assert drawn != fit(name, sampling="uniform")
    assert drawn != fit(name, random_state=4)


@pytest.mark.parametrize("name", ["two classes", "three classes, weights", "regression"])
def test_continued_fit_matches_a_single_fit(name: str) -> None:
    model, y, weight = MODELS[name]
    continued = clone(model).set_params(warm_start=True, max_iter=2).fit(X, y, weight)
    continued.set_params(max_iter=4).fit(X, y, weight)
    assert pickle.dumps(continued.ensemble_) == fit(name)


@EVERY
def test_all_rows_of_small_tables_and_for_large_trees(name: str) -> None:
    model, y, weight = MODELS[name]
    some = slice(0, 20_000)
    weight = None if weight is None else weight[some]
    fits = [
        clone(model).set_params(sampling=sampling).fit(X[some], y[some], weight)
        for sampling in ("auto", "uniform")
    ]
    assert len({pickle.dumps(each.ensemble_) for each in fits}) == 1
    if "early" not in name and "symmetric" not in name:
        deep = {"max_leaf_nodes": None, "max_iter": 1, "min_samples_leaf": 1000}
        assert fit(name, **deep) == fit(name, sampling="uniform", **deep)


def test_loss_is_about_that_of_all_rows() -> None:
    y = SCORE > 0
    losses = {}
    for sampling in ("uniform", "auto"):
        model = clone(MODELS["two classes"][0]).set_params(sampling=sampling, max_iter=50)
        model.fit(X[:110_000], y[:110_000])
        losses[sampling] = log_loss(y[110_000:], model.predict_proba(X[110_000:]))
    assert losses["auto"] == pytest.approx(losses["uniform"], rel=0.005)


def test_parameters_that_cannot_be_combined() -> None:
    model = HistGradientBoostingRegressor(sampling="auto", subsample=0.5)
    with pytest.raises(ValueError, match=r"subsample=0\.5 cannot be combined with sampling='auto'"):
        model.fit(X[:100], SCORE[:100])
    with pytest.raises(ValueError, match="'sampling' parameter"):
        GradientBoostingClassifier(sampling="auto").fit(X[:100], CLASSES[:100])
