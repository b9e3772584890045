"""Tests by permutation against their definitions and on exchangeable rows."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from arboleda.features._forest_selector import adjust_p_values, compute_p_values, standardize

Array = npt.NDArray[Any]


def naive_adjusted(statistics: Array) -> list[float]:
    """Step by step, from the column that stands out most: Westfall and Young (1993)."""
    seen = statistics[0]
    order = sorted(range(len(seen)), key=lambda j: -seen[j])
    found = [0.0] * len(seen)
    floor = 0.0
    for place, j in enumerate(order):
        rest = order[place:]
        at_least = sum(max(row[k] for k in rest) >= seen[j] for row in statistics)
        floor = max(floor, at_least / len(statistics))
        found[j] = floor
    return found


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_p_values_equal_their_naive_twin(seed: int) -> None:
    statistics = np.random.default_rng(seed).standard_normal((20, 7)).round(1)
    statistics[0, :2] += 3
    np.testing.assert_allclose(adjust_p_values(statistics), naive_adjusted(statistics))


def test_p_values_include_the_observed_value() -> None:
    statistics = np.array([[3.0, 0.0, 1.0], [1.0, 0.0, 2.0], [2.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(compute_p_values(statistics), [0.25, 1.0, 0.75])
    assert (adjust_p_values(statistics) >= compute_p_values(statistics)).all()


@pytest.mark.parametrize("size", [1.0, 1e-300, 1e300])
def test_columns_are_standardised(size: float) -> None:
    statistics = np.random.default_rng(0).standard_normal((30, 3))
    statistics[:, 1] = 0.7
    found = standardize(statistics * size)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(found.std(axis=0, ddof=1), [1.0, 0.0, 1.0], atol=1e-12)


def test_the_rate_of_false_positives_matches_the_level() -> None:
    """Of 2,000 families of five correlated columns without information."""
    random = np.random.default_rng(1)
    each, any_of_all = [], []
    for _ in range(2000):
        rows = random.standard_normal((20, 5)) + 2 * random.standard_normal((20, 1))
        scores = standardize(rows)
        each.append((compute_p_values(scores) <= 0.1).mean())
        any_of_all.append((adjust_p_values(scores) <= 0.1).any())
    assert np.mean(each) == pytest.approx(0.1, abs=0.02)
    assert np.mean(any_of_all) == pytest.approx(0.1, abs=3 * np.sqrt(0.09 / 2000))
