"""``len``, indices and loops over fitted ensembles, as scikit-learn's `BaseEnsemble` has them."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor as Theirs
from sklearn.exceptions import NotFittedError

import arboleda

X = np.random.default_rng(0).random((60, 3))
_KINDS = [
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
    "ClassSwitchingClassifier",
    "AdaBoostClassifier",
    "AdaBoostRegressor",
]


def fitted(name: str) -> Any:
    y = X[:, 0] > 0.5 if name.endswith("Classifier") else X[:, 0]
    return getattr(arboleda, name)(n_estimators=4, random_state=0).fit(X, y)


@pytest.mark.parametrize("name", _KINDS)
def test_members_are_iterated_in_order(name: str) -> None:
    model = fitted(name)
    members = list(model)
    assert len(model) == len(members) == len(model.estimators_) >= 1
    for number, member in enumerate(members):
        columns = getattr(model, "estimators_features_", [slice(None)] * len(members))[number]
        expected = model.estimators_[number].predict(X[:, columns])
        np.testing.assert_array_equal(member.predict(X[:, columns]), expected)
        np.testing.assert_array_equal(model[number].predict(X[:, columns]), expected)
    assert type(model[-1]) is type(members[-1])
    with pytest.raises(IndexError):
        model[len(model)]


@pytest.mark.parametrize("name", _KINDS)
def test_unfitted_ensembles_have_no_members(name: str) -> None:
    model = getattr(arboleda, name)()
    for call in (len, list, lambda m: m[0]):
        with pytest.raises((AttributeError, NotFittedError)):
            call(model)


def test_rounds_of_gradient_boosting_are_indexed() -> None:
    mine = arboleda.GradientBoostingRegressor(n_estimators=5).fit(X, X[:, 0])
    theirs = Theirs(n_estimators=5).fit(X, X[:, 0])
    assert len(mine) == len(theirs) == 5
    assert mine[2].shape == theirs[2].shape == (1,)
    assert [trees.shape for trees in mine] == [trees.shape for trees in theirs]
