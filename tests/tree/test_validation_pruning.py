"""Pruning by validation rows, against a tree whose growth really stops."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.property.strategies import arrays_of
from tests.tree.test_reduced_error import node_losses, problem

import arboleda
from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
)

Array = Any


def error_of(output: Any, y: Array, weight: Array, classes: bool) -> float:
    loss = (y != output) if classes else (y - output) ** 2
    return float(weight @ loss)


def grow_while_validation_improves(
    X: Array, y: Array, X_val: Array, y_val: Array, weight: Array, classes: bool
) -> Any:
    """The method as books describe it: split a node, look at the validation rows, go on or stop.

    Each split is found anew, by a tree of depth 1 that sees the node's own rows only. Returned is a
    nested tuple (column, threshold, left, right), or what a leaf predicts.
    """
    stump: Any = DecisionTreeClassifier if classes else DecisionTreeRegressor
    here = stump(max_depth=1).fit(X, y)
    root = here.tree_
    output = here.classes_[root.value[0, 0].argmax()] if classes else root.value[0, 0, 0]
    if root.node_count == 1:
        return output
    split = error_of(here.predict(X_val), y_val, weight, classes) if len(y_val) else 0.0
    if not split < error_of(output, y_val, weight, classes):
        return output
    column, threshold = root.feature[0], root.threshold[0]
    parts = []
    for is_left in (True, False):
        some = (X[:, column] <= threshold) == is_left
        val = (X_val[:, column] <= threshold) == is_left
        parts.append(
            grow_while_validation_improves(
                X[some], y[some], X_val[val], y_val[val], weight[val], classes
            )
        )
    return column, threshold, *parts


def predict_row(tree: Any, row: Array) -> Any:
    while isinstance(tree, tuple):
        column, threshold, left, right = tree
        tree = left if row[column] <= threshold else right
    return tree


def n_leaves(tree: Any) -> int:
    return n_leaves(tree[2]) + n_leaves(tree[3]) if isinstance(tree, tuple) else 1


@pytest.mark.parametrize("classes", [True, False])
def test_the_result_matches_growing_while_validation_improves(classes: bool) -> None:
    pruned: Any = PrunedTreeClassifier if classes else PrunedTreeRegressor
    sizes = set()
    for seed in range(30):
        X, y, X_val, y_val, weight = problem(seed, classes)
        model = pruned(pruning="validation")
        model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
        twin = grow_while_validation_improves(X, y, X_val, y_val, weight, classes)
        assert model.get_n_leaves() == n_leaves(twin)
        expected = [predict_row(twin, row) for row in np.vstack([X, X_val])]
        np.testing.assert_allclose(model.predict(np.vstack([X, X_val])), expected, rtol=1e-12)
        sizes.add(n_leaves(twin))
    assert len(sizes) > 2


@pytest.mark.parametrize("classes", [True, False])
def test_reduced_error_pruning_keeps_its_splits_and_makes_no_more_errors(classes: bool) -> None:
    pruned: Any = PrunedTreeClassifier if classes else PrunedTreeRegressor
    n_smaller = 0
    for seed in range(30):
        X, y, X_val, y_val, weight = problem(seed, classes)
        by_rows = {"X_val": X_val, "y_val": y_val, "sample_weight_val": weight}
        before = pruned(pruning="validation").fit(X, y, **by_rows)
        after = pruned(pruning="reduced_error").fit(X, y, **by_rows)
        assert before.get_n_leaves() <= after.get_n_leaves()
        errors = [
            error_of(model.predict(X_val), y_val, weight, classes) for model in (after, before)
        ]
        assert errors[0] <= errors[1] + 1e-9
        n_smaller += before.get_n_leaves() < after.get_n_leaves()
    assert n_smaller > 0


def test_only_validation_pruning_stops_at_the_root_of_xor() -> None:
    random = np.random.default_rng(0)
    X = random.integers(0, 2, size=(400, 2)).astype(float)
    y = X[:, 0] != X[:, 1]
    # As many validation rows of each kind: neither column helps by itself.
    X_val = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (10, 1))
    y_val = X_val[:, 0] != X_val[:, 1]
    models = {
        pruning: PrunedTreeClassifier(pruning=pruning).fit(X, y, X_val=X_val, y_val=y_val)
        for pruning in ("validation", "reduced_error")
    }
    assert models["validation"].get_n_leaves() == 1
    assert models["reduced_error"].get_n_leaves() == 4
    assert models["reduced_error"].score(X_val, y_val) == 1.0


def test_a_split_is_kept_if_and_only_if_its_path_improves() -> None:
    X, y, X_val, y_val, weight = problem(7, classes=True)
    whole = DecisionTreeClassifier(max_leaf_nodes=9).fit(X, y)
    model = PrunedTreeClassifier(pruning="validation", max_leaf_nodes=9)
    model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    loss = node_losses(whole, X_val, y_val, weight, classes=True)
    left, right = whole.tree_.children_left, whole.tree_.children_right

    def leaves(node: int) -> int:
        if left[node] < 0 or not loss[left[node]] + loss[right[node]] < loss[node]:
            return 1
        return leaves(left[node]) + leaves(right[node])

    assert model.get_n_leaves() == leaves(0)


@pytest.mark.parametrize("pruned", [PrunedTreeClassifier, PrunedTreeRegressor])
def test_holdouts_threads_and_files_are_supported(pruned: Any, tmp_path: Any) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 4))
    X[random.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) + 0.3 * random.normal(size=400) > 0).astype(int)
    first, second = (
        pruned(pruning="validation", random_state=3, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2)
    )
    assert arrays_of(first) == arrays_of(second)
    assert 1 < first.get_n_leaves() < 50
    assert first.pruning_curve_ is None
    assert not hasattr(first, "ccp_alpha_")
    first.save(tmp_path / "tree.arboleda")
    again = arboleda.load(tmp_path / "tree.arboleda")
    assert arrays_of(again) == arrays_of(first)
    assert_array_equal(again.predict(X), first.predict(X))


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_other_losses_are_supported(criterion: str) -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 3))
    y = random.poisson(np.exp(np.where(X[:, 0] > 0, 2.0, 0.0))).astype(float)
    model = PrunedTreeRegressor(pruning="validation", criterion=criterion, random_state=0)
    model.fit(X, y)
    assert model.tree_.feature[0] == 0
    assert 2 <= model.get_n_leaves() < 60
