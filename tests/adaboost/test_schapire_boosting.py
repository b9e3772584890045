"""Schapire's boosting (1990): the theorem in simulation, the recursion, what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import SchapireBoostingClassifier

Floats = npt.NDArray[np.float64]


def balls(n_rows: int, seed: int, n_columns: int = 3) -> tuple[Floats, Any]:
    """Rows inside a ball or outside: a stump alone is little better than a coin."""
    X = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    squares = (X**2).sum(axis=1)
    return X, np.where(squares > 2.366, "outside", "inside")  # the median of chi-squared of 3


def error_bounds(model: Any, X: Floats, y: Any) -> tuple[float, float]:
    """Largest error of the three, each on its own distribution, and that of the majority."""
    first, second, third = (member.predict(X) != y for member in model.estimators_)
    predictions = [member.predict(X) for member in model.estimators_]
    differ = predictions[0] != predictions[1]
    # Half of the second's rows are those that the first gets wrong.
    of_second = (second[first].mean() + second[~first].mean()) / 2
    largest = max(first.mean(), of_second, third[differ].mean())
    return float(largest), float(np.mean(model.predict(X) != y))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_error_of_three_hypotheses_is_below_the_bound(depth: int, seed: int) -> None:
    X, y = balls(6000, seed)
    tree = DecisionTreeClassifier(max_depth=depth)
    model = SchapireBoostingClassifier(tree, random_state=seed).fit(X, y)
    assert len(model.estimators_) == 3
    largest, error = error_bounds(model, *balls(100_000, seed + 100))
    assert largest < 0.5
    bound = SchapireBoostingClassifier.error_bound(largest)
    assert error <= bound + 0.005  # of 100,000 new rows
    assert bound < largest


def test_more_levels_reduce_the_error() -> None:
    X, y = balls(40_000, 0)
    new, classes = balls(20_000, 1)
    errors = [
        1 - SchapireBoostingClassifier(depth=depth, random_state=0).fit(X, y).score(new, classes)
        for depth in (1, 2, 4)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.2


def test_the_majority_vote_matches_its_members() -> None:
    X, y = balls(2000, 3)
    model = SchapireBoostingClassifier(GaussianNB(), random_state=3).fit(X, y)
    votes = np.array([member.predict(X) == "outside" for member in model.estimators_])
    majority = np.where(votes.sum(axis=0) >= 2, "outside", "inside")
    np.testing.assert_array_equal(model.predict(X), majority)
    again = SchapireBoostingClassifier(GaussianNB(), random_state=3).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_first_hypothesis_without_error_is_returned() -> None:
    X = np.arange(40.0).reshape(-1, 1)
    model = SchapireBoostingClassifier(depth=3, random_state=0).fit(X, X[:, 0] < -1)
    assert len(model.estimators_) == 1
    assert not model.predict(X).any()


def test_the_error_bound_matches_the_paper() -> None:
    bound = SchapireBoostingClassifier.error_bound
    assert [bound(0.0), bound(0.5)] == [0.0, 0.5]
    assert bound(0.1) == pytest.approx(0.028)


def test_invalid_arguments_are_refused() -> None:
    X, y = balls(50, 0)
    with pytest.raises(ValueError, match="y has 3 classes: use AdaBoostClassifier"):
        SchapireBoostingClassifier().fit(X, np.arange(50) % 3)
    with pytest.raises(ValueError, match="depth"):
        SchapireBoostingClassifier(depth=0).fit(X, y)


@parametrize_with_checks(
    [
        SchapireBoostingClassifier(),
        SchapireBoostingClassifier(DecisionTreeClassifier(max_depth=2), depth=2),
    ],
    xfail_strict=True,
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
