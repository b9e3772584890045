"""Weights found at the corners of lines equal those of an exhaustive search."""

import numpy as np
import pytest

from arboleda.decide._costs import best_decisions
from arboleda.decide._posterior_weights import compute_mean_cost, learn_weights


def _cost(weights: object, posteriors: np.ndarray, true: np.ndarray, costs: np.ndarray) -> float:
    decided = best_decisions(posteriors * np.asarray(weights), costs)
    return compute_mean_cost(true, decided, costs, None)


def test_with_two_classes_no_threshold_costs_less() -> None:
    draw = np.random.default_rng(0)
    for number in range(36):
        n = int(draw.integers(3, 40))
        p = draw.random(n).round(1 + number % 2)  # ties, and posteriors of 0 and 1
        posteriors, true = np.column_stack([1 - p, p]), draw.integers(2, size=n)
        costs = draw.integers(-2, 6, size=(2, 2)).astype(float)
        if number % 3 == 0:
            costs = draw.normal(size=(n, 2, 2))
        found = _cost(learn_weights(posteriors, true, costs, np.ones(n)), posteriors, true, costs)
        tried = [_cost([1.0, w], posteriors, true, costs) for w in np.geomspace(1e-4, 1e4, 200)]
        assert found <= min(tried) + 1e-12


def test_with_more_classes_no_single_weight_costs_less() -> None:
    draw = np.random.default_rng(1)
    for _ in range(8):
        posteriors, true = draw.dirichlet(np.ones(4), size=60), draw.integers(4, size=60)
        costs = draw.random((4, 4))
        weights = learn_weights(posteriors, true, costs, np.ones(60))
        found = _cost(weights, posteriors, true, costs)
        assert found <= _cost(np.ones(4), posteriors, true, costs) + 1e-12
        for k in range(4):
            for factor in np.geomspace(1e-3, 1e3, 200):
                other = weights.copy()
                other[k] *= factor
                assert found <= _cost(other, posteriors, true, costs) + 1e-12
        assert np.log(weights).sum() == pytest.approx(0.0, abs=1e-9)


def test_weights_correct_a_wrong_prior() -> None:
    # The model believes in equal shares; in truth the first class is 9 times the second.
    draw = np.random.default_rng(2)
    true = (draw.random(20_000) < 0.1).astype(int)
    x = draw.normal(2.0 * true)
    posteriors = np.exp(np.column_stack([-(x**2) / 2, -((x - 2) ** 2) / 2]))
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    weights = learn_weights(posteriors, true, 1 - np.eye(2), np.ones(len(x)))
    assert weights[0] / weights[1] == pytest.approx(9.0, rel=0.35)


def test_rows_of_weight_zero_are_ignored_and_rows_of_weight_two_count_twice() -> None:
    draw = np.random.default_rng(3)
    posteriors, true = draw.dirichlet(np.ones(3), size=50), draw.integers(3, size=50)
    times, costs = draw.integers(3, size=50), draw.random((3, 3))
    again = np.repeat(np.arange(50), times)
    by_weight = learn_weights(posteriors, true, costs, times.astype(float))
    by_rows = learn_weights(posteriors[again], true[again], costs, np.ones(len(again)))
    np.testing.assert_allclose(by_weight, by_rows)
    tiny = learn_weights(posteriors, true, costs * 1e-300, times * 1e-300)
    np.testing.assert_allclose(tiny, by_weight)


def test_weights_stay_equal_where_nothing_can_be_gained() -> None:
    posteriors = np.array([[0.9, 0.1], [0.2, 0.8]])
    costs = 1 - np.eye(2)
    assert learn_weights(posteriors, np.array([0, 1]), costs, np.ones(2)).tolist() == [1, 1]
    assert learn_weights(posteriors, np.array([1, 0]), costs * 0, np.ones(2)).tolist() == [1, 1]
    certain = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert learn_weights(certain, np.array([0, 1]), costs, np.ones(2)).tolist() == [1, 1]
