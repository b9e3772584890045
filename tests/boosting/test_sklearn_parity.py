"""Beside scikit-learn: the same predictions from exact trees, the same losses from histograms.

The tables have no ties: with ties both libraries take one of several equally good splits, each by a
rule of its own. scikit-learn compares float32, so the values are such.
"""

from typing import Any

import numpy as np
import pytest
import sklearn.ensemble as theirs
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import train_test_split

import arboleda as ours


def table(seed: int, n: int = 151) -> tuple[Any, Any, Any]:
    """Columns, a real target, weights.

    Of 151 rows three tenths end at a row, where all definitions of a quantile agree.
    """
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)).astype(np.float32).astype(np.float64)
    y = X[:, 0] * 2 + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] + random.normal(size=n) * 0.3
    return X, y, random.uniform(0.5, 2.0, size=n)


@pytest.mark.parametrize(
    ("loss", "options", "weighted"),
    [
        ("squared_error", {}, False),
        ("squared_error", {}, True),
        ("squared_error", {"max_leaf_nodes": 5, "max_depth": None}, False),
        ("huber", {"alpha": 0.8}, False),
        ("huber", {"alpha": 0.8}, True),
        # Gradients that are signs tie often without weights, and scikit-learn splits pure nodes
        # when rounding makes their impurity a hair more than 0: stumps have no such nodes.
        ("absolute_error", {"max_depth": 1}, True),
        ("quantile", {"alpha": 0.3, "max_depth": 1}, True),
    ],
)
def test_regressors_predict_the_same(loss: str, options: dict[str, Any], weighted: bool) -> None:
    X, y, weight = table(0)
    weight = weight if weighted else None
    fixed = {"n_estimators": 20, "min_samples_leaf": 8, "random_state": 0}
    one = ours.GradientBoostingRegressor(loss=loss, **fixed, **options).fit(X, y, weight)
    other = theirs.GradientBoostingRegressor(loss=loss, **fixed, **options).fit(X, y, weight)
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-6)
    np.testing.assert_allclose(one.train_score_, other.train_score_, rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("loss", "n_classes"), [("log_loss", 2), ("log_loss", 3), ("exponential", 2)]
)
def test_classifiers_predict_the_same(loss: str, n_classes: int, weighted: bool) -> None:
    X, y, weight = table(1)
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-1.0, 1.0] if n_classes == 3 else [0.0])]
    weight = weight if weighted else None
    parameters = {"loss": loss, "n_estimators": 12, "max_depth": 2, "min_samples_leaf": 10}
    one = ours.GradientBoostingClassifier(**parameters).fit(X, labels, weight)
    other = theirs.GradientBoostingClassifier(**parameters).fit(X, labels, weight)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_allclose(one.train_score_, other.train_score_, rtol=1e-6)
    np.testing.assert_allclose(one.feature_importances_, other.feature_importances_, atol=1e-6)
    if n_classes == 2:
        np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("init", ["zero", LinearRegression()], ids=["zero", "model"])
def test_initial_models_are_supported(init: Any) -> None:
    X, y, _ = table(2)
    one = ours.GradientBoostingRegressor(init=init, n_estimators=10).fit(X, y)
    other = theirs.GradientBoostingRegressor(init=init, n_estimators=10).fit(X, y)
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-4)  # theirs fits float32
    *_, last = one.staged_predict(X)
    np.testing.assert_array_equal(last, one.predict(X))


def test_an_initial_classifier_is_supported() -> None:
    X, y, weight = table(3)
    labels = np.digitize(y, [-1.0, 1.0])
    init = LogisticRegression()
    one = ours.GradientBoostingClassifier(init=init, n_estimators=8).fit(X, labels, weight)
    other = theirs.GradientBoostingClassifier(init=init, n_estimators=8).fit(X, labels, weight)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-4)


def test_breast_cancer_matches_the_textbook() -> None:
    """The lecture notes' numbers: 100 trees of depth 3, stumps, and a small learning rate.

    Two columns part a node of the first tree equally well. With the small learning rate the choice
    between them moves one of the 143 test rows across the border.
    """
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    for parameters, train, test in (
        ({}, 1.000, 0.965),
        ({"max_depth": 1}, 0.991, 0.972),
        ({"learning_rate": 0.01}, 0.988, 0.958),
    ):
        model = ours.GradientBoostingClassifier(random_state=0, **parameters)
        model.fit(X_train, y_train)
        assert round(model.score(X_train, y_train), 3) == train
        assert abs(model.score(X_test, y_test) - test) < (
            0.008 if "learning_rate" in parameters else 0.0005
        )


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma"])
def test_the_first_histogram_tree_is_the_same(loss: str) -> None:
    random = np.random.default_rng(4)
    X = random.integers(0, 60, size=(400, 5)).astype(np.float64)
    y = np.round(np.exp(X[:, 0] / 30 + X[:, 1] / 50)) + random.integers(1, 4, size=400)
    parameters = {"loss": loss, "max_iter": 1, "learning_rate": 1.0, "max_leaf_nodes": 8}
    one = ours.HistGradientBoostingRegressor(**parameters).fit(X, y)
    other = theirs.HistGradientBoostingRegressor(**parameters).fit(X, y)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-5)


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "quantile", "poisson", "gamma"]
)
def test_histogram_losses_are_close(loss: str) -> None:
    random = np.random.default_rng(5)
    X = random.normal(size=(1500, 6))
    y = np.exp(0.5 * X[:, 0] + 0.3 * np.sin(3 * X[:, 1])) * random.gamma(5.0, 0.2, size=1500)
    options = {"quantile": 0.8} if loss == "quantile" else {}
    scores = []
    for library in (ours, theirs):
        model = library.HistGradientBoostingRegressor(loss=loss, max_iter=40, **options)
        scores.append(mean_squared_error(y[1000:], model.fit(X[:1000], y[:1000]).predict(X[1000:])))
    assert scores[0] < 1.05 * scores[1]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_histogram_log_losses_are_the_same(n_classes: int) -> None:
    """Where every value has its bin."""
    random = np.random.default_rng(6)
    X = random.normal(size=(3000, 6)).round(1)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * random.normal(size=3000)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    losses = []
    for library in (ours, theirs):
        model = library.HistGradientBoostingClassifier(max_iter=20).fit(X[:2000], y[:2000])
        losses.append(log_loss(y[2000:], model.predict_proba(X[2000:])))
    assert losses[0] < 1.001 * losses[1]
