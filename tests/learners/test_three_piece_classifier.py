"""The three-piece classifier against all intervals, and as the weak learner of AdaBoost."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda import AdaBoostClassifier, DecisionTreeClassifier, ThreePieceClassifier

Array = Any


def least_error(X: Array, y: Array, weight: Array) -> float:
    """Of all columns, pairs of thresholds and signs; y is -1 or 1."""
    least = np.inf
    for column in X.T:
        values = np.unique(column)
        cuts = [-np.inf, *((a + b) / 2 for a, b in pairwise(values)), np.inf]
        for low in cuts:
            for high in cuts:
                outside = (column < low) | (column > high)
                for b in (1, -1):
                    h = np.where(outside, b, -b)
                    least = min(least, float(weight[h != y].sum() / weight.sum()))
    return least


@pytest.mark.parametrize("weighted", [False, True])
def test_the_error_is_the_least_of_all_pieces(weighted: bool) -> None:
    signs = set()
    for seed in range(30):
        random = np.random.default_rng(seed)
        X = random.integers(0, 7, size=(25, 3)).astype(float)
        y = np.where(random.random(25) < random.random(), 1, -1)
        weight = random.integers(0, 4, 25).astype(float) if weighted else np.ones(25)
        weight[:2] = 1.0
        model = ThreePieceClassifier().fit(X, y, weight if weighted else None)
        wrong = float(weight[model.predict(X) != y].sum() / weight.sum())
        assert wrong == pytest.approx(least_error(X, y, weight), abs=1e-12)
        assert model.error_ == pytest.approx(wrong, abs=1e-12)
        signs.add(model.sign_)
    assert signs == {1, -1}


def test_predictions_match_the_definition_of_the_pieces() -> None:
    x = np.arange(10.0)
    y = np.where((x >= 3) & (x <= 6), "in", "out")
    frame = pd.DataFrame({"noise": np.zeros(10), "x": x})
    model = ThreePieceClassifier().fit(frame, y)
    assert (model.feature_, model.sign_, model.error_) == (1, 1, 0.0)
    np.testing.assert_array_equal(model.thresholds_, [2.5, 6.5])
    # theta_1 <= x <= theta_2 is in between, both ends included.
    new = pd.DataFrame({"noise": 0.0, "x": [2.4, 2.5, 6.5, 6.6]})
    assert model.predict(new).tolist() == ["out", "in", "in", "out"]
    reverse = ThreePieceClassifier().fit(frame, np.where(y == "in", "z", "a"))
    assert reverse.sign_ == -1
    half = ThreePieceClassifier().fit(x[:, np.newaxis], x > 3)
    assert np.isinf(half.thresholds_).sum() == 1  # a stump
    assert half.score(x[:, np.newaxis], x > 3) == 1.0


def test_one_class_and_adjacent_numbers_are_handled() -> None:
    model = ThreePieceClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert model.predict([[0.0], [1.5]]).tolist() == ["a", "a"]
    assert model.error_ == 0.0
    x = np.array([1.0, np.nextafter(1.0, 2.0), np.nextafter(np.nextafter(1.0, 2.0), 2.0)])
    for y in ([0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]):
        assert ThreePieceClassifier().fit(x[:, np.newaxis], y).score(x[:, np.newaxis], y) == 1.0
    huge = np.array([[-1.7e308], [1.7e308]])
    assert ThreePieceClassifier().fit(huge, [0, 1]).score(huge, [0, 1]) == 1.0


def test_three_pieces_are_weakly_learnable_by_stumps() -> None:
    """Shalev-Shwartz and Ben-David, example 10.1: some stump errs at most a third of the weight."""
    for seed in range(40):
        random = np.random.default_rng(seed)
        x = np.sort(random.normal(size=60))
        low, high = np.sort(random.choice(x, 2, replace=False))
        y = np.where((x < low) | (x > high), 1, -1)
        weight = random.random(60) ** 3
        stump = DecisionTreeClassifier(max_depth=1, criterion="misclassification")
        stump.fit(x[:, np.newaxis], y, weight)
        wrong = weight[stump.predict(x[:, np.newaxis]) != y].sum() / weight.sum()
        assert wrong <= 1 / 3 + 1e-9
        pieces = ThreePieceClassifier().fit(x[:, np.newaxis], y, weight)
        assert pieces.error_ == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("algorithm", ["discrete", "M1", "SAMME"])
def test_boosting_them_makes_a_strong_learner(algorithm: Any) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 4))
    y = np.where((X**2).sum(axis=1) > 3.4, "far", "near")
    alone = ThreePieceClassifier().fit(X[:400], y[:400]).score(X[400:], y[400:])
    boosted = AdaBoostClassifier(
        ThreePieceClassifier(), n_estimators=60, algorithm=algorithm, random_state=0
    ).fit(X[:400], y[:400])
    assert alone < 0.8 < 0.9 < boosted.score(X[400:], y[400:])
    assert type(boosted.estimators_[0]) is ThreePieceClassifier


def test_more_than_two_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="y has 3 classes; use scikit-learn's OneVsRestClassifier"):
        ThreePieceClassifier().fit([[1.0], [2.0], [3.0]], [0, 1, 2])
    with pytest.raises(ValueError, match="missing"):
        ThreePieceClassifier().fit([[1.0], [np.nan]], [0, 1])
