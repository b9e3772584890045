"""Isolation forests: definition, scores of scikit-learn, hyperplanes, bytes of models."""

import math
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import IsolationForest as SklearnForest
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import IsolationForest, explain, load
from arboleda._engine.isolation import HyperplaneForest, mean_path_length
from arboleda._utils.errors import ModelFormatError

Floats = npt.NDArray[np.float64]

_RANDOM = np.random.default_rng(0)
X = np.r_[_RANDOM.normal(size=(280, 3)), _RANDOM.uniform(-6.0, 6.0, size=(20, 3))]
IS_OUTLIER = np.arange(len(X)) >= 280


def fit(**parameters: Any) -> IsolationForest:
    return IsolationForest(**{"random_state": 0, **parameters}).fit(X)


def naive_c(n: int) -> float:
    if n <= 1:
        return 0.0
    if n == 2:
        return 1.0
    return 2.0 * (math.log(n - 1) + 0.5772156649015329) - 2.0 * (n - 1) / n


@parametrize_with_checks(
    [IsolationForest(n_estimators=10), IsolationForest(n_estimators=5, bootstrap=True)],
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": "weights are those of a random draw"
        for kind in ("dense", "sparse")
    },
    xfail_strict=True,
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# The definition


def test_mean_path_lengths_are_those_of_liu_ting_and_zhou() -> None:
    worked = {1: 0.0, 2: 1.0, 3: 1.2073923, 4: 1.8516559, 10: 3.7488805, 256: 10.2447709}
    for n, length in worked.items():
        assert mean_path_length(n) == pytest.approx(length, abs=1e-7)
        assert mean_path_length(n) == pytest.approx(naive_c(n), rel=1e-14)


def check_subtree(tree: Any, node: int, rows: Floats, depth: int, limit: int) -> None:
    """Grow the subtree of a node from its rows, with the thresholds that were drawn."""
    left, right = tree.children_left[node], tree.children_right[node]
    varying = np.flatnonzero(rows.min(axis=0) < rows.max(axis=0))
    assert tree.n_node_samples[node] == len(rows)
    if depth == limit or len(rows) == 1 or not len(varying):
        assert left == right == -1
        assert tree.value[node].item() == pytest.approx(depth + naive_c(len(rows)), rel=1e-14)
        return
    column, threshold = tree.feature[node], tree.threshold[node]
    values = rows[:, column]
    assert column in varying
    assert values.min() <= threshold < values.max()
    check_subtree(tree, left, rows[values <= threshold], depth + 1, limit)
    check_subtree(tree, right, rows[values > threshold], depth + 1, limit)


@pytest.mark.parametrize(
    "parameters", [{}, {"max_samples": 17}, {"bootstrap": True}, {"max_features": 2}]
)
def test_trees_isolate_their_rows(parameters: dict[str, Any]) -> None:
    forest = fit(n_estimators=12, **parameters)
    limit = math.ceil(math.log2(forest.max_samples_))
    table = np.round(X, 1)
    forest.fit(table)
    for tree, rows, columns in zip(
        forest.estimators_,
        forest.estimators_samples_,
        forest.estimators_features_,
        strict=True,
    ):
        assert len(rows) == forest.max_samples_
        assert len(np.unique(rows)) == len(rows) or forest.bootstrap
        only = np.zeros_like(table)
        only[:, columns] = table[:, columns]
        check_subtree(tree.tree_, 0, only[np.unique(rows)], 0, limit)


def test_scores_are_those_of_the_mean_path_length() -> None:
    forest = fit(n_estimators=9)
    lengths = np.mean([tree.predict(X) for tree in forest.estimators_], axis=0)
    expected = -(2.0 ** (-lengths / naive_c(256)))
    np.testing.assert_allclose(forest.score_samples(X), expected, rtol=1e-13)
    np.testing.assert_array_equal(forest.decision_function(X), forest.score_samples(X) + 0.5)
    np.testing.assert_array_equal(forest.predict(X), np.where(expected < -0.5, -1, 1))
    np.testing.assert_array_equal(IsolationForest(random_state=0).fit_predict(X), fit().predict(X))


