"""Degenerate data: a documented value or a clear message, never a crash or a NaN."""

import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from arboleda import (
    DiagonalLDA,
    KernelDensityClassifier,
    MixedNaiveBayes,
    NearestShrunkenCentroids,
    RegularizedDiscriminantAnalysis,
)

_X = np.random.default_rng(0).normal(size=(20, 2))
_Y = np.arange(20) % 3
_READS_MISSING = [MixedNaiveBayes(), MixedNaiveBayes(alpha=0.0, binary_features=[])]
_COMPLETE = [
    DiagonalLDA(),
    KernelDensityClassifier(),
    KernelDensityClassifier(bandwidth=0.5, kernel="linear", standardize=False),
    RegularizedDiscriminantAnalysis(0.0, 0.0),
    RegularizedDiscriminantAnalysis(0.3, 0.1, standardize=False),
]
_UNWEIGHTED = [
    NearestShrunkenCentroids(shrink_threshold=0.1),
    NearestShrunkenCentroids(shrink_threshold=0.0),
]
_WEIGHTED = [*_READS_MISSING, *_COMPLETE]
_LEARNERS = [*_WEIGHTED, *_UNWEIGHTED]
_ALL = pytest.mark.parametrize("learner", _LEARNERS, ids=repr)
_ALL_WEIGHTED = pytest.mark.parametrize("learner", _WEIGHTED, ids=repr)


def fitted_or_refused(learner: Any, X: Any, y: Any, weight: Any = None) -> Any:
    """Fit and predict; return the message of a refusal, else check that predictions are finite."""
    model = clone(learner)
    try:
        model.fit(X, y) if weight is None else model.fit(X, y, weight)
        p = model.predict_proba(X)
    except ValueError as error:
        return str(error)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    return model


@_ALL
def test_empty_tables_are_refused(learner: Any) -> None:
    assert "0 sample(s)" in fitted_or_refused(learner, np.zeros((0, 2)), np.zeros(0))
    assert "0 feature(s)" in fitted_or_refused(learner, np.zeros((5, 0)), np.arange(5))


@_ALL
@pytest.mark.parametrize(
    "X",
    [np.array([[1.5, 1.5]]), np.full((2, 1), 3.0), np.array([[0.0], [1.0]]), np.zeros((6, 2))],
    ids=["one row", "two equal rows", "two rows", "constant"],
)
def test_tiny_tables_are_fitted(learner: Any, X: Any) -> None:
    for y in (np.zeros(len(X), dtype=int), np.arange(len(X)) % 2, np.arange(len(X))):
        model = fitted_or_refused(learner, X, y)
        assert not isinstance(model, str)
        if len(np.unique(X)) == 1:
            np.testing.assert_allclose(model.predict_proba(X), [model.class_prior_] * len(X))


@_ALL
def test_one_class_is_predicted_with_certainty(learner: Any) -> None:
    model = fitted_or_refused(learner, _X, np.full(20, 7))
    np.testing.assert_array_equal(model.predict_proba(_X), 1.0)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@_ALL
def test_as_many_classes_as_rows_are_fitted(learner: Any) -> None:
    model = fitted_or_refused(learner, np.arange(300.0)[:, np.newaxis], np.arange(300))
    assert model.classes_.size == 300


@_ALL
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_errors_name_infinite_values(learner: Any, bad: float) -> None:
    X = _X.copy()
    X[7, 1] = bad
    assert f"column 1, row 7 is {bad}" in fitted_or_refused(learner, X, _Y)


@_ALL
@pytest.mark.parametrize(
    "scale", [1e308, 1e154, 1e-160, 1e-310, 5e-324], ids=lambda scale: f"{scale:g}"
)
def test_values_near_the_float64_limits_are_fitted_or_refused(learner: Any, scale: float) -> None:
    X = np.column_stack([_X[:, 0].round(2) / 3 * scale, _X[:, 1]])
    result = fitted_or_refused(learner, X, _Y)
    if isinstance(result, str):
        assert re.search("column 0", result)
        assert re.search("divide|multiply|raise", result)


@_ALL
def test_far_away_rows_are_predicted(learner: Any) -> None:
    model = fitted_or_refused(learner, _X, _Y)
    far = np.array([[1e308, -1e308], [-1e300, 5.0], [1e155, 1e154], [1e9, 0.0]])
    p = model.predict_proba(far)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@pytest.mark.parametrize("learner", _READS_MISSING, ids=repr)
def test_missing_values_are_fitted_or_refused(learner: Any) -> None:
    nothing = np.full((20, 2), np.nan)
    model = fitted_or_refused(learner, nothing, _Y)
    np.testing.assert_allclose(model.predict_proba(_X), [model.class_prior_] * 20)
    half = np.where([True, False], _X, np.nan)
    alone = fitted_or_refused(learner, _X[:, :1], _Y)
    np.testing.assert_allclose(
        fitted_or_refused(learner, half, _Y).predict_proba(half), alone.predict_proba(_X[:, :1])
    )
    X = _X.copy()
    X[_Y == 1, 0] = np.nan  # a class without any value in a column
    assert not isinstance(fitted_or_refused(learner, X, _Y), str)


