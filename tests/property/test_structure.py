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
    np.testing.assert_array_equal(shares, tree.value_rows[leaf])
    path = model.decision_path(problem.X)
    for row, end in enumerate(leaf):
        nodes = path.indices[path.indptr[row] : path.indptr[row + 1]]
        assert nodes[0] == 0
        assert nodes[-1] == end
        for parent, child in itertools.pairwise(nodes):
            assert child in (tree.children_left[parent], tree.children_right[parent])
    assert model.get_n_leaves() == is_leaf.sum()
    assert model.get_depth() == np.diff(path.indptr).max() - 1


def classes_of(model: Any) -> list[Any]:
    """Return the classes of every output."""
    return model.classes_ if isinstance(model.classes_, list) else [model.classes_]


@checked
@given(problems(), growth())
def test_leaves_predict_the_centre_of_their_rows(
    problem: Problem, parameters: dict[str, Any]
) -> None:
    model = problem.fit(**parameters)
    leaf, weight = model.apply(problem.X), problem.full_weight
    for node in np.unique(leaf[weight > 0]):
        here = (leaf == node) & (weight > 0)
        y, w = problem.y[here], weight[here]
        for k, output in enumerate(problem.outputs[here].T):
            if problem.is_classification:
                expected = [w[output == c].sum() / w.sum() for c in classes_of(model)[k]]
            else:
                expected = [centre(output, problem.criterion, w)]
            value = model.tree_.value[node, k]
            np.testing.assert_allclose(value[: len(expected)], expected, rtol=1e-14, atol=1e-14)
            assert not value[len(expected) :].any()
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
    """Return the mean loss that the criterion's leaves minimise, summed over the outputs."""
    y, predicted = problem.outputs, model.predict(problem.X).reshape(problem.outputs.shape)
    if problem.is_classification:
        loss = (predicted != y).astype(float)
    elif problem.criterion == "poisson":
        ratio = np.divide(y, predicted, where=y > 0, out=np.ones(y.shape))
        loss = y * np.log(ratio) - y + predicted
    else:
        loss = np.abs(predicted - y) ** (2 if problem.criterion == "squared_error" else 1)
    return float(np.average(loss, weights=problem.full_weight, axis=0).sum())


_SEARCHES = st.fixed_dictionaries(
    {"random_state": st.integers(0, 5)},
    optional={"splitter": st.just("random"), "max_bins": st.integers(2, 6)},
)


@checked
@given(problems(), _SEARCHES)
def test_training_loss_never_rises_with_depth(problem: Problem, search: dict[str, Any]) -> None:
    models = [problem.fit(max_depth=depth, **search) for depth in range(1, 6)]
    losses = [training_loss(problem, model) for model in models]
    assert all(after <= before + 1e-12 for before, after in itertools.pairwise(losses))


@checked
@given(problems(), _SEARCHES)
def test_training_loss_never_rises_with_leaves(problem: Problem, search: dict[str, Any]) -> None:
    models = [problem.fit(max_leaf_nodes=n, **search) for n in range(2, 8)]
    losses = [training_loss(problem, model) for model in models]
    assert all(after <= before + 1e-12 for before, after in itertools.pairwise(losses))


@checked
@given(problems(), growth())
def test_predictions_stay_within_the_targets(problem: Problem, parameters: dict[str, Any]) -> None:
    model = problem.fit(**parameters)
    y = problem.outputs[problem.full_weight > 0]
    fresh = np.vstack(
        [problem.X, problem.X[::-1] * 3 + 1, np.full((1, problem.X.shape[1]), np.nan)]
    )
    predicted = model.predict(fresh).reshape(len(fresh), -1)
    assert (y.min(axis=0) <= predicted.min(axis=0)).all()
    assert (predicted.max(axis=0) <= y.max(axis=0)).all()
    if problem.is_classification:
        of_output = model.predict_proba(fresh)
        for k, shares in enumerate(of_output if isinstance(of_output, list) else [of_output]):
            assert ((shares >= 0) & (shares <= 1)).all()
            np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=0, atol=1e-15)
            most = classes_of(model)[k][shares.argmax(axis=1)]
            np.testing.assert_array_equal(predicted[:, k], most)


@checked
@given(
    problems(criteria=(*CLASS_CRITERIA, "squared_error", "absolute_error")),
    st.sampled_from(["best", "random"]),
)
def test_a_full_tree_fits_its_rows(problem: Problem, splitter: str) -> None:
    """Rows that differ somewhere are separated, unless only a zero-weight row differs."""
    model = problem.fit(splitter=splitter, random_state=0)
    kept = problem.full_weight > 0
    X, y = problem.X[kept], problem.y[kept]
    leaf = model.apply(X)
    for node in np.unique(leaf):
        here = leaf == node
        alike = np.array_equal(X[here], np.broadcast_to(X[here][0], X[here].shape), equal_nan=True)
        assert alike or len(np.unique(y[here], axis=0)) == 1


@checked
@given(
    problems(criteria=CLASS_CRITERIA, categories=False, several=False),
    st.permutations(["d", "a", "c", "b"]),
    _SEARCHES,
)
def test_new_class_names_only_permute_the_columns(
    problem: Problem, names: list[str], search: dict[str, Any]
) -> None:
    """Categories are left out: more than two classes order them by the largest one first."""
    model = problem.fit(**search)
    renamed = problem.replaced(y=np.array(names)[problem.y]).fit(**search)
    old = predictions(model, problem.X)
    new = predictions(renamed, problem.X)
    order = [list(renamed.classes_).index(names[k]) for k in model.classes_]
    np.testing.assert_array_equal(old, new[:, order])
