"""Stacking: no prediction for a row comes from a member that was fitted on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from tests.combine.members import KeptRegressor, Liar, Memory, RowMemory

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    StackingClassifier,
    StackingRegressor,
)
from arboleda.combine import out_of_fold_outputs
from arboleda.combine._weighted_mean import constrained_weights

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]


def classifiers() -> list[tuple[str, Any]]:
    return [
        ("bayes", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=2)),
        ("forest", RandomForestClassifier(10, random_state=0)),
    ]


def numbered(n_rows: int) -> Any:
    random = np.random.default_rng(1)
    return np.column_stack([np.arange(n_rows), random.normal(size=(n_rows, 2))])


@pytest.mark.parametrize(
    "cv", [4, KFold(5, shuffle=True, random_state=3), TimeSeriesSplit(3), GroupKFold(4)]
)
def test_predictions_are_out_of_fold_and_in_row_order(cv: Any) -> None:
    table = numbered(83)
    groups = np.arange(83) % 7 if isinstance(cv, int | GroupKFold) else None
    stack = StackingRegressor([("spy", RowMemory())], KeptRegressor(), cv=cv, passthrough=True)
    target = 10.0 * np.arange(83)
    stack.fit(table, target, groups=groups)
    kept = stack.final_estimator_
    first = 23 if isinstance(cv, TimeSeriesSplit) else 0
    np.testing.assert_array_equal(kept.X_[:, 0], np.arange(first, 83))
    np.testing.assert_array_equal(kept.X_[:, 1:], table[first:])
    np.testing.assert_array_equal(kept.y_, target[first:])
    if groups is None:
        assert kept.groups_ is None
    else:
        np.testing.assert_array_equal(kept.groups_, groups)
    # The members that predict later have seen all rows.
    assert (stack.transform(table)[:, 0] == -1).all()


def test_no_member_learns_from_other_rows_of_a_tested_group() -> None:
    table = numbered(60)
    table[:, 0] = np.repeat(np.arange(12), 5)  # the spy takes rows of a group for one
    stack = StackingRegressor([("spy", RowMemory())], KeptRegressor())
    stack.fit(table, np.arange(60.0), groups=table[:, 0])
    np.testing.assert_array_equal(stack.final_estimator_.X_[:, 0], table[:, 0])


@pytest.mark.parametrize("weights", [None, "simplex"])
def test_a_member_that_memorizes_gains_nothing(weights: Any) -> None:
    random = np.random.default_rng(0)
    table = numbered(400)
    signal = (table[:, 1] + 0.5 * random.normal(size=400) > 0).astype(int)
    members = [("memory", Memory()), ("logistic", LogisticRegression())]
    stack = StackingClassifier(members, weights=weights).fit(table, signal)
    if weights is None:
        memory, logistic = np.abs(stack.final_estimator_.coef_[0])
    else:
        memory, logistic = stack.weights_
    assert memory < 0.2 * logistic


def test_random_labels_are_predicted_at_chance_level() -> None:
    random = np.random.default_rng(0)
    table, labels = random.normal(size=(400, 4)), random.integers(0, 2, 400)
    members = [("tree", DecisionTreeClassifier()), ("memory", Memory())]
    for weights in (None, "simplex"):
        stack = StackingClassifier(members, weights=weights)
        assert abs(cross_val_score(stack, table, labels, cv=4).mean() - 0.5) < 0.08


@pytest.mark.parametrize("constraint", ["simplex", "nonnegative"])
def test_weights_are_fitted_on_out_of_fold_predictions(constraint: Any) -> None:
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    stack = StackingClassifier(classifiers(), weights=constraint).fit(X, NAMES, weight)
    outputs = out_of_fold_outputs(classifiers(), X, NAMES, sample_weight=weight).outputs
    expected = constrained_weights(outputs, y, constraint, weight)
    np.testing.assert_allclose(stack.weights_, expected, atol=1e-9)
    predicted = sum(
        w * member.predict_proba(X) for w, member in zip(expected, stack.estimators_, strict=True)
    )
    np.testing.assert_allclose(stack.predict_proba(X), predicted / expected.sum(), atol=1e-9)
    np.testing.assert_array_equal(stack.predict(X), stack.classes_[predicted.argmax(axis=1)])
    assert not hasattr(stack, "final_estimator_")
    assert not hasattr(stack, "decision_function")


def test_weights_of_regressors_beat_the_best_and_the_mean_out_of_fold() -> None:
    table, target = load_diabetes(return_X_y=True)
    members = [("ridge", Ridge(0.1)), ("tree", DecisionTreeRegressor(max_depth=3))]
    stack = StackingRegressor(members, weights="simplex").fit(table, target)
    outputs = out_of_fold_outputs(members, table, target).outputs
    errors = [((a * outputs[0] + (1 - a) * outputs[1] - target) ** 2).mean() for a in (0, 0.5, 1)]
    best = ((np.tensordot(stack.weights_, outputs, 1) - target) ** 2).mean()
    assert best <= min(errors)
    values = stack.predict(table)
    both = np.stack([member.predict(table) for member in stack.estimators_])
    assert (values >= both.min(axis=0) - 1e-9).all()
    assert (values <= both.max(axis=0) + 1e-9).all()


def test_weights_exclude_a_final_estimator() -> None:
    for given in ({"final_estimator": LogisticRegression()}, {"passthrough": True}):
        stack = StackingClassifier(classifiers(), weights="simplex", **given)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="takes the place of a final estimator"):
            stack.fit(X, y)


def test_a_stack_can_be_the_final_estimator_of_a_stack() -> None:
    """The second level's members learn from the first level's predictions, with their own folds."""
    table, target = load_diabetes(return_X_y=True)
    first = [("ridge", Ridge(0.1)), ("tree", DecisionTreeRegressor(max_depth=3))]
    second = [("linear", LinearRegression()), ("flat", DecisionTreeRegressor(max_depth=2))]
    stack = StackingRegressor(first, StackingRegressor(second, LinearRegression()))
    stack.fit(table, target)
    level_one = out_of_fold_outputs(first, table, target).outputs.T
    level_two = out_of_fold_outputs(second, level_one, target).outputs.T
    final = LinearRegression().fit(level_two, target)
    columns = table
    for level in (first, second):
        inputs = table if level is first else level_one
        fitted = [member.fit(inputs, target) for _, member in level]
        columns = np.column_stack([member.predict(columns) for member in fitted])
    np.testing.assert_allclose(stack.predict(table), final.predict(columns))


def test_groups_are_passed_to_a_final_stack() -> None:
    table = numbered(60)
    table[:, 0] = np.repeat(np.arange(12), 5)
    inner = StackingRegressor([("spy", RowMemory())], KeptRegressor())
    stack = StackingRegressor([("spy", RowMemory())], inner)
    stack.fit(table, np.arange(60.0), groups=table[:, 0])
    last = stack.final_estimator_.final_estimator_
    np.testing.assert_array_equal(last.X_[:, 0], table[:, 0])


def test_the_final_estimator_learns_with_the_weights_of_the_rows() -> None:
    table, target = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).uniform(size=len(target))
    stack = StackingRegressor([("ridge", Ridge())], KeptRegressor(), cv=TimeSeriesSplit(2))
    stack.fit(table, target, weight)
    kept = stack.final_estimator_
    np.testing.assert_array_equal(kept.weight_, weight[-len(kept.y_) :])
    np.testing.assert_allclose(stack.estimators_[0].coef_, Ridge().fit(table, target, weight).coef_)


def test_a_class_missing_from_the_training_rows_has_no_probability() -> None:
    order = np.argsort(y, kind="stable")
    stack = StackingClassifier([("bayes", GaussianNB())], cv=TimeSeriesSplit(2))
    stack.fit(X[order], NAMES[order])  # the first class is in no test
    predicted = stack.predict_proba(X)
    assert predicted.shape == (150, 3)
    assert (predicted[:, 0] == 0).all()
    assert set(stack.predict(X)) == {"versicolor", "virginica"}


def test_members_without_probabilities_use_decision_functions() -> None:
    members = [("machine", LinearSVC()), ("bayes", GaussianNB())]
    stack = StackingClassifier(members).fit(X, NAMES)
    assert stack.stack_method_ == ["decision_function", "predict_proba"]
    assert stack.transform(X).shape == (150, 6)
    assert list(stack.get_feature_names_out()[2:4]) == [
        "stackingclassifier_machine2",
        "stackingclassifier_bayes0",
    ]


def test_folds_that_lack_a_class_still_give_decision_values() -> None:
    order = np.argsort(y, kind="stable")  # each of three folds is one class
    members = [("machine", LinearSVC())]
    stack = StackingClassifier(members, cv=KFold(3)).fit(X[order], y[order])
    assert np.isfinite(stack.transform(X)).all()
    assert np.isfinite(stack.final_estimator_.coef_).all()


@pytest.mark.parametrize("kind", [np.asarray, csr_array, pd.DataFrame])
def test_columns_are_passed_through(kind: Any) -> None:
    table, target = load_diabetes(return_X_y=True)
    stack = StackingRegressor([("ridge", Ridge())], passthrough=True).fit(kind(table), target)
    columns = stack.transform(kind(table))
    dense = columns.toarray() if kind is csr_array else columns
    np.testing.assert_allclose(dense[:, 1:], table)
    np.testing.assert_allclose(dense[:, 0], stack.estimators_[0].predict(kind(table)))


def test_fitted_members_with_class_names_are_used_without_refitting() -> None:
    fitted = [(name, member.fit(X[::2], NAMES[::2])) for name, member in classifiers()]
    for weights in (None, "simplex"):
        stack = StackingClassifier(fitted, cv="prefit", weights=weights).fit(X[1::2], NAMES[1::2])
        assert stack.estimators_[0] is fitted[0][1]
        assert log_loss(NAMES, stack.predict_proba(X)) < 0.3
    voted = StackingClassifier(fitted, cv="prefit", stack_method="predict").fit(X, NAMES)
    np.testing.assert_array_equal(
        voted.transform(X)[:, 0], np.searchsorted(voted.classes_, fitted[0][1].predict(X))
    )


def test_a_fitted_member_of_other_labels_is_refused() -> None:
    stranger = [("stranger", GaussianNB().fit(X, np.array(["one", "two", "zebra"])[y]))]
    for method in ("predict", "predict_proba"):
        stack = StackingClassifier(stranger, cv="prefit", stack_method=method)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="'stranger' predicts 'one'.*none of the classes"):
            stack.fit(X, NAMES)


def test_members_that_are_always_wrong_give_uniform_probabilities() -> None:
    table = np.arange(40.0)[:, None]
    liar = Liar().fit(table, np.arange(40) % 2)
    stack = StackingClassifier([("liar", liar)], cv="prefit", weights="nonnegative")
    stack.fit(table, np.arange(40) % 2)
    assert stack.weights_.tolist() == [0.0]
    np.testing.assert_array_equal(stack.predict_proba(table), np.full((40, 2), 0.5))


def test_a_failed_fit_leaves_the_stack_unchanged() -> None:
    stack = StackingClassifier(classifiers()).fit(X, NAMES)
    before = stack.predict(X)
    with pytest.raises(ValueError, match="samples"):
        stack.fit(X[:3], [0, 1, 2])
    np.testing.assert_array_equal(stack.predict(X), before)


def test_errors_name_the_member_and_the_remedy() -> None:
    with pytest.raises(ValueError, match="machine does not implement the method predict_proba"):
        StackingClassifier([("machine", LinearSVC())], stack_method="predict_proba").fit(X, y)
    with pytest.raises(ValueError, match="should be a classifier"):
        StackingClassifier(classifiers(), Ridge()).fit(X, y)
    with pytest.raises(ValueError, match=r"combines classifiers.*'ridge' is a Ridge"):
        StackingClassifier([("ridge", Ridge())], weights="simplex").fit(X, y)
