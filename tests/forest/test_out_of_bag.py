"""Out-of-bag rows: which they are and their predictions, against a naive twin."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error, r2_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from tests.forest.tables import Array, classes, numbers, table_for

from arboleda import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

_FORESTS = [
    RandomForestClassifier(24, oob_score=True, random_state=3),
    RandomForestClassifier(24, oob_score=True, random_state=3, voting="hard"),
    RandomForestClassifier(24, oob_score=True, random_state=3, voting="laplace"),
    RandomForestClassifier(24, oob_score=True, random_state=3, max_samples=0.5),
    RandomForestClassifier(24, oob_score=True, random_state=3, bootstrap="balanced"),
    ExtraTreesClassifier(24, oob_score=True, random_state=3, bootstrap=True, max_depth=3),
    RandomForestRegressor(24, oob_score=True, random_state=3),
    RandomForestRegressor(24, oob_score=True, random_state=3, max_samples=30),
    ExtraTreesRegressor(24, oob_score=True, random_state=3, bootstrap=True, max_depth=3),
]


def votes_by_hand(forest: Any, X: Array) -> tuple[Array, Array]:
    """Votes of every tree on the rows that it left out, NaN on the others; and which those are."""
    votes, left_out = [], []
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        leaf = tree.tree_.predict(tree._check_input(X))
        voting = getattr(forest, "voting", "soft")
        if voting == "hard":
            leaf = np.eye(leaf.shape[1])[leaf.argmax(axis=1)]
        elif voting == "laplace":
            weight = tree.tree_.weighted_n_node_samples[tree.apply(X)][:, np.newaxis]
            leaf = (leaf * weight + 1.0) / (weight + leaf.shape[1])
        out = ~np.isin(np.arange(len(X)), drawn)
        votes.append(np.where(out[:, np.newaxis], leaf, np.nan))
        left_out.append(out)
    return np.array(votes), np.array(left_out)


@pytest.mark.parametrize("forest", _FORESTS, ids=str)
def test_predictions_come_from_the_trees_that_left_a_row_out(forest: Any) -> None:
    X, y = table_for(forest)
    forest = clone(forest).fit(X, y)
    votes, left_out = votes_by_hand(forest, X)
    expected = np.nansum(votes, axis=0) / left_out.sum(axis=0)[:, np.newaxis]
    assert left_out.any(axis=0).all()
    if hasattr(forest, "classes_"):
        np.testing.assert_allclose(forest.oob_decision_function_, expected, rtol=1e-12)
        score = np.mean(forest.classes_[expected.argmax(axis=1)] == y)
    else:
        np.testing.assert_allclose(forest.oob_prediction_, expected[:, 0], rtol=1e-12)
        score = r2_score(y, expected[:, 0])
    assert forest.oob_score_ == pytest.approx(score)


@pytest.mark.parametrize("forest", _FORESTS, ids=str)
def test_the_curve_is_the_error_after_each_tree(forest: Any) -> None:
    X, y = table_for(forest)
    forest = clone(forest).fit(X, y)
    votes, left_out = votes_by_hand(forest, X)
    curve = forest.oob_curve()
    np.testing.assert_array_equal(curve.n_estimators, np.arange(1, 25))
    for n_trees in (1, 2, 5, 24):
        scored = left_out[:n_trees].any(axis=0)
        mean = np.nansum(votes[:n_trees, scored], axis=0)
        mean /= left_out[:n_trees, scored].sum(axis=0)[:, np.newaxis]
        if hasattr(forest, "classes_"):
            error = np.mean(forest.classes_[mean.argmax(axis=1)] != y[scored])
        else:
            error = np.mean((mean[:, 0] - y[scored]) ** 2)
        assert curve.n_rows[n_trees - 1] == scored.sum()
        assert curve.error[n_trees - 1] == pytest.approx(error)
    again = forest.set_params(oob_score=False).fit(X, y).oob_curve(X, y)
    for kept, repeated in zip(curve, again, strict=True):
        np.testing.assert_array_equal(kept, repeated)


def test_bags_and_left_out_rows() -> None:
    X, y = classes(400)
    forest = RandomForestClassifier(200, max_depth=1, random_state=0).fit(X, y)
    shares = []
    for drawn in forest.estimators_samples_:
        assert drawn.size == 400
        assert (np.diff(drawn) >= 0).all()
        shares.append(1.0 - np.unique(drawn).size / 400)
    # The variance of a share is below that of independent rows.
    expected = (1 - 1 / 400) ** 400
    assert np.mean(shares) == pytest.approx(expected, abs=4 * np.sqrt(0.23 / 400 / 200))
    assert len({drawn.tobytes() for drawn in forest.estimators_samples_}) == 200
    half = RandomForestClassifier(3, max_samples=0.5).fit(X, y)
    assert [drawn.size for drawn in half.estimators_samples_] == [200] * 3
    whole = ExtraTreesClassifier(3).fit(X, y)
    for drawn in whole.estimators_samples_:
        np.testing.assert_array_equal(drawn, np.arange(400))


def test_a_balanced_bootstrap_draws_as_many_rows_of_each_class() -> None:
    X, y = classes(300)
    rare = np.flatnonzero(y == "a")[:9]
    keep = np.sort(np.concatenate([np.flatnonzero(y != "a"), rare]))
    X, y = X[keep], y[keep]
    forest = RandomForestClassifier(20, bootstrap="balanced", random_state=0).fit(X, y)
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        labels, counts = np.unique(y[drawn], return_counts=True)
        assert labels.tolist() == ["a", "b", "d"]
        assert counts.tolist() == [9, 9, 9]
        np.testing.assert_allclose(tree.tree_.value[0, 0], 1 / 3)


def test_rows_of_weight_0_are_neither_drawn_nor_scored() -> None:
    X, y = classes(100)
    weight = np.ones(100)
    weight[::4] = 0.0
    forest = RandomForestClassifier(30, oob_score=True, random_state=1).fit(X, y, weight)
    assert all(np.all(weight[drawn] > 0.0) for drawn in forest.estimators_samples_)
    assert np.isnan(forest.oob_decision_function_[::4]).all()
    assert forest.oob_curve().n_rows[-1] == 75
    without = RandomForestClassifier(30, oob_score=True, random_state=1)
    without.fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(forest.predict_proba(X), without.predict_proba(X))
    assert forest.oob_score_ == without.oob_score_


def test_random_labels_are_not_predicted() -> None:
    random = np.random.default_rng(0)
    hits = 0
    for seed in range(5):
        X, y = random.normal(size=(300, 5)), random.integers(0, 2, 300)
        forest = RandomForestClassifier(60, oob_score=True, random_state=seed).fit(X, y)
        hits += round(forest.oob_score_ * 300)
    # A row of the rarer class sees more of the other class among the rest: a little below a half.
    assert abs(hits - 750) < 3 * np.sqrt(1500 / 4) + 0.02 * 1500


def test_out_of_bag_error_is_near_leave_one_out() -> None:
    """Both score rows outside the training set; they differ only by the drawing of bags."""
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(200, oob_score=True, random_state=0, n_jobs=1)
    left_out = cross_val_predict(RandomForestClassifier(60, random_state=0), X, y, cv=LeaveOneOut())
    assert abs(forest.fit(X, y).oob_score_ - np.mean(left_out == y)) <= 3 / 150


def test_out_of_bag_error_is_near_cross_validation() -> None:
    for load, forest in (
        (load_breast_cancer, RandomForestClassifier(100, oob_score=True, random_state=0)),
        (load_diabetes, RandomForestRegressor(100, oob_score=True, random_state=0)),
    ):
        X, y = load(return_X_y=True)
        predicted = cross_val_predict(forest, X, y, cv=10)
        score = np.mean(predicted == y) if load is load_breast_cancer else r2_score(y, predicted)
        assert forest.fit(X, y).oob_score_ == pytest.approx(score, abs=0.03)


def test_a_row_in_every_bag_has_no_prediction() -> None:
    X, y = numbers(40)
    forest = RandomForestRegressor(2, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="left out by no"):
        forest.fit(X, y)
    seen = np.logical_and.reduce(
        [np.isin(np.arange(40), drawn) for drawn in forest.estimators_samples_]
    )
    assert seen.any()
    np.testing.assert_array_equal(np.isnan(forest.oob_prediction_), seen)
    assert forest.oob_score_ == pytest.approx(r2_score(y[~seen], forest.oob_prediction_[~seen]))


def test_a_custom_score_is_used() -> None:
    X, y = classes()
    forest = RandomForestClassifier(30, oob_score=balanced_accuracy_score, random_state=0).fit(X, y)
    predicted = forest.classes_[forest.oob_decision_function_.argmax(axis=1)]
    assert forest.oob_score_ == pytest.approx(balanced_accuracy_score(y, predicted))
    X, y = numbers()
    other = RandomForestRegressor(30, oob_score=mean_absolute_error, random_state=0).fit(X, y)
    assert other.oob_score_ == pytest.approx(mean_absolute_error(y, other.oob_prediction_))


def test_several_outputs() -> None:
    X, y = classes(150)
    Y = np.column_stack([y, np.where(X[:, 2] > 0, "p", "n")])
    forest = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, Y)
    assert forest.oob_decision_function_.shape == (150, 3, 2)
    assert (forest.oob_decision_function_[:, 2, 1] == 0.0).all()
    np.testing.assert_allclose(forest.oob_decision_function_.sum(axis=1), 1.0)
    predicted = [c[forest.oob_decision_function_[:, :, k].argmax(axis=1)]
            for k, c in enumerate(forest.classes_)]  # fmt: skip
    assert forest.oob_score_ == pytest.approx(np.mean(np.column_stack(predicted) == Y))
    assert forest.oob_curve().error[-1] == pytest.approx(1.0 - forest.oob_score_)
    Z = np.column_stack([X[:, 0], 10 * X[:, 1]])
    other = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, Z)
    assert other.oob_prediction_.shape == (150, 2)
    assert other.oob_score_ == pytest.approx(r2_score(Z, other.oob_prediction_))


def test_predictions_of_an_earlier_fit_are_dropped() -> None:
    X, y = classes()
    forest = RandomForestClassifier(20, oob_score=True, random_state=0).fit(X, y)
    forest.set_params(oob_score=False).fit(X, y)
    assert not hasattr(forest, "oob_score_")
    assert not hasattr(forest, "oob_decision_function_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"oob_score": True, "bootstrap": False}, "only available if bootstrap=True"),
        (
            {"n_estimators": "auto", "bootstrap": False},
            "n_estimators='auto' uses the out-of-bag error",
        ),
        ({"max_samples": 10, "bootstrap": False}, "max_samples=10 requires bootstrap=True"),
        ({"max_samples": 10, "bootstrap": "balanced"}, "max_samples=10 requires bootstrap=True"),
        ({"n_estimators": "auto", "warm_start": True}, "cannot be combined with warm_start=True"),
    ],
)
def test_incompatible_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(**parameters).fit(*classes())


def test_unavailable_attributes_explain_the_reason() -> None:
    X, y = classes()
    forest = RandomForestClassifier(5).fit(X, y)
    with pytest.raises(ValueError, match="curve was not computed"):
        forest.oob_curve()
    with pytest.raises(ValueError, match="X and y must be passed together"):
        forest.oob_curve(X)
    with pytest.raises(ValueError, match="X has 10 rows, but the forest was fitted on 200"):
        forest.oob_curve(X[:10], y[:10])
    with pytest.raises(ValueError, match="y has different classes"):
        forest.oob_permutation_importance(X, np.where(y == "a", "z", y))
    whole = ExtraTreesClassifier(5).fit(X, y)
    with pytest.raises(ValueError, match="fitted on all rows"):
        whole.oob_curve(X, y)
    with pytest.raises(ValueError, match="y has 2 targets"):
        RandomForestClassifier(bootstrap="balanced").fit(X, np.column_stack([y, y]))
