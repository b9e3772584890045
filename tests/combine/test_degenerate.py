"""Degenerate data and weights: finite predictions, or an error with the remedy."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

from arboleda import (
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from arboleda.combine import out_of_fold_outputs

_RANDOM = np.random.default_rng(0)
_X = _RANDOM.normal(size=(30, 3))
_VALUES = _X[:, 0] * 2 + _X[:, 1]
_LABELS = np.where(_VALUES > 0, "yes", "no")
_CLASSES = [
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("stump", DecisionTreeClassifier(max_depth=1, random_state=0)),
]
_NUMBERS = [
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
    ("stump", DecisionTreeRegressor(max_depth=1, random_state=0)),
]
_COMBINATIONS = [
    VotingClassifier(_CLASSES, rule="naive_bayes", cv=3),
    VotingClassifier(_CLASSES, rule="geometric"),
    VotingRegressor(_NUMBERS, rule="weighted", cv=3),
    VotingRegressor(_NUMBERS, rule="median"),
    StackingClassifier(_CLASSES, DecisionTreeClassifier(random_state=0), cv=3, passthrough=True),
    StackingClassifier(_CLASSES, weights="simplex", cv=3),
    StackingRegressor(_NUMBERS, cv=3),
    EnsembleSelectionClassifier(_CLASSES, cv=3, n_rounds=3, random_state=0),
    EnsembleSelectionRegressor(_NUMBERS, cv=3, n_rounds=3, random_state=0),
    BayesianModelAveragingClassifier(_CLASSES, cv=3),
    BayesianModelAveragingRegressor(_NUMBERS, criterion="bic"),
    DynamicSelectionClassifier(_CLASSES, cv=3, method="meta_des"),
    DynamicSelectionRegressor(_NUMBERS, cv=3),
]
_NOT_ENOUGH = r"number of (splits|members in each class)|0 sample|0 feature"


def _with(values: Any, row: int, value: Any) -> Any:
    changed = np.array(values, dtype=object if isinstance(value, str) else float)
    changed[row] = value
    return changed


def _column(value: float) -> Any:
    changed = _X.copy()
    changed[:, 1] = value
    return changed


def _cases(classes: bool) -> Iterator[tuple[Any, Any, Any, str]]:
    """Rows, target, weights, and the expected error message."""
    y = _LABELS if classes else _VALUES
    one = np.ones(len(y))
    for n_rows in (0, 1, 2, 3):
        yield _X[:n_rows], y[:n_rows], None, _NOT_ENOUGH
    yield _X[:, :0], y, None, _NOT_ENOUGH
    yield _X[:, :1], y, None, ""
    yield np.ones_like(_X), y, None, ""
    yield _X, np.full(len(y), y[0]), None, ""
    yield _column(np.nan), y, None, "finite numbers: Input X contains NaN"
    yield _column(np.inf), y, None, "column 1, row 0 is inf"
    yield _with(_X, 3, 1e308), y, None, "scale the columns"
    yield _X * 1e-310, y, None, ""
    yield _X, y, _with(one, 3, -1.0), "`sample_weight`: -1.0 in row 3"
    yield _X, y, _with(one, 3, np.nan), "row 3 is nan; weights must be finite"
    yield _X, y, _with(one, 3, np.inf), "row 3 is inf; weights must be finite"
    yield _X, y, 0 * one, "zero for every row"
    yield _X, y, 1e-300 * one, ""
    yield _X, y, 1e300 * one, ""
    yield _X, y, one[:5], r"inconsistent numbers|expected \(30,\)"
    if classes:
        yield _X, np.arange(len(y)), None, _NOT_ENOUGH
        yield _X, np.where(np.arange(len(y)) == 3, np.nan, 1.0), None, "row 3 is nan; drop"
        yield _X, np.where(np.arange(len(y)) == 7, "rare", "usual"), None, ""
        return
    for bad in (np.nan, np.inf):
        yield _X, _with(y, 5, bad), None, "row 5 is .*; drop such rows"
    for unit in (1e-310, 1e-160, 1e140):
        yield _X, y * unit, None, ""
    for unit in (1e160, 1e300):
        yield _X, y * unit, None, "divide y by a constant, and multiply the predictions"
    yield _X, _with(_with(y, 0, 1.7e308), 1, -1.7e308), None, "divide y by a constant"


@pytest.mark.parametrize("combination", _COMBINATIONS, ids=lambda c: str(c)[:24])
@pytest.mark.filterwarnings("ignore:The (least populated class|number of unique classes)")
def test_predictions_are_finite_or_errors_name_the_remedy(combination: Any) -> None:
    for X, y, weight, refusal in _cases(is_classifier(combination)):
        model = clone(combination)
        message = _refused(model, X, y, weight)
        if message is not None:
            assert re.search(refusal or "^$", message), (X, y, weight, message)
            continue
        predicted = model.predict(X)
        if is_classifier(model):
            shares = model.predict_proba(X)
            np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
            assert np.isin(predicted, y).all()
        else:
            assert np.isfinite(predicted).all(), (y, predicted)


def _refused(model: Any, X: Any, y: Any, weight: Any) -> str | None:
    """Return the error of a fit, or of predicting the same rows."""
    try:
        model.fit(X, y, sample_weight=weight).predict(X)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("rule", ["mean", "median", "trimmed", "weighted"])
def test_votes_of_the_largest_numbers_are_finite(rule: Any) -> None:
    values = _with(_with(_VALUES, 0, 1.7e308), 1, -1.7e308)
    vote = VotingRegressor(_NUMBERS, rule=rule, cv=3).fit(_X, values)
    members = np.array([member.predict(_X) for member in vote.estimators_])
    weights = vote.vote_weights_ if rule == "weighted" else [0.5, 0.5]
    predicted = vote.predict(_X)
    np.testing.assert_allclose(predicted, members.T / 4 @ weights * 4, rtol=1e-12)


def test_weights_without_a_sum_are_refused() -> None:
    with pytest.raises(ValueError, match="no finite sum: divide all of them by the same number"):
        VotingRegressor(_NUMBERS, weights=[1.7e308, 1.7e308]).fit(_X, _VALUES)


@pytest.mark.parametrize("member", [LogisticRegression(), DecisionTreeClassifier(max_depth=1)])
def test_weights_of_rows_without_a_sum_are_refused(member: Any) -> None:
    """Also where no member sums them: fitted members get no weights."""
    members, huge = [("member", member.fit(_X, _LABELS))], np.full(30, 1e307)
    for combination in (
        VotingClassifier(members, rule="weighted"),
        EnsembleSelectionClassifier(members, cv="prefit"),
        BayesianModelAveragingClassifier(members, cv="prefit"),
    ):
        with pytest.raises(ValueError, match="the sum of sample_weight overflows float64"):
            combination.fit(_X, _LABELS, sample_weight=huge)


@pytest.mark.parametrize(
    "combination",
    [
        VotingClassifier(_CLASSES, rule="weighted", cv=KFold(3)),
        StackingClassifier(_CLASSES, cv=KFold(3)),
        EnsembleSelectionClassifier(_CLASSES, cv=KFold(3)),
        DynamicSelectionClassifier(_CLASSES, cv=KFold(3)),
    ],
    ids=lambda c: str(c)[:12],
)
def test_a_fold_of_one_class_is_named_with_the_remedy(combination: Any) -> None:
    labels = np.where(np.arange(30) < 20, "a", "b")
    model = clone(combination).set_params(estimators=[*_CLASSES, ("line", LogisticRegression())])
    with pytest.raises(
        ValueError, match="'line' cannot learn from split 2 of cv.* class 'a'.*Strat"
    ):
        model.fit(_X, labels)
    assert clone(combination).fit(_X, labels).predict(_X).shape == (30,)  # trees can


def test_a_final_estimator_of_one_class_is_named_with_the_remedy() -> None:
    with pytest.raises(ValueError, match="are of class 'a', which LogisticRegression refuses"):
        StackingClassifier(_CLASSES, cv=3).fit(_X, ["a"] * 30)


class Fails(GaussianNB):
    """Fail for fewer rows than the table has."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Fails:
        if len(X) < 30:
            raise RuntimeError("no more")
        fitted: Fails = super().fit(X, y, sample_weight)
        return fitted


