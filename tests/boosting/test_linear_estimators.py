"""Linear leaves of the estimators: what they learn, what they refuse, what is saved."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.conftest import shared_data

import arboleda
from arboleda import HistGradientBoostingClassifier, HistGradientBoostingRegressor

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(600, 4))
SCORE = X @ [2.0, -1.0, 0.5, 0.0] + 0.3 * np.sin(3 * X[:, 0])
LABEL = np.where(SCORE > 0.5, "high", np.where(SCORE < -1.0, "low", "middle"))


def regressor(**options):
    """A small model with linear leaves."""
    return HistGradientBoostingRegressor(
        **({"max_iter": 20, "linear_leaves": True, "random_state": 0} | options)
    )


def test_a_smooth_target_is_learned_with_fewer_leaves():
    new = RANDOM.uniform(-1.5, 1.5, size=(2000, 4))
    truth = new @ [2.0, -1.0, 0.5, 0.0] + 0.3 * np.sin(3 * new[:, 0])
    linear = regressor(max_leaf_nodes=4, max_iter=100).fit(X, SCORE)
    constant = regressor(max_leaf_nodes=31, max_iter=100, linear_leaves=False).fit(X, SCORE)
    errors = [np.sqrt(np.mean((m.predict(new) - truth) ** 2)) for m in (linear, constant)]
    assert errors[0] < errors[1] / 2


def test_predictions_beyond_the_data_stay_constant():
    prices = pd.read_csv(shared_data("ram_price/ram_price.csv"), index_col=0)
    old = prices[prices.date < 2000]
    model = regressor(max_iter=200).fit(old[["date"]], np.log(old.price))
    edge = model.predict(old[["date"]].tail(1))[0]
    later = pd.DataFrame({"date": [2000.0, 2015.0, 3000.0, 1e18, 1e300]})
    np.testing.assert_array_equal(model.predict(later), edge)
    sooner = model.predict(pd.DataFrame({"date": [-1e300, 0.0, old.date.min()]}))
    assert len(set(sooner)) == 1
    fitted = np.log(old.price)
    assert fitted.min() - 1 < edge < fitted.max()


@pytest.mark.parametrize("classify", [False, True])
def test_models_survive_files_and_pickles(classify, tmp_path):
    estimator = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = pd.Categorical(np.array(["x", "y", "z"])[RANDOM.integers(0, 3, 600)])
    frame.loc[::7, "b"] = np.nan
    model = estimator(max_iter=8, linear_leaves=True).fit(frame, LABEL if classify else SCORE)
    assert model.ensemble_.has_linear_leaves
    predict = model.predict_proba if classify else model.predict
    model.save(tmp_path / "model.arboleda")
    loaded = arboleda.load(tmp_path / "model.arboleda")
    loaded.save(tmp_path / "again.arboleda")
    assert (tmp_path / "model.arboleda").read_bytes() == (tmp_path / "again.arboleda").read_bytes()
    for other in (
        loaded,
        pickle.loads(pickle.dumps(model)),
        clone(model).fit(frame, LABEL if classify else SCORE),
    ):
        assert other.get_params() == model.get_params()
        again = other.predict_proba if classify else other.predict
        np.testing.assert_array_equal(again(frame), predict(frame))


def test_a_damaged_file_is_refused(tmp_path):
    model = regressor(max_iter=3).fit(X, SCORE)
    linear = model.ensemble_.linear
    make = type(model.ensemble_).from_trees
    for name, at, value in [
        ("linear.feature", 0, 4),
        ("linear.feature", 0, -1),
        ("linear.feature", 0, 2**40),
        ("linear.coefficient", 0, np.nan),
        ("linear.high", 0, np.inf),
        ("linear.low", 0, 1e300),
        ("linear.start", 1, 1),
        ("linear.start", -1, 10**12),
        ("linear.intercept", 0, 1.0),
    ]:
        array = linear[name].copy()
        array[at] = value
        with pytest.raises(ValueError, match="linear|node"):
            make(model.ensemble_.start, model.ensemble_.trees, linear | {name: array})
    with pytest.raises(ValueError, match="linear leaves"):
        make(model.ensemble_.start, model.ensemble_.trees[:2], linear)
    assert "categorical" in model.ensemble_.defect([5, 5, 5, 5])


def test_early_stopping_and_warm_start_work_with_linear_leaves():
    stopped = regressor(max_iter=500, early_stopping=True, n_iter_no_change=5).fit(X, SCORE)
    assert 0 < stopped.n_iter_ < 500
    staged = list(stopped.staged_predict(X))
    np.testing.assert_array_equal(staged[-1], stopped.predict(X))
    assert stopped.train_score_.size == stopped.n_iter_ + 1
    warm = regressor(max_iter=10, warm_start=True).fit(X, SCORE)
    warm.set_params(max_iter=20).fit(X, SCORE)
    np.testing.assert_array_equal(warm.predict(X), regressor().fit(X, SCORE).predict(X))
    plain = regressor(max_iter=10, warm_start=True, linear_leaves=False).fit(X, SCORE)
    plain.set_params(max_iter=20, linear_leaves=True).fit(X, SCORE)
    np.testing.assert_array_equal(list(plain.staged_predict(X))[-1], plain.predict(X))


def test_rounds_chosen_automatically_keep_linear_leaves(tmp_path):
    model = regressor(max_iter="auto", learning_rate=0.3).fit(X, SCORE)
    assert model.ensemble_.has_linear_leaves
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    model.save(tmp_path / "model.arboleda")
    again = arboleda.load(tmp_path / "model.arboleda")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(
        again.predict(1e3 * np.sign(X)), again.predict(1e300 * np.sign(X))
    )


def test_a_fitted_model_predicts_sparse_tables():
    Z = np.where(RANDOM.random(X.shape) < 0.5, X, 0.0)
    model = regressor().fit(Z, SCORE)
    np.testing.assert_array_equal(model.predict(sparse.csr_array(Z)), model.predict(Z))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "absolute_error"}, "loss='absolute_error' does not have"),
        ({"loss": "quantile", "quantile": 0.3}, "loss='quantile' does not have"),
        ({"loss": "huber"}, "loss='huber' does not have"),
        ({"monotonic_cst": [0, 1, 0, 0]}, "monotonic_cst=None"),
        ({"drop_rate": 0.1}, "drop_rate=0.1"),
        ({"l1_regularization": 2.0}, "l1_regularization=2.0"),
        ({"max_delta_step": 0.5}, "max_delta_step=0.5"),
        ({"linear_l2": -1.0}, "linear_l2"),
    ],
)
def test_incompatible_options_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        regressor(**options).fit(X, SCORE)


def test_functions_of_constant_leaves_refuse_linear_ones():
    with pytest.raises(ValueError, match=r"X\.toarray\(\)"):
        regressor().fit(sparse.csr_array(X), SCORE)
    with pytest.raises(ValueError, match="linear_leaves=False"):
        regressor(max_leaf_nodes=2).fit(X, SCORE).shape_functions()
    free = regressor(monotonic_cst=[0, 0, 0, 0]).fit(X, SCORE)
    np.testing.assert_array_equal(free.predict(X), regressor().fit(X, SCORE).predict(X))
