"""A sparse weighted linear model, beside the textbook's way to find it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.linear_model import LinearRegression

from arboleda.explain._lime_sampling import Moments, choose_columns, fit_columns

Floats = npt.NDArray[np.float64]


def problem(seed: int, n: int = 80, p: int = 7) -> tuple[Floats, Floats, Floats]:
    """Related columns, a target and weights."""
    random = np.random.default_rng(seed)
    columns = random.normal(size=(n, p)) @ random.normal(size=(p, p))
    target = columns @ random.normal(size=p) + random.normal(size=n)
    return columns, target, random.uniform(0.1, 2.0, size=n)


def naive_choice(columns: Floats, target: Floats, weight: Floats, most: int) -> list[int]:
    """Fit every longer set of columns, and keep the best."""
    chosen: list[int] = []
    for _ in range(most):
        scores = {
            j: LinearRegression()
            .fit(columns[:, [*chosen, j]], target, weight)
            .score(columns[:, [*chosen, j]], target, weight)
            for j in range(columns.shape[1])
            if j not in chosen
        }
        chosen.append(max(scores, key=lambda j: scores[j]))
    return chosen


@pytest.mark.parametrize("seed", range(5))
def test_columns_match_an_exhaustive_search_and_weights_least_squares(
    seed: int,
) -> None:
    columns, target, weight = problem(seed)
    moments = Moments.compute(columns, target, weight)
    chosen = choose_columns(moments, 4)
    assert chosen.tolist() == naive_choice(columns, target, weight, 4)
    found = fit_columns(moments, chosen)
    twin = LinearRegression().fit(columns[:, chosen], target, weight)
    np.testing.assert_allclose(found.weights, twin.coef_, rtol=1e-8)
    assert found.intercept == pytest.approx(twin.intercept_)
    assert found.fidelity == pytest.approx(twin.score(columns[:, chosen], target, weight))


def test_pooled_moments_match_those_of_all_rows() -> None:
    columns, target, weight = problem(9)
    whole = Moments.compute(columns, target, weight)
    parts = [
        Moments.compute(columns[rows], target[rows], weight[rows])
        for rows in (slice(0, 10), slice(10, 55), slice(55, 80))
    ]
    pooled = Moments.combine(parts)
    assert pooled.total == pytest.approx(whole.total)
    assert pooled.n_effective == pytest.approx(whole.n_effective)
    np.testing.assert_allclose(pooled.mean, whole.mean)
    np.testing.assert_allclose(pooled.covariance, whole.covariance)
    assert Moments.compute(columns, target, np.full(80, 3.0)).n_effective == pytest.approx(80)


def test_columns_that_add_nothing_are_left_out() -> None:
    columns, _, weight = problem(1)
    columns[:, 3] = columns[:, 2] * 5 - columns[:, 0]  # redundant
    columns[:, 4] = 7.0
    target = 2.0 * columns[:, 0] - columns[:, 2]
    moments = Moments.compute(columns, target, weight)
    chosen = choose_columns(moments, 7)
    assert len(chosen) == 2
    assert fit_columns(moments, chosen).fidelity == pytest.approx(1.0)


def test_a_constant_target_needs_no_column_and_is_explained_in_full() -> None:
    columns, _, weight = problem(2)
    moments = Moments.compute(columns, np.zeros(80), weight)
    chosen = choose_columns(moments, 3)
    found = fit_columns(moments, chosen)
    assert chosen.size == 0
    assert (found.intercept, found.fidelity, found.weights.size) == (0.0, 1.0, 0)


def test_identical_columns_share_their_weight() -> None:
    columns, _, weight = problem(3)
    columns[:, 1] = columns[:, 0]
    found = fit_columns(
        Moments.compute(columns, 4.0 * columns[:, 0], weight), np.array([0, 1], dtype=np.intp)
    )
    np.testing.assert_allclose(found.weights, [2.0, 2.0])


def test_zero_weights_leave_no_effective_sample() -> None:
    columns, target, _ = problem(4)
    none = Moments.compute(columns, target, np.zeros(80))
    assert none.n_effective == 0.0
    assert Moments.combine([none, none]).n_effective == 0.0