@pytest.mark.parametrize("combination", [c for c in _COMBINATIONS if is_classifier(c)][:-1])
def test_a_failing_member_is_named_and_the_model_is_unchanged(combination: Any) -> None:
    model = clone(combination).fit(_X, _LABELS)
    if model.get_params().get("rule") == "geometric":
        pytest.skip("needs no out-of-fold predictions")
    before, expected = dict(vars(model)), model.predict(_X)
    model.set_params(estimators=[*_CLASSES, ("bad", Fails())])
    with pytest.raises(RuntimeError) as caught:
        model.fit(_X[::-1], _LABELS[::-1])
    [note] = caught.value.__notes__
    where = "fitted on the training rows of split 0"
    assert note == f"raised by the member 'bad' of the ensemble, {where}"
    assert vars(model).keys() == before.keys()
    np.testing.assert_array_equal(model.set_params(estimators=_CLASSES).predict(_X), expected)


def test_a_cache_that_is_a_file_is_refused_with_the_remedy(tmp_path: Path) -> None:
    file = tmp_path / "outputs"
    file.write_text("something else")
    for cache in (file, file / "within"):
        message = f"{cache.name}' is a file or lies in one: give a folder"
        with pytest.raises(NotADirectoryError, match=message):
            out_of_fold_outputs(_CLASSES, _X, _LABELS, cache=cache)
    assert file.read_text() == "something else"


def test_no_scale_raises_an_arithmetic_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for unit in (1e-300, 1e-160, 1.0, 1e160, 1e300):
            vote = VotingRegressor(_NUMBERS, rule="weighted", cv=3).fit(_X, _VALUES * unit)
            np.testing.assert_allclose(vote.vote_weights_.sum(), 1)
            assert np.isfinite(vote.predict(_X)).all()
