"""Boosting by hand: Newton's steps of eight rows, AdaBoost, targets with heavy tails."""

from typing import Any

import numpy as np
import pytest
import sklearn.ensemble as theirs
from threadpoolctl import threadpool_limits

import arboleda as ours
from arboleda import HistGradientBoostingClassifier

# Eight rows, three of class 1: scores start from log(3/5), so every probability is 3/8, the
# gradients are 3/8 for class 0 and -5/8 for class 1, and every hessian is 15/64.
X = np.arange(1.0, 9.0).reshape(-1, 1)
Y = np.array([0, 0, 0, 0, 1, 0, 1, 1])
START = np.log(3 / 5)


def first_tree(**options: Any) -> Any:
    model = HistGradientBoostingClassifier(
        max_iter=1, learning_rate=1.0, min_samples_leaf=1, max_leaf_nodes=2, **options
    ).fit(X, Y)
    return model, model.ensemble_.trees[0]


def test_a_split_and_its_leaves_match_values_by_hand() -> None:
    """With lambda = 1 the best cut is after row 4: G = 4 * 3/8 = 3/2 and -3/2, H = 4 * 15/64 each.

    Leaves -G / (H + 1) = -+ (3/2) / (31/16) = -+ 24/31; gain 1/2 (2 * (9/4) / (31/16)) = 36/31. The
    cut after row 6 has G = +-5/4, H = 6 and 2 times 15/64 and gains
    1/2 (25/16) (1 / (77/32) + 1 / (47/32)) = 0.857.
    """
    model, tree = first_tree(l2_regularization=1.0)
    assert tree.threshold[0] == 4.5
    raw = model.decision_function(X)
    np.testing.assert_allclose(raw, START + np.repeat([-24 / 31, 24 / 31], 4), rtol=1e-12)
    assert abs(tree.impurity[0] - 36 / 31) < 1e-6
    _, costly = first_tree(l2_regularization=1.0, min_split_gain=1.17)
    assert len(costly.threshold) == 1
    _, cheap = first_tree(l2_regularization=1.0, min_split_gain=1.16)
    assert len(cheap.threshold) == 3


def test_l1_and_bounded_steps_match_values_by_hand() -> None:
    """T(3/2) = 1 with alpha = 1/2: leaves -+ 16/31; steps of at most 0.3 end there."""
    model, _ = first_tree(l2_regularization=1.0, l1_regularization=0.5)
    raw = model.decision_function(X)
    np.testing.assert_allclose(raw, START + np.repeat([-16 / 31, 16 / 31], 4), rtol=1e-12)
    model, _ = first_tree(l2_regularization=1.0, max_delta_step=0.3)
    raw = model.decision_function(X)
    np.testing.assert_allclose(raw, START + np.repeat([-0.3, 0.3], 4), rtol=1e-12)


def test_weights_and_the_second_round_match_values_by_hand() -> None:
    """Two rounds of steps -G/H at half rate, computed row by row."""
    weight = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 2.0, 1.0])
    model = HistGradientBoostingClassifier(
        max_iter=2, learning_rate=0.5, min_samples_leaf=1, max_leaf_nodes=2
    ).fit(X, Y, weight)
    raw = np.full(8, np.log(4 / 9))
    for tree in model.ensemble_.trees:
        p = 1 / (1 + np.exp(-raw))
        g, h = weight * (p - Y), weight * p * (1 - p)
        gains = [
            g[:i].sum() ** 2 / h[:i].sum() + g[i:].sum() ** 2 / h[i:].sum() for i in range(1, 8)
        ]
        cut = int(np.argmax(gains)) + 1
        assert tree.threshold[0] == cut + 0.5
        raw[:cut] -= 0.5 * g[:cut].sum() / h[:cut].sum()
        raw[cut:] -= 0.5 * g[cut:].sum() / h[cut:].sum()
    np.testing.assert_allclose(model.decision_function(X), raw, rtol=1e-12)


def gentle_adaboost(X: Any, y: Any, n_rounds: int) -> tuple[Any, Any]:
    """Friedman, Hastie, Tibshirani (2000), algorithm 4, with stumps; y is -1 or 1."""
    score = np.full(len(y), 0.5 * np.log((y > 0).sum() / (y < 0).sum()))
    stumps = []
    for _ in range(n_rounds):
        weight = np.exp(-y * score)
        best = (np.inf, 0, 0.0, 0.0, 0.0)
        for j in range(X.shape[1]):
            values = np.unique(X[:, j])
            for threshold in (values[1:] + values[:-1]) / 2:
                left = X[:, j] <= threshold
                means = [np.average(y[side], weights=weight[side]) for side in (left, ~left)]
                error = (weight * (y - np.where(left, *means)) ** 2).sum()
                if error < best[0] * (1 - 1e-9):
                    best = (error, j, threshold, *means)
        _, j, threshold, low, high = best
        stumps.append((j, threshold))
        score = score + np.where(X[:, j] <= threshold, low, high)
    return score, stumps