@_ALL
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_and_infinite_targets_are_refused(learner: Any, bad: float) -> None:
    y = _Y.astype(float)
    y[5] = bad
    result = fitted_or_refused(learner, _X, y)
    assert "y contains" in result
    assert "row 5" in result


@_ALL_WEIGHTED
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.r_[-1.0, np.ones(19)], "row 0"),
        (np.r_[np.nan, np.ones(19)], "row 0"),
        (np.r_[np.inf, np.ones(19)], "row 0"),
        (np.zeros(20), "zero for every row"),
        (np.full(20, 1e308), "overflows float64"),
        (np.ones(3), "shape"),
    ],
    ids=["negative", "NaN", "infinite", "zero", "huge", "few"],
)
def test_invalid_weights_are_refused(learner: Any, weight: Any, message: str) -> None:
    assert message in fitted_or_refused(learner, _X, _Y, weight)


@_ALL_WEIGHTED
def test_the_smallest_weights_are_fitted(learner: Any) -> None:
    plain = fitted_or_refused(learner, _X, _Y)
    tiny = fitted_or_refused(learner, _X, _Y, np.full(20, 1e-300))
    np.testing.assert_allclose(tiny.predict_proba(_X), plain.predict_proba(_X), rtol=1e-9)


@_ALL_WEIGHTED
def test_negligible_weights_are_fitted(learner: Any) -> None:
    heavy = (_Y != 1) & (np.arange(20) < 16)
    model = fitted_or_refused(learner, _X, _Y, np.where(heavy, 1e200, 1e-200))
    alone = fitted_or_refused(learner, _X, _Y, np.where(heavy, 1e200, 0.0))
    np.testing.assert_array_equal(model.predict_proba(_X), alone.predict_proba(_X))


@_ALL_WEIGHTED
def test_a_class_without_weight_is_never_predicted(learner: Any) -> None:
    weight = np.where(_Y == 1, 0.0, 1.0)
    model = fitted_or_refused(learner, _X, _Y, weight)
    assert model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(model.predict_proba(_X)[:, 1], 0.0)
    two = fitted_or_refused(learner, _X[_Y != 1], _Y[_Y != 1])
    np.testing.assert_allclose(model.predict_proba(_X)[:, [0, 2]], two.predict_proba(_X), rtol=1e-9)


@_ALL
def test_a_failed_fit_leaves_the_model_unchanged(learner: Any) -> None:
    model = fitted_or_refused(learner, _X, _Y)
    before = model.predict_proba(_X)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.full((20, 3), np.inf), _Y)
    np.testing.assert_array_equal(model.predict_proba(_X), before)


@_ALL
@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([0.5, 0.5], "3 classes"),
        ([0.5, 0.6, -0.1], "class 2 the probability -0.1"),
        ([0.5, 0.5, 0.5], "must sum to 1, got the sum 1.5"),
        ([0.5, 0.5, np.nan], "class 2 the probability nan"),
    ],
)
def test_invalid_priors_are_refused(learner: Any, priors: Any, message: str) -> None:
    assert message in fitted_or_refused(clone(learner).set_params(priors=priors), _X, _Y)


@pytest.mark.parametrize("learner", [*_COMPLETE, *_UNWEIGHTED], ids=repr)
def test_missing_values_are_refused_by_name(learner: Any) -> None:
    X = _X.copy()
    X[3, 1] = np.nan
    assert "column 1 is missing in row 3" in fitted_or_refused(learner, X, _Y)
    with pytest.raises(ValueError, match="column 1 is missing in row 3"):
        fitted_or_refused(learner, _X, _Y).predict(X)


_CHOOSING = pytest.mark.parametrize(
    "learner",
    [
        NearestShrunkenCentroids(random_state=0),
        RegularizedDiscriminantAnalysis(random_state=0),
        RegularizedDiscriminantAnalysis(random_state=0, standardize=False),
        RegularizedDiscriminantAnalysis(cv="loo"),
    ],
    ids=repr,
)


@_CHOOSING
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((20, 2)),
        _X[:, :1],
        np.repeat(_Y[:, np.newaxis], 3, axis=1).astype(float),
        _X / 4 * 1e308,
        _X * 1e-320,
        np.tile(_X, 20),
    ],
    ids=["constant", "one column", "the classes", "huge", "denormal", "wide"],
)
def test_parameters_are_selected_on_degenerate_tables(learner: Any, X: Any) -> None:
    for y in (_Y, np.zeros(20), np.r_[np.zeros(19), 1], np.arange(20) % 10):
        assert not isinstance(fitted_or_refused(learner, X, y), str)


def test_leave_one_out_of_a_single_row_is_refused() -> None:
    learner = RegularizedDiscriminantAnalysis(cv="loo")
    assert "two rows of positive weight" in fitted_or_refused(learner, _X[:1], _Y[:1])
    assert not isinstance(fitted_or_refused(learner, _X[:2], _Y[:2]), str)


@pytest.mark.parametrize(
    "learner", [NearestShrunkenCentroids(), RegularizedDiscriminantAnalysis()], ids=repr
)
def test_fewer_rows_than_folds_are_refused(learner: Any) -> None:
    assert "decrease cv or use more rows" in fitted_or_refused(learner, _X[:3], _Y[:3])
