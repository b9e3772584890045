"""Our trees are grown by the engine: each equals the tree fitted alone."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.neighbors import KNeighborsClassifier

from arboleda import (
    BaggingClassifier,
    BaggingRegressor,
    ClassSwitchingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)
from arboleda._engine.fit import ForestOptions, switch_labels

X, y = load_iris(return_X_y=True)
ARRAYS = ("feature", "threshold", "children_left", "children_right", "n_node_samples")


def assert_same_tree(first: Any, second: Any) -> None:
    # A forest keeps the values of leaves; those of inner nodes follow, up to rounding.
    np.testing.assert_allclose(first.tree_.value, second.tree_.value, rtol=1e-9, atol=1e-12)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(first.tree_, name), getattr(second.tree_, name))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_samples": 0.5, "bootstrap": False},
        {"max_features": 2},
        {"bootstrap_features": True, "max_samples": 60},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "tree",
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(max_depth=2, criterion="log_loss"),
        DecisionTreeClassifier(min_samples_leaf=0.05, class_weight={0: 1.0, 1: 5.0, 2: 1.0}),
        DecisionTreeClassifier(max_leaf_nodes=4, min_weight_fraction_leaf=0.1, max_bins=10),
    ],
    ids=str,
)
def test_bagged_classification_trees_match_their_twins(tree: Any, options: dict[str, Any]) -> None:
    weight = 1.0 + np.arange(150) % 3
    bag = BaggingClassifier(tree, n_estimators=4, random_state=1, **options).fit(X, y, weight)
    for member, rows, columns in zip(
        bag.estimators_, bag.estimators_samples_, bag.estimators_features_, strict=True
    ):
        counts = np.bincount(rows, minlength=150)
        alone = type(tree)(**tree.get_params()).fit(X[:, columns], y, counts * weight)
        assert_same_tree(member, alone)
        np.testing.assert_array_equal(
            member.predict_proba(X[:, columns]), alone.predict_proba(X[:, columns])
        )
        np.testing.assert_allclose(
            member.feature_importances_, alone.feature_importances_, atol=1e-9
        )
        assert member.n_features_in_ == len(columns)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("criterion", ["squared_error", "friedman_mse", "absolute_error"])
def test_bagged_regression_trees_match_their_twins(criterion: str, several: bool) -> None:
    table, target = load_diabetes(return_X_y=True)
    table, target = table[:100], target[:100]
    if several:
        target = np.column_stack([target, -target, table[:, 0]])
    tree = DecisionTreeRegressor(criterion=criterion, max_depth=4)
    forest = RandomSubspaceRegressor(tree, n_estimators=3, random_state=0).fit(table, target)
    for member, columns in zip(forest.estimators_, forest.estimators_features_, strict=True):
        assert_same_tree(
            member, DecisionTreeRegressor(**tree.get_params()).fit(table[:, columns], target)
        )
    mean = np.mean(
        [
            member.predict(table[:, columns])
            for member, columns in zip(forest.estimators_, forest.estimators_features_, strict=True)
        ],
        axis=0,
    )
    np.testing.assert_allclose(forest.predict(table), mean)


def test_trees_of_switched_labels_match_their_twins() -> None:
    forest = ClassSwitchingClassifier(n_estimators=3, p=0.3, random_state=5).fit(X, y)
    members = forest._members
    options = ForestOptions(n_trees=1, bag="all", switch_share=0.3)
    for number, member in enumerate(forest.estimators_):
        labels = switch_labels(options, y, number, seed=members.seed)
        assert np.bincount(labels).tolist() == [50, 50, 50]
        assert np.mean(labels != y) == pytest.approx(0.3, abs=0.08)
        assert_same_tree(member, DecisionTreeClassifier().fit(X, labels))


@pytest.mark.parametrize(
    "model",
    [
        BaggingClassifier(n_estimators=7, max_features=0.7, oob_score=False, random_state=3),
        RandomSubspaceClassifier(
            DecisionTreeClassifier(max_features="sqrt"), n_estimators=7, random_state=3
        ),
        ClassSwitchingClassifier(
            DecisionTreeClassifier(splitter="random"), n_estimators=7, random_state=3
        ),
        BaggingRegressor(n_estimators=7, random_state=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_threads_change_no_bit(model: Any) -> None:
    one, two = (
        pickle.dumps(clone(model).set_params(n_jobs=n).fit(X, y)._members.forest) for n in (1, 2)
    )
    assert one == two


def test_members_on_some_columns_keep_names_and_categories() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["kind"] = pd.Categorical(np.array(["p", "q", "r"])[y])
    frame.loc[::9, "b"] = np.nan
    forest = RandomSubspaceClassifier(n_estimators=12, max_features=2, random_state=0)
    forest.fit(frame, y)
    assert forest.feature_names_in_.tolist() == list(frame.columns)
    for member, columns in zip(forest.estimators_, forest.estimators_features_, strict=True):
        names = [frame.columns[j] for j in columns]
        assert member.schema_.names == tuple(names)
        assert [names[j] for j in member.missing_columns_] == ["b"] * ("b" in names)
        alone = DecisionTreeClassifier().fit(frame[names], y)
        assert_same_tree(member, alone)
        np.testing.assert_array_equal(member.predict(frame[names]), alone.predict(frame[names]))


def test_columns_of_frames_are_matched_by_name() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    bag = BaggingClassifier(n_estimators=5, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(bag.predict_proba(frame[list("dbca")]), bag.predict_proba(frame))


@pytest.mark.parametrize(
    "bag", [BaggingClassifier(n_estimators=2), RandomSubspaceClassifier(n_estimators=2)]
)
def test_messages_about_the_table_name_the_users_estimator(bag: Any) -> None:
    name = type(bag).__name__
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    fitted = clone(bag).fit(frame, y)
    more = clone(fitted).set_params(warm_start=True).fit(frame, y).set_params(n_estimators=4)
    for fit in (
        lambda: clone(bag).fit(X[:, :0], y),
        lambda: fitted.predict(frame[["a", "c"]]),
        lambda: more.fit(frame[["a", "b", "c"]], y),
    ):
        with pytest.raises(ValueError, match=name) as raised:
            fit()
        assert "DecisionTree" not in str(raised.value)
    assert len(more) == 2


def test_options_outside_the_engine_are_fitted_tree_by_tree() -> None:
    pruned = BaggingClassifier(DecisionTreeClassifier(ccp_alpha=0.02), random_state=0).fit(X, y)
    assert isinstance(pruned.estimators_, list)
    assert all(member.get_n_leaves() < 6 for member in pruned.estimators_)
    assert not isinstance(BaggingClassifier(random_state=0).fit(X, y).estimators_, list)


def test_members_are_accessed_like_a_list() -> None:
    bag = BaggingClassifier(n_estimators=4, random_state=0).fit(X, y)
    assert len(bag) == 4
    assert_same_tree(bag[-1], bag.estimators_[3])
    assert len(bag.estimators_[1:3]) == 2
    with pytest.raises(IndexError):
        bag.estimators_[4]


def test_a_warm_start_adds_members_of_the_same_type() -> None:
    bag = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    bag.set_params(n_estimators=5, estimator=KNeighborsClassifier())
    with pytest.raises(ValueError, match="only add members of the same kind"):
        bag.fit(X, y)
    assert len(bag.estimators_) == 3
    other = BaggingClassifier(
        KNeighborsClassifier(), n_estimators=3, warm_start=True, random_state=0
    ).fit(X, y)
    with pytest.raises(ValueError, match="only add members of the same kind"):
        other.set_params(n_estimators=5, estimator=None).fit(X, y)


def test_bags_of_other_rows_are_refused() -> None:
    for member in [None, KNeighborsClassifier()]:
        bag = BaggingClassifier(member, n_estimators=3, warm_start=True, random_state=0)
        bag.fit(X[:140], y[:140])
        bag.set_params(n_estimators=30, oob_score=True)
        with pytest.raises(ValueError, match="trained on other rows"):
            bag.fit(X, y)
        assert [len(rows) for rows in bag.estimators_samples_] == [140] * 3
