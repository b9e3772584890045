"""What members receive: in-bag and out-of-bag rows, columns, and the distribution of draws."""

from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import load_iris, make_classification
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from arboleda import BaggingClassifier, RandomSubspaceClassifier

X, y = load_iris(return_X_y=True)
# Members of both kinds: those that can weigh rows, and those that get them by index.
MEMBERS = [None, DecisionTreeClassifier(), KNeighborsClassifier()]


@pytest.mark.parametrize("member", MEMBERS)
def test_a_bag_has_as_many_rows_as_the_table(member: Any) -> None:
    bag = BaggingClassifier(member, n_estimators=3, random_state=1).fit(X, y)
    assert [len(rows) for rows in bag.estimators_samples_] == [150] * 3
    assert len({tuple(np.sort(rows)) for rows in bag.estimators_samples_}) == 3


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize(("max_samples", "n"), [(0.5, 75), (20, 20), (0.001, 1), (1.0, 150)])
def test_without_replacement_each_row_is_drawn_at_most_once(
    member: Any, max_samples: Any, n: int
) -> None:
    bag = BaggingClassifier(
        member, n_estimators=3, bootstrap=False, max_samples=max_samples, random_state=1
    )
    if n == 1 and isinstance(member, KNeighborsClassifier):
        bag.estimator = KNeighborsClassifier(1)
    bag.fit(X, y)
    for rows in bag.estimators_samples_:
        assert len(rows) == n == len(set(rows.tolist()))


def test_more_rows_than_the_table_has_can_be_drawn_with_replacement() -> None:
    bag = BaggingClassifier(n_estimators=2, max_samples=400, random_state=0).fit(X, y)
    assert [len(rows) for rows in bag.estimators_samples_] == [400, 400]


