"""Bagging, random subspaces and class switching: properties for any table and member."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier as OtherClassifier
from sklearn.tree import DecisionTreeRegressor as OtherRegressor
from tests.property.strategies import Array, Problem, checked, predictions, problems

from arboleda import (
    BaggingClassifier,
    BaggingRegressor,
    ClassSwitchingClassifier,
    DecisionTreeClassifier,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)
from arboleda.bagging._sampling import RowsToDraw, compute_switching_limit, switch_labels

pytestmark = pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")

some_problems = problems(criteria=("gini", "squared_error"), categories=False, several=False)
# Members that the engine grows, that can weigh rows, and that get them by index.
_MEMBERS = {
    "ours": (None, None),
    "weighing": (OtherClassifier(max_depth=3), OtherRegressor(max_depth=3)),
    "by index": (KNeighborsClassifier(1), KNeighborsRegressor(1)),
}


@st.composite
def ensembles(draw: st.DrawFn, kinds: tuple[str, ...] = tuple(_MEMBERS)) -> dict[str, Any]:
    """Parameters of bagging; "member" names the kind of its members."""
    return {
        "member": draw(st.sampled_from(kinds)),
        "n_estimators": draw(st.integers(1, 5)),
        "max_samples": draw(st.sampled_from([None, 1, 0.5, 1.0])),
        "max_features": draw(st.sampled_from([1, 0.5, 1.0])),
        "bootstrap": draw(st.booleans()),
        "random_state": draw(st.integers(0, 5)),
    }


def fitted(problem: Problem, parameters: dict[str, Any], **more: Any) -> Any:
    """Fit bagging; `make` is the class, or a pair of those for classes and for numbers."""
    parameters = {**parameters, **more}
    make = parameters.pop("make", (BaggingClassifier, BaggingRegressor))
    number = int(not problem.is_classification)
    member = _MEMBERS[parameters.pop("member")][number]
    model = make[number](member, **parameters)
    return model.fit(problem.X, problem.y, problem.weight)


def complete(problem: Problem) -> Problem:
    """Return the problem without missing values, which not all members know."""
    return problem.replaced(X=np.nan_to_num(problem.X, nan=7.0))


def output(model: Any, member: Any, columns: Array, X: Array) -> Array:
    """Return a member's shares of all classes, or its values; of shape (rows, outputs)."""
    if not hasattr(model, "classes_"):
        return member.predict(X[:, columns])[:, np.newaxis]
    shares = np.zeros((len(X), len(model.classes_)))
    shares[:, np.asarray(member.classes_, dtype=int)] = member.predict_proba(X[:, columns])
    return shares


def outputs(model: Any, X: Array) -> list[Array]:
    members = zip(model.estimators_, model.estimators_features_, strict=True)
    return [output(model, member, columns, X) for member, columns in members]


@checked
@given(some_problems, ensembles())
def test_an_ensemble_is_the_mean_of_its_members(
    problem: Problem, parameters: dict[str, Any]
) -> None:
    problem = complete(problem)
    model = fitted(problem, parameters)
    found = predictions(model, problem.X).reshape(len(problem.X), -1)
    np.testing.assert_allclose(found, np.mean(outputs(model, problem.X), axis=0), atol=1e-12)


