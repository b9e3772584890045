"""The expected calibration error: its definition, its bias, its interval."""

from typing import Any

import numpy as np
import pytest

from arboleda.metrics import calibration_error, expected_calibration_error, reliability_table


def _naive(happened: np.ndarray, probability: np.ndarray, n_bins: int) -> float:
    """In the order of the paper: bins ((m - 1) / M, m / M], |acc - conf| weighted by rows."""
    total = 0.0
    for m in range(1, n_bins + 1):
        low, high = (m - 1) / n_bins, m / n_bins
        inside = (probability <= high) & ((probability > low) | ((m == 1) & (probability == 0)))
        if inside.any():
            gap = abs(happened[inside].mean() - probability[inside].mean())
            total += inside.sum() / len(probability) * gap
    return total


def _classes(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(4)
    return draw.integers(4, size=n), draw.dirichlet(np.ones(4), size=n)


def test_the_error_matches_its_definition() -> None:
    true, shares = _classes()
    top = expected_calibration_error(true, shares, n_bins=8)
    assert top == pytest.approx(_naive(shares.argmax(axis=1) == true, shares.max(axis=1), 8))
    each = [_naive(true == k, shares[:, k], 8) for k in range(4)]
    classes = expected_calibration_error(true, shares, n_bins=8, of="classes")
    assert classes == pytest.approx(np.mean(each))


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_error_matches_the_reliability_table(strategy: str) -> None:
    true, shares = _classes()
    table = reliability_table(true, shares, strategy=strategy)
    ece = expected_calibration_error(true, shares, strategy=strategy)
    assert ece == pytest.approx(table.expected_calibration_error)


def test_a_worked_example() -> None:
    # Bin (0, 1/2]: predicted 0.4 for 5 rows of which 1 is true; bin (1/2, 1]: 0.9 of 5, all true.
    true, probability = [1, 0, 0, 0, 0, 1, 1, 1, 1, 1], [0.4] * 5 + [0.9] * 5
    ece = expected_calibration_error(true, probability, of="classes", n_bins=2)
    assert ece == pytest.approx(0.5 * 0.2 + 0.5 * 0.1)


def test_the_error_of_a_calibrated_model_is_within_chance() -> None:
    draw = np.random.default_rng(0)
    within = 0
    for seed in range(40):
        probability = draw.random(400)
        error = calibration_error(
            draw.random(400) < probability,
            probability,
            of="classes",
            n_resamples=100,
            random_state=seed,
        )
        within += error.value <= error.largest_by_chance
        assert (error.low == 0.0) == (error.value <= error.largest_by_chance)
    assert 34 <= within <= 40  # 38 of 40 are expected
    assert 0.03 < error.expected_by_chance < 0.07


def test_the_interval_covers_the_error_of_an_overconfident_model() -> None:
    draw = np.random.default_rng(1)
    held = 0
    for seed in range(40):
        probability = draw.random(1000)
        true = draw.random(1000) < 0.5 + 0.6 * (probability - 0.5)  # the true error is 0.1
        error = calibration_error(
            true, probability, of="classes", n_resamples=100, random_state=seed
        )
        held += error.low <= 0.1 <= error.high
    assert held >= 33  # 36 or 37 are expected


def test_many_classes_are_simulated_from_their_probabilities() -> None:
    draw = np.random.default_rng(2)
    shares = draw.dirichlet(np.ones(4), size=3000)
    true = np.array([draw.choice(4, p=row) for row in shares])
    for of in ("top", "classes"):
        error = calibration_error(true, shares, of=of, n_resamples=100, random_state=0)
        assert 0.4 < error.value / error.expected_by_chance < 1.8
    reversed_ = calibration_error(3 - true, shares, n_resamples=50, random_state=0)
    assert reversed_.low > reversed_.largest_by_chance


def test_draws_are_determined_by_the_seed() -> None:
    true, shares = _classes()
    first, again = (
        calibration_error(true, shares, n_resamples=20, random_state=7) for _ in range(2)
    )
    assert first == again


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 2.5}, "n_resamples=2.5"),
        ({"n_bins": 2.5}, "n_bins=2.5"),
        ({"n_bins": "ten"}, "n_bins='ten'"),
        ({"n_bins": None}, "n_bins=None"),
    ],
)
def test_counts_must_be_integers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        calibration_error([0, 1], [0.5, 0.5], **options)


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="of='all'"):
        expected_calibration_error([0, 1], [0.5, 0.5], of="all")
    with pytest.raises(ValueError, match="n_resamples=0"):
        calibration_error([0, 1], [0.5, 0.5], n_resamples=0)
    with pytest.raises(ValueError, match="confidence_level=95"):
        calibration_error([0, 1], [0.5, 0.5], confidence_level=95)