@pytest.mark.parametrize("member", MEMBERS)
def test_the_same_bags_are_drawn_again(member: Any) -> None:
    bag = BaggingClassifier(member, n_estimators=3, random_state=1).fit(X, y)
    for first, second in zip(bag.estimators_samples_, bag.estimators_samples_, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("n", [2, 10, 400])
@pytest.mark.parametrize("member", [None, KNeighborsClassifier(1)])
def test_the_out_of_bag_share_matches_its_expectation(n: int, member: Any) -> None:
    """(1 - 1/N)^N: 0.25 of two rows, 0.349 of ten, 0.367 of 400."""
    table = np.arange(n, dtype=float)[:, np.newaxis]
    n_bags = 400 if n < 400 else 40
    bag = BaggingClassifier(member, n_estimators=n_bags, random_state=5).fit(table, np.zeros(n))
    iter_left_out_rows = [n - len(np.unique(rows)) for rows in bag.estimators_samples_]
    expected = (1 - 1 / n) ** n
    # Rows exclude each other a little, so that the binomial's deviation is an upper bound.
    bound = 5 * np.sqrt(expected * (1 - expected) / (n * n_bags))
    assert abs(np.sum(iter_left_out_rows) / (n * n_bags) - expected) < bound


def test_every_row_is_drawn_equally_often() -> None:
    bag = BaggingClassifier(n_estimators=600, random_state=2).fit(X[:10], y[:10])
    counts = np.bincount(np.concatenate(bag.estimators_samples_), minlength=10)
    chi_square = np.sum((counts - 600) ** 2 / 600)
    assert chi_square < 30  # nine degrees of freedom: 0.04 % lie above


@pytest.mark.parametrize("member", MEMBERS)
def test_a_member_matches_an_estimator_fitted_on_its_rows_and_columns(member: Any) -> None:
    bag = BaggingClassifier(member, n_estimators=4, max_features=2, random_state=3).fit(X, y)
    for fitted, rows, columns in zip(
        bag.estimators_, bag.estimators_samples_, bag.estimators_features_, strict=True
    ):
        assert len(columns) == 2
        alone = type(fitted)(**fitted.get_params()).fit(X[np.ix_(rows, columns)], y[rows])
        # Trees of equally good splits may differ where scikit-learn draws among them.
        if not isinstance(fitted, DecisionTreeClassifier):
            np.testing.assert_allclose(
                fitted.predict_proba(X[:, columns]), alone.predict_proba(X[:, columns])
            )


def test_columns_can_be_drawn_with_replacement() -> None:
    table, target = make_classification(n_samples=60, n_features=12, random_state=0)
    bag = BaggingClassifier(
        KNeighborsClassifier(), n_estimators=30, bootstrap_features=True, random_state=0
    ).fit(table, target)
    assert {len(columns) for columns in bag.estimators_features_} == {12}
    different = [len(set(columns.tolist())) for columns in bag.estimators_features_]
    assert 1 < np.mean(different) < 10  # 12 (1 - (11/12)^12) = 7.8


@pytest.mark.parametrize("member", MEMBERS)
def test_random_subspaces_have_all_rows_and_some_columns(member: Any) -> None:
    forest = RandomSubspaceClassifier(member, n_estimators=20, random_state=0).fit(X, y)
    for rows, columns in zip(forest.estimators_samples_, forest.estimators_features_, strict=True):
        np.testing.assert_array_equal(np.sort(rows), np.arange(150))
        assert len(set(columns.tolist())) == 2
    assert len({tuple(sorted(columns)) for columns in forest.estimators_features_}) > 3


@pytest.mark.parametrize("member", [None, KNeighborsClassifier()])
def test_the_number_of_columns_can_be_drawn(member: Any) -> None:
    table, target = make_classification(n_samples=40, n_features=8, random_state=0)
    forest = RandomSubspaceClassifier(
        member, n_estimators=400, max_features=5, random_n_features=True, random_state=0
    ).fit(table, target)
    sizes = np.bincount([len(columns) for columns in forest.estimators_features_], minlength=6)
    assert sizes[0] == 0
    assert len(sizes) == 6
    assert np.sum((sizes[1:] - 80) ** 2 / 80) < 25  # four degrees of freedom


def test_the_result_does_not_depend_on_jobs() -> None:
    for member in [None, KNeighborsClassifier(), DecisionTreeClassifier()]:
        with parallel_config("threading"):
            one, two = (
                BaggingClassifier(
                    member,
                    n_estimators=25,
                    max_features=0.8,
                    oob_score=True,
                    random_state=4,
                    n_jobs=n,
                ).fit(X, y)
                for n in (1, 2)
            )
        np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
        np.testing.assert_array_equal(one.oob_decision_function_, two.oob_decision_function_)
        for first, second in zip(one.estimators_samples_, two.estimators_samples_, strict=True):
            np.testing.assert_array_equal(first, second)


def test_rows_of_weight_zero_are_never_drawn() -> None:
    weight = np.where(np.arange(150) % 3 == 0, 0.0, 1.0 + np.arange(150) % 4)
    for member in MEMBERS:
        bag = BaggingClassifier(member, n_estimators=5, random_state=0).fit(X, y, weight)
        for rows in bag.estimators_samples_:
            assert len(rows) == 100
            assert (weight[rows] > 0).all()


def test_members_that_take_no_weights_draw_rows_by_weight() -> None:
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    table = np.arange(4.0)[:, np.newaxis]
    bag = BaggingClassifier(KNeighborsClassifier(1), n_estimators=1000, random_state=0)
    bag.fit(table, [0, 1, 0, 1], weight)
    counts = np.bincount(np.concatenate(bag.estimators_samples_), minlength=4)
    expected = weight / 10 * 4000
    assert np.sum((counts - expected) ** 2 / expected) < 22  # three degrees of freedom


def test_members_with_weights_learn_from_count_times_weight() -> None:
    table, target = np.arange(6.0)[:, np.newaxis], np.array([0, 1, 0, 1, 1, 0])
    weight = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    bag = BaggingClassifier(
        DecisionTreeClassifier(max_depth=1), n_estimators=4, random_state=0
    ).fit(table, target, weight)
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        total = member.tree_.weighted_n_node_samples[0]
        assert total == weight[rows].sum()
