"""AdaBoost.R2 beside scikit-learn's: the same draws, weights and predictions.

With trees of either library, ties between equally good splits are broken in another way
(scikit-learn tries columns in a random order), so our trees are compared where splits do not tie.
"""

from typing import Any

import numpy as np
import pytest
from sklearn import ensemble as peer
from sklearn import tree as peer_tree
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR

import arboleda

TABLE = load_diabetes(return_X_y=True)


def assert_the_same(ours: Any, theirs: Any, rows: Any, *, exactly: bool = True) -> None:
    n_rounds = len(ours.estimators_)
    assert n_rounds == len(theirs.estimators_)
    tolerance = 0.0 if exactly else 1e-12
    for name in ("estimator_weights_", "estimator_errors_"):
        theirs_kept = getattr(theirs, name)[:n_rounds]
        np.testing.assert_allclose(getattr(ours, name), theirs_kept, rtol=tolerance)
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=tolerance)
    for mine, other in zip(ours.staged_predict(rows), theirs.staged_predict(rows), strict=True):
        np.testing.assert_allclose(mine, other, rtol=tolerance)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
@pytest.mark.parametrize(
    "member",
    [
        KNeighborsRegressor(),
        Ridge(),
        SVR(),
        peer_tree.DecisionTreeRegressor(max_depth=3, max_features=2),
    ],
    ids=lambda member: type(member).__name__,
)
def test_other_members_give_the_same_rounds(member: Any, loss: Any, learning_rate: float) -> None:
    options = {"loss": loss, "learning_rate": learning_rate, "n_estimators": 12}
    X, y = TABLE[0][:200], TABLE[1][:200]
    weight = np.where(np.arange(len(y)) % 9 == 0, 0.0, 1.0 + np.arange(len(y)) % 3)
    ours, theirs = (
        library.AdaBoostRegressor(member, random_state=4, **options).fit(X, y, weight)
        for library in (arboleda, peer)
    )
    assert [m.get_params() for m in ours.estimators_] == [
        m.get_params() for m in theirs.estimators_
    ]
    assert_the_same(ours, theirs, X)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("seed", range(3))
def test_our_trees_give_the_same_rounds(loss: Any, seed: int) -> None:
    rows, target = make_friedman1(1000, noise=1.0, random_state=seed)
    ours = arboleda.AdaBoostRegressor(
        arboleda.DecisionTreeRegressor(max_depth=2), n_estimators=10, loss=loss, random_state=seed
    ).fit(rows, target)
    theirs = peer.AdaBoostRegressor(
        peer_tree.DecisionTreeRegressor(max_depth=2), n_estimators=10, loss=loss, random_state=seed
    ).fit(rows, target)
    assert_the_same(ours, theirs, rows, exactly=False)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)
    assert [m.random_state for m in ours.estimators_] == [
        m.random_state for m in theirs.estimators_
    ]


def test_trees_with_leaf_sizes_by_copies_give_the_same_rounds() -> None:
    rows, target = make_friedman1(1000, noise=1.0, random_state=0)
    limits = {"max_depth": 3, "min_samples_leaf": 40}
    ours, theirs = (
        library.AdaBoostRegressor(tree(**limits), n_estimators=6, random_state=0).fit(rows, target)
        for library, tree in (
            (arboleda, arboleda.DecisionTreeRegressor),
            (peer, peer_tree.DecisionTreeRegressor),
        )
    )
    assert_the_same(ours, theirs, rows, exactly=False)


def test_parameters_and_defaults_match_scikit_learn() -> None:
    ours = arboleda.AdaBoostRegressor().get_params()
    theirs = peer.AdaBoostRegressor().get_params()
    assert {name: ours[name] for name in theirs} == theirs


def test_default_trees_score_as_well() -> None:
    rows, target = make_friedman1(2000, noise=1.0, random_state=0)
    scores = [
        library.AdaBoostRegressor(random_state=0)
        .fit(rows[::2], target[::2])
        .score(rows[1::2], target[1::2])
        for library in (arboleda, peer)
    ]
    assert scores[0] > scores[1] - 0.01
