"""Votes with scikit-learn's parameters are scikit-learn's votes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context, ensemble
from sklearn.datasets import load_diabetes, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from arboleda import VotingClassifier, VotingRegressor

X, y = make_classification(
    300, 6, n_informative=4, n_classes=4, n_clusters_per_class=1, flip_y=0.3, random_state=0
)
LABELS = np.array(["b", "d", "a", "c"])[y]
CLASSIFIERS = [
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("gone", "drop"),
    ("bayes", GaussianNB()),
    ("logistic", LogisticRegression(C=0.1)),
    ("stump", DecisionTreeClassifier(max_depth=1, random_state=0)),
]
XR, YR = load_diabetes(return_X_y=True)
REGRESSORS = [
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
    ("ridge", Ridge()),
    ("gone", "drop"),
    ("near", KNeighborsRegressor()),
]


def both(kind: str, members: Any, **params: Any) -> tuple[Any, Any]:
    ours = {"VotingClassifier": VotingClassifier, "VotingRegressor": VotingRegressor}[kind]
    return ours(members, **params), getattr(ensemble, kind)(members, **params)


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("weights", [None, [1, 9, 2, 3, 1], [0.5, 1, 0, 1.5, 1]])
@pytest.mark.parametrize("weighted_rows", [False, True])
def test_classifiers_match_scikit_learn(voting: str, weights: Any, weighted_rows: bool) -> None:
    ours, theirs = both("VotingClassifier", CLASSIFIERS, voting=voting, weights=weights)
    params = {"sample_weight": np.arange(300) % 4 + 1.0} if weighted_rows else {}
    ours.fit(X, LABELS, **params)
    theirs.fit(X, LABELS, **params)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    assert ours.score(X, LABELS) == theirs.score(X, LABELS)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert hasattr(ours, "predict_proba") == hasattr(theirs, "predict_proba")
    if voting == "soft":
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-14)


def test_transform_gives_one_block_per_member() -> None:
    ours, theirs = both("VotingClassifier", CLASSIFIERS, voting="soft", flatten_transform=False)
    np.testing.assert_array_equal(
        ours.fit(X, LABELS).transform(X), theirs.fit(X, LABELS).transform(X)
    )
    for model in (ours, theirs):
        with pytest.raises(ValueError, match="flatten_transform=False"):
            model.get_feature_names_out()


def test_fitted_attributes_match() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    ours, theirs = both("VotingClassifier", CLASSIFIERS)
    for model in (ours, theirs):
        with pytest.raises(NotFittedError):
            model.predict(X)
        assert not hasattr(model, "n_features_in_")
        model.fit(frame, LABELS)
    public = {name for name in vars(theirs) if not name.startswith("_")}
    assert public <= {name for name in vars(ours) if not name.startswith("_")}
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert ours.feature_names_in_.tolist() == theirs.feature_names_in_.tolist()
    assert ours.n_features_in_ == theirs.n_features_in_ == 6
    assert list(ours.named_estimators_) == list(theirs.named_estimators_)
    assert ours.named_estimators_["gone"] == "drop"
    assert ours.le_.inverse_transform([2]).tolist() == theirs.le_.inverse_transform([2]).tolist()
    assert len(ours.estimators_) == len(theirs.estimators_) == 4
    for own, other in zip(ours.estimators_, theirs.estimators_, strict=True):
        np.testing.assert_array_equal(own.predict(frame), other.predict(frame))


@pytest.mark.parametrize("weights", [None, [1, 2, 9, 0.5]])
def test_regressors_match_scikit_learn(weights: Any) -> None:
    ours, theirs = both("VotingRegressor", REGRESSORS, weights=weights)
    ours.fit(XR, YR)
    theirs.fit(XR, YR)
    np.testing.assert_allclose(ours.predict(XR), theirs.predict(XR), rtol=1e-14)
    np.testing.assert_array_equal(ours.transform(XR), theirs.transform(XR))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


@pytest.mark.parametrize("kind", ["VotingClassifier", "VotingRegressor"])
def test_parameters_of_members_can_be_set(kind: str) -> None:
    members = CLASSIFIERS if kind == "VotingClassifier" else REGRESSORS
    ours, theirs = both(kind, members)
    shared = theirs.get_params(deep=True).keys()
    assert shared <= ours.get_params(deep=True).keys()
    for model in (ours, theirs):
        model.set_params(tree__max_depth=1, gone=model.estimators[0][1])
        assert model.get_params()["tree__max_depth"] == 1
        assert model.named_estimators["gone"].max_depth == 1
        model.set_params(tree="drop")
        assert model.get_params()["tree"] == "drop"


def test_the_same_inputs_are_refused() -> None:
    for kind, member in (("VotingClassifier", Ridge()), ("VotingRegressor", GaussianNB())):
        for model in both(kind, [("a", member)]):
            with pytest.raises(ValueError, match="should be a (classifier|regressor)"):
                model.fit(X, y)
    for model in both("VotingClassifier", CLASSIFIERS, weights=[1, 2]):
        with pytest.raises(ValueError, match="Number of `estimators` and weights must be equal"):
            model.fit(X, y)
    for model in both("VotingClassifier", []):
        with pytest.raises(ValueError, match="Invalid 'estimators' attribute"):
            model.fit(X, y)
    for model in both("VotingClassifier", [("a", "drop")]):
        with pytest.raises(ValueError, match="All estimators are dropped"):
            model.fit(X, y)
    for model in both("VotingClassifier", CLASSIFIERS):
        with pytest.raises(NotImplementedError):
            model.fit(X, np.eye(4)[y])
        with pytest.raises(ValueError, match="Unknown label type: continuous"):
            model.fit(X, X[:, 0])
        with pytest.raises(ValueError, match="enable_metadata_routing=True"):
            model.fit(X, y, colour="red")


def test_metadata_is_routed_by_request() -> None:
    weight = np.arange(300) % 5 + 1.0
    with config_context(enable_metadata_routing=True):
        requesting = DecisionTreeClassifier(max_depth=3, random_state=0).set_fit_request(
            sample_weight=True
        )
        not_requesting = GaussianNB().set_fit_request(sample_weight=False)
        members = [("tree", requesting), ("bayes", not_requesting)]
        for model in both("VotingClassifier", members, voting="soft"):
            model.fit(X, y, sample_weight=weight)
            own = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y, weight)
            np.testing.assert_array_equal(model.estimators_[0].predict(X), own.predict(X))
            plain = GaussianNB().fit(X, y)
            np.testing.assert_array_equal(model.estimators_[1].predict(X), plain.predict(X))