def test_thresholds_and_columns_are_uniform() -> None:
    trees = fit(n_estimators=3000, max_samples=3).fit([[0.0, 5.0], [1.0, 9.0], [0.0, 5.0]])
    first = [tree.tree_ for tree in trees.estimators_]
    columns = np.array([tree.feature[0] for tree in first])
    assert abs(columns.mean() - 0.5) < 4 * 0.5 / math.sqrt(3000)
    scaled = np.array([tree.threshold[0] for tree in first]) - 5.0 * columns
    scaled[columns == 1] /= 4.0
    edges = np.arange(1, 3001) / 3000
    assert np.abs(np.sort(scaled) - edges).max() < 1.95 / math.sqrt(3000)  # Kolmogorov-Smirnov


# scikit-learn's forests


@pytest.mark.parametrize(
    "parameters", [{}, {"bootstrap": True}, {"max_features": 2}, {"max_samples": 0.2}]
)
def test_scores_have_the_distribution_of_scikit_learns(parameters: dict[str, Any]) -> None:
    def scores(kind: Any) -> Floats:
        return np.array(
            [
                kind(n_estimators=60, random_state=seed, **parameters).fit(X).score_samples(X)
                for seed in range(12)
            ]
        )

    ours, theirs = scores(IsolationForest), scores(SklearnForest)
    spread = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / 11)
    assert np.abs((ours.mean(axis=0) - theirs.mean(axis=0)) / spread).max() < 6.0
    means = [part.mean(axis=1) for part in (ours, theirs)]
    error = math.sqrt(sum(part.var() for part in means) / 11)
    assert abs(means[0].mean() - means[1].mean()) < 4.5 * error
    assert error < 0.004
    assert ours.std(axis=0).mean() == pytest.approx(theirs.std(axis=0).mean(), rel=0.25)
    areas = [[roc_auc_score(IS_OUTLIER, -s) for s in part] for part in (ours, theirs)]
    assert np.mean(areas[0]) == pytest.approx(np.mean(areas[1]), abs=0.01)
    assert min(map(min, areas)) > 0.9


def test_attributes_are_those_of_scikit_learn() -> None:
    for parameters in ({}, {"max_samples": 0.3}, {"max_samples": 10, "contamination": 0.1}):
        theirs: Any = SklearnForest(n_estimators=3, random_state=0, **parameters).fit(X)
        ours = fit(n_estimators=3, **parameters)
        assert ours.max_samples_ == theirs.max_samples_
        if "contamination" not in parameters:
            assert ours.offset_ == theirs.offset_ == -0.5
    with pytest.warns(UserWarning, match=r"max_samples \(1000\) is greater"):
        assert fit(max_samples=1000).max_samples_ == 300


@pytest.mark.parametrize("share", [0.01, 0.1, 1 / 3, 0.5])
def test_contamination_is_the_share_of_outliers_in_training(share: float) -> None:
    forest = fit(contamination=share)
    assert forest.offset_ == np.percentile(forest.score_samples(X), 100.0 * share)
    assert (forest.predict(X) == -1).sum() == pytest.approx(300 * share, abs=1)


# Randomness


@pytest.mark.parametrize("level", [0, 2])
def test_bytes_depend_on_neither_threads_nor_the_number_of_trees(level: int) -> None:
    def state(forest: IsolationForest) -> bytes:
        forest.set_params(n_jobs=1, n_estimators=30, warm_start=False)
        return pickle.dumps(forest)

    alone = fit(n_estimators=30, extension_level=level, n_jobs=1)
    scores = alone.score_samples(X)
    many = fit(n_estimators=30, extension_level=level, n_jobs=2)
    np.testing.assert_array_equal(many.score_samples(X), scores)
    grown = fit(n_estimators=11, extension_level=level, warm_start=True)
    few = grown.score_samples(X)
    grown.set_params(n_estimators=30).fit(X)
    assert state(alone) == state(many) == state(grown)
    np.testing.assert_array_equal(fit(n_estimators=11, extension_level=level).score_samples(X), few)


