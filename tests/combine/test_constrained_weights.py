"""Weights under constraints: equal to scipy's solvers of the same problem, and optimal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize, nnls

from arboleda.combine import _weighted_mean as _constrained_weights
from arboleda.combine._weighted_mean import constrained_weights


def regression(seed: int, n_members: int = 5, n_rows: int = 80) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    target = 100 * random.normal(size=n_rows) + 20
    noise = random.uniform(10, 150, n_members)[:, None]
    outputs = target + noise * random.normal(size=(n_members, n_rows)) + 5
    return outputs, target, random.uniform(0.1, 3, n_rows)


def error(weights: Any, outputs: Any, target: Any, sample_weight: Any) -> float:
    if outputs.ndim == 3:
        target = (target[:, None] == np.arange(outputs.shape[2])).astype(float)
        sample_weight = sample_weight[:, None]
    mean = np.tensordot(weights, outputs, 1)
    return float((sample_weight * (mean - target) ** 2).sum())


@pytest.mark.parametrize("seed", range(5))
def test_nonnegative_weights_match_scipys_solver(seed: int) -> None:
    outputs, target, weight = regression(seed)
    root = np.sqrt(weight)
    expected, _ = nnls((outputs * root).T, target * root)
    found = constrained_weights(outputs, target, "nonnegative", weight)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_simplex_weights_match_a_general_solver(seed: int, scale: float) -> None:
    outputs, target, weight = regression(seed)
    found = constrained_weights(outputs * scale, target * scale, "simplex", weight)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1, abs=1e-12)
    size = error(np.full(5, 0.2), outputs, target, weight)
    solved = minimize(
        lambda a: error(a, outputs, target, weight) / size,
        np.full(5, 0.2),
        method="SLSQP",
        bounds=[(0, 1)] * 5,
        constraints=LinearConstraint(np.ones(5), 1, 1),
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(found, solved.x, atol=1e-5)
    assert error(found, outputs, target, weight) <= solved.fun * size * (1 + 1e-9)


def test_simplex_weights_of_probabilities_are_optimal() -> None:
    """No pair of members gains by moving weight from one to the other (the conditions of Kuhn and
    Tucker): the gradient is least, and equal, where there is weight."""
    random = np.random.default_rng(3)
    target = random.integers(0, 3, 200)
    outputs = random.dirichlet(np.ones(3), (6, 200)) + 0.7 * np.eye(3)[target]
    outputs /= outputs.sum(axis=2, keepdims=True)
    weights = constrained_weights(outputs, target, "simplex")
    residual = np.tensordot(weights, outputs, 1) - np.eye(3)[target]
    gradient = np.einsum("lrk,rk->l", outputs, residual)
    chosen = weights > 0
    np.testing.assert_allclose(gradient[chosen], gradient.min(), rtol=1e-8)


def test_weights_do_not_depend_on_the_block_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs, target, weight = regression(1, n_rows=333)
    whole = constrained_weights(outputs, target, "simplex", weight)
    monkeypatch.setattr(_constrained_weights, "_BLOCK", 40)
    np.testing.assert_allclose(constrained_weights(outputs, target, "simplex", weight), whole)


def test_equal_or_perfect_members_are_supported() -> None:
    target = np.array([1.0, 2.0, 4.0])
    twice = np.stack([target, target])
    for constraint in ("simplex", "nonnegative"):
        weights = constrained_weights(twice, target, constraint)  # type: ignore[arg-type]
        assert weights.sum() == pytest.approx(1)
    np.testing.assert_array_equal(constrained_weights(-twice, target, "nonnegative"), [0, 0])


def test_a_row_of_weight_two_counts_as_two_rows() -> None:
    outputs, target, _ = regression(2)
    weight = np.ones(80)
    weight[:10] = 2
    repeated = np.concatenate([np.arange(80), np.arange(10)])
    found = constrained_weights(outputs, target, "simplex", weight)
    twice = constrained_weights(outputs[:, repeated], target[repeated], "simplex")
    np.testing.assert_allclose(found, twice)
