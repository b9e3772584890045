"""Forests of random tables: properties for any table, weights and parameters."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.forest.tables import bytes_of
from tests.property.strategies import Array, Problem, checked, predictions, problems

from arboleda import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)


@st.composite
def forests(draw: st.DrawFn) -> dict[str, Any]:
    """Parameters of a small forest."""
    choices: dict[str, st.SearchStrategy[Any]] = {
        "max_depth": st.integers(1, 4),
        "max_leaf_nodes": st.integers(2, 7),
        "min_samples_leaf": st.integers(1, 4),
        "max_features": st.sampled_from([1, "sqrt", None]),
        "max_samples": st.one_of(st.just(1), st.floats(0.05, 1.0)),
        "voting": st.sampled_from(["hard", "laplace"]),
        "class_weight": st.sampled_from(["balanced", "balanced_subsample"]),
    }
    names = draw(st.sets(st.sampled_from(sorted(choices)), max_size=3))
    parameters = {name: draw(choices[name]) for name in sorted(names)}
    return {
        **parameters,
        "n_estimators": draw(st.integers(1, 6)),
        "random_state": draw(st.integers(0, 5)),
        "extra": draw(st.booleans()),
    }


def fitted(problem: Problem, parameters: dict[str, Any], **more: Any) -> Any:
    parameters = {"bootstrap": True, "criterion": problem.criterion, **parameters, **more}
    extra = parameters.pop("extra")
    if problem.is_classification:
        forest = ExtraTreesClassifier if extra else RandomForestClassifier
    else:
        forest = ExtraTreesRegressor if extra else RandomForestRegressor
        for name in ("voting", "class_weight"):
            parameters.pop(name, None)
    model = forest(**parameters, **problem.parameters)
    return model.fit(problem.X, problem.y, problem.weight)


# A bag may hold no amount at all, of which there is no Poisson deviance.
_CRITERIA = ("gini", "entropy", "misclassification", "squared_error", "absolute_error")
some_problems = problems(criteria=_CRITERIA)


def votes(model: Any, tree: Any, X: Array) -> Array:
    """What one tree of a forest votes on every row, output by output."""
    leaf = tree.tree_.predict(tree._check_input(X))
    voting = getattr(model, "voting", "soft")
    if voting == "soft":
        return leaf
    weight = tree.tree_.weighted_n_node_samples[tree.apply(X)][:, np.newaxis]
    parts = []
    for part in np.split(leaf, np.cumsum(model._value_widths())[:-1], axis=1):
        k = part.shape[1]
        hard = np.eye(k)[part.argmax(axis=1)]
        parts.append(hard if voting == "hard" else (part * weight + 1.0) / (weight + k))
    return np.hstack(parts)


@checked
@given(some_problems, forests())
def test_a_forest_is_the_mean_of_its_trees(problem: Problem, parameters: dict[str, Any]) -> None:
    model = fitted(problem, parameters)
    mean = np.mean([votes(model, tree, problem.X) for tree in model.estimators_], axis=0)
    found = predictions(model, problem.X).reshape(mean.shape)
    np.testing.assert_allclose(found, mean, rtol=1e-12, atol=1e-12)
    one = [predictions(model, problem.X[i : i + 1]) for i in range(len(problem.X))]
    np.testing.assert_array_equal(np.concatenate(one).reshape(mean.shape), found)


@checked
@given(some_problems, forests(), st.integers(1, 5))
def test_warm_starts_keep_the_first_trees(
    problem: Problem, parameters: dict[str, Any], n_more: int
) -> None:
    small = fitted(problem, parameters, warm_start=True)
    n_trees = parameters["n_estimators"] + n_more
    large = fitted(problem, {**parameters, "n_estimators": n_trees})
    before = bytes_of(small)
    assert bytes_of(large)[: len(before)] == before
    small.set_params(n_estimators=n_trees).fit(problem.X, problem.y, problem.weight)
    assert bytes_of(small) == bytes_of(large)


@checked
@given(some_problems, forests())
def test_bags_and_out_of_bag_rows_are_complete(
    problem: Problem, parameters: dict[str, Any]
) -> None:
    model = fitted(problem, parameters)
    n_rows = len(problem.X)
    used = problem.full_weight > 0.0
    sums, counts = 0.0, np.zeros(n_rows, dtype=int)
    for tree, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        left_out = ~np.isin(np.arange(n_rows), drawn)
        assert used[drawn].all()
        assert tree.tree_.n_node_samples[0] == np.count_nonzero(~left_out)
        sums = sums + np.where(left_out[:, None], votes(model, tree, problem.X), 0.0)
        counts += left_out
    found, found_counts = model._training_rows(problem.X, problem.y).sum_votes()
    np.testing.assert_array_equal(found_counts, counts * used)
    np.testing.assert_allclose(found, sums * used[:, None], rtol=1e-12, atol=1e-12)


@checked
@given(some_problems, forests())
def test_predictions_lie_within_the_range_of_the_target(
    problem: Problem, parameters: dict[str, Any]
) -> None:
    model = fitted(problem, parameters)
    fresh = np.where(np.isnan(problem.X), problem.X, problem.X[::-1] * 1.5)
    found = predictions(model, fresh).reshape(len(fresh), -1)
    if problem.is_classification:
        assert (found >= 0.0).all()
        np.testing.assert_allclose(found.sum(axis=1), problem.outputs.shape[1])
    else:
        assert (found >= problem.outputs.min(axis=0) - 1e-9).all()
        assert (found <= problem.outputs.max(axis=0) + 1e-9).all()


@checked
@given(problems(criteria=_CRITERIA, weighted=False), forests())
def test_unit_weights_change_nothing(problem: Problem, parameters: dict[str, Any]) -> None:
    plain = fitted(problem, parameters)
    ones = fitted(problem.replaced(weight=np.ones(len(problem.X))), parameters)
    assert bytes_of(plain) == bytes_of(ones)


@checked
@given(some_problems, forests())
def test_rows_of_weight_0_are_ignored(problem: Problem, parameters: dict[str, Any]) -> None:
    used = problem.full_weight > 0.0
    whole = fitted(problem, parameters)
    y, X = problem.y[used], problem.X[used]
    if problem.is_classification and any(
        len(np.unique(a)) != len(np.unique(b))
        for a, b in zip(problem.outputs.T, problem.outputs[used].T, strict=True)
    ):
        return  # then there are classes fewer, too
    weight = None if problem.weight is None else problem.weight[used]
    part = fitted(problem.replaced(X=X, y=y, weight=weight), parameters)
    if "min_samples_leaf" not in parameters and not problem.categorical:
        np.testing.assert_array_equal(predictions(whole, problem.X), predictions(part, problem.X))
