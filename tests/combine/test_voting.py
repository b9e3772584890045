"""Votes beyond scikit-learn's: learned rules, rejection, members of all types."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    VotingClassifier,
    VotingRegressor,
)
from arboleda.combine import combine_outputs, out_of_fold_outputs, outputs_of

X, y = make_classification(
    240, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, flip_y=0.2, random_state=1
)
LABELS = np.array(["b", "c", "a"])[y]
MEMBERS = [
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("bayes", GaussianNB()),
    ("svc", LinearSVC()),
    ("near", KNeighborsClassifier()),
]
RULES: list[Any] = [
    "majority",
    "weighted",
    "mean",
    "geometric",
    "median",
    "min",
    "max",
    "trimmed",
    "naive_bayes",
]


@pytest.mark.parametrize("rule", RULES)
def test_a_vote_combines_the_members_outputs(rule: Any) -> None:
    vote = VotingClassifier(MEMBERS, rule=rule).fit(X[:160], LABELS[:160])
    fitted = [(name, clone(member).fit(X[:160], LABELS[:160])) for name, member in MEMBERS]
    votes = rule in {"majority", "weighted", "naive_bayes"}
    outputs = outputs_of(fitted, X[160:], ["a", "b", "c"], votes=votes)
    seen = out_of_fold_outputs(MEMBERS, X[:160], LABELS[:160], votes=True)
    shares = combine_outputs(outputs, rule, seen=seen, y=LABELS[:160])
    np.testing.assert_allclose(vote.predict_proba(X[160:]), shares, atol=1e-12)
    expected = vote.classes_[shares.argmax(axis=1)]
    np.testing.assert_array_equal(vote.predict(X[160:]), expected)


def test_learned_weights_and_confusions_are_out_of_fold() -> None:
    predicted = {name: cross_val_predict(m, X, LABELS, cv=4) for name, m in MEMBERS}
    vote = VotingClassifier(MEMBERS, rule="weighted", cv=4).fit(X, LABELS)
    p = np.array([(predicted[name] == LABELS).mean() for name, _ in MEMBERS])
    np.testing.assert_allclose(vote.vote_weights_, np.log(p / (1 - p)))
    vote.set_params(rule="naive_bayes").fit(X, LABELS)
    assert not hasattr(vote, "vote_weights_")
    table = pd.crosstab(LABELS, predicted["bayes"]).to_numpy()
    np.testing.assert_array_equal(vote.confusion_[1], table)


def test_time_ordered_rows_and_groups_are_supported() -> None:
    splits = TimeSeriesSplit(3)
    vote = VotingClassifier(MEMBERS, rule="weighted", cv=splits).fit(X, LABELS)
    right = np.zeros(4)
    for train, test in splits.split(X):
        for number, (_, member) in enumerate(MEMBERS):
            right[number] += (
                clone(member).fit(X[train], LABELS[train]).predict(X[test]) == LABELS[test]
            ).sum()
    p = right / 180
    np.testing.assert_allclose(vote.vote_weights_, np.log(p / (1 - p)))
    # Every row occurs four times, so only folds that keep groups whole estimate the accuracy.
    rows, labels = np.tile(X, (4, 1)), np.tile(np.random.default_rng(0).permutation(LABELS), 4)
    groups = np.tile(np.arange(240), 4)
    order = np.random.default_rng(1).permutation(960)
    rows, labels, groups = rows[order], labels[order], groups[order]
    near = [("near", KNeighborsClassifier(1)), ("bayes", GaussianNB())]
    for cv in (None, GroupKFold(3)):
        vote = VotingClassifier(near, rule="weighted", cv=cv)
        kept = vote.fit(rows, labels, groups=groups).vote_weights_
        assert (
            kept[0] < 0 < VotingClassifier(near, rule="weighted").fit(rows, labels).vote_weights_[0]
        )


@pytest.mark.parametrize("n_members", [2, 3, 4])
def test_reject_requires_more_than_half_of_the_votes(n_members: int) -> None:
    members = MEMBERS[:n_members]
    vote = VotingClassifier(members, rule="majority", reject=True).fit(X[:120], LABELS[:120])
    votes = np.array([vote.named_estimators_[name].predict(X) for name, _ in members])
    found = vote.predict(X)
    for row, label in enumerate(found):
        counts = np.bincount(votes[:, row], minlength=3)
        if counts.max() >= n_members // 2 + 1:
            assert label == vote.classes_[counts.argmax()]
        else:
            assert label == "reject"
    rejected = found == vote.reject_label_
    right, wrong = found == LABELS, ~rejected & (found != LABELS)
    assert 0 < rejected.sum() < len(X)
    assert right.sum() + wrong.sum() + rejected.sum() == len(X)
    assert vote.score(X, LABELS) == right.mean()
    # Where a class has a majority it is the one of the votes without rejection.
    plain = VotingClassifier(members, rule="majority").fit(X[:120], LABELS[:120]).predict(X)
    np.testing.assert_array_equal(found[~rejected], plain[~rejected])


@pytest.mark.parametrize(
    ("labels", "given", "expected"),
    [
        (np.array([3, 1, 2]), None, -1),
        (np.array([3.0, 1.0, 2.0]), np.nan, np.nan),
        (np.array(["x", "y", "z"]), None, "reject"),
        (np.array(["x", "y", "z"], dtype=object), "nobody knows", "nobody knows"),
        (np.array([3, 1, 2]), "none", "none"),
    ],
)
def test_reject_labels_are_chosen_by_type(labels: Any, given: Any, expected: Any) -> None:
    members = [("a", DecisionTreeClassifier(max_depth=1)), ("b", GaussianNB())]
    vote = VotingClassifier(members, rule="majority", reject=True, reject_label=given)
    found = vote.fit(X, labels[y]).predict(X).tolist()
    assert expected in found if expected == expected else any(v != v for v in found)
    assert set(found) & set(labels.tolist())


def test_invalid_reject_options_are_refused() -> None:
    with pytest.raises(ValueError, match="reject_label='b' is one of the classes"):
        VotingClassifier(MEMBERS, rule="majority", reject=True, reject_label="b").fit(X, LABELS)
    for params in ({"rule": "mean"}, {"rule": "weighted"}, {"voting": "soft"}):
        with pytest.raises(ValueError, match="reject=True needs a majority"):
            VotingClassifier(MEMBERS, reject=True, **params).fit(X, LABELS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not negative"):
        VotingClassifier(MEMBERS, reject=True, weights=[1, -1, 1, 1]).fit(X, LABELS)


@pytest.mark.parametrize("rule", RULES)
def test_identical_members_vote_like_one(rule: Any) -> None:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    vote = VotingClassifier([(f"tree {n}", tree) for n in range(3)], rule=rule).fit(X, LABELS)
    np.testing.assert_array_equal(vote.predict(X), tree.fit(X, LABELS).predict(X))


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"weighted"}))
def test_members_of_weight_0_are_dropped(rule: Any) -> None:
    dropped = VotingClassifier([*MEMBERS[:3], ("near", "drop")], rule=rule).fit(X, LABELS)
    none = VotingClassifier(MEMBERS, rule=rule, weights=[1, 1, 1, 0]).fit(X, LABELS)
    np.testing.assert_array_equal(none.predict(X), dropped.predict(X))
    np.testing.assert_array_equal(none.predict_proba(X), dropped.predict_proba(X))


@pytest.mark.parametrize("rule", RULES)
def test_a_member_can_have_fewer_classes(rule: Any) -> None:
    two = FrozenEstimator(GaussianNB().fit(X[y < 2], LABELS[y < 2]))
    members = [("two", two), *MEMBERS[:2]]
    vote = VotingClassifier(members, rule=rule).fit(X, LABELS)
    assert vote.classes_.tolist() == ["a", "b", "c"]
    shares = vote.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert vote.score(X, LABELS) > 0.6


def test_folds_can_lack_rare_classes() -> None:
    labels = np.array(["a", "b"])[y % 2].astype(object)
    labels[::120] = "rare"
    with pytest.warns(UserWarning, match="least populated class"):
        vote = VotingClassifier(MEMBERS[:2], rule="naive_bayes").fit(X, labels)
    assert vote.confusion_.shape == (2, 3, 3)
    assert vote.confusion_[0, 2].sum() == 2


def test_the_number_of_jobs_changes_nothing() -> None:
    members = [
        ("forest", RandomForestClassifier(5, random_state=0)),
        ("logistic", LogisticRegression()),
    ]
    one = VotingClassifier(members, rule="naive_bayes", n_jobs=1).fit(X, LABELS)
    two = VotingClassifier(members, rule="naive_bayes", n_jobs=2).fit(X, LABELS)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(one.confusion_, two.confusion_)
    assert one.estimators_[0].n_jobs is two.estimators_[0].n_jobs is None


@pytest.mark.parametrize("unit", [1e-160, 1e150])
def test_error_weights_do_not_depend_on_the_unit(unit: float) -> None:
    rows, values = load_diabetes(return_X_y=True)
    members = [("low", Ridge(0.1)), ("high", Ridge(10.0))]
    vote = VotingRegressor(members, rule="weighted")
    expected = clone(vote).fit(rows, values).vote_weights_
    np.testing.assert_allclose(vote.fit(rows, values * unit).vote_weights_, expected, rtol=1e-3)


def test_regressors_vote_by_every_rule() -> None:
    X, y = load_diabetes(return_X_y=True)
    members = [
        ("tree", DecisionTreeRegressor(max_depth=2)),
        ("ridge", Ridge()),
        ("deep", DecisionTreeRegressor()),
    ]
    predicted = np.array([clone(member).fit(X, y).predict(X) for _, member in members])
    of_rule = {
        "mean": predicted.mean(axis=0),
        "median": np.median(predicted, axis=0),
        "min": predicted.min(axis=0),
        "max": predicted.max(axis=0),
    }
    for rule, expected in of_rule.items():
        vote: Any = VotingRegressor(members, rule=rule).fit(X, y)  # type: ignore[arg-type]
        np.testing.assert_allclose(vote.predict(X), expected)
    vote = VotingRegressor(members, rule="weighted").fit(X, y)
    errors = [((cross_val_predict(m, X, y) - y) ** 2).mean() for _, m in members]
    expected_weights = (1 / np.array(errors)) / (1 / np.array(errors)).sum()
    np.testing.assert_allclose(vote.vote_weights_, expected_weights)
    np.testing.assert_allclose(vote.predict(X), expected_weights @ predicted)


def test_frames_pickles_and_failed_fits_keep_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    vote = VotingClassifier(MEMBERS, rule="mean", verbose=True).fit(frame, LABELS)
    assert "bayes: fitted on all rows in" in capsys.readouterr().out
    again = pickle.loads(pickle.dumps(vote))
    np.testing.assert_array_equal(again.predict_proba(frame), vote.predict_proba(frame))
    before = vote.predict_proba(frame)
    with pytest.raises(ValueError, match="missing value"):
        vote.fit(frame, [None, *LABELS[1:]])
    np.testing.assert_array_equal(vote.predict_proba(frame), before)
    near = VotingClassifier(MEMBERS)
    with pytest.raises(TypeError, match="KNeighborsClassifier does not support sample weights"):
        near.fit(X, LABELS, sample_weight=np.ones(240))
