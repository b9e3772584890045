"""Equivalent inputs give the same tree: sparse and dense, one output and the same twice."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.property.strategies import (
    CLASS_CRITERIA,
    REGRESSION_CRITERIA,
    Array,
    Problem,
    arrays_of,
    checked,
    growth,
    predictions,
    problems,
)


@st.composite
def mostly_zero(draw: st.DrawFn) -> Problem:
    """Problems of a few hundred rows whose columns are zero in most or some of them."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    criterion = draw(st.sampled_from([*CLASS_CRITERIA, *REGRESSION_CRITERIA]))
    shape = (draw(st.integers(30, 300)), 4)
    X = random.integers(-4, 9, shape) / draw(st.sampled_from([1.0, 8.0]))
    X = X * (random.random(shape) < [0.03, 0.1, 0.1, 0.6])
    if draw(st.booleans()):
        X[random.random(shape) < 0.02] = np.nan
    signal = np.nan_to_num(X) @ random.normal(size=(4, 2)) * 4 + random.normal(size=(shape[0], 2))
    y = np.round(np.abs(signal) if criterion == "poisson" else signal) / 2 + (
        criterion == "poisson"
    )
    if criterion in CLASS_CRITERIA:
        y = np.digitize(signal, [-1.0, 0.0, 1.0])
    weight = random.integers(0, 4, shape[0]) / 2.0 if draw(st.booleans()) else None
    return Problem(X, y if draw(st.booleans()) else y[:, 0], weight, criterion)


def assert_same_predictions(model: Any, X: Any, other: Any, Z: Array) -> None:
    np.testing.assert_array_equal(model.apply(X), other.apply(Z))
    np.testing.assert_array_equal(predictions(model, X), predictions(other, Z))
    assert (model.decision_path(X) != other.decision_path(Z)).nnz == 0


@checked
@given(mostly_zero(), growth(), st.sampled_from(["csr", "csc"]))
def test_sparse_tables_match_dense_ones(
    problem: Problem, parameters: dict[str, Any], form: str
) -> None:
    S = sparse.coo_array(problem.X).asformat(form)
    dense, model = problem.fit(**parameters), problem.replaced(X=S).fit(**parameters)
    assert arrays_of(dense) == arrays_of(model)
    assert_same_predictions(model, S, dense, problem.X)
    fresh = np.where(problem.X == 0, problem.X, problem.X[::-1] * 1.5 - 1)
    assert_same_predictions(model, sparse.csr_array(fresh), dense, fresh)


@checked
@given(problems(several=False), growth(), st.sampled_from([2, 4]))
def test_a_repeated_output_matches_a_single_one(
    problem: Problem, parameters: dict[str, Any], n_times: int
) -> None:
    """Twice and four times, because the sum of three equal scores may round."""
    one = problem.fit(**parameters)
    y = np.repeat(problem.y[:, None], n_times, axis=1)
    several = problem.replaced(y=y).fit(**parameters)
    assert arrays_of(one, "value", "impurity") == arrays_of(several, "value", "impurity")
    np.testing.assert_allclose(several.tree_.impurity, one.tree_.impurity, rtol=1e-12, atol=1e-15)
    for k in range(n_times):
        np.testing.assert_array_equal(several.tree_.value[:, k], one.tree_.value[:, 0])