@pytest.mark.parametrize("seed", range(4))
def test_exponential_loss_with_stumps_is_gentle_adaboost(seed: int) -> None:
    """Its Newton steps are weighted means of y in -1 and 1: the real-valued, gentle AdaBoost.

    Its stumps minimise the weighted squared error, as Newton's gain does. The only difference:
    boosting starts from the best constant, AdaBoost from 0; here both start from the constant.
    """
    random = np.random.default_rng(seed)
    X = random.integers(0, 12, size=(80, 3)).astype(float)
    score = X[:, 0] - X[:, 1] * X[:, 2] / 8 + random.normal(size=80) * 3
    y = np.where(score > (np.median(score) if seed % 2 else 2.0), 1, -1)
    expected, stumps = gentle_adaboost(X, y, 15)
    model = HistGradientBoostingClassifier(
        loss="exponential", max_iter=15, learning_rate=1.0, max_leaf_nodes=2, min_samples_leaf=1,
        min_child_weight=0.0,
    ).fit(X, y)  # fmt: skip
    found = [(int(tree.feature[0]), float(tree.threshold[0])) for tree in model.ensemble_.trees]
    assert found == stumps
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)


def heavy(kind: str, signal: Any, random: np.random.Generator) -> Any:
    if kind == "pareto":
        return np.exp(signal) * (random.pareto(1.1, len(signal)) + 0.01)
    if kind == "lognormal":
        return np.exp(signal + 3 * random.normal(size=len(signal)))
    y = np.exp(signal) + random.random(len(signal))
    y[7] = 1e12
    return y


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("kind", ["pareto", "lognormal", "outlier"])
def test_heavy_tailed_targets_keep_their_precision(kind: str, loss: str) -> None:
    """Gradients are rounded to integers: held-out losses are those of sums of real numbers.

    The mean over three data sets of the loss relative to scikit-learn's, where every value is a
    bin.
    """
    ratios = []
    for seed in range(3):
        random = np.random.default_rng(seed)
        X = random.integers(0, 100, (6000, 5)).astype(float)
        y = heavy(kind, np.sin(X[:, 0] / 15) + X[:, 1] / 50 * (X[:, 2] > 50), random)
        losses = []
        for library in (ours, theirs):
            model = library.HistGradientBoostingRegressor(loss=loss, max_iter=40)
            with threadpool_limits(1):  # threads of OpenMP wait for each other on a busy machine
                predicted = model.fit(X[:4000], y[:4000]).predict(X[4000:])
            error = predicted - y[4000:]
            losses.append(
                np.mean(error**2) if loss == "squared_error" else
                np.mean(np.abs(error)) if loss == "absolute_error" else
                np.mean(predicted - y[4000:] * np.log(predicted)) + y[4000:].mean() * 20
            )  # fmt: skip
        ratios.append(losses[0] / losses[1])
    assert np.mean(ratios) < 1.01


@pytest.mark.parametrize("spread", [0.0, 6.0])
def test_one_row_in_ten_thousand_is_learned(spread: float) -> None:
    """Such a rare class has no higher loss than in scikit-learn, also with weights 1e12 apart."""
    random = np.random.default_rng(0)
    X = random.integers(0, 200, (60_000, 4)).astype(float)
    margin = X[:, 0] / 30 + np.sin(X[:, 1] / 20) + random.normal(size=len(X)) / 2
    y = (margin >= np.sort(margin)[-6]).astype(int)
    weight = 10.0 ** random.uniform(-spread, spread, len(X)) if spread else None
    losses = []
    for library in (ours, theirs):
        model = library.HistGradientBoostingClassifier(
            max_iter=15, early_stopping=False, max_leaf_nodes=8, learning_rate=0.05
        )
        with threadpool_limits(1):
            model.fit(X, y, weight)
        predicted = np.clip(model.predict_proba(X)[:, 1], 1e-15, 1 - 1e-15)
        losses.append(
            -np.average(np.log(np.where(y == 1, predicted, 1 - predicted)), weights=weight)
        )
    assert losses[0] < 1.01 * losses[1]
