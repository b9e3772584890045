"""Cuts of numeric columns, against Fayyad and Irani's criterion written out."""

import itertools
import math

import numpy as np
import pytest

from arboleda.learners._columns import find_cuts


def entropy(labels: list[int]) -> float:
    counts = [labels.count(label) for label in set(labels)]
    return -sum(c / len(labels) * math.log2(c / len(labels)) for c in counts)


def textbook(rows: list[tuple[float, int]]) -> list[float]:
    """Fayyad and Irani (1993): every cut of the sorted rows is tried, recursively."""
    rows = sorted(rows)
    labels = [label for _, label in rows]
    n = len(rows)
    best: tuple[float, int] | None = None
    for at in range(1, n):
        if rows[at - 1][0] < rows[at][0]:
            left, right = labels[:at], labels[at:]
            left_over = len(left) / n * entropy(left) + len(right) / n * entropy(right)
            if best is None or left_over < best[0] - 1e-12:
                best = left_over, at
    if best is None:
        return []
    left_over, at = best
    left, right = labels[:at], labels[at:]
    k, k1, k2 = (len(set(part)) for part in (labels, left, right))
    delta = math.log2(3**k - 2) - (k * entropy(labels) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(labels) - left_over <= (math.log2(n - 1) + delta) / n:
        return []
    cut = (rows[at - 1][0] + rows[at][0]) / 2
    return [*textbook(rows[:at]), cut, *textbook(rows[at:])]


@pytest.mark.parametrize("seed", range(30))
def test_cuts_match_the_minimum_description_length(seed: int) -> None:
    random = np.random.default_rng(seed)
    n_classes = int(random.integers(2, 5))
    labels = random.integers(n_classes, size=150)
    values = random.normal(size=150).round(1) + random.choice([0.0, 1.0, 4.0]) * labels
    found = find_cuts(values, labels, np.ones(150), n_classes, "mdl")
    expected = textbook(list(zip(values.tolist(), labels.tolist(), strict=True)))
    np.testing.assert_allclose(found, expected)


def test_an_uninformative_column_is_not_cut() -> None:
    random = np.random.default_rng(0)
    cuts = find_cuts(
        random.normal(size=5000), random.integers(2, size=5000), np.ones(5000), 2, "mdl"
    )
    assert cuts.size == 0


def test_many_different_values_are_cut() -> None:
    """Beyond 256 values cuts are near those of the textbook."""
    values = np.random.default_rng(0).random(20_000)
    labels = (values > 0.3).astype(np.intp) + (values > 0.75)
    cuts = find_cuts(values, labels, np.ones(20_000), 3, "mdl")
    assert min(abs(cuts - 0.3)) < 1 / 256
    assert min(abs(cuts - 0.75)) < 1 / 256


@pytest.mark.parametrize("n_bins", [2, 3, 7])
def test_bins_of_equal_weight(n_bins: int) -> None:
    random = np.random.default_rng(n_bins)
    values, weight = random.random(1000), random.integers(1, 5, size=1000).astype(float)
    cuts = find_cuts(values, np.zeros(1000, np.intp), weight, 1, n_bins)
    assert cuts.size == n_bins - 1
    masses = np.bincount(np.searchsorted(cuts, values), weight)
    np.testing.assert_allclose(masses, weight.sum() / n_bins, atol=4)


def test_few_values_get_one_bin_each() -> None:
    values = np.array([0.0] * 97 + [1.0, 5.0, 5.0])
    zeros, ones = np.zeros(100, np.intp), np.ones(100)
    np.testing.assert_array_equal(find_cuts(values, zeros, ones, 1, 5), [0.5, 3.0])
    np.testing.assert_array_equal(find_cuts(values, zeros, ones, 1, 2), [0.5])
    assert find_cuts(values[:97], zeros[:97], ones[:97], 1, 5).size == 0


def test_cuts_separate_neighbours_of_any_scale() -> None:
    values = np.array([-1.7e308, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2.0), 1.7e308])
    cuts = find_cuts(values, np.zeros(6, np.intp), np.ones(6), 1, 6)
    assert all(a <= cut < b for cut, (a, b) in zip(cuts, itertools.pairwise(values), strict=True))
    np.testing.assert_array_equal(np.searchsorted(cuts, values), np.arange(6))
