"""Reduced-error pruning, against the definition and against all pruned subtrees."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from tests.property.strategies import arrays_of

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
)
from arboleda._base.folds import hold_out

Array = Any


def problem(seed: int, classes: bool) -> tuple[Array, Array, Array, Array, Array]:
    """Rows to grow from, validation rows, and their weights in quarters."""
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(70, 3)) * 3)
    y = np.round(X[:, 0] + X[:, 1] * (X[:, 2] > 0) + random.normal(size=70) * 3)
    if classes:
        y = np.digitize(y, [-2, 2])
    return X[:40], y[:40], X[40:], y[40:], random.integers(0, 5, 30) / 4


def node_losses(tree: Any, X: Array, y: Array, weight: Array, classes: bool) -> Array:
    """Loss of every node on the rows that pass it, were it a leaf."""
    passes = tree.decision_path(X).toarray()
    value = tree.tree_.value[:, 0, :]
    if classes:
        loss = y[:, None] != tree.classes_[value.argmax(axis=1)][None, :]
    else:
        loss = (y[:, None] - value[:, 0][None, :]) ** 2
    return (weight[:, None] * passes * loss).sum(axis=0)


def all_subtrees(tree: Any, node: int = 0) -> list[frozenset[int]]:
    """Leaves of every pruned subtree below a node."""
    left, right = tree.children_left[node], tree.children_right[node]
    found = [frozenset([node])]
    if left >= 0:
        found += [a | b for a, b in product(all_subtrees(tree, left), all_subtrees(tree, right))]
    return found


def step_by_step(tree: Any, loss: Array, *, proviso: bool) -> frozenset[int]:
    """Remove the node that helps most until every removal would hurt.

    With Quinlan's proviso only a node below which no other removal is possible.
    """
    left, right = tree.children_left, tree.children_right
    cut: set[int] = set()

    def leaves(node: int) -> list[int]:
        if node in cut or left[node] < 0:
            return [node]
        return leaves(left[node]) + leaves(right[node])

    def inner(node: int) -> list[int]:
        if node in cut or left[node] < 0:
            return []
        return [node, *inner(left[node]), *inner(right[node])]

    def help_of(node: int) -> float:
        return float(sum(loss[leaf] for leaf in leaves(node)) - loss[node])

    while True:
        possible = [node for node in inner(0) if help_of(node) >= 0]
        if proviso:
            possible = [n for n in possible if not set(inner(n)[1:]) & set(possible)]
        if not possible:
            return frozenset(leaves(0))
        cut.add(max(possible, key=help_of))


@pytest.mark.parametrize("classes", [True, False])
def test_the_result_is_the_best_subtree_and_matches_the_definition(classes: bool) -> None:
    greedy_was_worse = False
    for seed in range(40):
        X, y, X_val, y_val, weight = problem(seed, classes)
        plain: Any = DecisionTreeClassifier if classes else DecisionTreeRegressor
        pruned: Any = PrunedTreeClassifier if classes else PrunedTreeRegressor
        whole = plain(max_leaf_nodes=9).fit(X, y)
        model = pruned(max_leaf_nodes=9, pruning="reduced_error")
        model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
        loss = node_losses(whole, X_val, y_val, weight, classes)
        found = step_by_step(whole.tree_, loss, proviso=True)

        totals = {leaves: sum(loss[list(leaves)]) for leaves in all_subtrees(whole.tree_)}
        least = min(totals.values())
        best = [leaves for leaves, total in totals.items() if total <= least + 1e-9]
        assert model.get_n_leaves() == min(map(len, best)) == len(found)
        assert totals[found] == pytest.approx(least)
        # The pruned tree predicts what its nodes predicted in the whole tree.
        ends = whole.decision_path(X).toarray()[:, sorted(found)].argmax(axis=1)
        nodes = np.array(sorted(found))[ends]
        value = whole.tree_.value[nodes, 0, :]
        expected = whole.classes_[value.argmax(axis=1)] if classes else value[:, 0]
        assert_array_equal(model.predict(X), expected)
        greedy = totals[step_by_step(whole.tree_, loss, proviso=False)]
        assert greedy >= least - 1e-9
        greedy_was_worse |= greedy > least + 1e-9
    assert greedy_was_worse  # which is why the proviso is there


@pytest.mark.parametrize("classes", [True, False])
def test_holdout_rows_prune_like_given_rows(classes: bool) -> None:
    X, y, *_ = problem(3, classes)
    pruned: Any = PrunedTreeClassifier if classes else PrunedTreeRegressor
    model = pruned(pruning="reduced_error", validation_fraction=0.3, random_state=5).fit(X, y)
    seed = np.random.RandomState(5).randint(np.iinfo(np.int32).max)
    grow, aside = hold_out(0.3, y, np.arange(len(y)), stratify=classes, seed=seed)
    assert len(aside) == 12
    given = pruned(pruning="reduced_error").fit(X[grow], y[grow], X_val=X[aside], y_val=y[aside])
    assert arrays_of(given) == arrays_of(model)
    assert model.get_n_leaves() > 1
    other = clone(model).set_params(random_state=6).fit(X, y)
    assert arrays_of(other) != arrays_of(model)
    assert not hasattr(model, "ccp_alpha_")
    assert model.pruning_curve_ is None


def test_noise_is_pruned_and_a_signal_is_kept() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 4))
    signal = X[:, 0] > 0
    noisy = signal ^ (random.random(600) < 0.15)
    model = PrunedTreeClassifier(pruning="reduced_error", random_state=0).fit(X, noisy)
    assert model.get_n_leaves() < DecisionTreeClassifier().fit(X, noisy).get_n_leaves() / 3
    assert np.mean(model.predict(X) == signal) > 0.9


def test_a_node_without_validation_rows_is_pruned() -> None:
    X = np.arange(8.0)[:, np.newaxis]
    y = np.array([0, 0, 1, 0, 1, 1, 0, 1])
    model = PrunedTreeClassifier(pruning="reduced_error")
    model.fit(X, y, X_val=[[0.0], [7.0]], y_val=[0, 1])
    assert model.get_n_leaves() == 2  # right about both; the rest has no effect


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X_val": [[1.0]]}, "X_val and y_val must be passed together"),
        ({"y_val": [1]}, "X_val and y_val must be passed together"),
        ({"sample_weight_val": [1.0]}, "requires X_val and y_val"),
        ({"X_val": [[1.0]], "y_val": [7]}, "y_val has the class 7, which is not in y"),
        ({"X_val": [[1.0]], "y_val": ["0"]}, "y_val has the class '0'"),
        ({"X_val": [[1.0]], "y_val": [0, 1]}, "inconsistent numbers of samples"),
        ({"X_val": [[1.0, 2.0]], "y_val": [0]}, "has 2 features"),
        (
            {"X_val": [[1.0]], "y_val": [0], "sample_weight_val": [0.0]},
            "in the validation rows: sample_weight is zero",
        ),
        (
            {"X_val": [[1.0]], "y_val": [0], "sample_weight_val": [-1.0]},
            "`sample_weight`: -1.0 in row 0",
        ),
    ],
)
def test_invalid_validation_rows_are_refused(given: dict[str, Any], message: str) -> None:
    model = PrunedTreeClassifier(pruning="reduced_error")
    with pytest.raises(ValueError, match=message):
        model.fit(np.arange(8.0)[:, np.newaxis], np.arange(8) % 2, **given)


def test_validation_rows_are_refused_with_cross_validation() -> None:
    with pytest.raises(ValueError, match="are for pruning='reduced_error'"):
        PrunedTreeRegressor().fit(np.zeros((20, 1)), np.zeros(20), X_val=[[0.0]], y_val=[0.0])
