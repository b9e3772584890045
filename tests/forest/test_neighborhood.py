"""Weights of neighbours and proximities beside the definitions, spelled out over all pairs."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, load_wine

import arboleda
from arboleda import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

N_TREES = 12
REGRESSORS = {
    "bootstrap": RandomForestRegressor(N_TREES, keep_rows=True, random_state=0),
    "large leaves": RandomForestRegressor(
        N_TREES, min_samples_leaf=15, max_features=3, keep_rows=True, random_state=0
    ),
    "fewer rows": RandomForestRegressor(
        N_TREES, max_samples=0.3, max_depth=5, keep_rows=True, random_state=0
    ),
    "all rows": ExtraTreesRegressor(N_TREES, max_depth=6, keep_rows=True, random_state=0),
    "extra trees, bootstrap": ExtraTreesRegressor(
        N_TREES, bootstrap=True, max_depth=6, keep_rows=True, random_state=0
    ),
    "pruned": RandomForestRegressor(N_TREES, ccp_alpha=50.0, keep_rows=True, random_state=0),
}
CLASSIFIERS = {
    "bootstrap": RandomForestClassifier(N_TREES, max_depth=3, keep_rows=True, random_state=0),
    "balanced bags": RandomForestClassifier(
        N_TREES, bootstrap="balanced", max_depth=3, keep_rows=True, random_state=0
    ),
    "balanced": RandomForestClassifier(
        N_TREES, class_weight="balanced", max_depth=3, keep_rows=True, random_state=0
    ),
    "balanced subsamples": RandomForestClassifier(
        N_TREES, class_weight="balanced_subsample", max_depth=3, keep_rows=True, random_state=0
    ),
    "extra trees": ExtraTreesClassifier(N_TREES, max_depth=4, keep_rows=True, random_state=0),
}


def unequal_weights(n: int) -> Any:
    """Weights from 0 to 3, some of them 0."""
    random = np.random.default_rng(1)
    return random.integers(0, 4, n) * random.random(n)


def naive_weights(forest: Any, X: Any, X_train: Any, weight: Any) -> Any:
    """Mean over the trees of the shares of the rows of a leaf, over all pairs of rows."""
    reached, landed = forest.apply(X), forest.apply(X_train)
    total = np.zeros((len(X), len(X_train)))
    for tree, drawn in enumerate(forest.estimators_samples_):
        counts = np.bincount(drawn, minlength=len(X_train)) * weight
        together = reached[:, tree, np.newaxis] == landed[:, tree]
        total += together * counts / (together * counts).sum(axis=1, keepdims=True)
    return total / len(forest.estimators_samples_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", REGRESSORS)
def test_weights_match_their_definition_and_average_to_the_prediction(
    name: str, weighted: bool
) -> None:
    X, y = load_diabetes(return_X_y=True)
    X, y, X_new = X[:300], y[:300], X[300:]
    weight = unequal_weights(len(y)) if weighted else np.ones(len(y))
    forest = clone(REGRESSORS[name]).fit(X, y, sample_weight=weight if weighted else None)
    found = forest.neighbor_weights(X_new)
    assert found.shape == (len(X_new), len(X))
    assert found.has_sorted_indices
    assert (found.data > 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-13)
    np.testing.assert_allclose(found @ y, forest.predict(X_new), rtol=1e-9)
    np.testing.assert_allclose(found.toarray(), naive_weights(forest, X_new, X, weight), atol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_weights_of_classes_add_up_to_the_soft_vote(name: str, weighted: bool) -> None:
    X, y = load_wine(return_X_y=True)
    is_new = np.arange(len(y)) % 3 == 0
    weight = unequal_weights((~is_new).sum()) if weighted else None
    forest = clone(CLASSIFIERS[name]).fit(X[~is_new], y[~is_new], sample_weight=weight)
    classes = y[~is_new, np.newaxis] == forest.classes_
    found = forest.neighbor_weights(X[is_new])
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-13)
    np.testing.assert_allclose(found @ classes, forest.predict_proba(X[is_new]), atol=1e-9)


def test_weights_ignore_the_clipping_of_monotone_leaves() -> None:
    random = np.random.default_rng(0)
    X = random.random((300, 3))
    y = np.sin(6 * X[:, 0]) + X[:, 1] + random.normal(size=300) / 2
    forest = RandomForestRegressor(N_TREES, keep_rows=True, random_state=0)
    forest.set_params(monotonic_cst=[1, -1, 0]).fit(X, y)
    weights = forest.neighbor_weights(X)
    np.testing.assert_allclose(
        weights.toarray(), naive_weights(forest, X, X, np.ones(300)), atol=1e-14
    )
    assert np.abs(weights @ y - forest.predict(X)).max() > 0.05
    larger = X + np.array([0.1, 0.0, 0.0])
    assert (forest.predict(larger) >= forest.predict(X)).all()
    assert (forest.neighbor_weights(larger) @ y - weights @ y).min() < -0.01


def test_weights_of_median_leaves_do_not_average_to_the_prediction() -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(N_TREES, min_samples_leaf=15, keep_rows=True, random_state=0)
    forest.set_params(criterion="absolute_error").fit(X[:200], y[:200])
    weights = forest.neighbor_weights(X[200:250]).toarray()
    expected = naive_weights(forest, X[200:250], X[:200], np.ones(200))
    np.testing.assert_allclose(weights, expected, atol=1e-14)
    assert np.abs(weights @ y[:200] - forest.predict(X[200:250])).max() > 1


def test_missing_values_categories_and_sparse_tables_are_supported() -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": np.where(random.random(300) < 0.2, np.nan, random.normal(size=300)),
            "kind": pd.Categorical(random.choice(["a", "b", "c", None], 300)),
        }
    )
    y = frame["number"].fillna(3) + (frame["kind"] == "a") * 2 + random.normal(size=300) / 4
    forest = RandomForestRegressor(N_TREES, keep_rows=True, random_state=0).fit(frame, y)
    np.testing.assert_allclose(forest.neighbor_weights(frame) @ y, forest.predict(frame), rtol=1e-9)
    np.testing.assert_array_equal(forest.proximity(frame).diagonal(), 1.0)
    X = sparse.random(300, 8, density=0.3, random_state=0, format="csr")
    forest = RandomForestRegressor(N_TREES, keep_rows=True, random_state=0).fit(X, y)
    of_sparse, of_dense = (forest.neighbor_weights(each) for each in (X, X.toarray()))
    assert (of_sparse != of_dense).nnz == 0
    np.testing.assert_allclose(of_sparse @ y, forest.predict(X), rtol=1e-9)
    assert (forest.proximity(X) != forest.proximity(X.toarray())).nnz == 0


def test_several_targets_share_their_weights() -> None:
    X, y = load_diabetes(return_X_y=True)
    y = np.column_stack([y, X[:, 0] - y])
    forest = RandomForestRegressor(N_TREES, keep_rows=True, random_state=0).fit(X, y)
    np.testing.assert_allclose(forest.neighbor_weights(X) @ y, forest.predict(X), rtol=1e-9)


def test_threads_blocks_files_and_pickles_change_no_bit(tmp_path: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    weight = unequal_weights(len(y))
    forest = RandomForestRegressor(N_TREES, keep_rows=True, random_state=0).fit(X, y, weight)
    first = forest.neighbor_weights(X)
    near = forest.proximity(X)
    out = forest.proximity(X, out_of_bag=True)
    others = [pickle.loads(pickle.dumps(forest)).set_params(n_jobs=3)]
    forest.save(tmp_path / "forest.arboleda")
    others.append(arboleda.load(tmp_path / "forest.arboleda"))
    for other in others:
        for mine, theirs in [
            (first, other.neighbor_weights(X)),
            (near, other.proximity(X)),
            (out, other.proximity(X, out_of_bag=True)),
        ]:
            np.testing.assert_array_equal(mine.indptr, theirs.indptr)
            np.testing.assert_array_equal(mine.indices, theirs.indices)
            np.testing.assert_array_equal(mine.data, theirs.data)
        np.testing.assert_array_equal(other.predict_quantiles(X), forest.predict_quantiles(X))
    assert (
        sparse.vstack([forest.neighbor_weights(X[:99]), forest.neighbor_weights(X[99:])]) != first
    ).nnz == 0


def test_proximity_is_the_share_of_common_leaves() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(N_TREES, random_state=0).fit(X, y)
    leaves = forest.apply(X)
    expected = (leaves[:, np.newaxis] == leaves).mean(axis=2)
    np.testing.assert_allclose(forest.proximity(X).toarray(), expected, rtol=1e-15)
    np.testing.assert_allclose(forest.proximity(X[:9], X).toarray(), expected[:9], rtol=1e-15)
    np.testing.assert_allclose(forest.proximity(X[90:], X[:20]).toarray(), expected[90:, :20])


def test_proximity_out_of_bag_counts_the_trees_that_saw_neither_row() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(70, keep_rows=True, random_state=0).fit(X, y)
    leaves = forest.apply(X)
    saw = np.array([np.isin(np.arange(len(X)), drawn) for drawn in forest.estimators_samples_]).T
    neither = ~saw[:, np.newaxis] & ~saw
    together = (leaves[:, np.newaxis] == leaves) & neither
    expected = together.sum(axis=2) / np.maximum(1, neither.sum(axis=2))
    found = forest.proximity(X, out_of_bag=True)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-15)
    np.testing.assert_allclose(found.toarray(), found.T.toarray(), rtol=1e-15)


@pytest.mark.parametrize(
    "ask",
    [
        lambda forest, X: forest.neighbor_weights(X),
        lambda forest, X: forest.predict_quantiles(X),
        lambda forest, X: forest.predict_interval(X),
        lambda forest, X: forest.proximity(X, out_of_bag=True),
    ],
)
def test_a_forest_without_stored_rows_explains_how_to_store_them(ask: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="keep_rows=True"):
        ask(forest, X)


def test_trees_of_different_fits_have_no_common_rows() -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(5, keep_rows=True, warm_start=True, random_state=0).fit(X, y)
    forest.set_params(n_estimators=9).fit(X, y)
    at_once = RandomForestRegressor(9, keep_rows=True, random_state=0).fit(X, y)
    assert (forest.neighbor_weights(X) != at_once.neighbor_weights(X)).nnz == 0
    forest.set_params(n_estimators=12).fit(X, 2 * y)
    with pytest.raises(ValueError, match="fit a clone"):
        forest.neighbor_weights(X)


@pytest.mark.parametrize("kept", [False, True])
def test_all_trees_must_agree_on_storing_rows(kept: bool) -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(2, keep_rows=kept, warm_start=True, random_state=0).fit(X, y)
    forest.set_params(keep_rows=not kept, n_estimators=3)
    with pytest.raises(ValueError, match=f"a fit with keep_rows={kept}"):
        forest.fit(X, y)
    assert forest.n_estimators_ == 2


def test_out_of_bag_proximity_requires_the_training_rows() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, keep_rows=True, random_state=0).fit(X, y)
    for wrong in [(X[:50],), (X, X)]:
        with pytest.raises(ValueError, match="with 150 rows"):
            forest.proximity(*wrong, out_of_bag=True)
    forest.set_params(bootstrap=False).fit(X, y)
    with pytest.raises(ValueError, match="fitted on all rows: set bootstrap=True"):
        forest.proximity(X, out_of_bag=True)


def test_outlier_scores_match_their_definition() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(N_TREES, min_samples_leaf=5, random_state=0).fit(X, y)
    near = forest.proximity(X).toarray()
    expected = np.empty(len(X))
    for label in range(3):
        members = np.flatnonzero(y == label)
        raw = np.array([len(X) / sum(near[i, j] ** 2 for j in members) for i in members])
        deviation = raw - np.median(raw)
        expected[members] = deviation / (np.median(np.abs(deviation)) or 1.0)
    names = np.array(["a", "b", "c"])[y]
    np.testing.assert_allclose(forest.outlier_scores(X, names), expected, rtol=1e-9, atol=1e-12)


def test_a_mislabelled_row_is_an_outlier() -> None:
    X, y = load_iris(return_X_y=True)
    y = y.copy()
    y[7] = 2
    forest = RandomForestClassifier(200, random_state=0).fit(X, y)
    scores = forest.outlier_scores(X, y)
    assert scores.argmax() == 7
    assert scores[7] > 10
    with pytest.raises(ValueError, match="5 labels, but X has 150 rows"):
        forest.outlier_scores(X, y[:5])


def test_outliers_of_a_regression_are_relative_to_all_rows() -> None:
    X, y = load_diabetes(return_X_y=True)
    X = X.copy()
    X[11] = 5 * X.max()
    forest = RandomForestRegressor(100, min_samples_leaf=20, random_state=0).fit(X[:200], y[:200])
    near = forest.proximity(X).toarray()
    raw = len(X) / (near**2).sum(axis=1)
    deviation = raw - np.median(raw)
    expected = deviation / np.median(np.abs(deviation))
    np.testing.assert_allclose(forest.outlier_scores(X), expected, rtol=1e-9, atol=1e-12)
