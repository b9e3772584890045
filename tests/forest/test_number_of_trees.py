"""Growing more trees: warm start, and enough trees."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from tests.forest.tables import FORESTS, bytes_of, classes, numbers, table_for

from arboleda import RandomForestClassifier, RandomForestRegressor
from arboleda.forest._out_of_bag import BLOCK_SIZE, MAX_RELATIVE_EXCESS, Convergence


@pytest.mark.parametrize("forest", FORESTS)
def test_a_smaller_forest_is_a_prefix_of_a_larger_one(forest: Any) -> None:
    X, y = table_for(forest)
    large = bytes_of(forest(12, random_state=4).fit(X, y))
    small = bytes_of(forest(5, random_state=4).fit(X, y))
    assert large[: len(small)] == small
    assert len(set(large[3::6])) > 6  # the trees differ


@pytest.mark.parametrize("forest", FORESTS)
def test_a_warm_start_matches_a_single_fit(forest: Any) -> None:
    X, y = table_for(forest)
    options = {"bootstrap": True, "oob_score": True, "random_state": 4, "max_samples": 0.6}
    once = forest(30, **options).fit(X, y)
    grown = forest(20, warm_start=True, **options).fit(X, y)
    for n_trees in (21, 30):
        grown.set_params(n_estimators=n_trees).fit(X, y)
    assert bytes_of(grown) == bytes_of(once)
    assert grown.oob_score_ == once.oob_score_
    np.testing.assert_array_equal(grown.oob_curve().error, once.oob_curve().error)
    for mine, other in zip(grown.estimators_samples_, once.estimators_samples_, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_invalid_warm_starts_are_refused() -> None:
    X, y = classes()
    forest = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, y)
    before = bytes_of(forest)
    with pytest.raises(ValueError, match="n_estimators=4 must be larger than or equal to the 5"):
        forest.set_params(n_estimators=4).fit(X, y)
    with pytest.raises(ValueError, match="different classes"):
        forest.set_params(n_estimators=6).fit(X, np.where(y == "a", "z", y))
    with pytest.raises(ValueError, match="features"):
        forest.fit(X[:, :3], y)
    with pytest.raises(ValueError, match="oob_score requires all trees to be drawn from the same"):
        forest.set_params(oob_score=True).fit(X[:100], y[:100])
    assert bytes_of(forest) == before
    with pytest.warns(UserWarning, match="does not fit new trees"):
        forest.set_params(n_estimators=5, oob_score=False).fit(X, y)
    forest.set_params(n_estimators=8).fit(X[:100], y[:100])
    assert len(forest.estimators_) == 8
    with pytest.raises(ValueError, match="fitted on different tables"):
        forest.oob_curve(X, y)
    with pytest.raises(ValueError, match="fitted on different tables"):
        _ = forest.estimators_samples_


def test_without_a_warm_start_a_second_fit_starts_over() -> None:
    X, y = classes()
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    first = bytes_of(forest)
    assert bytes_of(forest.fit(X[:100], y[:100])) != first
    assert bytes_of(forest.fit(X, y)) == first
    other = RandomForestClassifier(5, random_state=1).fit(X, y)
    assert bytes_of(other) != first


# Enough trees


def test_the_excess_matches_the_squared_error_curve() -> None:
    """V / L, estimated from blocks, against errors of forests drawn from many trees."""
    random = np.random.default_rng(0)
    n_rows, n_trees = 400, 600
    chance = random.random(n_rows)
    labels = (random.random(n_rows) < chance).astype(np.int64)
    votes = random.random((n_trees, n_rows)) < chance  # tree t votes for class 1
    found = Convergence(labels, (2,))
    for first in range(0, n_trees, BLOCK_SIZE):
        ones = votes[first : first + BLOCK_SIZE].sum(axis=0)
        sums = np.column_stack([BLOCK_SIZE - ones, ones]).astype(float)
        found.add(sums, np.full(n_rows, BLOCK_SIZE, dtype=np.uint32))
    excess, error = found.compute_excess()
    mean = votes.mean(axis=0)
    assert error == pytest.approx(np.mean(2 * (mean - labels) ** 2))
    assert excess == pytest.approx(np.mean(2 * chance * (1 - chance)) / n_trees, rel=0.1)


def test_the_excess_of_regressors_does_not_depend_on_the_origin() -> None:
    random = np.random.default_rng(0)
    target = random.normal(size=(300, 2))
    counts = random.integers(0, 30, (6, 300)).astype(np.uint32)
    noise = random.normal(size=(6, 300, 2)) * np.sqrt(counts)[:, :, np.newaxis]
    results = []
    for shift in (0.0, 1e6):
        found = Convergence(target + shift, (1, 1))
        for c, scatter in zip(counts, noise, strict=True):
            found.add(c[:, np.newaxis] * (target + shift + 0.5) + scatter, c)
        results.append(found.compute_excess())
    excess, error = results[0]
    mean_count = counts.sum(axis=0)
    assert excess == pytest.approx(np.mean(2 / mean_count), rel=0.2)
    assert error == pytest.approx(0.5 + excess, rel=0.2)
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)


def test_at_least_one_row_must_be_out_of_bag_twice() -> None:
    found = Convergence(np.zeros(5), (1,))
    found.add(np.zeros((5, 1)), np.ones(5, dtype=np.uint32))
    assert not found.has_converged()
    huge = Convergence(np.array([1e300, -1e300]), (1,))
    for _ in range(2):
        huge.add(np.array([[3e300], [1.0]]), np.array([2, 2], dtype=np.uint32))
    assert not huge.has_converged()


_TABLES = {
    "breast cancer": (load_breast_cancer, RandomForestClassifier),
    "digits": (load_digits, RandomForestClassifier),
    "diabetes": (load_diabetes, RandomForestRegressor),
}


@pytest.mark.parametrize("name", _TABLES)
def test_trees_are_added_until_more_change_little(name: str) -> None:
    load, forest = _TABLES[name]
    X, y = (part[:600] for part in load(return_X_y=True))
    found = forest("auto", max_features="sqrt", random_state=0).fit(X, y)
    n_trees = found.n_estimators_
    assert 2 * BLOCK_SIZE <= n_trees < 1_000
    assert n_trees % BLOCK_SIZE == 0
    same = forest(n_trees, max_features="sqrt", random_state=0).fit(X, y)
    assert bytes_of(same) == bytes_of(found)
    most = forest(1_000, max_features="sqrt", random_state=0, oob_score=True).fit(X, y)
    curve = most.oob_curve()
    np.testing.assert_array_equal(found.oob_curve().error, curve.error[:n_trees])
    here, there = curve.error[n_trees - 1], curve.error[-1]
    if forest is RandomForestRegressor:
        assert here <= there * (1 + 3 * MAX_RELATIVE_EXCESS)
    else:  # the share of misclassified rows moves by single rows
        assert here <= there + 3 / np.sqrt(len(y)) * np.sqrt(there / 10)


def test_the_number_of_threads_changes_no_forest() -> None:
    X, y = numbers(80)
    sizes = [
        RandomForestRegressor("auto", max_depth=4, random_state=1, n_jobs=n).fit(X, y)
        for n in (1, 2)
    ]
    assert bytes_of(sizes[0]) == bytes_of(sizes[1])
