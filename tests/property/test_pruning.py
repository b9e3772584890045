"""Pruning by validation rows: the theorems that hold for every problem."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import (
    CLASS_CRITERIA,
    Problem,
    arrays_of,
    checked,
    growth,
    predictions,
    problems,
)

from arboleda import PrunedTreeClassifier, PrunedTreeRegressor

_CRITERIA = (*CLASS_CRITERIA, "squared_error")


def pruned(problem: Problem, **parameters: Any) -> Any:
    if problem.criterion == "squared_error":
        return PrunedTreeRegressor(**problem.parameters, **parameters)
    return PrunedTreeClassifier(criterion=problem.criterion, **problem.parameters, **parameters)


def training_error(problem: Problem, model: Any) -> float:
    wrong = (
        (model.predict(problem.X) - problem.y) ** 2
        if problem.criterion == "squared_error"
        else model.predict(problem.X) != problem.y
    )
    return float(np.average(wrong, weights=problem.full_weight))


@checked
@given(
    problems(_CRITERIA, several=False), growth(), st.sampled_from(["min", "1se"]), st.integers(2, 4)
)
def test_the_selected_tree_matches_the_plain_one_at_its_alpha(
    problem: Problem, parameters: dict[str, Any], rule: str, cv: int
) -> None:
    cv = min(cv, int(np.count_nonzero(problem.full_weight)))
    if cv < 2:
        return
    model = pruned(problem, rule=rule, cv=cv, **parameters)
    model.fit(problem.X, problem.y, problem.weight)
    curve = model.pruning_curve_
    plain = problem.fit(ccp_alpha=max(model.ccp_alpha_, 5e-324), **parameters)
    assert arrays_of(model) == arrays_of(plain)
    assert curve.n_leaves[-1] == 1
    assert np.all(np.diff(curve.alpha) > 0)
    assert np.all(np.diff(curve.n_leaves) < 0)
    np.testing.assert_allclose(
        curve.train_error[model.best_index_], training_error(problem, model), rtol=1e-9, atol=1e-12
    )
    if problem.criterion != "squared_error":
        assert np.all((curve.mean_error >= 0) & (curve.mean_error <= 1))


@checked
@given(problems(_CRITERIA, several=False), growth())
def test_a_tree_validated_on_training_rows_is_no_worse_than_whole_or_root(
    problem: Problem, parameters: dict[str, Any]
) -> None:
    model = pruned(problem, pruning="reduced_error", **parameters)
    X, y, weight = problem.X, problem.y, problem.weight
    model.fit(X, y, weight, X_val=X, y_val=y, sample_weight_val=weight)
    whole = problem.fit(**parameters)
    root = problem.fit(ccp_alpha=1e300, **parameters)
    least = min(training_error(problem, whole), training_error(problem, root))
    assert training_error(problem, model) <= least + 1e-9 * (1 + abs(least))
    assert model.get_n_leaves() <= whole.get_n_leaves()
    # Pruning again by the same rows changes nothing that they see.
    again = pruned(problem, pruning="reduced_error", **parameters)
    again.fit(X, y, weight, X_val=X, y_val=y, sample_weight_val=weight)
    assert predictions(again, X).tobytes() == predictions(model, X).tobytes()
