"""Numbers that textbooks work out by hand."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

# Age, likes dogs, likes gravity, is going to be an astronaut.
_ASTRONAUTS = np.array(
    [
        [24, 0, 0, 0],
        [30, 1, 1, 1],
        [36, 0, 1, 1],
        [36, 0, 0, 0],
        [42, 0, 0, 0],
        [44, 1, 1, 1],
        [46, 1, 0, 0],
        [47, 1, 1, 1],
        [47, 0, 1, 1],
        [51, 1, 1, 0],
    ]
)


@pytest.fixture(scope="module")
def breast_cancer() -> tuple[Any, ...]:
    X, y = load_breast_cancer(return_X_y=True)
    return tuple(train_test_split(X, y, stratify=y, random_state=42))


def gain(x: Any, y: Any, criterion: str) -> float:
    """Decrease of impurity by one split on one column."""
    model = DecisionTreeClassifier(criterion=criterion, max_depth=1)
    model.fit(np.reshape(x, (-1, 1)), y)
    assert model.get_n_leaves() == 2
    return float(model.tree_.compute_feature_importances(normalize=False)[0])


@pytest.mark.parametrize(
    ("column", "threshold", "expected"),
    [
        (0, 27, Fraction(1, 18)),
        (0, 33, 0),
        (0, 39, 0),
        (0, 43, Fraction(2, 100)),
        (0, 45, 0),
        (0, 46.5, Fraction(1, 42)),
        (0, 49, Fraction(1, 18)),
        (1, 0.5, Fraction(2, 100)),
        (2, 0.5, Fraction(1, 3)),
    ],
)
def test_every_gini_gain_of_the_astronauts_matches(
    column: int, threshold: float, expected: Any
) -> None:
    above = _ASTRONAUTS[:, column] > threshold
    assert gain(above, _ASTRONAUTS[:, 3], "gini") == pytest.approx(float(expected), abs=1e-15)


def test_the_tree_of_the_astronauts_matches() -> None:
    X, y = _ASTRONAUTS[:, :3], _ASTRONAUTS[:, 3]
    tree = DecisionTreeClassifier().fit(X, y).tree_
    np.testing.assert_array_equal(tree.feature, [2, -2, 0, -2, -2])  # gravity, then age
    np.testing.assert_array_equal(tree.threshold, [0.5, -2, 49, -2, -2])
    np.testing.assert_allclose(tree.impurity, [0.5, 0, 10 / 36, 0, 0], atol=1e-15)
    np.testing.assert_array_equal(tree.n_node_samples, [10, 4, 6, 5, 1])
    np.testing.assert_allclose(tree.value[:, 0, 1], [0.5, 0, 5 / 6, 1, 0])


@pytest.mark.parametrize(
    ("counts", "bits"),
    [((4, 0), 0.0), ((2, 2), 1.0), ((3, 1), 0.811278), ((9, 5), 0.940286), ((5, 9), 0.940286)],
)
def test_entropy_of_counts_matches(counts: tuple[int, int], bits: float) -> None:
    y = np.repeat([0, 1], counts)
    tree = DecisionTreeClassifier(criterion="entropy").fit(np.zeros((len(y), 1)), y).tree_
    assert tree.impurity[0] == pytest.approx(bits, abs=5e-7)


def test_information_gain_of_two_groups_matches() -> None:
    y = np.repeat([1, 0, 1, 0], [5, 1, 4, 4])
    assert gain(np.repeat([0, 1], [6, 8]), y, "entropy") == pytest.approx(0.0903, abs=5e-5)


def test_information_gain_of_three_groups_is_the_sum_of_two_splits() -> None:
    y = np.repeat([1, 0, 1, 0, 0], [4, 1, 1, 4, 4])
    model = DecisionTreeClassifier(criterion="entropy")
    model.fit(np.repeat([0, 1, 2], [5, 5, 4]).reshape(-1, 1), y)
    assert model.get_n_leaves() == 3
    total = model.tree_.compute_feature_importances(normalize=False).sum()
    assert total == pytest.approx(0.4246, abs=5e-5)


def test_the_full_tree_of_breast_cancer_matches(breast_cancer: tuple[Any, ...]) -> None:
    X, X_test, y, y_test = breast_cancer
    model = DecisionTreeClassifier().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.score(X_test, y_test) == pytest.approx(0.94, abs=0.015)


def test_the_tree_of_depth_four_of_breast_cancer_matches(breast_cancer: tuple[Any, ...]) -> None:
    X, X_test, y, y_test = breast_cancer
    model = DecisionTreeClassifier(max_depth=4).fit(X, y)
    assert model.score(X, y) == pytest.approx(0.988, abs=5e-4)
    assert model.score(X_test, y_test) == pytest.approx(0.951, abs=5e-4)
    tree = model.tree_
    names = load_breast_cancer().feature_names
    assert names[tree.feature[0]] == "worst radius"
    assert tree.threshold[0] == pytest.approx(16.795, abs=1e-9)
    assert model.feature_importances_[tree.feature[0]] == pytest.approx(0.73, abs=0.005)
    left, right = tree.children_left[0], tree.children_right[0]
    counts = tree.value[[left, right], 0] * tree.n_node_samples[[left, right], None]
    np.testing.assert_allclose(counts, [[25, 259], [134, 8]], atol=1e-9)


def test_a_sphere_in_ten_dimensions_is_learned() -> None:
    """Hastie, Tibshirani, Friedman (2009), section 10.1: one stump, one full tree."""
    random = np.random.default_rng(0)
    X = random.normal(size=(12_000, 10))
    y = np.where((X**2).sum(axis=1) > 9.34, 1, -1)
    stump = DecisionTreeClassifier(max_depth=1).fit(X[:2000], y[:2000])
    full = DecisionTreeClassifier().fit(X[:2000], y[:2000])
    assert 1 - stump.score(X[2000:], y[2000:]) == pytest.approx(0.46, abs=0.015)
    assert 1 - full.score(X[2000:], y[2000:]) == pytest.approx(0.26, abs=0.02)


def test_absolute_error_matches_values_by_hand() -> None:
    """Medians 2; 1.5 and 20. Losses 76/7 a row before, 1/2 and 20/3 after."""
    y = [1.0, 2.0, 1.0, 2.0, 20.0, 40.0, 20.0]
    model = DecisionTreeRegressor(criterion="absolute_error", max_depth=1)
    tree = model.fit(np.arange(7).reshape(-1, 1), y).tree_
    assert tree.threshold[0] == 3.5
    np.testing.assert_array_equal(tree.value[:, 0, 0], [2.0, 1.5, 20.0])
    np.testing.assert_allclose(tree.impurity, [76 / 7, 0.5, 20 / 3])


def test_an_outlier_does_not_move_the_median() -> None:
    X, y = np.zeros((5, 1)), [1.0, 2.0, 3.0, 4.0, 1e9]
    assert DecisionTreeRegressor(criterion="absolute_error").fit(X, y).predict([[0]]) == [3.0]


def test_poisson_matches_values_by_hand() -> None:
    """Half deviances: log 2 at the root with counts 0, 2; nothing left with 1, 1 | 3, 3."""
    root = DecisionTreeRegressor(criterion="poisson").fit([[0], [1]], [0.0, 2.0])
    assert root.get_n_leaves() == 1  # a child with nothing but zeros is not allowed
    np.testing.assert_allclose(root.tree_.impurity, [np.log(2)])
    model = DecisionTreeRegressor(criterion="poisson").fit([[0], [0], [1], [1]], [1, 1, 3, 3])
    expected = (np.log(1 / 2) + 3 * np.log(3 / 2)) / 2
    np.testing.assert_allclose(model.tree_.impurity, [expected, 0, 0], atol=1e-15)
    np.testing.assert_array_equal(model.predict([[0], [1]]), [1, 3])


def test_friedman_mse_orders_splits_like_squared_error() -> None:
    random = np.random.default_rng(30)
    X, y = random.normal(size=(60, 1)), random.normal(size=60)
    measures = []
    for threshold in (values := np.sort(X[:, 0]))[:-1]:
        left = X[:, 0] <= threshold
        n = left.sum(), (~left).sum()
        measures.append(n[0] * n[1] / 60 * (y[left].mean() - y[~left].mean()) ** 2)
    best = int(np.argmax(measures))
    model = DecisionTreeRegressor(criterion="friedman_mse", max_depth=1).fit(X, y)
    assert model.tree_.threshold[0] == (values[best] + values[best + 1]) / 2
    decrease = model.tree_.compute_feature_importances(normalize=False)[0]
    assert decrease * 60 == pytest.approx(max(measures))