def test_rows_are_drawn_in_proportion_to_their_weight() -> None:
    weight = np.r_[np.zeros(10), np.ones(20), np.full(10, 3.0)]
    table = np.arange(40.0).reshape(-1, 1)
    for bootstrap in (False, True):
        forest = IsolationForest(
            n_estimators=2000, max_samples=2, bootstrap=bootstrap, random_state=0
        )
        forest.fit(table, sample_weight=weight)
        drawn = np.bincount(np.concatenate(list(forest.estimators_samples_)), minlength=40)
        assert not drawn[:10].any()
        # Without replacement, the second row is drawn from those that are left.
        light = 20 / 50 if bootstrap else 0.5 * (20 / 50 + 30 / 50 * 20 / 47 + 20 / 50 * 19 / 49)
        assert abs(drawn[10:30].sum() / 4000 - light) < 4 * 0.5 / math.sqrt(4000)
    plain = IsolationForest(random_state=0).fit(X)
    weighted = IsolationForest(random_state=0).fit(X, sample_weight=np.full(300, 2.0))
    np.testing.assert_array_equal(plain.score_samples(X), weighted.score_samples(X))


def test_every_row_is_drawn_as_often_as_any() -> None:
    for size in (3, 29, 40):
        forest = IsolationForest(n_estimators=600, max_samples=size, random_state=1)
        forest.fit(np.arange(40.0).reshape(-1, 1))
        rows = np.array(list(forest.estimators_samples_))
        assert (np.diff(rows, axis=1) > 0).all()
        expected = 600 * size / 40
        spread = math.sqrt(600 * size / 40 * (1 - size / 40)) + 1e-9
        assert (np.abs(np.bincount(rows.ravel(), minlength=40) - expected) / spread).max() < 4.5


# Tables


def test_sparse_and_dense_tables_give_the_same_scores() -> None:
    table = np.where(_RANDOM.random((200, 6)) < 0.3, _RANDOM.normal(size=(200, 6)), 0.0)
    for level in (0, 3):
        dense = IsolationForest(random_state=0, extension_level=level).fit(table)
        for form in (sparse.csr_matrix, sparse.csc_array):
            other = IsolationForest(random_state=0, extension_level=level).fit(form(table))
            np.testing.assert_array_equal(
                other.score_samples(form(table)), dense.score_samples(table)
            )


@pytest.mark.parametrize("level", [0, 1])
def test_degenerate_tables(level: int) -> None:
    forest = IsolationForest(random_state=0, extension_level=level)
    same = np.ones((50, 2))
    np.testing.assert_allclose(forest.fit(same).score_samples(same), -0.5)
    np.testing.assert_array_equal(forest.fit(same[:1]).score_samples(same), -0.5)
    assert (forest.predict(same) == 1).all()
    constant = np.c_[X, np.ones(300)]
    assert roc_auc_score(IS_OUTLIER, -forest.fit(constant).score_samples(constant)) > 0.9
    huge = np.array([[-1.7e308, 0.0], [1.7e308, 1.0], [0.0, 2.0]])
    assert np.isfinite(forest.fit(huge).score_samples(huge)).all()
    missing = np.full((20, 2), np.nan)
    np.testing.assert_allclose(forest.fit(missing).score_samples(missing), -0.5)


def test_missing_values_go_with_most_rows() -> None:
    holes = X.copy()
    holes[_RANDOM.random(X.shape) < 0.2] = np.nan
    forest = IsolationForest(random_state=0, n_estimators=20).fit(holes)
    n_checked = 0
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        nodes = tree.tree_
        column, threshold = nodes.feature[0], nodes.threshold[0]
        values = holes[rows, column]
        n_left, n_right = (values <= threshold).sum(), (values > threshold).sum()
        size = n_left + (np.isnan(values).sum() if n_left >= n_right else 0)
        assert nodes.n_node_samples[nodes.children_left[0]] == size
        n_checked += bool(np.isnan(values).any())
    assert n_checked > 10
    whole = IsolationForest(random_state=0).fit(holes).score_samples(np.full((1, 3), np.nan))
    assert whole[0] > -0.5


