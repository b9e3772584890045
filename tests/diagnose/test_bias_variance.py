"""Bias and variance beside tables worked by hand, known theory and simulations."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestRegressor
from arboleda.diagnose import bias_variance
from arboleda.diagnose._bias_variance import decompose_squared_error, decompose_zero_one_loss


def test_squared_loss_matches_values_by_hand() -> None:
    # Two points, three predictions each: 1 2 3 and 5 5 5; seen 4 and 5, expected 3 and 6.
    parts = decompose_squared_error(
        np.array([[1.0, 5], [2, 5], [3, 5]]), np.array([4.0, 5]), np.array([3.0, 6])
    )
    np.testing.assert_allclose(parts.error, [(9 + 4 + 1) / 3, 0])
    np.testing.assert_allclose(parts.noise, [1, 1])
    np.testing.assert_allclose(parts.variance, [1, 0])
    np.testing.assert_allclose(parts.bias, [1 - 1 / 3, 1])


def test_zero_one_loss_matches_values_by_hand() -> None:
    # Five predictions a point. a: four are the class; b: two; c: two classes tie, the first counts.
    predictions = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 1], [0, 1, 1], [1, 1, 2]])
    parts = decompose_zero_one_loss(predictions, np.array([0, 0, 0]), np.eye(3)[[0, 0, 0]])
    np.testing.assert_allclose(parts.error, [0.2, 0.6, 0.6])
    np.testing.assert_allclose(parts.bias, [0, 1, 0])
    np.testing.assert_allclose(parts.variance, [0.2, -0.4, 0.6])
    np.testing.assert_allclose(parts.noise, 0, atol=1e-15)


def domingos(shares: np.ndarray, chances: np.ndarray) -> tuple[float, float, float, float]:
    """Expected loss and its terms at one point, as theorems 1 to 3 of Domingos (2000) have them."""
    classes = range(len(shares))
    best, main = int(chances.argmax()), int(shares.argmax())
    loss = sum(shares[a] * chances[c] for a in classes for c in classes if a != c)
    noise = 1 - chances[best]
    bias, variance = float(main != best), 1 - shares[main]
    both = sum(shares[c] * chances[c] for c in classes if c != best)
    neither = (1 - shares[best]) * (1 - chances[best])
    c1 = shares[best] - (1 - shares[best]) * (both / neither if neither else 0)
    c2 = 1.0 if main == best else -shares[best] / (1 - shares[main])
    return loss, c1 * noise, bias, c2 * variance


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 5), st.integers(1, 12), st.integers(0, 10**6))
def test_zero_one_loss_follows_its_theorem(classes: int, sets: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    predictions = random.integers(classes, size=(sets, 4))
    chances = random.dirichlet(np.ones(classes), size=4)
    parts = decompose_zero_one_loss(predictions, chances.argmax(axis=1), chances)
    for point in range(4):
        shares = np.bincount(predictions[:, point], minlength=classes) / sets
        if shares.max() == 1 and shares.argmax() != chances[point].argmax():
            continue  # c2 is 0/0, and the variance that it weighs is 0
        loss, noise, bias, variance = domingos(shares, chances[point])
        terms = (parts.noise[point], parts.bias[point], parts.variance[point])
        np.testing.assert_allclose(terms, (noise, bias, variance), atol=1e-12)
        assert sum(terms) == pytest.approx(loss)


def simulated(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, size=(n, 3))
    truth = np.sin(4 * X[:, 0]) + X[:, 1]
    return X, truth, truth + random.normal(scale=0.5, size=n)


def test_the_parts_of_squared_loss_add_up_to_the_error_of_fresh_targets() -> None:
    X, _, y = simulated(8000, 0)
    points, truth, targets = simulated(1500, 1)
    models = [
        ("line", LinearRegression()),
        ("tree", DecisionTreeRegressor()),
        ("forest", RandomForestRegressor(10, max_features=1)),
    ]
    found = bias_variance(
        models, X, y, points, targets, truth=truth, n_sets=40, set_size=200, bootstrap=False,
        random_state=0,
    )  # fmt: skip
    total = found.noise + found.bias + found.variance
    gap = (found.error - total).mean(axis=1)
    margin = (found.error - total).std(axis=1) / np.sqrt(len(truth))
    assert (np.abs(gap) < 4 * margin).all()
    assert (margin < 0.03 * found.error.mean(axis=1)).all()
    frame = found.to_frame().set_index("model")
    assert frame["noise"].tolist() == pytest.approx([0.25] * 3, rel=0.15)
    # What each is known for: a line is rigid, a tree unstable, and a forest averages trees.
    assert frame["bias"].idxmax() == "line"
    assert frame["variance"].idxmax() == "tree"
    assert frame["variance"]["forest"] < 0.6 * frame["variance"]["tree"]


def test_a_mean_has_the_variance_known_from_theory() -> None:
    random = np.random.default_rng(2)
    y = random.normal(3, 2, size=20_000)
    found = bias_variance(
        DummyRegressor(), np.zeros((20_000, 1)), y, [[0.0]], [3.0], truth=[4.0], n_sets=800,
        set_size=25, bootstrap=False, random_state=0,
    )  # fmt: skip
    assert found.names == ("DummyRegressor",)
    assert found.variance[0, 0] == pytest.approx(4 / 25, rel=0.2)  # 4 standard errors
    assert found.bias[0, 0] == pytest.approx(1, abs=0.06)
    assert found.noise[0, 0] == 1


def test_an_unbiased_model_has_squared_bias_0_on_average() -> None:
    # Without what is taken off it would be the variance of a mean of four predictions.
    biases = []
    for seed in range(200):
        y = np.random.default_rng(seed).normal(size=40)
        found = bias_variance(
            DummyRegressor(), np.zeros((40, 1)), y, [[0.0]], [0.0], truth=[0.0], n_sets=4,
            set_size=10, bootstrap=False, random_state=0,
        )  # fmt: skip
        biases.append(found.bias[0, 0])
    assert abs(np.mean(biases)) < 4 * np.std(biases) / np.sqrt(200) < 0.025


def test_parts_of_zero_one_loss_add_up_to_the_error_of_fresh_classes() -> None:
    random = np.random.default_rng(0)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = random.normal(size=(n, 2))
        scores = np.exp(2 * np.column_stack([X, X[:, 0] * X[:, 1]]))
        chances = scores / scores.sum(axis=1, keepdims=True)
        drawn = (chances.cumsum(axis=1) < random.random((n, 1))).sum(axis=1)
        return X, chances, np.array(["a", "b", "c"])[drawn]

    X, _, y = draw(6000)
    points, truth, targets = draw(1500)
    models = [("tree", DecisionTreeClassifier()), ("bayes", GaussianNB())]
    found = bias_variance(
        models, X, y, points, targets, truth=truth, n_sets=30, set_size=150, bootstrap=False,
        random_state=0,
    )  # fmt: skip
    assert found.loss == "0-1"
    gaps = found.error - (found.noise + found.bias + found.variance)
    assert (np.abs(gaps.mean(axis=1)) < 4 * gaps.std(axis=1) / np.sqrt(len(truth))).all()
    frame = found.to_frame().set_index("model")
    np.testing.assert_allclose(
        frame["variance"], frame["unbiased_variance"] - frame["biased_variance"]
    )
    assert frame["unbiased_variance"]["tree"] > frame["unbiased_variance"]["bayes"]
    without = bias_variance(
        models, X, y, points, targets, n_sets=30, set_size=150, bootstrap=False, random_state=0
    )
    assert not without.noise_known
    np.testing.assert_allclose(without.noise, 0, atol=1e-12)
    np.testing.assert_allclose(without.error, without.bias + without.variance, atol=1e-12)
    np.testing.assert_array_equal(without.error, found.error)


class Recorder(RegressorMixin, BaseEstimator):
    """Predict the mean of the training targets, and record them."""

    seen: list[tuple[Any, Any]] = []  # noqa: RUF012 - shared on purpose

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "Recorder":
        self.mean_ = np.mean(y)
        self.seen.append((np.asarray(X)[:, 0], self.random_state))
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.full(len(X), self.mean_)


def test_every_model_gets_the_same_sets_and_seeds() -> None:
    Recorder.seen.clear()
    X, y = np.arange(30.0)[:, np.newaxis], np.arange(30.0)
    models = [("one", Recorder()), ("two", make_pipeline(Recorder(random_state=5)))]
    bias_variance(models, X, y, X, y, n_sets=3, random_state=1)
    rows, seeds = zip(*Recorder.seen, strict=True)
    assert len(rows) == 6
    for k in range(3):
        np.testing.assert_array_equal(rows[k], rows[k + 3])
        assert len(set(rows[k])) < 30  # drawn with replacement
    assert seeds[:3] == seeds[3:]
    assert len(set(seeds)) == 3
    Recorder.seen.clear()
    bias_variance(Recorder(), X, y, X, y, n_sets=3, set_size=10, bootstrap=False, random_state=1)
    assert sorted(np.concatenate([row for row, _ in Recorder.seen])) == list(range(30))


def test_frames_processes_and_plots_are_supported() -> None:
    X, truth, y = simulated(300, 3)
    frame = pd.DataFrame(X, columns=list("abc"))
    models = [("tree", DecisionTreeRegressor()), ("stump", DecisionTreeRegressor(max_depth=1))]
    one, two = (
        bias_variance(
            models, frame[:200], pd.Series(y[:200]), frame[200:], y[200:], n_sets=5,
            random_state=0, n_jobs=n_jobs,
        )
        for n_jobs in (None, 2)
    )  # fmt: skip
    np.testing.assert_array_equal(one.error, two.error)
    axes = one.plot()
    assert [text.get_text() for text in axes.get_yticklabels()] == ["tree", "stump"]
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches[2:]]
    np.testing.assert_allclose(ends, one.error.mean(axis=1))
    assert axes.get_legend_handles_labels()[1] == ["error", "squared bias and noise", "variance"]
    plt.close(axes.figure)
    known = bias_variance(
        models, X[:200], y[:200], X[200:], y[200:], truth=truth[200:], n_sets=5, random_state=0
    )
    labels = known.plot().get_legend_handles_labels()[1]
    assert labels == ["error", "noise", "squared bias", "variance"]
    plt.close("all")


class Constant(ClassifierMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> "Constant":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.full(len(X), self.classes_[0])


X_FEW, Y_FEW = np.arange(12.0)[:, np.newaxis], np.arange(12) % 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_sets": 1}, "n_sets must be at least 2"),
        ({"set_size": 13}, "set_size must be a share or a number of the 12 rows; got 13"),
        (
            {"truth": np.full(12, 0.5)},
            r"the probability of each class of each point, shape \(12, 2",
        ),
        ({"truth": np.full((12, 2), 0.6)}, "with sum 1 in each row"),
        ({"truth": np.tile([1.5, -0.5], (12, 1))}, "truth must hold probabilities: non-negative"),
        ({"truth": np.full((12, 2), np.nan)}, "truth holds NaN"),
    ],
)
def test_losses_without_a_decomposition_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bias_variance(Constant(), X_FEW, Y_FEW, X_FEW, Y_FEW, **options)


def test_mismatched_models_and_targets_are_refused() -> None:
    mixed = [("one", Constant()), ("two", DummyRegressor())]
    with pytest.raises(ValueError, match="all must be classifiers, or all regressors"):
        bias_variance(mixed, X_FEW, Y_FEW, X_FEW, Y_FEW)
    with pytest.raises(
        ValueError, match="names of the models must be unique, got 'one' more than once"
    ):
        bias_variance([("one", Constant()), ("one", Constant())], X_FEW, Y_FEW, X_FEW, Y_FEW)
    with pytest.raises(ValueError, match="estimators must hold at least one model"):
        bias_variance([], X_FEW, Y_FEW, X_FEW, Y_FEW)
    with pytest.raises(TypeError, match=r"a list of pairs \(name, estimator\)"):
        bias_variance(3, X_FEW, Y_FEW, X_FEW, Y_FEW)
    with pytest.raises(ValueError, match="one target: y and targets must have one axis"):
        bias_variance(DummyRegressor(), X_FEW, np.zeros((12, 2)), X_FEW, np.zeros((12, 2)))
    with pytest.raises(ValueError, match="targets hold NaN"):
        bias_variance(DummyRegressor(), X_FEW, Y_FEW, X_FEW, np.full(12, np.nan))
