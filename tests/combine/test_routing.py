"""Metadata: weights and groups reach those that request them, as with scikit-learn's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
import sklearn.ensemble
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import get_routing_for_object

from arboleda import (
    BayesianModelAveragingClassifier,
    DynamicSelectionRegressor,
    EnsembleSelectionRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)

_RANDOM = np.random.default_rng(0)
_X = _RANDOM.normal(size=(40, 2))
_VALUES = _X @ [2.0, 1.0] + _RANDOM.normal(size=40)
_LABELS = (_VALUES > 0).astype(int)
_WEIGHT = _RANDOM.uniform(0.5, 2, 40)
_GROUPS = np.arange(40) % 8


class Spy(BaseEstimator):
    """Keeps what it is given beside the rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, extra: Any = None) -> Spy:
        self.weight_, self.extra_, self.rows_ = sample_weight, extra, X
        self.classes_, self.mean_ = np.unique(y), np.mean(y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Any, twice: bool = False) -> Any:
        return np.full(len(X), self.mean_ * (1 + twice))


class SpyRegressor(RegressorMixin, Spy):
    pass


class SpyClassifier(ClassifierMixin, Spy):
    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def _members(kind: Any, *names: str) -> list[tuple[str, Any]]:
    return [(name, kind()) for name in names]


_LEARNED = [
    (StackingRegressor, SpyRegressor, _VALUES),
    (EnsembleSelectionRegressor, SpyRegressor, _VALUES),
    (DynamicSelectionRegressor, SpyRegressor, _VALUES),
    (VotingRegressor, SpyRegressor, _VALUES),
    (StackingClassifier, SpyClassifier, _LABELS),
    (BayesianModelAveragingClassifier, SpyClassifier, _LABELS),
    (VotingClassifier, SpyClassifier, _LABELS),
]


@pytest.mark.parametrize(("combination", "kind", "y"), _LEARNED)
def test_each_member_gets_the_metadata_that_it_requests(
    combination: Any, kind: Any, y: Any, routing: None
) -> None:
    members = [
        ("both", kind().set_fit_request(sample_weight=True, extra=True)),
        ("renamed", kind().set_fit_request(sample_weight="importance", extra=False)),
        ("none", kind().set_fit_request(sample_weight=False, extra=False)),
    ]
    model = combination(members, cv=4)
    model.fit(_X, y, sample_weight=_WEIGHT, extra="e", importance=2 * _WEIGHT)
    both, renamed, none = model.estimators_
    np.testing.assert_array_equal(both.weight_, _WEIGHT)
    assert both.extra_ == "e"
    np.testing.assert_array_equal(renamed.weight_, 2 * _WEIGHT)
    assert renamed.extra_ is None
    assert none.weight_ is None
    assert none.extra_ is None


@pytest.mark.parametrize(("combination", "kind", "y"), _LEARNED)
def test_a_member_without_a_request_raises(
    combination: Any, kind: Any, y: Any, routing: None
) -> None:
    model = combination(_members(kind, "a", "b"), cv=4)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        model.fit(_X, y, sample_weight=_WEIGHT)
    with pytest.raises(TypeError, match="nobody"):
        model.fit(_X, y, nobody=1)


@pytest.mark.parametrize(("combination", "kind", "y"), _LEARNED)
def test_without_routing_only_weights_and_groups_are_taken(
    combination: Any, kind: Any, y: Any
) -> None:
    model = combination(_members(kind, "a", "b"), cv=4)
    with pytest.raises(ValueError, match="extra .* is only supported if enable_metadata"):
        model.fit(_X, y, extra=1)
    with pytest.raises(ValueError, match="extra .* is only supported if enable_metadata"):
        combination(["no list of members"]).fit(_X, y, extra=1)
    model.fit(_X, y, sample_weight=_WEIGHT, groups=_GROUPS)
    for member in model.estimators_:
        np.testing.assert_array_equal(member.weight_, _WEIGHT)


@pytest.mark.parametrize("name", ["StackingClassifier", "VotingClassifier"])
def test_results_match_scikit_learn_with_routing(name: str, routing: None) -> None:
    members = [
        ("weighted", GaussianNB().set_fit_request(sample_weight=True)),
        ("plain", GaussianNB(var_smoothing=0.1).set_fit_request(sample_weight=False)),
    ]
    ours = {"StackingClassifier": StackingClassifier, "VotingClassifier": VotingClassifier}[name]
    theirs = getattr(sklearn.ensemble, name)
    more = {"voting": "soft"} if name == "VotingClassifier" else {}
    mine = ours(members, **more).fit(_X, _LABELS, sample_weight=_WEIGHT)
    other = theirs(members, **more).fit(_X, _LABELS, sample_weight=_WEIGHT)
    np.testing.assert_allclose(mine.predict_proba(_X), other.predict_proba(_X), rtol=1e-9)


def test_groups_and_weights_reach_a_combination_in_a_pipeline(routing: None) -> None:
    members = [("a", SpyRegressor().set_fit_request(sample_weight=True))]
    stack = StackingRegressor(members, cv=GroupKFold(4))
    model = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), stack)
    model.fit(_X, _VALUES, sample_weight=_WEIGHT, groups=_GROUPS)
    np.testing.assert_array_equal(model[-1].estimators_[0].weight_, _WEIGHT)
    scores = cross_validate(
        clone(model),
        _X,
        _VALUES,
        cv=GroupKFold(2),
        params={"groups": _GROUPS},
        scoring="r2",
        error_score="raise",
    )
    assert len(scores["test_score"]) == 2
    with pytest.raises(ValueError, match="groups"):  # without groups, a group splitter has no folds
        clone(model).fit(_X, _VALUES)


def test_a_final_estimator_gets_the_metadata_that_it_requests(routing: None) -> None:
    final = SpyRegressor().set_predict_request(twice=True)
    stack = StackingRegressor([("ridge", Ridge())], final, cv=4).fit(_X, _VALUES)
    np.testing.assert_allclose(stack.predict(_X, twice=True), 2 * stack.predict(_X))
    silent = StackingRegressor([("ridge", Ridge())], SpyRegressor(), cv=4).fit(_X, _VALUES)
    with pytest.raises(UnsetMetadataPassedError, match="twice"):
        silent.predict(_X, twice=True)


def test_weights_and_groups_of_the_combination_need_no_request() -> None:
    router = get_routing_for_object(StackingRegressor([("ridge", Ridge())], cv=GroupKFold(3)))
    assert router.consumes("fit", {"groups", "sample_weight"}) == {"groups"}
    assert not hasattr(StackingRegressor, "set_fit_request")


def test_a_final_estimator_without_weights_is_named() -> None:
    class Plain(RegressorMixin, BaseEstimator):
        def fit(self, X: Any, y: Any) -> Plain:
            return self

    stack = StackingRegressor([("ridge", Ridge())], Plain(), cv=3)
    with pytest.raises(TypeError, match="final estimator Plain does not support sample weights"):
        stack.fit(_X, _VALUES, sample_weight=_WEIGHT)
