"""Posterior probabilities of members against their formulas, written plainly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

from arboleda import (
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    DecisionTreeClassifier,
)


def columns_of(*numbers: int) -> Any:
    return make_pipeline(FunctionTransformer(_Columns(numbers)), LinearRegression())


class _Columns:
    def __init__(self, numbers: tuple[int, ...]) -> None:
        self.numbers = numbers

    def __call__(self, X: Any) -> Any:
        return X[:, self.numbers]


def softmax(values: Any) -> Any:
    shares = np.exp(np.asarray(values) - np.max(values))
    return shares / shares.sum()


def test_held_out_weights_of_classifiers_match_the_formula() -> None:
    X, y = load_iris(return_X_y=True)
    # Models so close that no single one takes all the weight.
    members = [
        ("one", LogisticRegression(C=0.3, max_iter=500)),
        ("two", LogisticRegression(C=0.28, max_iter=500)),
        ("three", LogisticRegression(C=0.26, max_iter=500)),
    ]
    prior = {"two": 3.0, "one": 1.0}
    average = BayesianModelAveragingClassifier(members, prior=prior).fit(X, y)
    predicted = [cross_val_predict(m, X, y, cv=5, method="predict_proba") for _, m in members]
    logs = [np.log(p[np.arange(150), y]).sum() for p in predicted]
    np.testing.assert_allclose(average.log_likelihood_, logs, rtol=1e-6)
    expected = softmax(logs + np.log([0.25, 0.75, 1e-300]))
    np.testing.assert_allclose(average.weights_, expected, rtol=1e-4, atol=1e-100)
    assert average.weights_[2] == 0
    assert average.weights_[:2].min() > 0.01
    probabilities = sum(
        w * m.fit(X, y).predict_proba(X)
        for w, (_, m) in zip(average.weights_, members, strict=True)
    )
    np.testing.assert_allclose(average.predict_proba(X), probabilities, atol=1e-9)


def test_bic_weights_of_linear_regressions_match_the_formula() -> None:
    X, y = load_diabetes(return_X_y=True)
    sets = [(2, 3, 8), (2, 3, 4, 5, 8), (2, 8)]
    members = [(f"m{i}", columns_of(*numbers)) for i, numbers in enumerate(sets)]
    average = BayesianModelAveragingRegressor(members, criterion="bic").fit(X, y)
    n, expected = len(y), []
    for numbers in sets:
        design = np.column_stack([np.ones(n), X[:, numbers]])
        residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        sigma = np.sqrt((residual**2).mean())
        log_likelihood = norm.logpdf(residual, scale=sigma).sum()
        expected.append(-2 * log_likelihood + (len(numbers) + 1) * np.log(n))
    np.testing.assert_allclose(average.bic_, expected)
    np.testing.assert_allclose(average.weights_, softmax(-np.array(expected) / 2), rtol=1e-6)
    assert sorted(average.weights_)[1] > 1e-6


def test_bic_needs_no_folds() -> None:
    X = np.arange(4.0)[:, None]
    members = [("line", LinearRegression())]
    average = BayesianModelAveragingRegressor(members, criterion="bic").fit(X, X[:, 0] ** 2)
    assert average.weights_.tolist() == [1.0]


def test_the_spread_of_a_mixture_of_normals_matches_its_draws() -> None:
    X, y = load_diabetes(return_X_y=True)
    members = [("two", columns_of(2, 8)), ("other", columns_of(2, 3))]
    average = BayesianModelAveragingRegressor(members, criterion="bic").fit(X, y)
    average.weights_ = np.array([0.3, 0.7])
    mean, std = average.predict(X[:1], return_std=True)
    random = np.random.default_rng(0)
    which = random.random(400_000) < 0.7
    centres = np.array([m.predict(X[:1])[0] for m in average.estimators_])[which.astype(int)]
    draws = random.normal(centres, np.sqrt(average.variances_[which.astype(int)]))
    assert mean[0] == pytest.approx(draws.mean(), abs=0.5)
    assert std[0] == pytest.approx(draws.std(), rel=0.005)


def test_parameters_are_counted_or_given() -> None:
    X, y = load_iris(return_X_y=True)
    members = [
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
        ("bayes", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_leaf_nodes=4)),
        ("near", KNeighborsClassifier()),
    ]
    counts = {"near": 30}
    average = BayesianModelAveragingClassifier(members, criterion="bic", n_parameters=counts)
    average.fit(X, y)
    counts = (average.bic_ + 2 * average.log_likelihood_) / np.log(150)
    np.testing.assert_allclose(counts, [2 * 5, 2 * 12 + 2, 4 * 2, 30])
    with pytest.raises(ValueError, match="the member 'near', a KNeighborsClassifier"):
        average.set_params(n_parameters=None).fit(X, y)


def test_members_that_only_vote_lose_by_one_wrong_prediction() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    members = [("machine", LinearSVC()), ("logistic", LogisticRegression())]
    X = StandardScaler().fit_transform(X)
    assert BayesianModelAveragingClassifier(members).fit(X, y).weights_[1] > 0.999


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([1.0], r"for each of the 2 members .*got the shape \(1,\)"),
        ([1.0, -1.0], "prior must hold finite numbers that are non-negative and not all zero"),
        ([0.0, 0.0], "not all zero"),
        ({"nobody": 1.0}, "'nobody', which is not a member"),
    ],
)
def test_an_invalid_prior_is_refused(prior: Any, message: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    members = [("a", columns_of(2, 8)), ("b", columns_of(2, 3))]
    with pytest.raises(ValueError, match=message):
        BayesianModelAveragingRegressor(members, prior=prior).fit(X, y)
