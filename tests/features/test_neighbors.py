"""Nearest-neighbour information against the estimators as their papers write them, row by row."""

from math import log
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import digamma

from arboleda.features._counting import Levels
from arboleda.features._measures import MixedVariable, compute_mixed_information

Array = npt.NDArray[Any]


def distance(points: Array, row: int) -> Array:
    found: Array = np.abs(points - points[row]).max(axis=1)
    return found


def naive_ksg(x: Array, y: Array, k: int) -> float:
    """Kraskov, Stögbauer, Grassberger (2004), eq. (8)."""
    n = len(x)
    total = 0.0
    for row in range(n):
        both = np.maximum(distance(x, row), distance(y, row))
        radius = np.sort(both)[k]  # the row itself is the first
        n_x = (distance(x, row) < radius).sum() - 1
        n_y = (distance(y, row) < radius).sum() - 1
        total += digamma(n_x + 1) + digamma(n_y + 1)
    return float(digamma(n) + digamma(k) - total / n)


def naive_ross(x: Array, labels: Array, k: int) -> float:
    """Ross (2014), eq. (2)."""
    n = len(x)
    total = 0.0
    for row in range(n):
        own = labels == labels[row]
        radius = np.sort(distance(x, row)[own])[k]
        near = (distance(x, row) < radius).sum()
        total += digamma(own.sum()) + digamma(near)
    return float(digamma(n) + digamma(k) - total / n)


def numbers(values: Array) -> MixedVariable:
    return MixedVariable(Levels(np.zeros(len(values), dtype=np.intp), 1), values)


@pytest.mark.parametrize("n_numbers", [1, 2])
@pytest.mark.parametrize("k", [1, 3, 7])
def test_numbers_with_numbers_equal_their_naive_twin(n_numbers: int, k: int) -> None:
    random = np.random.default_rng(k)
    x = random.standard_normal((120, n_numbers))
    y = x.sum(axis=1) + random.standard_normal(120)
    found = compute_mixed_information([numbers(column) for column in x.T], numbers(y), k)
    assert found == pytest.approx(naive_ksg(x, y[:, np.newaxis], k), abs=1e-12)


@pytest.mark.parametrize("n_numbers", [1, 2])
@pytest.mark.parametrize("k", [1, 3, 7])
def test_numbers_with_classes_equal_their_naive_twin(n_numbers: int, k: int) -> None:
    random = np.random.default_rng(k)
    x = random.standard_normal((120, n_numbers))
    labels = np.digitize(x.sum(axis=1) + random.standard_normal(120), [-1.0, 0.5])
    classes = MixedVariable(Levels.of_codes(labels), None)
    found = compute_mixed_information([numbers(column) for column in x.T], classes, k)
    assert found == pytest.approx(naive_ross(x, labels, k), abs=1e-12)


def test_information_of_two_normal_numbers_with_a_third_matches_theory() -> None:
    """-1/2 log(1 - R^2) with the share R^2 of the variance that both explain."""
    random = np.random.default_rng(0)
    x = random.standard_normal((3000, 2))
    y = x.sum(axis=1) + random.standard_normal(3000)
    found = compute_mixed_information([numbers(x[:, 0]), numbers(x[:, 1])], numbers(y), 3)
    assert found == pytest.approx(0.5 * log(3), abs=0.04)


def test_missing_numbers_and_categories_together_obey_the_chain_rule() -> None:
    """Information of the levels, plus the weighted naive estimates on the rows of each level."""
    random = np.random.default_rng(1)
    n = 400
    category = random.integers(0, 2, n)
    x = random.standard_normal(n)
    y = x * np.where(category == 1, 2.0, -1.0) + random.standard_normal(n)
    missing = random.random(n) < 0.3
    x_missing = np.where(missing, np.nan, x)
    parts = [
        MixedVariable(Levels(missing.astype(np.intp), 2), x_missing),
        MixedVariable(Levels(category.astype(np.intp), 2), None),
    ]
    levels = 2 * missing + category
    wanted = naive_ross(y[:, np.newaxis], levels, 3)
    for level in (0, 1):  # where the number is there
        rows = levels == level
        wanted += rows.mean() * naive_ksg(x[rows, np.newaxis], y[rows, np.newaxis], 3)
    found = compute_mixed_information(parts, numbers(y), 3)
    assert found == pytest.approx(wanted, abs=1e-12)


def test_classes_of_one_row_are_left_out() -> None:
    x = np.arange(6.0) ** 2
    labels = np.array([0, 0, 0, 1, 1, 2])
    alone = compute_mixed_information([numbers(x)], MixedVariable(Levels.of_codes(labels), None), 1)
    without = compute_mixed_information(
        [numbers(x[:5])], MixedVariable(Levels.of_codes(labels[:5]), None), 1
    )
    assert alone == pytest.approx(without)
