"""Combinations refuse invalid parameters before any member is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from arboleda import (
    BayesianModelAveragingClassifier,
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
    EnsembleSelectionClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)

ROWS = np.random.default_rng(0).normal(size=(40, 2))
LABELS = np.arange(40) % 2


class Unfit(ClassifierMixin, BaseEstimator):
    """Fail the test that fits it."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Unfit:
        pytest.fail("a member was fitted")


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (StackingClassifier, {"weights": "convex"}),
        (StackingClassifier, {"stack_method": "guess"}),
        (StackingRegressor, {"cv": "postfit"}),
        (EnsembleSelectionClassifier, {"n_rounds": -1}),
        (EnsembleSelectionClassifier, {"n_initial": 0}),
        (EnsembleSelectionClassifier, {"bag_fraction": 0.0}),
        (BayesianModelAveragingClassifier, {"criterion": "aic"}),
        (DynamicSelectionClassifier, {"method": "knora"}),
        (DynamicSelectionClassifier, {"n_neighbors": 0}),
        (DynamicSelectionRegressor, {"method": "ola"}),
    ],
)
def test_invalid_values_are_refused_by_name(model: Any, parameters: dict[str, Any]) -> None:
    [name] = parameters
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {model.__name__}"):
        model([("member", Unfit())], **parameters).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("model", [EnsembleSelectionClassifier, DynamicSelectionClassifier])
@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([], "non-empty list"),
        ([("a", Unfit()), ("a", Unfit())], r"not unique: \['a', 'a'\]"),
        ([("a", "drop")], "All estimators are dropped"),
        ([("a", Unfit()), ("b", Ridge())], "'a' and 'b' are a classifier and a regressor"),
        ([("b", Ridge())], "combines classifiers, but the member 'b' is a Ridge"),
    ],
)
def test_members_that_cannot_be_combined_are_refused(
    model: Any, members: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        model(members).fit([[1.0], [2.0]], [0, 1])


def test_an_unknown_score_is_refused() -> None:

    model = EnsembleSelectionClassifier([("bayes", GaussianNB())], scoring="luck", cv=2)
    with pytest.raises(ValueError, match="luck"):
        model.fit([[1.0], [2.0], [1.5], [2.5]], [0, 1, 0, 1])


@pytest.mark.parametrize(
    "model",
    [
        StackingClassifier,
        EnsembleSelectionClassifier,
        BayesianModelAveragingClassifier,
        DynamicSelectionClassifier,
    ],
)
def test_negative_weights_are_refused(model: Any) -> None:
    with pytest.raises(ValueError, match="Negative values in .* `sample_weight`: -1.0 in row 1"):
        model([("member", Unfit())]).fit(ROWS, LABELS, np.where(LABELS, -1.0, 1.0))


@pytest.mark.parametrize(
    "combination",
    [
        StackingClassifier([("bayes", GaussianNB())], weights="simplex"),
        EnsembleSelectionClassifier([("bayes", GaussianNB())]),
        VotingClassifier([("bayes", GaussianNB())], rule="weighted"),
        VotingClassifier([("bayes", GaussianNB())], rule="naive_bayes"),
    ],
)
def test_held_out_rows_must_have_weight(combination: Any) -> None:
    weight = np.zeros(40)
    weight[:20] = 1.0  # the other half is predicted
    halves = [(np.arange(20), np.arange(20, 40))]
    with pytest.raises(ValueError, match="is 0 for all rows that members predict out of fold"):
        clone(combination).set_params(cv=halves).fit(ROWS, LABELS, sample_weight=weight)


@pytest.mark.parametrize(
    "model", [StackingClassifier, EnsembleSelectionClassifier, VotingClassifier]
)
def test_a_member_name_must_not_be_a_parameter_name(model: Any) -> None:
    parameter = next(iter(model([]).get_params(deep=False)))
    with pytest.raises(ValueError, match=f"conflict with constructor arguments: .'{parameter}'"):
        model([(parameter, Unfit())]).fit(ROWS, LABELS)


def test_members_of_a_regression_must_be_regressors() -> None:
    with pytest.raises(ValueError, match="The estimator Unfit should be a regressor"):
        StackingRegressor([("member", Unfit())]).fit(ROWS, LABELS)