def test_rare_categories_are_outliers() -> None:
    labels = np.array(["a", "b", "c"])[_RANDOM.integers(0, 3, 400)].astype(object)
    labels[7] = "rare"
    frame = pd.DataFrame({"kind": pd.Categorical(labels), "x": _RANDOM.normal(size=400)})
    forest = IsolationForest(random_state=0, max_samples=400, n_estimators=200).fit(frame)
    rank = np.argsort(np.argsort(forest.score_samples(frame)))
    assert rank[7] < 12
    known = forest.score_samples(frame[:1])
    unseen = pd.DataFrame({"kind": ["never"], "x": frame["x"][:1]})
    assert np.isfinite(forest.score_samples(unseen)).all()
    assert known.shape == (1,)
    with pytest.raises(ValueError, match="'kind' is categorical"):
        IsolationForest(extension_level=1).fit(frame)


# Hyperplanes


def naive_length(arrays: dict[str, Any], n_terms: int, root: int, row: Floats) -> float:
    node = root
    while arrays["right"][node] >= 0:
        terms = slice(arrays["place"][node] * n_terms, (arrays["place"][node] + 1) * n_terms)
        distance = row[arrays["feature"][terms]] - arrays["point"][terms]
        total = float(np.nansum(arrays["weight"][terms] * distance))
        node = node + 1 if total <= 0.0 else arrays["right"][node]
    return float(arrays["value"][arrays["place"][node]])


def test_hyperplanes_are_walked_as_hariri_defines_them() -> None:
    table = X.copy()
    table[::7, 1] = np.nan
    forest = IsolationForest(random_state=0, n_estimators=15, extension_level=1).fit(table)
    trees = forest.hyperplanes_
    assert trees is not None
    arrays = trees.arrays
    lengths = [
        np.mean([naive_length(arrays, 2, root, row) for root in arrays["root"][:-1]])
        for row in table
    ]
    expected = -(2.0 ** (-np.array(lengths) / naive_c(256)))
    np.testing.assert_allclose(forest.score_samples(table), expected, rtol=1e-10)


def check_planes(arrays: Any, node: int, rows: Floats, depth: int, limit: int) -> int:
    """Grow a subtree of hyperplanes from its rows; return the node after it."""
    varying = len(rows) > 1 and (rows.min(axis=0) < rows.max(axis=0)).any()
    place = arrays["place"][node]
    if depth == limit or not varying:
        assert arrays["right"][node] == -1
        assert arrays["value"][place] == pytest.approx(depth + naive_c(len(rows)), rel=1e-14)
        return node + 1
    terms = slice(place * 3, place * 3 + 3)
    used = arrays["weight"][terms] != 0.0
    columns = arrays["feature"][terms][used]
    assert len(set(columns.tolist())) == used.sum()
    box = rows[:, columns]
    point = arrays["point"][terms][used]
    assert ((box.min(axis=0) <= point) & (point < box.max(axis=0))).all()
    left = (box - point) @ arrays["weight"][terms][used] <= 0.0
    right = check_planes(arrays, node + 1, rows[left], depth + 1, limit)
    assert arrays["right"][node] == right
    return check_planes(arrays, right, rows[~left], depth + 1, limit)


def test_hyperplanes_part_their_rows() -> None:
    forest = fit(n_estimators=10, extension_level=2, max_samples=64)
    assert forest.hyperplanes_ is not None
    arrays = forest.hyperplanes_.arrays
    for root, end, rows in zip(
        arrays["root"], arrays["root"][1:], forest.estimators_samples_, strict=False
    ):
        assert check_planes(arrays, int(root), X[rows], 0, 6) == end
    normals = fit(n_estimators=200, extension_level=2).hyperplanes_
    assert normals is not None
    weight = normals.arrays["weight"]
    weight = weight[weight != 0.0]
    assert abs(weight.mean()) < 4 / math.sqrt(len(weight))
    assert weight.std() == pytest.approx(1.0, abs=4 / math.sqrt(len(weight)))


