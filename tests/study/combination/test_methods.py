"""Rules learned from predictions: against their parts, and by what they must do."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from arboleda.combine._weighted_mean import constrained_weights
from arboleda.study.combination.methods import BAGS, METHODS, ROUNDS, fit_temperature
from arboleda.study.combination.rules import LinearRule, MeanRule, scale_by_temperature

BY_KEY = {method.key: method.fit for method in METHODS}


def make_classes(n: int = 300, n_members: int = 6, n_classes: int = 3, seed: int = 0):
    """Members of which the first knows most, and the last nothing."""
    draw = np.random.default_rng(seed)
    y = draw.integers(0, n_classes, n)
    truth = np.eye(n_classes)[y]
    strength = np.linspace(2.0, 0.0, n_members)[:, None, None]
    logits = strength * truth + draw.normal(size=(n_members, n, n_classes))
    p = np.exp(logits)
    return p / p.sum(axis=2, keepdims=True), y


def make_values(n: int = 300, seed: int = 0):
    draw = np.random.default_rng(seed)
    y = draw.normal(50.0, 10.0, n)
    return y + draw.normal(size=(4, n)) * np.array([[2.0], [2.0], [20.0], [200.0]]), y


@pytest.mark.parametrize("key", ["greedy_selection", "stacking"])
def test_a_rule_is_better_than_its_best_member_on_other_rows(key: str) -> None:
    outputs, y = make_classes(600)
    rule = BY_KEY[key](outputs[:, :300], y[:300], 0)
    predicted = rule(outputs[:, 300:])
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0)
    assert log_loss(y[300:], predicted) < min(log_loss(y[300:], p[300:]) for p in outputs)


@pytest.mark.parametrize("key", [key for key in BY_KEY if key != "soft_vote"])
def test_every_rule_of_values_drops_noise(key: str) -> None:
    outputs, y = make_values(600)
    predicted = BY_KEY[key](outputs[:, :300], y[:300], 0)(outputs[:, 300:])
    assert np.sqrt(np.mean((predicted - y[300:]) ** 2)) < 1.9


@pytest.mark.parametrize("key", BY_KEY)
def test_every_rule_gives_probabilities(key: str) -> None:
    outputs, y = make_classes(n_classes=2)
    predicted = BY_KEY[key](outputs, y, 0)(outputs)
    assert predicted.shape == (300, 2)
    assert predicted.min() >= 0.0
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0)


@pytest.mark.parametrize("key", BY_KEY)
def test_the_same_seed_gives_the_same_rule(key: str) -> None:
    outputs, y = make_classes()
    one, two = (BY_KEY[key](outputs, y, 3) for _ in range(2))
    assert np.array_equal(one(outputs), two(outputs))


def test_a_vote_is_the_mean_of_the_best_five() -> None:
    outputs, y = make_classes(n_members=7)
    rule = BY_KEY["soft_vote"](outputs, y, 0)
    assert isinstance(rule, MeanRule)
    assert sorted(rule.weights) == [0.0, 0.0, 0.2, 0.2, 0.2, 0.2, 0.2]
    assert rule.weights[0] == 0.2
    assert rule.weights[-1] == 0.0


def test_non_negative_weights_match_the_stack() -> None:
    outputs, y = make_values()
    rule = BY_KEY["nonnegative_stacking"](outputs, y, 0)
    assert isinstance(rule, MeanRule)
    np.testing.assert_allclose(rule.weights, constrained_weights(outputs, y, "nonnegative"))


def test_ridge_weights_do_not_depend_on_the_units() -> None:
    outputs, y = make_values()
    small = BY_KEY["stacking"](outputs, y, 0)
    large = BY_KEY["stacking"](1000 * outputs + 7, 1000 * y + 7, 0)
    assert isinstance(small, LinearRule)
    assert isinstance(large, LinearRule)
    np.testing.assert_allclose(small.coef, large.coef, atol=1e-9)


def test_a_target_without_spread_is_learned() -> None:
    outputs = np.full((3, 20), 5.0)
    for learn in BY_KEY.values():
        np.testing.assert_allclose(learn(outputs, np.full(20, 5.0), 0)(outputs), 5.0)


def test_greedy_weights_match_a_naive_twin() -> None:
    outputs, y = make_values(60)
    rule = BY_KEY["greedy_selection"](outputs, y, 5)
    draw = np.random.default_rng([5, len(outputs)])
    shares = []
    for _ in range(BAGS):
        times = draw.multinomial(len(y), np.full(len(y), 1 / len(y)))
        rows = np.repeat(np.arange(len(y)), times)
        shares.append(naive_shares(outputs[:, rows], y[rows]))
    assert isinstance(rule, MeanRule)
    np.testing.assert_allclose(rule.weights, np.mean(shares, axis=0))


def naive_shares(outputs: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Begin with as many of the best as have the best mean, add what helps, keep the best round."""

    def error(chosen: list[int]) -> float:
        return float(np.mean((outputs[chosen].mean(axis=0) - y) ** 2))

    everyone = range(len(outputs))
    ranked = sorted(everyone, key=lambda member: error([member]))
    n_first = min(range(1, len(outputs) + 1), key=lambda n: error(ranked[:n]))
    chosen = ranked[:n_first]
    rounds = [list(chosen)]
    for _ in range(ROUNDS):
        chosen = [*chosen, min(ranked, key=lambda member: error([*chosen, member]))]
        rounds.append(chosen)
    return np.bincount(min(rounds, key=error), minlength=len(outputs)) / len(min(rounds, key=error))


@pytest.mark.parametrize("seed", range(5))
def test_few_rows_change_a_temperature_less_than_many(seed: int) -> None:
    draw = np.random.default_rng(seed)

    def learned(n_rows: int) -> float:
        p = draw.dirichlet(np.ones(3), n_rows)
        y = (p.cumsum(axis=1) < draw.random((n_rows, 1))).sum(axis=1)
        return fit_temperature(scale_by_temperature(p, 0.5), y)

    assert 0.8 < learned(10) < 1.25
    assert learned(5_000) == pytest.approx(2.0, rel=0.1)


def test_the_fitted_temperature_inverts_a_known_one() -> None:
    draw = np.random.default_rng(0)
    p = draw.dirichlet(np.ones(3), 20_000)
    y = (p.cumsum(axis=1) < draw.random((len(p), 1))).sum(axis=1)
    assert fit_temperature(scale_by_temperature(p, 0.5), y) == pytest.approx(2.0, rel=0.05)
    assert fit_temperature(p, y) == pytest.approx(1.0, rel=0.05)
