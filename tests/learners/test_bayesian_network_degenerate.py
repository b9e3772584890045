"""Networks on degenerate data: a documented value or a message, never a NaN."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from arboleda import BayesianNetworkClassifier

_X = np.random.default_rng(0).normal(size=(20, 2))
_Y = np.arange(20) % 3
_ALL = pytest.mark.parametrize(
    "network",
    [
        BayesianNetworkClassifier(),
        BayesianNetworkClassifier("naive", alpha=0.0),
        BayesianNetworkClassifier("tan"),
        BayesianNetworkClassifier(n_bins=2),
    ],
    ids=repr,
)


def fitted(network: Any, X: Any, y: Any, weight: Any = None) -> Any:
    """Fit and predict; assert that the predictions are finite."""
    model = clone(network).fit(X, y, weight)
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    assert np.isfinite(model.log_posterior_).all()
    return model


@_ALL
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((0, 2)), "0 sample"),
        (np.zeros((20, 0)), "0 feature"),
        (np.where(np.arange(40).reshape(20, 2) == 15, np.inf, 0.0), "column 1, row 7 is inf"),
        (np.full((20, 1), "text", dtype=object), "text"),
    ],
    ids=["no row", "no column", "infinity", "text"],
)
def test_invalid_tables_are_refused(network: Any, X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        network.fit(X, _Y[: len(X)])


@_ALL
def test_sparse_tables_are_refused(network: Any) -> None:
    with pytest.raises(
        TypeError, match=r"sparse, which BayesianNetworkClassifier does not support"
    ):
        network.fit(csr_matrix(_X), _Y)


@_ALL
@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.5, 2.5]]),
        np.array([[0.0], [1.0]]),
        np.zeros((6, 3)),
        np.full((6, 2), np.nan),
        np.array([[np.nan, 1.0], [1.0, np.nan], [np.nan, np.nan]]),
        np.array([[1e308, -1e308], [-1e308, 1e308], [5e-324, -5e-324], [0.0, 1e-310]]),
    ],
    ids=["one row", "two rows", "constant", "all missing", "mostly missing", "ends of float64"],
)
def test_tiny_tables_are_fitted(network: Any, X: Any) -> None:
    for y in (np.zeros(len(X), dtype=int), np.arange(len(X)) % 2, np.arange(len(X))):
        model = fitted(network, X, y)
        drawn, labels = model.sample(5, random_state=0)
        assert drawn.shape == (5, X.shape[1])
        assert set(labels) <= set(y)
        far = np.array([[1e308], [-1e308], [np.nan]]) * np.ones(X.shape[1])
        assert np.isfinite(model.predict_proba(far)).all()
        nothing = model.predict_proba(np.full(X.shape, np.nan))
        np.testing.assert_allclose(nothing, [model.class_prior_] * len(X))


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@_ALL
def test_one_class_and_very_many_classes_are_fitted(network: Any) -> None:
    np.testing.assert_array_equal(fitted(network, _X, np.full(20, 7)).predict_proba(_X), 1.0)
    y = np.array([f"class {i}" for i in range(300)])
    assert fitted(network, np.arange(300.0)[:, np.newaxis], y).classes_.size == 300


@_ALL
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_invalid_targets_are_refused(network: Any, bad: float) -> None:
    y = _Y.astype(float)
    y[5] = bad
    with pytest.raises(ValueError, match="row 5"):
        network.fit(_X, y)


@_ALL
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.r_[-1.0, np.ones(19)], "row 0"),
        (np.r_[np.nan, np.ones(19)], "row 0"),
        (np.zeros(20), "zero for every row"),
        (np.full(20, 1e308), "overflows float64"),
        (np.full(20, 1e305), "divide all weights by the same number"),
    ],
    ids=["negative", "NaN", "zero", "huge", "very large"],
)
def test_invalid_weights_are_refused(network: Any, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        network.fit(_X, _Y, weight)


@_ALL
@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e290])
def test_weights_of_any_scale_are_fitted(network: Any, size: float) -> None:
    X = np.where(np.arange(40).reshape(20, 2) % 7 == 0, np.nan, _X)
    fitted(network, X, _Y, np.full(20, size))
    fitted(network, X, _Y, np.where(_Y == 0, size, 1.0))


@_ALL
def test_a_class_without_weight_is_never_predicted(network: Any) -> None:
    model = fitted(network, _X, _Y, np.where(_Y == 1, 0.0, 1.0))
    assert model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(model.predict_proba(_X)[:, 1], 0.0)
    two = fitted(network, _X[_Y != 1], _Y[_Y != 1])
    np.testing.assert_allclose(model.predict_proba(_X)[:, [0, 2]], two.predict_proba(_X))
    assert model.class_prior_[1] == 0.0
    assert set(model.sample(40, random_state=0)[1]) == {0, 2}


def test_categories_without_weight_count_as_unseen() -> None:
    X = np.array([["a"], ["b"], ["c"], ["a"]], dtype=object)
    network = BayesianNetworkClassifier("naive", categorical_features=[0])
    model = network.fit(X, [0, 1, 1, 1], [1.0, 1.0, 0.0, 1.0])
    assert model.states_["x0"] == ("a", "b")
    np.testing.assert_array_equal(model.predict_proba([["c"]]), model.predict_proba([["new"]]))


@_ALL
def test_a_failed_fit_leaves_the_model_unchanged(network: Any) -> None:
    model = fitted(network, _X, _Y)
    before = model.predict_proba(_X)
    with pytest.raises(ValueError, match="no edge at"):
        model.set_params(structure=[("x0", "x1")]).fit(_X[:9], _Y[:9])
    np.testing.assert_array_equal(model.predict_proba(_X), before)


def test_too_many_missing_parents_are_refused() -> None:
    """Every two of 27 columns have a child in common: given these, they all hang together."""
    random = np.random.default_rng(0)
    pairs = list(itertools.combinations(range(27), 2))
    edges = [(f"x{parent}", f"x{27 + k}") for k, pair in enumerate(pairs) for parent in pair]
    X = random.integers(2, size=(40, 27 + len(pairs))).astype(float)
    y = random.integers(2, size=40)
    model = BayesianNetworkClassifier([*edges, ("y", "x0")], n_bins=2).fit(X, y)
    assert np.isfinite(model.predict_proba(np.full((1, X.shape[1]), np.nan))).all()
    X[3, :27] = np.nan
    with pytest.raises(ValueError, match=r"a row of X misses 'x0', 'x1', .* 134,217,728|268,435"):
        model.predict(X)


def test_too_large_parent_tables_are_refused() -> None:
    X = np.random.default_rng(0).integers(2, size=(40, 28)).astype(float)
    edges = [(f"x{j}", "y") for j in range(28)]
    with pytest.raises(
        ValueError, match="the table of 'y' given 'x0', 'x1', .* leave out a parent"
    ):
        BayesianNetworkClassifier(edges, n_bins=2).fit(X, np.arange(40) % 2)
