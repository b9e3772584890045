"""Thresholds of single precision are equivalent to rounding float64 values first."""

import numpy as np
import pytest

from arboleda._utils.float32 import at_most_float32, rounded_at_most, rounded_below

TINY, LARGEST = np.finfo(np.float32).smallest_subnormal, np.finfo(np.float32).max


def thresholds(seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    exponent = random.integers(-150, 128, 80).astype(float)
    plain = random.normal(size=80) * 2.0**exponent
    special = [0.0, -0.0, TINY, -TINY, 0.4 * TINY, LARGEST, -LARGEST, 1e38, 1e300, -1e300, np.inf]
    halves = np.float32(plain[:20]).astype(float)
    with np.errstate(over="ignore"):
        middles = 0.5 * (halves + np.nextafter(np.float32(halves), np.float32(np.inf)))
    return np.concatenate([plain, special, halves, middles[np.isfinite(middles)]])


def neighbours(threshold: float) -> np.ndarray:
    """Values about a threshold, of both precisions, and between."""
    with np.errstate(over="ignore", under="ignore"):
        single = np.float32(threshold)
        near = [single]
        for _ in range(3):
            near = [
                np.nextafter(near[0], np.float32(-np.inf)),
                *near,
                np.nextafter(near[-1], np.float32(np.inf)),
            ]
        found = np.array(near, dtype=np.float64)
        found = np.concatenate([found, 0.5 * found[1:] + 0.5 * found[:-1], [threshold]])
        found = np.concatenate([found, np.nextafter(found, np.inf), np.nextafter(found, -np.inf)])
    return found[np.isfinite(found)]


@pytest.mark.parametrize("seed", range(3))
def test_values_are_routed_after_rounding(seed: int) -> None:
    for threshold in thresholds(seed):
        x = neighbours(threshold)
        with np.errstate(over="ignore", under="ignore"):
            rounded = x.astype(np.float32)
            single = np.float32(threshold)
        assert np.array_equal(x <= rounded_at_most(threshold), rounded.astype(float) <= threshold)
        assert np.array_equal(x <= rounded_below(single), rounded < single)


def test_thresholds_round_down_to_float32() -> None:
    found = at_most_float32(np.array([0.1, 0.5, -0.1, 1e300, -1e300, np.inf]))
    assert found.tolist() == [
        0.09999999403953552, 0.5, -0.10000000149011612, LARGEST, -np.inf, np.inf,
    ]  # fmt: skip
    assert found.dtype == np.float32


def test_infinite_thresholds_are_kept() -> None:
    assert rounded_at_most(np.inf) == np.inf
    assert rounded_below(np.inf) == np.nextafter(np.float64(LARGEST) + 2.0**103, 0.0)
    assert rounded_below(-np.inf) == -np.inf
