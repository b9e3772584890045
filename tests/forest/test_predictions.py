"""A forest predicts what its trees predict: votes, leaves, paths, single trees."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split
from tests.forest.tables import CLASSIFIERS, FORESTS, REGRESSORS, bytes_of, classes, table_for

from arboleda import RandomForestClassifier, RandomForestRegressor
from arboleda._base.mixins import LazySequence


@pytest.mark.parametrize("forest", CLASSIFIERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_votes_match_a_naive_count(forest: Any, weighted: bool) -> None:
    X, y = classes()
    weight = np.random.default_rng(1).random(len(y)) + 0.1 if weighted else None
    fresh = classes(seed=9)[0]
    expected: dict[str, Any] = {"soft": [], "hard": [], "laplace": []}
    grown = forest(9, min_samples_leaf=3, random_state=0).fit(X, y, weight)
    for member in grown.estimators_:
        shares = member.predict_proba(fresh)
        mass = member.tree_.weighted_n_node_samples[member.apply(fresh)][:, np.newaxis]
        expected["soft"].append(shares)
        expected["hard"].append(np.eye(3)[shares.argmax(axis=1)])
        expected["laplace"].append((shares * mass + 1.0) / (mass + 3.0))
    for voting, votes in expected.items():
        voter = forest(9, min_samples_leaf=3, random_state=0, voting=voting).fit(X, y, weight)
        p = voter.predict_proba(fresh)
        np.testing.assert_allclose(p, np.mean(votes, axis=0), rtol=1e-12)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        np.testing.assert_array_equal(voter.predict(fresh), voter.classes_[p.argmax(axis=1)])
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(voter.predict_log_proba(fresh), np.log(p))
        assert bytes_of(voter) == bytes_of(grown)


@pytest.mark.parametrize("forest", REGRESSORS)
def test_predictions_are_the_mean_of_the_trees(forest: Any) -> None:
    X, y = table_for(forest)
    fresh = table_for(forest, seed=9)[0]
    grown = forest(9, random_state=0).fit(X, y)
    mean = np.mean([member.predict(fresh) for member in grown.estimators_], axis=0)
    np.testing.assert_allclose(grown.predict(fresh), mean, rtol=1e-12)
    assert y.min() <= grown.predict(fresh).min()
    assert grown.predict(fresh).max() <= y.max()


@pytest.mark.parametrize("forest", FORESTS)
def test_leaves_and_paths_match_the_trees(forest: Any) -> None:
    X, y = table_for(forest)
    grown = forest(4, random_state=0).fit(X, y)
    leaves = grown.apply(X)
    path, begins = grown.decision_path(X)
    assert leaves.shape == (200, 4)
    assert path.shape[1] == begins[-1] == sum(t.tree_.node_count for t in grown.estimators_)
    for k, member in enumerate(grown.estimators_):
        np.testing.assert_array_equal(leaves[:, k], member.apply(X))
        part = path[:, begins[k] : begins[k + 1]]
        assert (part != member.decision_path(X)).nnz == 0


def test_members_can_be_described_like_trees() -> None:
    X, y = classes()
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    trees = forest.estimators_
    assert len(trees) == 5 == forest.n_estimators_
    assert trees[-1].to_svg() == trees[4].to_svg()
    assert [len(part) for part in (trees[1:3], trees[:], trees[9:])] == [2, 5, 0]
    assert str(trees[0].rules()).startswith("if x[")
    assert set(trees[0].predict(X)) <= set(forest.classes_)
    assert trees[0].get_params()["max_depth"] == 2
    with pytest.raises(IndexError):
        trees[5]
    assert repr(trees) == "<5 entries, created on access>"
    assert list(LazySequence(lambda i: -i, 3)) == [0, -1, -2]


def test_breast_cancer_matches_the_lecture() -> None:
    """100 trees: 1.000 on the training rows and 0.972 on the others."""
    X, y = load_breast_cancer(return_X_y=True)
    found = []
    for seed in range(5):
        train, test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=42)
        forest = RandomForestClassifier(100, random_state=seed).fit(train, y_train)
        assert forest.score(train, y_train) == 1.0
        found.append(forest.score(test, y_test))
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    for seed in range(5):
        forest = RandomForestClassifier(100, random_state=seed).fit(train, y_train)
        assert forest.score(train, y_train) == 1.0
        found.append(forest.score(test, y_test))
    assert np.mean(found[5:]) == pytest.approx(0.972, abs=0.008)


def test_laplace_votes_are_never_0_or_1() -> None:
    """Never 0 or 1; by the log-loss better on a table of two classes that hardly overlap."""
    X, y = load_breast_cancer(return_X_y=True)
    losses: dict[str, list[float]] = {"soft": [], "laplace": []}
    for seed in range(4):
        train, test, y_train, y_test = train_test_split(X, y, random_state=seed)
        for voting, found in losses.items():
            forest = RandomForestClassifier(50, voting=voting, random_state=seed)
            p = forest.fit(train, y_train).predict_proba(test)
            found.append(log_loss(y_test, p))
            assert voting == "soft" or (p.min() > 0.0 and p.max() < 1.0)
    assert np.mean(losses["laplace"]) < np.mean(losses["soft"])


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_laplace_votes_are_calibrated_better_than_those_of_full_grown_leaves(load: Any) -> None:
    X, y = load(return_X_y=True)
    if load is load_digits:
        y = y % 2
    rng = np.random.default_rng(0)
    wrong = rng.random(len(y)) < 0.25  # without doubt in the labels there is little to calibrate
    y = np.where(wrong, 1 - y, y)
    losses = {}
    for voting in ("hard", "soft", "laplace"):
        scores = []
        for seed in range(3):
            train, test, y_train, y_test = train_test_split(X, y, random_state=seed)
            forest = RandomForestClassifier(40, voting=voting, random_state=seed)
            p = forest.fit(train, y_train).predict_proba(test)
            scores.append((log_loss(y_test, p), brier_score_loss(y_test, p[:, 1])))
        losses[voting] = np.mean(scores, axis=0)
    assert (losses["laplace"] < np.minimum(losses["soft"], losses["hard"])).all()


def test_a_forest_of_single_leaves_predicts() -> None:
    X = classes()[0]
    stumps = RandomForestClassifier(5, min_samples_leaf=0.49, max_depth=1, random_state=0)
    stumps.fit(X, np.zeros(200))
    np.testing.assert_array_equal(stumps.predict_proba(X), 1.0)
    np.testing.assert_array_equal(stumps.feature_importances_, 0.0)
    np.testing.assert_array_equal(stumps.relative_importance(), 0.0)
    constant = RandomForestRegressor(5, oob_score=False).fit(X, np.full(200, 0.1))
    np.testing.assert_array_equal(constant.predict(X), 0.1)