@checked
@given(some_problems, ensembles())
def test_bags_and_out_of_bag_rows_are_complete(
    problem: Problem, parameters: dict[str, Any]
) -> None:
    problem = complete(problem)
    used = problem.full_weight > 0
    draws_all = not parameters["bootstrap"] and parameters["max_samples"] in (None, 1.0)
    is_scored = not draws_all and np.count_nonzero(used) > 1
    model = fitted(problem, parameters, oob_score=is_scored)
    n_rows = len(problem.X)
    sums, counts = 0.0, np.zeros(n_rows, dtype=int)
    for rows, member_outputs in zip(
        model.estimators_samples_, outputs(model, problem.X), strict=True
    ):
        assert used[rows].all()
        if not parameters["bootstrap"]:
            assert len(np.unique(rows)) == len(rows)
        iter_left_out_rows = used & ~np.isin(np.arange(n_rows), rows)
        # Each row that could be drawn is either in the bag or left out.
        assert np.count_nonzero(iter_left_out_rows) + len(np.unique(rows)) == np.count_nonzero(used)
        sums = sums + np.where(iter_left_out_rows[:, np.newaxis], member_outputs, 0.0)
        counts += iter_left_out_rows
    if not is_scored:
        return
    is_classifier = problem.is_classification
    found = model.oob_decision_function_ if is_classifier else model.oob_prediction_[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(found, sums / counts[:, np.newaxis], atol=1e-12)
    assert model.oob_curve().n_rows[-1] == np.count_nonzero(counts)


@checked
@given(some_problems, ensembles(), st.integers(1, 4))
def test_warm_starts_keep_the_first_members(
    problem: Problem, parameters: dict[str, Any], n_more: int
) -> None:
    problem = complete(problem)
    small = fitted(problem, parameters, warm_start=True)
    n_members = parameters["n_estimators"] + n_more
    large = fitted(problem, parameters, n_estimators=n_members)
    first = outputs(large, problem.X)[: len(small)]
    np.testing.assert_array_equal(outputs(small, problem.X), first)
    small.set_params(n_estimators=n_members).fit(problem.X, problem.y, problem.weight)
    np.testing.assert_array_equal(predictions(small, problem.X), predictions(large, problem.X))
    for one, other in zip(small.estimators_samples_, large.estimators_samples_, strict=True):
        np.testing.assert_array_equal(one, other)


@checked
@given(problems(criteria=("gini",), categories=False, several=False), ensembles(("ours",)))
def test_a_row_counts_as_often_as_it_was_drawn_times_its_weight(
    problem: Problem, parameters: dict[str, Any]
) -> None:
    """The tree of a bag equals one fitted on its repeated rows."""
    weight = (4 * problem.full_weight).astype(int)
    _, labels = np.unique(problem.y, return_inverse=True)
    problem = problem.replaced(y=labels, weight=weight.astype(float))
    model = fitted(problem, parameters)
    for member, rows, columns in zip(
        model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
    ):
        written = np.repeat(rows, weight[rows])
        alone = DecisionTreeClassifier().fit(problem.X[np.ix_(written, columns)], labels[written])
        shares = np.zeros((len(labels), len(model.classes_)))
        shares[:, alone.classes_] = alone.predict_proba(problem.X[:, columns])
        np.testing.assert_allclose(member.predict_proba(problem.X[:, columns]), shares, atol=1e-12)


@checked
@given(some_problems, ensembles(("ours",)), st.integers(-20, 20))
def test_weights_are_relative(problem: Problem, parameters: dict[str, Any], exponent: int) -> None:
    plain = predictions(fitted(problem, parameters), problem.X)
    scaled = problem.replaced(weight=np.ldexp(problem.full_weight, exponent))
    np.testing.assert_array_equal(predictions(fitted(scaled, parameters), problem.X), plain)


@checked
@given(some_problems, ensembles(("ours", "by index")), st.integers(-60, 60))
def test_scaling_by_a_power_of_two_scales_predictions(
    problem: Problem, parameters: dict[str, Any], exponent: int
) -> None:
    problem = complete(problem)
    X, y = np.ldexp(problem.X, exponent), problem.y
    of_target = 0 if problem.is_classification else exponent
    if of_target:
        y = np.ldexp(y, of_target)
    plain = predictions(fitted(problem, parameters), problem.X)
    scaled = predictions(fitted(problem.replaced(X=X, y=y), parameters), X)
    np.testing.assert_array_equal(np.ldexp(scaled, -of_target), plain)


@checked
@given(
    problems(criteria=("gini",), categories=False, several=False),
    ensembles(),
    st.sampled_from(["bagging", "subspace", "switching"]),
)
def test_names_of_classes_do_not_matter(
    problem: Problem, parameters: dict[str, Any], kind: str
) -> None:
    problem = complete(problem)
    names = np.array(["ant", "bee", "cow", "dog"])
    if kind != "bagging":
        parameters = {k: v for k, v in parameters.items() if k not in ("max_samples", "bootstrap")}
    if kind == "switching":
        del parameters["max_features"]
    makes = {
        "bagging": BaggingClassifier,
        "subspace": RandomSubspaceClassifier,
        "switching": ClassSwitchingClassifier,
    }
    make = (makes[kind],)
    numbered = fitted(problem, parameters, make=make)
    named = fitted(problem.replaced(y=names[problem.y]), parameters, make=make)
    np.testing.assert_array_equal(named.predict_proba(problem.X), numbered.predict_proba(problem.X))
    np.testing.assert_array_equal(named.predict(problem.X), names[numbered.predict(problem.X)])


@checked
@given(some_problems, st.integers(0, 5), st.randoms(use_true_random=False))
def test_subspaces_do_not_depend_on_row_order(problem: Problem, seed: int, random: Any) -> None:
    order = list(range(len(problem.y)))
    random.shuffle(order)
    weight = None if problem.weight is None else problem.weight[order]
    shuffled = problem.replaced(X=problem.X[order], y=problem.y[order], weight=weight)
    make = (RandomSubspaceClassifier, RandomSubspaceRegressor)
    parameters = {"member": "ours", "make": make, "n_estimators": 4, "max_features": 0.5}
    one, other = (fitted(p, parameters, random_state=seed) for p in (problem, shuffled))
    np.testing.assert_array_equal(predictions(one, problem.X), predictions(other, problem.X))


@checked
@given(some_problems, ensembles(("ours",)))
def test_threads_and_batches_change_no_bit(problem: Problem, parameters: dict[str, Any]) -> None:
    one, two = (fitted(problem, parameters, n_jobs=n) for n in (1, 2))
    whole = predictions(one, problem.X)
    np.testing.assert_array_equal(whole, predictions(two, problem.X))
    single = [predictions(two, problem.X[i : i + 1]) for i in range(len(problem.X))]
    np.testing.assert_array_equal(whole, np.concatenate(single))


@checked
@given(st.data())
def test_switching_keeps_the_class_sizes(data: st.DataObject) -> None:
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=2, max_size=40)))
    able = np.array(data.draw(st.lists(st.booleans(), min_size=len(labels), max_size=len(labels))))
    able[0] = True
    sizes = np.bincount(labels[able], minlength=4)
    present = sizes[sizes > 0]
    share = 0.0
    if len(present) > 1:
        share = data.draw(st.floats(0.0, 0.99)) * compute_switching_limit(present)
    rows = RowsToDraw(len(labels), None if able.all() else np.flatnonzero(able))
    other = switch_labels(labels, share, rows, data.draw(st.integers(0, 99)))
    np.testing.assert_array_equal(np.bincount(other[able], minlength=4), sizes)
    np.testing.assert_array_equal(other[~able], labels[~able])


@checked
@given(problems(criteria=("gini",), categories=False, several=False), st.integers(0, 5))
def test_without_switched_labels_all_members_are_the_plain_tree(
    problem: Problem, seed: int
) -> None:
    model = ClassSwitchingClassifier(n_estimators=3, p=0.0, random_state=seed)
    model.fit(problem.X, problem.y, problem.weight)
    alone = DecisionTreeClassifier().fit(problem.X, problem.y, problem.weight)
    np.testing.assert_allclose(
        model.predict_proba(problem.X), alone.predict_proba(problem.X), atol=1e-12
    )
