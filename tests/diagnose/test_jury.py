"""Condorcet's jury theorem beside its formula, beside votes drawn at random, and at its ends."""

from itertools import product
from math import comb

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from arboleda.diagnose import jury_accuracy, jury_curves


def test_the_jury_matches_the_textbook() -> None:
    assert round(1 - jury_accuracy(0.7, 21), 3) == 0.026


@settings(max_examples=60, deadline=None)
@given(st.floats(0, 1), st.integers(1, 40))
def test_independent_votes_are_binomial(p: float, n: int) -> None:
    terms = [comb(n, m) * p**m * (1 - p) ** (n - m) for m in range(n // 2 + 1, n + 1)]
    assert jury_accuracy(p, n) == pytest.approx(sum(terms), abs=1e-12)


@pytest.mark.parametrize("n", [1, 3, 21, 1001])
def test_voters_at_chance_level_stay_at_chance_level(n: int) -> None:
    assert jury_accuracy(0.5, n) == pytest.approx(0.5, abs=1e-9)
    assert jury_accuracy(0.5, n, correlation=0.3) == pytest.approx(0.5, abs=1e-9)


def test_a_tie_is_not_a_majority() -> None:
    assert jury_accuracy(0.5, 2) == pytest.approx(0.25)
    assert jury_accuracy(0.7, 4) < jury_accuracy(0.7, 3)


def test_more_voters_help_if_better_than_chance_and_harm_if_worse() -> None:
    curves = jury_curves([0.4, 0.6], range(1, 200, 2))
    worse, better = curves.accuracy[:, 0]
    assert (np.diff(worse) < 0).all()
    assert (np.diff(better) > 0).all()
    assert worse[-1] < 0.01 < 0.99 < better[-1]


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 0.99), st.integers(1, 40), st.floats(0.001, 0.99))
def test_correlated_votes_are_beta_binomial(p: float, n: int, c: float) -> None:
    a, b = p * (1 - c) / c, (1 - p) * (1 - c) / c
    expected = stats.betabinom.pmf(np.arange(n // 2 + 1, n + 1), n, a, b).sum()
    assert jury_accuracy(p, n, correlation=c) == pytest.approx(expected, abs=1e-8)


def test_two_votes_have_the_given_correlation() -> None:
    # P(both right) of two voters is p^2 + c p (1 - p); of two, a majority is both.
    for p, c in product([0.2, 0.5, 0.9], [0.0, 0.1, 0.7, 1.0]):
        if c < 1:
            assert jury_accuracy(p, 2, correlation=c) == pytest.approx(p * p + c * p * (1 - p))
        else:
            assert jury_accuracy(p, 2, correlation=c) == p


def test_simulated_votes_agree() -> None:
    random = np.random.default_rng(0)
    p, c, n, cases = 0.6, 0.2, 15, 200_000
    share = random.beta(p * (1 - c) / c, (1 - p) * (1 - c) / c, size=cases)
    right = random.binomial(n, share) > n // 2
    expected = jury_accuracy(p, n, correlation=c)
    assert abs(right.mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / cases)


def test_tiny_correlations_and_many_voters_are_accurate() -> None:
    assert jury_accuracy(0.7, 21, correlation=1e-12) == pytest.approx(jury_accuracy(0.7, 21))
    # Infinitely many correlated voters are right as often as the beta distribution exceeds 1/2.
    limit = stats.beta(0.6 * 4, 0.4 * 4).sf(0.5)
    assert jury_accuracy(0.6, 100_001, correlation=0.2) == pytest.approx(limit, abs=1e-4)
    assert jury_accuracy(0.0, 9, correlation=0.5) == 0
    assert jury_accuracy(1.0, 9, correlation=0.5) == 1
    assert jury_accuracy(1.0, 9) == 1


def test_curves_give_a_frame_and_a_plot() -> None:
    curves = jury_curves([0.6, 0.7], [1, 5, 9], correlation=[0, 0.1])
    frame = curves.to_frame()
    assert list(frame.columns) == ["p", "correlation", "size", "accuracy"]
    row = frame[(frame.p == 0.7) & (frame.correlation == 0.1) & (frame["size"] == 5)]
    assert row.accuracy.item() == jury_accuracy(0.7, 5, correlation=0.1)
    axes = curves.plot()
    assert [line.get_label() for line in axes.lines] == [
        "p = 0.6, correlation 0", "p = 0.6, correlation 0.1",
        "p = 0.7, correlation 0", "p = 0.7, correlation 0.1",
    ]  # fmt: skip
    np.testing.assert_array_equal(axes.lines[3].get_ydata(), curves.accuracy[1, 1])
    plt.close(axes.figure)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.2, 3, 0), "p must be a number from 0 to 1; got 1.2"),
        ((float("nan"), 3, 0), "p must be a number"),
        ((0.5, 0, 0), "n_voters must be a whole number of at least 1; got 0"),
        ((0.5, 2.5, 0), "n_voters must be a whole number"),
        ((0.5, 3, -0.1), "correlation must be a number from 0 to 1; got -0.1"),
    ],
)
def test_invalid_juries_are_refused(arguments: tuple, message: str) -> None:
    p, n, c = arguments
    with pytest.raises(ValueError, match=message):
        jury_accuracy(p, n, correlation=c)