def test_hyperplanes_find_outliers_beside_a_diagonal() -> None:
    t = _RANDOM.normal(size=600)
    table = np.c_[t, t] + 0.1 * _RANDOM.normal(size=(600, 2))
    beside = np.array([[1.5, -1.5], [-1.5, 1.5], [1.0, -1.0]])
    both = np.r_[table, beside]
    is_beside = np.arange(603) >= 600

    def area(level: int) -> float:
        forest = IsolationForest(random_state=0, extension_level=level).fit(table)
        return float(roc_auc_score(is_beside, -forest.score_samples(both)))

    assert area(1) > area(0)
    assert area(1) > 0.97


def test_errors_name_the_value_and_the_remedy() -> None:
    with pytest.raises(ValueError, match=r"extension_level=3 .* set it to 2 or less"):
        fit(extension_level=3)
    with pytest.raises(AttributeError, match="extension_level=0"):
        _ = fit(extension_level=1).estimators_
    forest = fit(warm_start=True, n_estimators=5)
    for change, message in (
        ({"n_estimators": 3}, "n_estimators=3 must be larger"),
        ({"max_samples": 20, "n_estimators": 9}, "another max_samples_: fit a clone"),
        ({"extension_level": 1, "max_samples": "auto"}, "another extension_level: fit a clone"),
    ):
        with pytest.raises(ValueError, match=message):
            forest.set_params(**change).fit(X)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        fit(warm_start=True, n_estimators=5).fit(X)
    other = fit(warm_start=True, n_estimators=5).set_params(n_estimators=6).fit(X[:290])
    with pytest.raises(ValueError, match="different tables"):
        _ = other.estimators_samples_


# Model files and explanations


@pytest.mark.parametrize("level", [0, 1])
def test_model_files(level: int, tmp_path: Path) -> None:
    weight = np.arange(300.0)
    forest = IsolationForest(n_estimators=7, random_state=0, extension_level=level)
    forest.fit(X, sample_weight=weight)
    forest.save(tmp_path / "model.arboleda")
    for other in (load(tmp_path / "model.arboleda"), pickle.loads(pickle.dumps(forest))):
        np.testing.assert_array_equal(other.decision_function(X), forest.decision_function(X))
        for ours, theirs in zip(other.estimators_samples_, forest.estimators_samples_, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_damaged_hyperplanes_are_refused() -> None:
    trees = fit(n_estimators=3, extension_level=1, max_samples=8).hyperplanes_
    assert trees is not None
    HyperplaneForest.from_arrays(3, 2, trees.arrays)
    n_refused = 0
    for name, array in trees.arrays.items():
        for wrong in (array[:-1], np.r_[array, array[-1:]], array * 0 + 10**6, array * 0 - 2):
            if name in {"weight", "point"} and len(wrong) == len(array):
                continue  # any finite number will do
            if name == "value" and len(wrong) == len(array) and (wrong >= 0.0).all():
                continue
            with pytest.raises(ValueError, match="not trees of hyperplanes"):
                HyperplaneForest.from_arrays(3, 2, {**trees.arrays, name: wrong})
            n_refused += 1
        if array.dtype == np.float64:
            with pytest.raises(ValueError, match="not trees of hyperplanes"):
                HyperplaneForest.from_arrays(3, 2, {**trees.arrays, name: array * np.nan})
    assert n_refused >= 22
    field = IsolationForest._fitted_attributes["hyperplanes_"]
    for stored in ({}, {"n_features": 0, "n_terms": 1, "arrays": {}}, 3):
        with pytest.raises(ModelFormatError):
            field.decode("hyperplanes_", stored, None)  # type: ignore[arg-type]


def test_contributions_add_up_to_the_path_length() -> None:
    forest = fit(n_estimators=20)
    values = explain.shap_values(forest, X[:30])
    lengths = -np.log2(-forest.score_samples(X[:30])) * naive_c(256)
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base_values, lengths, rtol=1e-9)
    with pytest.raises(ValueError, match="extension_level=0"):
        explain.shap_values(fit(extension_level=1), X[:3])


def test_progress_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(n_estimators=20, verbose=1)
    assert capsys.readouterr().out.splitlines()[-1] == "tree 20 of 20"
