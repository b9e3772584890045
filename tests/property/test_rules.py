"""The rules of a tree are the tree: each row meets exactly one, and it predicts the same."""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import Array, Problem, checked, growth, problems
from tests.tree.handmade import Node, classifier

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor
from arboleda._engine.table import DenseTable

N_LEVELS = 5


def meets(condition: Any, x: float) -> bool:
    """Evaluate one condition as documented; categories are labelled by numbers."""
    if np.isnan(x):
        return bool(condition.missing)
    if condition.levels is None:
        return bool(condition.low < x <= condition.high)
    return (str(int(x)) in condition.levels) != condition.negated


def assert_rules_are_the_tree(model: Any, X: Array) -> None:
    table = DenseTable(list(X.T), len(X), (0,) * X.shape[1])
    leaf, predicted = model.tree_.apply(table), model.tree_.predict(table)
    rules = model.rules()
    assert (
        sorted(rule.leaf for rule in rules)
        == np.flatnonzero(model.tree_.children_left < 0).tolist()
    )
    for row, x in enumerate(X):
        met = [r for r in rules if all(meets(c, x[c.feature]) for c in r.conditions)]
        assert [rule.leaf for rule in met] == [leaf[row]]
        if hasattr(model, "classes_"):
            assert met[0].prediction == model.classes_[predicted[row].argmax()]
            assert met[0].confidence == predicted[row].max()
        else:
            assert met[0].prediction == predicted[row, 0]
    for rule in rules:
        features = [condition.feature for condition in rule.conditions]
        assert len(set(features)) == len(features)


@checked
@given(problems(categories=False, several=False), growth(), st.data())
def test_each_row_meets_the_rule_of_its_leaf(
    problem: Problem, parameters: dict[str, Any], data: st.DataObject
) -> None:
    model = problem.fit(**parameters)
    assert_rules_are_the_tree(model, problem.X)
    # New rows: values between, at and beyond the thresholds, and missing ones.
    known = [*problem.X.ravel()[:20].tolist(), *model.tree_.threshold.tolist(), np.nan, 1e9, -1e9]
    row = st.lists(st.sampled_from(known), min_size=problem.X.shape[1], max_size=problem.X.shape[1])
    new = np.array(data.draw(st.lists(row, min_size=1, max_size=8)))
    new[np.isinf(new)] = np.nan
    assert_rules_are_the_tree(model, new)


@checked
@given(problems(categories=False, several=False), growth())
def test_support_and_confidence_match_the_training_rows(
    problem: Problem, parameters: dict[str, Any]
) -> None:
    model = problem.fit(**parameters)
    rules = model.rules()
    counted = problem.full_weight > 0
    leaf, weight = model.apply(problem.X), problem.full_weight
    assert sum(rule.n_samples for rule in rules) == counted.sum()
    np.testing.assert_allclose(sum(rule.support for rule in rules), 1.0)
    assert [r.n_samples for r in rules] == sorted((r.n_samples for r in rules), reverse=True)
    for rule in rules:
        here = (leaf == rule.leaf) & counted
        assert rule.n_samples == here.sum()
        if rule.confidence is None:
            assert rule.impurity == model.tree_.impurity[rule.leaf]
            assert (rule.deviation is None) == (problem.criterion != "squared_error")
            if rule.deviation is not None:
                squares = (problem.y[here] - rule.prediction) ** 2
                spread = np.sqrt(np.average(squares, weights=weight[here]))
                np.testing.assert_allclose(rule.deviation, spread, rtol=1e-7, atol=1e-7)
            continue
        share = np.average(problem.y[here] == rule.prediction, weights=weight[here])
        prior = np.average(problem.y == rule.prediction, weights=weight)
        np.testing.assert_allclose(rule.confidence, share, rtol=1e-12)
        np.testing.assert_allclose(rule.lift, share / prior, rtol=1e-12)


@st.composite
def trees(draw: st.DrawFn, depth: int = 4) -> Node:
    """Trees of two categorical columns and one of numbers, sensible or not."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        share = draw(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
        return Node(value=(share, 1.0 - share), n=draw(st.integers(1, 9)))
    feature = draw(st.integers(0, 2))
    levels = st.sets(st.integers(0, N_LEVELS - 1), min_size=1, max_size=N_LEVELS)
    return Node(
        feature,
        threshold=float(draw(st.integers(-2, 2))) if feature == 2 else 0.0,
        listed=() if feature == 2 else tuple(sorted(draw(levels))),
        missing_left=draw(st.booleans()),
        left=draw(trees(depth - 1)),
        right=draw(trees(depth - 1)),
    )


@checked
@given(trees(), st.integers(0, 2**32 - 1))
def test_rules_of_categories_match_the_tree(root: Node, seed: int) -> None:
    """Levels beyond those known stand for ones that training never saw."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [random.integers(0, N_LEVELS + 2, size=(40, 2)), random.integers(-3, 4, size=40)]
    ).astype(np.float64)
    X[random.random(X.shape) < 0.15] = np.nan
    assert_rules_are_the_tree(classifier(root, 3, ["no", "yes"]), X)


COLOURS = ["", "a, b", "blue", "red", "{x}"]


@st.composite
def frames(draw: st.DrawFn) -> tuple[pd.DataFrame, Array]:
    """Tables of two text columns and one of numbers, with gaps, and three classes or numbers."""
    n = draw(st.integers(4, 40))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    gaps = draw(st.sampled_from([0.0, 0.0, 0.2]))
    columns = {}
    for name in ("hue", "shade"):
        labels = np.array(COLOURS[: draw(st.integers(1, 5))], dtype=object)
        column = labels[random.integers(0, len(labels), n)]
        column[random.random(n) < gaps] = None
        columns[name] = pd.Series(column, dtype="str")
    number = random.integers(-3, 4, n).astype(np.float64)
    number[random.random(n) < gaps] = np.nan
    frame = pd.DataFrame({**columns, "number": number})
    return frame, random.integers(0, 3, n)


def meets_value(condition: Any, value: Any) -> bool:
    """Evaluate a condition on a value as it stands in the table."""
    if value is None or value != value:
        return bool(condition.missing)
    if condition.levels is None:
        return bool(condition.low < value <= condition.high)
    return (value in condition.levels) != condition.negated


@checked
@given(frames(), st.booleans(), st.integers(1, 6))
def test_rules_hold_on_tables_of_categories(
    problem: tuple[pd.DataFrame, Array], regression: bool, max_depth: int
) -> None:
    X, y = problem
    kind = DecisionTreeRegressor if regression else DecisionTreeClassifier
    model = kind(max_depth=max_depth, categorical_features=["hue", "shade"]).fit(X, y)
    # Rows with gaps, and with categories that training did not see.
    new = X.copy()
    new.loc[::3, "hue"], new.loc[1::3, "shade"], new.loc[2::3, "number"] = None, "unseen", np.nan
    rules = model.rules()
    for table in (X, new):
        leaf, predicted = model.apply(table), model.predict(table)
        for row in range(len(table)):
            met = [
                rule
                for rule in rules
                if all(meets_value(c, table[c.name].iloc[row]) for c in rule.conditions)
            ]
            assert [rule.leaf for rule in met] == [leaf[row]]
            assert met[0].prediction == predicted[row]
