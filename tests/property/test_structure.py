"""What every fitted tree must satisfy: leaves, values, limits, losses."""

import itertools
import math
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import (
    CLASS_CRITERIA,
    Problem,
    checked,
    growth,
    predictions,
    problems,
)
from tests.tree.naive import centre, impurity


@checked
@given(problems(), growth())
def test_each_row_reaches_one_leaf(problem: Problem, parameters: dict[str, Any]) -> None:
    model = problem.fit(**parameters)
    tree, leaf = model.tree_, model.apply(problem.X)
    is_leaf = tree.children_left < 0
    counts = np.bincount(leaf[problem.full_weight > 0], minlength=tree.node_count)
    np.testing.assert_array_equal(counts[is_leaf], tree.n_node_samples[is_leaf])
    assert not counts[~is_leaf].any()
    assert tree.n_node_samples[is_leaf].sum() == (problem.full_weight > 0).sum()
    shares = predictions(model, problem.X).reshape(len(leaf), -1)
    np.testing.assert_array_equal(shares, tree.value[leaf, 0])
    path = model.decision_path(problem.X)
    for row, end in enumerate(leaf):
        nodes = path.indices[path.indptr[row] : path.indptr[row + 1]]
        assert nodes[0] == 0
        assert nodes[-1] == end
        for parent, child in itertools.pairwise(nodes):
            assert child in (tree.children_left[parent], tree.children_right[parent])
    assert model.get_n_leaves() == is_leaf.sum()
    assert model.get_depth() == np.diff(path.indptr).max() - 1


@checked
@given(problems(), growth())
def test_leaves_say_the_centre_of_their_rows(problem: Problem, parameters: dict[str, Any]) -> None:
    model = problem.fit(**parameters)
    leaf, weight = model.apply(problem.X), problem.full_weight
    for node in np.unique(leaf[weight > 0]):
        here = (leaf == node) & (weight > 0)
        y, w = problem.y[here], weight[here]
        if problem.is_classification:
            expected = np.array([w[y == k].sum() for k in model.classes_]) / w.sum()
        else:
            expected = np.array([centre(y, problem.criterion, w)])
        np.testing.assert_allclose(model.tree_.value[node, 0], expected, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(
            model.tree_.impurity[node], impurity(y, problem.criterion, w), rtol=1e-10, atol=1e-12
        )


def _rows(count: int | float, n_rows: int) -> int:
    return count if isinstance(count, int) else math.ceil(count * n_rows)


@checked
@given(problems(), growth())
def test_limits_are_respected(problem: Problem, parameters: dict[str, Any]) -> None:
    """Recounted from the rows that pass each node, not read from the tree."""
    model = problem.fit(**parameters)
    weight = problem.full_weight
    path = model.decision_path(problem.X).toarray().astype(bool) & (weight > 0)[:, None]
    n_rows, node_weight = path.sum(axis=0), weight @ path
    left, right = model.tree_.children_left, model.tree_.children_right
    split = np.flatnonzero(left >= 0)
    leaves = np.flatnonzero(left < 0)
    assert path.sum(axis=1).max() - 1 <= parameters.get("max_depth", np.inf)
    assert len(leaves) <= parameters.get("max_leaf_nodes", np.inf)
    least = _rows(parameters.get("min_samples_leaf", 1), len(weight))
    assert len(leaves) == 1 or n_rows[leaves].min() >= least
    least = _rows(parameters.get("min_samples_split", 2), len(weight))
    assert not len(split) or n_rows[split].min() >= least
    share = parameters.get("min_weight_fraction_leaf", 0.0)
    assert len(leaves) == 1 or node_weight[leaves].min() >= share * weight.sum() * (1 - 1e-12)
    mass = [
        impurity(problem.y[rows], problem.criterion, weight[rows]) * weight[rows].sum()
        for rows in path.T
    ]
    for node in split:
        decrease = (mass[node] - mass[left[node]] - mass[right[node]]) / weight.sum()
        assert decrease >= parameters.get("min_impurity_decrease", 0.0) - 1e-9


def training_loss(problem: Problem, model: Any) -> float:
    """Return the mean loss that the criterion's leaves minimise."""
    y, predicted = problem.y, model.predict(problem.X)
    if problem.is_classification:
        loss = (predicted != y).astype(float)
    elif problem.criterion == "poisson":
        ratio = np.divide(y, predicted, where=y > 0, out=np.ones(len(y)))
        loss = y * np.log(ratio) - y + predicted
    else:
        loss = np.abs(predicted - y) ** (2 if problem.criterion == "squared_error" else 1)
    return float(np.average(loss, weights=problem.full_weight))


@checked
@given(problems())
def test_training_loss_never_rises_with_depth(problem: Problem) -> None:
    losses = [training_loss(problem, problem.fit(max_depth=depth)) for depth in range(1, 6)]
    assert all(after <= before + 1e-12 for before, after in itertools.pairwise(losses))


@checked
@given(problems())
def test_training_loss_never_rises_with_leaves(problem: Problem) -> None:
    losses = [training_loss(problem, problem.fit(max_leaf_nodes=n)) for n in range(2, 8)]
    assert all(after <= before + 1e-12 for before, after in itertools.pairwise(losses))


@checked
@given(problems(), growth())
def test_predictions_stay_within_the_targets(problem: Problem, parameters: dict[str, Any]) -> None:
    model = problem.fit(**parameters)
    y = problem.y[problem.full_weight > 0]
    fresh = np.vstack(
        [problem.X, problem.X[::-1] * 3 + 1, np.full((1, problem.X.shape[1]), np.nan)]
    )
    predicted = model.predict(fresh)
    assert y.min() <= predicted.min()
    assert predicted.max() <= y.max()
    if problem.is_classification:
        shares = model.predict_proba(fresh)
        assert ((shares >= 0) & (shares <= 1)).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=0, atol=1e-15)
        np.testing.assert_array_equal(predicted, model.classes_[shares.argmax(axis=1)])


@checked
@given(problems(criteria=(*CLASS_CRITERIA, "squared_error", "absolute_error")))
def test_a_full_tree_knows_its_rows(problem: Problem) -> None:
    """Rows that differ somewhere are told apart, unless only a zero-weight row differs."""
    model = problem.fit()
    kept = problem.full_weight > 0
    X, y = problem.X[kept], problem.y[kept]
    leaf = model.apply(X)
    for node in np.unique(leaf):
        here = leaf == node
        alike = np.array_equal(X[here], np.broadcast_to(X[here][0], X[here].shape), equal_nan=True)
        assert alike or len(np.unique(y[here])) == 1


@checked
@given(problems(criteria=CLASS_CRITERIA), st.permutations(["d", "a", "c", "b"]))
def test_new_class_names_only_permute_the_columns(problem: Problem, names: list[str]) -> None:
    model = problem.fit()
    renamed = problem.replaced(y=np.array(names)[problem.y]).fit()
    old = predictions(model, problem.X)
    new = predictions(renamed, problem.X)
    order = [list(renamed.classes_).index(names[k]) for k in model.classes_]
    np.testing.assert_array_equal(old, new[:, order])
