"""Prunings and rule lists against an exhaustive search."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor
from arboleda.explain._best_subtrees import (
    NodeLosses,
    find_best_rules,
    find_best_subtrees,
    find_enclosing_nodes,
)

Problem = tuple[Any, Any, Any, NodeLosses]


def problem(seed: int, *, classes: bool) -> Problem:
    """A tree of seven leaves, rows to evaluate it on, their targets and the node losses."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(150, 3))
    y = X[:, 0] * X[:, 1] + random.normal(size=150)
    if classes:
        y = np.digitize(y, [-0.5, 0.7])
        tree: Any = DecisionTreeClassifier(max_leaf_nodes=7).fit(X[:80], y[:80])
        columns = np.eye(3)[y[80:]]
    else:
        tree = DecisionTreeRegressor(max_leaf_nodes=7).fit(X[:80], y[:80])
        columns = y[80:, np.newaxis]
    node_losses = NodeLosses.compute(tree.tree_, tree.apply(X[80:]), columns, classes=classes)
    return tree, X[80:], y[80:], node_losses


def compute_loss(found: Problem, nodes: list[int]) -> float:
    """Loss of the rows if the innermost of some nodes applies to each, computed row by row."""
    tree, X, y, _ = found
    path = tree.decision_path(X).toarray()
    total = 0.0
    for row, truth in zip(path, y, strict=True):
        inner = max(node for node in nodes if row[node])  # children come after their parents
        value = tree.tree_.value_rows[inner]
        if isinstance(tree, DecisionTreeClassifier):
            total += tree.classes_[value.argmax()] != truth
        else:
            total += (value[0] - truth) ** 2
    return total


def prunings(tree: Any, node: int = 0) -> list[list[int]]:
    """Leaves of every pruned tree."""
    left, right = tree.tree_.children_left, tree.tree_.children_right
    found = [[node]]
    if left[node] >= 0:
        found += [a + b for a in prunings(tree, left[node]) for b in prunings(tree, right[node])]
    return found


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_each_subtree_is_the_best_of_its_size(seed: int, classes: bool) -> None:
    given = problem(seed, classes=classes)
    tree, _, _, node_losses = given
    losses: dict[int, float] = {}
    for leaves in prunings(tree):
        losses[len(leaves)] = min(losses.get(len(leaves), np.inf), compute_loss(given, leaves))
    found = find_best_subtrees(node_losses, 7)
    best = np.inf
    for size in range(1, 8):
        if losses[size] < best - 1e-9:
            best = losses[size]
            assert len(found[size]) == size
            assert compute_loss(given, found[size]) == pytest.approx(best)
        else:
            assert size not in found
    assert find_best_subtrees(node_losses, 3).keys() == {size for size in found if size <= 3}


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_each_rule_list_is_the_best_of_its_size(seed: int, classes: bool) -> None:
    given = problem(seed, classes=classes)
    tree, _, _, node_losses = given
    nodes = range(1, tree.tree_.node_count)
    found = find_best_rules(node_losses, 4)
    best = np.inf
    for size in range(1, 5):
        loss = min(compute_loss(given, [0, *some]) for some in combinations(nodes, size - 1))
        if loss < best - 1e-9:
            best = loss
            assert len(found[size]) == size
            assert found[size][-1] == 0
            assert compute_loss(given, found[size]) == pytest.approx(best)
        else:
            assert size not in found


def test_rules_are_ordered_by_exceptions_then_size() -> None:
    given = problem(2, classes=False)
    tree, _, _, node_losses = given
    for nodes in find_best_rules(node_losses, 7).values():
        for place, node in enumerate(nodes):
            inside = find_enclosing_nodes(tree.tree_, [node])
            assert not any(inside[later] == node for later in nodes[place + 1 :])


@pytest.mark.parametrize("classes", [True, False])
def test_a_pruned_tree_predicts_like_its_best_leaves(classes: bool) -> None:
    tree, X, _, node_losses = problem(1, classes=classes)
    for size, leaves in find_best_subtrees(node_losses, 7).items():
        loss = "misclassification" if classes else "squared_error"
        cut = tree.tree_.cut(np.array(leaves, dtype=np.intp), loss)
        assert cut.n_leaves == size
        expected = tree.tree_.value_rows[find_enclosing_nodes(tree.tree_, leaves)[tree.apply(X)]]
        model = type(tree)().fit(X[:5], [0, 1, 2, 0, 1])
        model.tree_ = cut
        found = model.predict_proba(X) if classes else model.predict(X)[:, np.newaxis]
        np.testing.assert_array_equal(found, expected)


def test_validation_rows_need_not_reach_every_node() -> None:
    tree, X, _, _ = problem(0, classes=True)
    leaf = tree.apply(X[:2])
    node_losses = NodeLosses.compute(tree.tree_, leaf, np.eye(3)[[0, 1]], classes=True)
    assert np.isfinite(node_losses.spread).all()
    assert len(find_best_subtrees(node_losses, 7)) <= 3
    assert node_losses.loss(0, 0) in (1.0, 2.0)
