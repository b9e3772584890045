"""What must not change a model: threads, the order of rows, containers, saving and loading."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

import arboleda
from arboleda import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from arboleda._engine import parallel as threads
from arboleda.boosting._losses import LossField
from arboleda.boosting._round_monitor import HistoryField
from arboleda.persist.fields import Sections

RANDOM = np.random.default_rng(0)
N = 700
FRAME = pd.DataFrame(
    {
        "a": RANDOM.normal(size=N).round(2),
        "b": RANDOM.integers(0, 9, size=N).astype(float),
        "c": RANDOM.exponential(size=N),
        "word": np.array(["red", "green", "blue", "black"])[RANDOM.integers(0, 4, size=N)],
    }
)
FRAME.loc[RANDOM.random(N) < 0.1, "a"] = np.nan
SCORE = (
    np.nan_to_num(FRAME["a"]) * FRAME["b"] / 4 + (FRAME["word"] == "red") + RANDOM.normal(size=N)
).to_numpy().round(3)  # fmt: skip
CLASSES = np.array(["low", "mid", "top"])[np.digitize(SCORE, [-0.5, 1.0])]

MODELS = {
    "exact classifier": (GradientBoostingClassifier(n_estimators=6), CLASSES),
    "exact huber": (GradientBoostingRegressor(n_estimators=6, loss="huber"), SCORE),
    "classifier": (HistGradientBoostingClassifier(max_iter=8), CLASSES),
    "two classes": (HistGradientBoostingClassifier(max_iter=8, growth="symmetric"), SCORE > 0),
    "regressor": (HistGradientBoostingRegressor(max_iter=8, growth="level_wise"), SCORE),
    "quantiles": (
        HistGradientBoostingRegressor(loss="quantile", quantile=[0.25, 0.75], max_iter=8), SCORE,
    ),
    "tweedie": (HistGradientBoostingRegressor(loss="tweedie", max_iter=8), np.maximum(SCORE, 0)),
}  # fmt: skip
SAMPLED = {
    "goss": (HistGradientBoostingRegressor(max_iter=8, sampling="goss", random_state=0), SCORE),
    "drawn": (
        HistGradientBoostingClassifier(
            max_iter=8, subsample=0.6, sampling="gradient", max_features=0.5, random_state=0
        ), CLASSES,
    ),
    "dropped": (HistGradientBoostingRegressor(max_iter=8, drop_rate=0.3, random_state=0), SCORE),
    "stopped": (
        GradientBoostingClassifier(
            n_estimators=20, n_iter_no_change=2, subsample=0.8, max_features=2, random_state=0
        ), CLASSES,
    ),
}  # fmt: skip


def predict_outputs(model: Any, X: Any) -> Any:
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.mark.parametrize("name", [*MODELS, *SAMPLED])
def test_same_bytes_with_any_number_of_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "count_available_cores", lambda: 8)
    model, y = (MODELS | SAMPLED)[name]
    one, *others = (
        pickle.dumps(clone(model).set_params(n_jobs=n).fit(FRAME, y).ensemble_)
        for n in (1, 2, 3, 8)
    )
    assert all(other == one for other in others)


@pytest.mark.parametrize("name", MODELS)
def test_order_of_rows_does_not_matter(name: str) -> None:
    model, y = MODELS[name]
    order = np.random.default_rng(1).permutation(N)
    weight = np.where(np.arange(N) % 3, 1.0, 2.5)
    one = clone(model).fit(FRAME, y, weight)
    other = clone(model).fit(FRAME.iloc[order], y[order], weight[order])
    assert pickle.dumps(one.ensemble_) == pickle.dumps(other.ensemble_)


@pytest.mark.parametrize("name", MODELS)
def test_weights_are_repetitions(name: str) -> None:
    """Where nothing counts rows: weight 2 repeats a row, 0 deletes it, 1 is no weight."""
    model, y = MODELS[name]
    model = clone(model)
    if hasattr(model, "max_iter"):
        model.set_params(min_samples_leaf=1, min_child_weight=1e-9)
    weight = np.random.default_rng(2).integers(0, 3, size=N)
    rows = np.repeat(np.arange(N), weight)
    coarse = FRAME.assign(a=FRAME["a"].round(1), c=FRAME["c"].round(1))  # every value has its bin
    one = clone(model).fit(coarse, y, weight)
    other = clone(model).fit(coarse.iloc[rows].reset_index(drop=True), y[rows])
    np.testing.assert_allclose(
        predict_outputs(one, coarse), predict_outputs(other, coarse), rtol=1e-6, atol=1e-9
    )
    ones, none = clone(model).fit(FRAME, y, np.ones(N)), clone(model).fit(FRAME, y)
    assert pickle.dumps(ones.ensemble_) == pickle.dumps(none.ensemble_)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_repeating_all_rows_k_times_gives_the_same_model(name: str, k: int) -> None:
    """Also with more distinct values than bins, whose edges are then the same.

    Limits that count rows, or sums over them, are multiplied by k as in scikit-learn's own test of
    this property.
    """
    model, y = MODELS[name]
    model = clone(model)
    fine = FRAME.assign(d=RANDOM.normal(size=N), e=RANDOM.lognormal(size=N).round(2))
    assert min(fine[column].nunique() for column in "cde") > 255
    often = clone(model).set_params(min_samples_leaf=5 * k)
    if hasattr(model, "max_iter"):
        model.set_params(min_child_weight=1.0)
        often.set_params(min_child_weight=1.0 * k, cat_l2=3.0 * k, cat_smooth=10.0 * k)
    model.set_params(min_samples_leaf=5).fit(fine, y)
    rows = np.random.default_rng(3).permutation(np.repeat(np.arange(N), k))
    often.fit(fine.iloc[rows].reset_index(drop=True), y[rows])
    np.testing.assert_allclose(
        predict_outputs(often, fine), predict_outputs(model, fine), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("k", [2, 5])
def test_repeating_sparse_rows_k_times_gives_the_same_bins(k: int) -> None:
    values = np.where(RANDOM.random((N, 3)) < 0.4, 0.0, RANDOM.normal(size=(N, 3)))
    models = [
        HistGradientBoostingRegressor(max_iter=8, max_bins=max_bins, min_samples_leaf=6 * times)
        for times in (1, k)
        for max_bins in (30, 255)
    ]
    rows = np.random.default_rng(4).permutation(np.repeat(np.arange(N), k))
    for model in models[:2]:
        model.fit(sparse.csr_array(values), SCORE)
    for model in models[2:]:
        model.fit(sparse.csr_array(values[rows]), SCORE[rows])
    for one, other in zip(models[:2], models[2:], strict=True):
        np.testing.assert_allclose(
            other.predict(values), one.predict(values), rtol=1e-9, atol=1e-12
        )


def test_bins_count_rows_regardless_of_weights() -> None:
    """With more distinct values than bins, weight 2 does not repeat a row: edges differ.

    A weight of 0 still deletes a row.
    """
    X, y = RANDOM.normal(size=(N, 2)), SCORE
    weight = np.where(X[:, 0] > 0, 3.0, 1.0)
    options: dict[str, Any] = {"max_iter": 8, "min_samples_leaf": 1, "min_child_weight": 1e-9}
    weighted = HistGradientBoostingRegressor(**options).fit(X, y, weight)
    rows = np.repeat(np.arange(N), weight.astype(int))
    repeated = HistGradientBoostingRegressor(**options).fit(X[rows], y[rows])
    assert not np.allclose(weighted.predict(X), repeated.predict(X), rtol=1e-3)
    some = np.where(X[:, 0] > 0, 1.0, 0.0)
    left_out = HistGradientBoostingRegressor(**options).fit(X, y, some)
    dropped = HistGradientBoostingRegressor(**options).fit(X[some > 0], y[some > 0])
    np.testing.assert_array_equal(left_out.predict(X), dropped.predict(X))


def test_containers_give_the_same_model() -> None:
    model = HistGradientBoostingClassifier(max_iter=5)
    expected = predict_outputs(clone(model).fit(FRAME, CLASSES), FRAME)
    for table in (pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)):
        fitted = clone(model).fit(table, CLASSES)
        np.testing.assert_array_equal(predict_outputs(fitted, table), expected)
        np.testing.assert_array_equal(
            predict_outputs(fitted, FRAME[["word", "c", "a", "b"]]), expected
        )
    assert fitted.is_categorical_.tolist() == [False, False, False, True]
    numbers = np.where(RANDOM.random((N, 5)) < 0.7, 0.0, RANDOM.normal(size=(N, 5)).round(1))
    dense = clone(model).fit(numbers, CLASSES)
    thin = clone(model).fit(sparse.csr_array(numbers), CLASSES)
    np.testing.assert_array_equal(
        predict_outputs(dense, numbers), predict_outputs(thin, sparse.csc_array(numbers))
    )
    assert dense.is_categorical_ is None


@pytest.mark.parametrize("name", [*MODELS, *SAMPLED])
def test_a_loaded_model_predicts_the_same(name: str, tmp_path: Any) -> None:
    model, y = (MODELS | SAMPLED)[name]
    model = clone(model).set_params(warm_start=True).fit(FRAME, y)
    model.save(tmp_path / "model.arboleda")
    loaded = arboleda.load(tmp_path / "model.arboleda")
    np.testing.assert_array_equal(predict_outputs(loaded, FRAME), predict_outputs(model, FRAME))
    assert loaded.get_params() == model.get_params()
    assert loaded.loss_.levels == model.loss_.levels
    for part, values in model.history_.items():
        np.testing.assert_array_equal(loaded.history_[part], values)
    pickled = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(predict_outputs(pickled, FRAME), predict_outputs(model, FRAME))
    rounds = "n_estimators" if hasattr(model, "n_estimators") else "max_iter"
    for each in (model, loaded):  # a loaded model goes on as the other would have
        each.set_params(**{rounds: 24}).fit(FRAME, y)
    assert pickle.dumps(loaded.ensemble_) == pickle.dumps(model.ensemble_)


def test_an_initial_estimator_is_not_saved(tmp_path: Any) -> None:
    from sklearn.dummy import DummyRegressor

    X = FRAME[["b", "c"]].to_numpy()
    model = GradientBoostingRegressor(init=DummyRegressor(), n_estimators=2).fit(X, SCORE)
    with pytest.raises(TypeError, match="init_ cannot be saved: it is a DummyRegressor"):
        model.save(tmp_path / "model.arboleda")
    pickled = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(pickled.predict(X), model.predict(X))
    zero = GradientBoostingRegressor(init="zero", n_estimators=2).fit(X, SCORE)
    zero.save(tmp_path / "zero.arboleda")
    loaded = arboleda.load(tmp_path / "zero.arboleda")
    np.testing.assert_array_equal(loaded.predict(X), zero.predict(X))


@pytest.mark.parametrize("name", MODELS)
def test_training_loss_never_rises(name: str) -> None:
    model, y = MODELS[name]
    model = clone(model)
    if hasattr(model, "max_iter"):
        model.set_params(early_stopping=True, validation_fraction=None, tol=0.0)
    losses = model.fit(FRAME, y).history_["train_loss"]
    assert len(losses) == model.best_iteration_ + 1
    if getattr(model, "loss", "") in {"huber"}:  # its threshold is another one in each round
        assert losses[-1] < losses[0]
    else:
        assert (np.diff(losses) <= 1e-12).all()


def test_one_tree_at_learning_rate_1_is_the_mean_plus_a_tree() -> None:
    X = FRAME[["b", "c"]]
    tree = arboleda.DecisionTreeRegressor(max_depth=3).fit(X, SCORE - SCORE.mean())
    model = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0).fit(X, SCORE)
    np.testing.assert_allclose(model.predict(X), SCORE.mean() + tree.predict(X), atol=1e-9)
    np.testing.assert_array_equal(model.apply(X)[:, 0], tree.apply(X))
    shown = model.estimators_[0, 0]
    np.testing.assert_array_equal(shown.apply(X), tree.apply(X))
    assert "b <= " in arboleda.export_text(shown, feature_names=["b", "c"])


def test_apply_gives_the_leaf_of_each_tree() -> None:
    model = HistGradientBoostingClassifier(max_iter=4).fit(FRAME, CLASSES)
    leaves = model.apply(FRAME)
    assert leaves.shape == (N, 4, 3)
    raw = np.tile(model.ensemble_.start, (N, 1))
    for r in range(4):
        for k in range(3):
            raw[:, k] += model.ensemble_.trees[3 * r + k].value_rows[leaves[:, r, k], 0]
    np.testing.assert_array_equal(raw, model.decision_function(FRAME))
    importances = model.feature_importances_
    assert importances.shape == (4,)
    assert abs(importances.sum() - 1.0) < 1e-12


@pytest.mark.parametrize(
    "stored",
    [
        None,
        {"name": "log_loss", "n_outputs": 0, "link": "logit"},
        {"name": "no such", "n_outputs": 1, "link": "logit"},
        {"name": "log_loss", "n_outputs": 1, "link": "no such"},
        {"name": "quantile", "n_outputs": 2, "link": "identity", "levels": [0.5]},
        {"name": "quantile", "n_outputs": 1, "link": "identity", "levels": ["half"]},
        {"name": "log_loss", "n_outputs": 1, "link": "logit", "more": 1},
    ],
)
def test_a_damaged_loss_is_refused(stored: Any) -> None:
    with pytest.raises(arboleda.ModelFormatError, match="loss_ is not a boosting loss"):
        LossField().decode("loss_", stored, Sections())


@pytest.mark.parametrize("stored", [None, {"no such": {"array": "history_.no such"}}])
def test_a_damaged_history_is_refused(stored: Any) -> None:
    with pytest.raises(arboleda.ModelFormatError, match="history_ is not a boosting history"):
        HistoryField().decode("history_", stored, Sections())
