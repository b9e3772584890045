"""Categories are names: labels, lists and order do not matter.

One exception is documented: where no category of a node differs from another in what the criterion
orders them by, they are parted in the order of their labels. Such nodes are left out here.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.property.strategies import (
    CATEGORIES,
    Array,
    Problem,
    arrays_of,
    checked,
    growth,
    predictions,
    problems,
)
from tests.tree.naive import rows_of_nodes

N_LEVELS = 7
_WITH_CATEGORIES = problems().filter(lambda problem: bool(problem.categorical))


def centres(problem: Problem, rows: Array) -> Array:
    """What the criterion orders categories by: class shares, or means, of every output."""
    y, weight = problem.outputs[rows], problem.full_weight[rows]
    if problem.is_classification:
        y = np.hstack([y == k for k in range(4)]).astype(float)
    return np.asarray(weight @ y / weight.sum())


def parts_by_label(problem: Problem, model: Any) -> bool:
    """Return whether a node separates categories that differ only in their labels."""
    for node, passing in enumerate(rows_of_nodes(model, problem.X)):
        feature = model.tree_.feature[node]
        if feature not in problem.categorical:
            continue
        here = passing[problem.full_weight[passing] > 0]
        label = np.nan_to_num(problem.X[here, feature], nan=-1.0)
        keys = np.array([centres(problem, here[label == k]) for k in np.unique(label)])
        if np.allclose(keys, keys[0], rtol=1e-12, atol=1e-12):
            return True
    return False


@checked
@given(_WITH_CATEGORIES, growth(at_random=False), st.permutations(range(N_LEVELS)))
def test_new_names_change_nothing(
    problem: Problem, parameters: dict[str, Any], names: list[int]
) -> None:
    X = problem.X.copy()
    for j in problem.categorical:
        known = ~np.isnan(X[:, j])
        X[known, j] = np.array(names)[X[known, j].astype(int)]
    renamed = problem.replaced(X=X)
    model, other = problem.fit(**parameters), renamed.fit(**parameters)
    assume(not parts_by_label(problem, model) and not parts_by_label(renamed, other))
    assert arrays_of(model, CATEGORIES) == arrays_of(other, CATEGORIES)
    kept = problem.full_weight > 0  # what training did not see, no node lists
    np.testing.assert_array_equal(model.apply(problem.X[kept]), other.apply(X[kept]))


def as_frame(problem: Problem, levels: list[int]) -> pd.DataFrame:
    """The table with its categories as text, their dtype listing these levels in this order."""
    frame = pd.DataFrame(problem.X).rename(columns=str)
    dtype = pd.CategoricalDtype([f"level {k}" for k in levels])
    for j in problem.categorical:
        labels = [None if np.isnan(x) else f"level {int(x)}" for x in problem.X[:, j]]
        frame[str(j)] = pd.Series(labels, dtype=object).astype(dtype)
    return frame


@checked
@given(
    _WITH_CATEGORIES,
    growth(),
    st.permutations(range(N_LEVELS + 3)),
    st.permutations(range(N_LEVELS + 3)),
)
def test_the_dtype_can_list_levels_in_any_order_and_unused_ones(
    problem: Problem, parameters: dict[str, Any], at_fit: list[int], later: list[int]
) -> None:
    plain = problem.fit(**parameters)
    frame = as_frame(problem, at_fit)
    model = type(plain)(criterion=problem.criterion, **parameters)
    model.fit(frame, problem.y, sample_weight=problem.weight)
    assert arrays_of(model) == arrays_of(plain)
    for levels in (later, [k for k in later if (k == problem.X).any()]):
        again = as_frame(problem, levels)
        np.testing.assert_array_equal(model.apply(again), plain.apply(problem.X))
        np.testing.assert_array_equal(predictions(model, again), predictions(plain, problem.X))


@checked
@given(_WITH_CATEGORIES, growth(), st.integers(0, 2**32 - 1))
def test_unseen_labels_follow_missing_values(
    problem: Problem, parameters: dict[str, Any], seed: int
) -> None:
    model = problem.fit(**parameters)
    hidden = np.zeros(problem.X.shape, dtype=bool)
    hidden[:, problem.categorical] = True
    hidden &= np.random.default_rng(seed).random(hidden.shape) < 0.5
    unseen, missing = problem.X.copy(), problem.X.copy()
    unseen[hidden], missing[hidden] = N_LEVELS + 5, np.nan
    np.testing.assert_array_equal(model.apply(unseen), model.apply(missing))


def test_labels_separate_categories_with_equal_targets() -> None:
    """The documented exception: equal means, so that labels decide; any names leave equal loss."""
    x = np.array([0.0, 0.0, 1.0, 1.0])[:, None]
    problem = Problem(x, np.array([0.0, 2.0, 2.0, 0.0]), None, "squared_error", (0,))
    renamed = problem.replaced(X=1.0 - x)
    assert parts_by_label(problem, problem.fit())
    losses = [p.fit().tree_.impurity[1:].sum() for p in (problem, renamed)]
    assert losses[0] == losses[1] == pytest.approx(2.0)
