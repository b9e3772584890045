"""The effect of each parameter on the trees; and invalid values."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from tests.forest.tables import CLASSIFIERS, FORESTS, bytes_of, classes, numbers, table_for

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)


@pytest.mark.parametrize(
    ("tree", "forest", "criteria"),
    [
        (DecisionTreeClassifier, RandomForestClassifier,
         ["gini", "entropy", "log_loss", "misclassification"]),
        (DecisionTreeRegressor, RandomForestRegressor,
         ["squared_error", "friedman_mse", "absolute_error", "poisson"]),
    ],
)  # fmt: skip
def test_trees_match_those_fitted_on_their_bags(
    tree: Any, forest: Any, criteria: list[str]
) -> None:
    """Without drawn columns a tree of the forest is CART on its rows, weighted by their draws."""
    X, y = table_for(forest)
    y = y if is_classifier(forest()) else np.abs(y)
    for criterion in criteria:
        grown = forest(4, criterion=criterion, max_features=None, random_state=7).fit(X, y)
        for member, drawn in zip(grown.estimators_, grown.estimators_samples_, strict=True):
            counts = np.bincount(drawn, minlength=len(X)).astype(float)
            alone = tree(criterion=criterion).fit(X, y, counts)
            assert type(member) is tree
            _assert_same_tree(member.tree_, alone.tree_)


def _assert_same_tree(mine: Any, other: Any) -> None:
    for name in ("children_left", "children_right", "feature", "threshold", "n_node_samples"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(other, name))
    for name in ("value", "impurity", "weighted_n_node_samples"):
        np.testing.assert_allclose(getattr(mine, name), getattr(other, name), atol=1e-12)


@pytest.mark.parametrize("parameters", [
    {"max_depth": 2},
    {"min_samples_split": 40},
    {"min_samples_split": 0.3},
    {"min_samples_leaf": 15},
    {"min_samples_leaf": 0.1},
    {"min_weight_fraction_leaf": 0.1},
    {"max_leaf_nodes": 5},
    {"min_impurity_decrease": 0.05},
    {"ccp_alpha": 0.02},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("forest", FORESTS)
def test_growth_is_limited_in_every_tree(forest: Any, parameters: dict[str, Any]) -> None:
    X, y = table_for(forest)
    grown = forest(5, random_state=0, **parameters).fit(X, y)
    free = forest(5, random_state=0).fit(X, y)
    for member, unlimited in zip(grown.estimators_, free.estimators_, strict=True):
        tree = member.tree_
        leaf = tree.children_left < 0
        assert tree.n_leaves < unlimited.tree_.n_leaves
        if "max_depth" in parameters:
            assert tree.max_depth <= 2
        if "min_samples_split" in parameters:
            limit = parameters["min_samples_split"]
            assert tree.n_node_samples[~leaf].min() >= (limit if limit > 1 else limit * len(X))
        if "min_samples_leaf" in parameters:
            limit = parameters["min_samples_leaf"]
            assert tree.n_node_samples[leaf].min() >= (limit if limit >= 1 else limit * len(X))
        if "min_weight_fraction_leaf" in parameters:
            weight = tree.weighted_n_node_samples
            assert weight[leaf].min() >= 0.1 * weight[0] - 1e-9
        if "max_leaf_nodes" in parameters:
            assert tree.n_leaves <= 5


def test_pruned_trees_match_single_pruned_trees() -> None:
    X, y = classes()
    whole = RandomForestClassifier(4, random_state=0).fit(X, y)
    pruned = RandomForestClassifier(4, random_state=0, ccp_alpha=0.02).fit(X, y)
    for member, other in zip(pruned.estimators_, whole.estimators_, strict=True):
        _assert_same_tree(member.tree_, other.tree_.pruned(0.02))


@pytest.mark.parametrize("forest", FORESTS)
@pytest.mark.parametrize(
    ("max_features", "expected"),
    [("sqrt", 2), ("log2", 2), (4, 4), (0.5, 3), (1 / 3, 2), (0.01, 1), (1.0, 6), (None, 6)],
)
def test_max_features_limits_the_columns(forest: Any, max_features: Any, expected: int) -> None:
    X, y = table_for(forest)
    grown = forest(3, max_features=max_features, max_depth=3, random_state=0).fit(X, y)
    assert grown.max_features_ == expected
    assert grown.estimators_[0].max_features_ == expected


@pytest.mark.parametrize("forest", FORESTS)
def test_few_columns_make_different_roots(forest: Any) -> None:
    X, y = table_for(forest)
    one = forest(40, max_features=1, max_depth=1, random_state=0).fit(X, y)
    assert {int(tree.tree_.feature[0]) for tree in one.estimators_} == set(range(6))


@pytest.mark.parametrize("forest", FORESTS)
def test_bins_leave_few_thresholds(forest: Any) -> None:
    X, y = table_for(forest)
    grown = forest(5, max_bins=4, random_state=0).fit(X[:, :1], y)
    assert {tree.tree_.n_leaves for tree in grown.estimators_} == {4}


def test_extra_trees_draw_thresholds_and_see_all_rows() -> None:
    X, y = numbers()
    extra = ExtraTreesRegressor(20, max_features=None, max_depth=1, random_state=0).fit(X, y)
    found = {float(tree.tree_.threshold[0]) for tree in extra.estimators_}
    assert len(found) == 20
    searched = {float(s) for s in ((np.sort(X, axis=0)[1:] + np.sort(X, axis=0)[:-1]) / 2).flat}
    assert not found & searched
    assert {int(tree.tree_.n_node_samples[0]) for tree in extra.estimators_} == {200}
    assert extra.estimators_[0].splitter == "random"


@pytest.mark.parametrize("forest", FORESTS)
def test_the_defaults_match_scikit_learn(forest: Any) -> None:
    import sklearn.ensemble

    theirs = getattr(sklearn.ensemble, forest.__name__)().get_params()
    ours = forest().get_params()
    assert {name: ours[name] for name in theirs} == theirs


@pytest.mark.parametrize("forest", CLASSIFIERS)
def test_class_weights_change_the_shares_of_classes(forest: Any) -> None:
    X, y = classes()
    keep = (y != "a") | (np.arange(len(y)) % 7 == 0)
    X, y = X[keep], y[keep]
    shares = {}
    for weight in (None, "balanced", "balanced_subsample", {"a": 5.0, "b": 1.0, "d": 1.0}):
        grown = forest(10, class_weight=weight, bootstrap=True, random_state=0).fit(X, y)
        shares[str(weight)] = np.array([tree.tree_.value[0, 0] for tree in grown.estimators_])
    assert shares["None"][:, 0].mean() < 0.15
    np.testing.assert_allclose(shares["balanced"].mean(axis=0), 1 / 3, atol=0.07)
    assert shares["balanced"].std() > 0.01  # the bags differ
    np.testing.assert_allclose(shares["balanced_subsample"], 1 / 3)
    counts = np.unique(y, return_counts=True)[1] * [5.0, 1.0, 1.0]
    np.testing.assert_allclose(
        shares[str({"a": 5.0, "b": 1.0, "d": 1.0})].mean(axis=0), counts / counts.sum(), atol=0.07
    )


def test_unit_weights_change_nothing_and_integer_draws_count() -> None:
    X, y = classes()
    plain = RandomForestClassifier(5, random_state=0).fit(X, y)
    ones = RandomForestClassifier(5, random_state=0).fit(X, y, np.ones(len(y)))
    assert bytes_of(plain) == bytes_of(ones)
    scaled = RandomForestClassifier(5, random_state=0).fit(X, y, np.full(len(y), 0.25))
    np.testing.assert_array_equal(plain.predict_proba(X), scaled.predict_proba(X))
    whole = ExtraTreesRegressor(5, random_state=0, min_samples_leaf=1).fit(X, X[:, 0])
    assert whole.estimators_[0].tree_.weighted_n_node_samples[0] == len(X)


def test_several_outputs() -> None:
    X, y = classes()
    Y = np.column_stack([y, np.where(X[:, 2] > 0, "p", "n")])
    forest = RandomForestClassifier(20, random_state=0).fit(X, Y)
    assert forest.n_outputs_ == 2
    assert forest.n_classes_ == [3, 2]
    first, second = forest.predict_proba(X)
    assert first.shape == (200, 3)
    assert second.shape == (200, 2)
    assert np.mean(forest.predict(X) == Y) > 0.95
    mean = np.mean([tree.predict_proba(X)[1] for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(second, mean, atol=1e-12)
    Z = np.column_stack([X[:, 0], -X[:, 1]])
    other = ExtraTreesRegressor(20, random_state=0).fit(X, Z)
    np.testing.assert_allclose(other.predict(X), Z)


def test_categories_missing_values_and_sparse_matrices_are_supported() -> None:
    import pandas as pd
    from scipy.sparse import csr_matrix

    random = np.random.default_rng(0)
    kind = random.integers(0, 8, 400)
    x = random.normal(size=400)
    y = np.where(np.isin(kind, [1, 4, 6]), 2.0, 0.0) + 0.1 * random.normal(size=400)
    frame = pd.DataFrame({"kind": pd.Categorical([f"k{k}" for k in kind]), "x": x})
    frame.loc[::9, "x"] = np.nan
    forest = RandomForestRegressor(20, max_depth=3, random_state=0).fit(frame, y)
    assert forest.score(frame, y) > 0.9
    assert forest.missing_columns_.tolist() == [1]
    assert forest.feature_names_in_.tolist() == ["kind", "x"]
    other = frame[["x", "kind"]]
    np.testing.assert_array_equal(forest.predict(frame), forest.predict(other))
    X, y = classes()
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    for kind_of_forest in (RandomForestClassifier, ExtraTreesClassifier):
        dense = kind_of_forest(5, oob_score=True, bootstrap=True, n_jobs=1, random_state=0)
        thin = clone(dense)
        with pytest.warns(UserWarning, match="left out by no"):
            dense.fit(X, y)
        with pytest.warns(UserWarning, match="left out by no"):
            thin.fit(csr_matrix(X), y)
        assert bytes_of(dense) == bytes_of(thin)
        assert dense.oob_score_ == thin.oob_score_
        np.testing.assert_array_equal(dense.predict_proba(X), thin.predict_proba(csr_matrix(X)))


@pytest.mark.parametrize("forest", FORESTS)
@pytest.mark.parametrize(
    "wrong",
    [
        {"n_estimators": 0},
        {"n_estimators": "many"},
        {"n_estimators": 2.5},
        {"max_samples": 0},
        {"max_samples": 0.0},
        {"max_samples": 1.5},
        {"bootstrap": "often"},
        {"criterion": "best"},
        {"max_features": 0},
        {"max_features": "auto"},
        {"oob_score": "yes"},
        {"keep_rows": None},
    ],
    ids=str,
)
def test_invalid_values_are_refused(forest: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of"):
        forest(**{"bootstrap": True, **wrong}).fit(*table_for(forest))


@pytest.mark.parametrize("forest", FORESTS)
def test_monotonic_columns_are_followed(forest: Any) -> None:
    """Every tree keeps the direction, and so does their mean."""
    X, y = table_for(forest)
    if is_classifier(forest()):
        y = (X[:, 0] > 0) ^ (np.random.default_rng(0).random(200) < 0.2)
    grid = np.tile(X[:20], (15, 1))
    grid[:, 0] = np.repeat(np.linspace(-3, 3, 15), 20)
    rises = []
    for direction in (None, [1, 0, 0, 0, 0, 0]):
        grown = forest(15, monotonic_cst=direction, random_state=0).fit(X, y)
        predicted = grown.predict_proba(grid)[:, 1] if is_classifier(grown) else grown.predict(grid)
        rises.append(np.diff(predicted.reshape(15, 20), axis=0).min())
    assert rises[0] < 0.0
    assert rises[1] >= -1e-12


def test_max_samples_must_not_exceed_the_rows() -> None:
    X, y = classes()
    weight = np.arange(200) % 2
    with pytest.raises(
        ValueError,
        match="max_samples=101 is larger than the number of rows of positive weight, 100",
    ):
        RandomForestClassifier(2, max_samples=101).fit(X, y, weight)
    forest = RandomForestClassifier(2, max_samples=1.0).fit(X, y, weight)
    assert forest.estimators_samples_[0].size == 100


def test_voting_has_three_options_for_classes() -> None:
    with pytest.raises(ValueError, match="The 'voting' parameter"):
        RandomForestClassifier(voting="loud").fit(*classes())
    assert "voting" not in RandomForestRegressor().get_params()


def test_more_classes_than_memory_allows_are_refused() -> None:
    y = np.arange(30_000) // 3
    with pytest.raises(ValueError, match="y has 10,000 classes: 1,000 trees of up to"):
        RandomForestClassifier(1_000).fit(np.zeros((30_000, 1)), y)


@pytest.mark.parametrize("forest", FORESTS)
def test_attributes_do_not_exist_before_fit(forest: Any) -> None:
    model = forest()
    for ask in (
        lambda: model.predict([[1.0]]),
        lambda: model.apply([[1.0]]),
        lambda: model.estimators_,
        lambda: model.feature_importances_,
        model.oob_curve,
        lambda: model.estimators_samples_,
    ):
        with pytest.raises(NotFittedError):
            ask()


def test_verbose_prints_the_progress(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = classes(60)
    RandomForestClassifier(20, verbose=1, n_jobs=1).fit(X, y)
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "tree 20 of 20"
    assert 5 <= len(printed) <= 11
    RandomForestClassifier(20, n_jobs=1).fit(X, y)
    assert capsys.readouterr().out == ""
