"""Votes weighted by the members' quality on held-out rows."""

import copy
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import arboleda
from arboleda import (
    BaggingClassifier,
    BaggingRegressor,
    ClassSwitchingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ModelFormatError,
    PastingClassifier,
    PastingRegressor,
    RandomPatchesClassifier,
    RandomPatchesRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
    explain,
)
from arboleda._base.held_out import log_odds
from arboleda.bagging._saved_members import SavedMembers
from arboleda.bagging._tree_members import TreeMembers
from arboleda.bagging._votes import compute_quality_weights
from arboleda.diagnose import forest_correlation
from arboleda.persist.fields import Sections

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]
CANCER, BENIGN = load_breast_cancer(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
STUMP = DecisionTreeClassifier(max_depth=1)
SMALL = {"n_estimators": 8, "random_state": 0}


def votes_of(model: Any, number: int, table: Any) -> Any:
    """Return the outputs of a member for rows: class probabilities, hard votes, or values."""
    member = model.estimators_[number]
    part = table[:, model.estimators_features_[number]]
    if not is_classifier(model):
        return member.predict(part).reshape(len(table), -1)
    votes = np.zeros((len(table), len(model.classes_)))
    if model.voting == "soft" and hasattr(member, "predict_proba"):
        votes[:, member.classes_.astype(int)] = member.predict_proba(part)
    else:
        votes[np.arange(len(table)), member.predict(part).astype(int)] = 1.0
    return votes


def naive_weights(model: Any, table: Any, target: Any, rows_of_members: list[Any]) -> Any:
    """max(0, log(p / (1 - p)) + log(K - 1)) or 1 / MSE, member by member, of sum 1."""
    weights = []
    for number, rows in enumerate(rows_of_members):
        votes = votes_of(model, number, table)[rows]
        if is_classifier(model):
            numbers = np.searchsorted(model.classes_, target[rows])
            p = np.mean(votes.argmax(axis=1) == numbers)
            p = min(max(p, 0.5 / len(rows)), 1 - 0.5 / len(rows))
            odds = np.log(p / (1 - p)) + np.log(len(model.classes_) - 1)
            weights.append(max(0.0, odds))
        else:
            weights.append(1 / np.mean((votes - target[rows].reshape(votes.shape)) ** 2))
    return np.array(weights) / np.sum(weights)


def iter_left_out_rows(model: Any, n_rows: int) -> list[Any]:
    return [np.setdiff1d(np.arange(n_rows), rows) for rows in model.estimators_samples_]


def check_predictions(model: Any, table: Any) -> None:
    """Check that all predictions are weighted means of the outputs of the members."""
    weights = model.estimator_weights_
    votes = np.array([votes_of(model, i, table) for i in range(len(model))])
    mean = np.tensordot(weights, votes, axes=1)
    predicted = "predict_proba" if is_classifier(model) else "predict"
    found = getattr(model, predicted)(table)
    np.testing.assert_allclose(found, mean.reshape(found.shape), rtol=1e-10, atol=1e-12)
    stages = list(getattr(model, f"staged_{predicted}")(table))
    for k, stage in enumerate(stages, start=1):
        first = weights[:k] if weights[:k].any() else np.ones(k)
        part = np.tensordot(first / first.sum(), votes[:k], axes=1)
        np.testing.assert_allclose(stage, part.reshape(stage.shape), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(stages[-1], found)
    if is_classifier(model):
        np.testing.assert_array_equal(model.predict(table), model.classes_[found.argmax(axis=1)])
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(model.predict_log_proba(table), np.log(found))
    if isinstance(model._members, TreeMembers):  # few rows take another path to the same bits
        np.testing.assert_array_equal(getattr(model, predicted)(table[:3]), found[:3])


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("member", [None, STUMP, KNeighborsClassifier(3), SVC()], ids=str)
@pytest.mark.parametrize(
    "ensemble", [BaggingClassifier, PastingClassifier, RandomPatchesClassifier]
)
def test_weights_of_classifiers_are_measured_out_of_bag(
    ensemble: Any, member: Any, voting: Any
) -> None:
    model = ensemble(member, voting=voting, weights="oob", **SMALL).fit(X, NAMES)
    expected = naive_weights(model, X, NAMES, iter_left_out_rows(model, len(X)))
    np.testing.assert_allclose(model.estimator_weights_, expected, rtol=1e-12)
    check_predictions(model, X)


@pytest.mark.parametrize("member", [None, LinearRegression(), KNeighborsRegressor()], ids=str)
@pytest.mark.parametrize("ensemble", [BaggingRegressor, PastingRegressor, RandomPatchesRegressor])
def test_weights_of_regressors_are_measured_out_of_bag(ensemble: Any, member: Any) -> None:
    for target in [PROGRESS, np.column_stack([PROGRESS, -3 * PROGRESS + DIABETES[:, 0]])]:
        model = ensemble(member, weights="oob", **SMALL).fit(DIABETES, target)
        expected = naive_weights(model, DIABETES, target, iter_left_out_rows(model, len(target)))
        np.testing.assert_allclose(model.estimator_weights_, expected, rtol=1e-9)
        check_predictions(model, DIABETES)


@pytest.mark.parametrize("member", [None, STUMP, KNeighborsClassifier(3), LogisticRegression()])
def test_subspaces_of_classifiers_are_measured_on_rows_held_out(member: Any) -> None:
    model = RandomSubspaceClassifier(
        member, weights="validation", validation_fraction=0.3, **SMALL
    ).fit(X, NAMES)
    rows = iter_left_out_rows(model, len(X))
    assert all(np.array_equal(rows[0], other) for other in rows)
    np.testing.assert_array_equal(np.bincount(y[rows[0]]), [15, 15, 15])
    expected = naive_weights(model, X, NAMES, rows)
    np.testing.assert_allclose(model.estimator_weights_, expected, rtol=1e-12)
    check_predictions(model, X)
    # Members are not trained on these rows: other labels there change no prediction.
    wrong = NAMES.copy()
    wrong[rows[0]] = np.roll(wrong[rows[0]], 1)
    other = clone(model).set_params(weights="uniform")
    weight = np.ones(len(X))
    weight[rows[0]] = 0.0
    if not isinstance(member, KNeighborsClassifier | LogisticRegression):
        other.fit(X, wrong, weight)
        for number in range(len(model)):
            np.testing.assert_array_equal(votes_of(other, number, X), votes_of(model, number, X))


@pytest.mark.parametrize("member", [None, LinearRegression(), KNeighborsRegressor()], ids=str)
def test_subspaces_of_regressors_are_measured_on_rows_held_out(member: Any) -> None:
    for target in [PROGRESS, np.column_stack([PROGRESS, DIABETES[:, 0]])]:
        model = RandomSubspaceRegressor(member, weights="validation", **SMALL)
        model.fit(DIABETES, target)
        rows = iter_left_out_rows(model, len(target))
        assert len(rows[0]) == 44
        expected = naive_weights(model, DIABETES, target, rows)
        np.testing.assert_allclose(model.estimator_weights_, expected, rtol=1e-9)
        check_predictions(model, DIABETES)


def test_worked_numbers() -> None:
    # Accuracies of 9/10 and 6/10 in two classes: log 9 and log 1.5. In three, log 2 more for each.
    np.testing.assert_allclose(log_odds(np.array([0.9, 0.6]), 10), np.log([9, 1.5]))
    np.testing.assert_allclose(log_odds(np.array([0.0, 1.0]), 10), np.log([1 / 19, 19]))

    def member(n_right: int, n_classes: int) -> tuple[Any, Any]:
        votes = np.zeros((10, n_classes))
        votes[:n_right, 0] = votes[n_right:, 1] = 1.0
        return np.arange(10), votes

    target = np.zeros(10, dtype=int)
    for n_classes, odds in [(2, [9, 1.5, 3 / 7]), (3, [18, 3, 6 / 7])]:
        outputs = iter([member(9, n_classes), member(6, n_classes), member(3, n_classes)])
        found = compute_quality_weights(outputs, target, n_classes)
        expected = np.maximum(np.log(odds), 0)  # 3 of 10 are worse than chance
        np.testing.assert_allclose(found, expected / expected.sum())
    none = (np.arange(0), np.zeros((0, 1)))
    found = compute_quality_weights(iter([member(9, 2), none, member(6, 2)]), target, 2)
    raw = np.log([9, np.sqrt(9 * 1.5), 1.5])  # not measured: the mean of the others
    np.testing.assert_allclose(found, raw / raw.sum())
    values = iter([(np.arange(2), np.array([[1.0], [-1.0]])), (np.arange(2), np.full((2, 1), 2.0))])
    np.testing.assert_allclose(compute_quality_weights(values, np.zeros(2), 0), [0.8, 0.2])


def test_uniform_weights_change_no_bit() -> None:
    for ensemble in [BaggingClassifier, RandomSubspaceClassifier]:
        model = ensemble(weights="uniform", **SMALL).fit(X, NAMES)
        np.testing.assert_array_equal(model.estimator_weights_, np.full(8, 1 / 8))
        assert model._members.weights is None
    assert not hasattr(ClassSwitchingClassifier(n_estimators=2).fit(X, y), "estimator_weights_")
    with pytest.raises(AttributeError):
        _ = BaggingClassifier().estimator_weights_


@pytest.mark.parametrize("member", [None, KNeighborsClassifier(3)])
def test_the_result_does_not_depend_on_the_number_of_threads(member: Any) -> None:
    one, two = (
        BaggingClassifier(member, weights="oob", oob_score=True, n_jobs=n, n_estimators=20,
                          random_state=0).fit(CANCER, BENIGN)
        for n in (1, 2)
    )  # fmt: skip
    np.testing.assert_array_equal(one.estimator_weights_, two.estimator_weights_)
    np.testing.assert_array_equal(one.predict_proba(CANCER), two.predict_proba(CANCER))
    np.testing.assert_array_equal(one.oob_decision_function_, two.oob_decision_function_)


@pytest.mark.parametrize("member", [None, STUMP, KNeighborsClassifier(3), SVC()], ids=str)
def test_out_of_bag_predictions_are_weighted(member: Any) -> None:
    bag = BaggingClassifier(
        member, n_estimators=40, weights="oob", oob_score=True, random_state=0
    ).fit(X, NAMES)
    sums, totals = np.zeros((150, 3)), np.zeros(150)
    errors = []
    for number, rows in enumerate(iter_left_out_rows(bag, 150)):
        weight = bag.estimator_weights_[number]
        sums[rows] += weight * votes_of(bag, number, X)[rows]
        totals[rows] += weight
        known = totals > 0
        means = sums[known] / totals[known, np.newaxis]
        errors.append(np.mean(means.argmax(axis=1) != y[known]) if known.any() else np.nan)
    np.testing.assert_allclose(bag.oob_decision_function_, sums / totals[:, np.newaxis])
    np.testing.assert_allclose(bag.oob_curve().error, errors)
    assert bag.oob_score_ == pytest.approx(1 - errors[-1])


def test_out_of_bag_values_are_weighted() -> None:
    for member in [None, LinearRegression()]:
        bag = BaggingRegressor(
            member, n_estimators=25, weights="oob", oob_score=True, random_state=0
        ).fit(DIABETES, PROGRESS)
        sums, totals = np.zeros(442), np.zeros(442)
        for number, rows in enumerate(iter_left_out_rows(bag, 442)):
            weight = bag.estimator_weights_[number]
            sums[rows] += weight * votes_of(bag, number, DIABETES)[rows, 0]
            totals[rows] += weight
        np.testing.assert_allclose(bag.oob_prediction_, sums / totals)
        assert bag.oob_score_ == pytest.approx(r2_score(PROGRESS, sums / totals))
        error = np.mean((sums / totals - PROGRESS) ** 2)
        assert bag.oob_curve().error[-1] == pytest.approx(error)


def test_members_fitted_on_noise_lose_their_votes() -> None:
    table, target = make_classification(
        1500, 40, n_informative=3, n_redundant=0, class_sep=1.5, flip_y=0.02, random_state=3
    )
    parts = train_test_split(table, target, test_size=0.5, random_state=0)
    X_train, X_test, y_train, y_test = parts
    options: dict[str, Any] = {"max_features": 2, "n_estimators": 300, "random_state": 0}
    tree = DecisionTreeClassifier(max_depth=4)
    plain = BaggingClassifier(tree, voting="hard", **options).fit(X_train, y_train)
    oob = clone(plain).set_params(weights="oob").fit(X_train, y_train)
    assert oob.score(X_test, y_test) > plain.score(X_test, y_test) + 0.03
    assert np.count_nonzero(oob.estimator_weights_ == 0) > 50
    plain = RandomSubspaceClassifier(tree, voting="hard", **options).fit(X_train, y_train)
    held = clone(plain).set_params(weights="validation", validation_fraction=0.3)
    assert held.fit(X_train, y_train).score(X_test, y_test) > plain.score(X_test, y_test) + 0.03
    rng = np.random.default_rng(0)
    noise = np.hstack([DIABETES, rng.normal(size=(442, 60))])
    plain = BaggingRegressor(LinearRegression(), max_features=3, n_estimators=200, random_state=0)
    weighted = clone(plain).set_params(weights="oob").fit(noise[:300], PROGRESS[:300])
    plain.fit(noise[:300], PROGRESS[:300])
    assert weighted.score(noise[300:], PROGRESS[300:]) > plain.score(noise[300:], PROGRESS[300:])


class Useless(KNeighborsClassifier):
    """Predict NaN as probabilities of one class in half of the draws, and never correctly."""

    def predict_proba(self, X: Any) -> Any:
        shares = super().predict_proba(X)
        if self._fit_X.sum() * 1000 % 2 < 1:
            return shares
        return 1 - shares


def test_members_of_weight_0_are_not_called_and_open_stages_with_equal_votes() -> None:
    bag = BaggingClassifier(Useless(1), n_estimators=12, weights="oob", random_state=1)
    bag.fit(CANCER, BENIGN)
    silent = bag.estimator_weights_ == 0
    assert 0 < silent.sum() < 12
    check_predictions(bag, CANCER)
    for estimator in [e for e, s in zip(bag.estimators_, silent, strict=True) if s]:
        estimator.predict_proba = None  # calling it would fail
    assert bag.score(CANCER, BENIGN) > 0.9
    members = bag._members.with_weights(np.array([0.0] * 5 + [1 / 7] * 7))
    trees = BaggingClassifier(n_estimators=12, random_state=1).fit(CANCER, BENIGN)
    trees._members = trees._members.with_weights(members.weights)
    check_predictions(trees, CANCER)


def test_all_weights_0_warn_and_become_equal() -> None:
    rng = np.random.default_rng(0)
    table, labels = rng.normal(size=(40, 2)), np.tile([0, 1], 20)
    table[:, 0] = labels  # the members are always wrong

    class Wrong(KNeighborsClassifier):
        def predict_proba(self, X: Any) -> Any:
            return 1 - super().predict_proba(X)

    bag = BaggingClassifier(Wrong(1), weights="oob", **SMALL)
    with pytest.warns(UserWarning, match="No member is better than random guessing"):
        bag.fit(table, labels)
    np.testing.assert_array_equal(bag.estimator_weights_, np.full(8, 1 / 8))
    with pytest.warns(UserWarning, match="No member left a row out"):
        alone = BaggingClassifier(n_estimators=1, weights="oob", random_state=0).fit([[1.0]], [1])
    assert alone.estimator_weights_.tolist() == [1.0]


@pytest.mark.parametrize("member", [None, KNeighborsClassifier(3)])
def test_rows_of_weight_0_do_not_affect_member_weights(member: Any) -> None:
    weight = np.where(np.arange(150) % 3 == 0, 0.0, 1.0)
    wrong = np.where(weight == 0, (y + 1) % 3, y)
    able = np.flatnonzero(weight)
    bag = BaggingClassifier(member, weights="oob", **SMALL).fit(X, wrong, weight)
    rows = [np.setdiff1d(able, drawn) for drawn in bag.estimators_samples_]
    expected = naive_weights(bag, X, wrong, rows)
    np.testing.assert_allclose(bag.estimator_weights_, expected, rtol=1e-12)
    held = RandomSubspaceClassifier(member, weights="validation", **SMALL).fit(X, wrong, weight)
    rows = [np.setdiff1d(able, learned) for learned in held.estimators_samples_]
    assert len(rows[0]) == 10
    expected = naive_weights(held, X, wrong, rows)
    np.testing.assert_allclose(held.estimator_weights_, expected, rtol=1e-12)


@pytest.mark.parametrize("member", [None, KNeighborsClassifier(3)])
def test_a_warm_start_measures_all_members_again(member: Any) -> None:
    for ensemble, weights in [
        (BaggingClassifier, "oob"),
        (RandomSubspaceClassifier, "validation"),
    ]:
        model = ensemble(member, 5, weights=weights, warm_start=True, random_state=0).fit(X, y)
        more = model.set_params(n_estimators=9).fit(X, y)
        at_once = ensemble(member, 9, weights=weights, random_state=0).fit(X, y)
        np.testing.assert_array_equal(more.estimator_weights_, at_once.estimator_weights_)
        np.testing.assert_array_equal(more.predict_proba(X), at_once.predict_proba(X))
        more.set_params(n_estimators=10, weights="uniform").fit(X, y)
        np.testing.assert_array_equal(more.estimator_weights_, np.full(10, 0.1))


@pytest.mark.parametrize("member", [None, KNeighborsClassifier(3)])
def test_a_warm_start_that_cannot_measure_is_refused(member: Any) -> None:
    bag = BaggingClassifier(member, 3, warm_start=True, weights="oob").fit(X, y)
    with pytest.raises(ValueError, match="set weights='uniform', or warm_start=False"):
        bag.set_params(n_estimators=4).fit(X[:120], y[:120])
    model = RandomSubspaceClassifier(member, 3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="trained on all rows, so no row is left to evaluate"):
        model.set_params(n_estimators=4, weights="validation").fit(X, y)
    model = RandomSubspaceClassifier(member, 3, warm_start=True, weights="validation").fit(X, y)
    with pytest.raises(ValueError, match="trained on 150 rows, but X has 149 rows"):
        model.set_params(n_estimators=4).fit(X[:149], y[:149])
    assert len(model.estimator_weights_) == 3


def test_parameters_without_held_out_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="weights='oob' needs out-of-bag rows"):
        BaggingClassifier(bootstrap=False, weights="oob").fit(X, y)
    with pytest.raises(ValueError, match="less than one row: increase it"):
        RandomSubspaceClassifier(weights="validation", validation_fraction=0.001).fit(X, y)
    with pytest.raises(ValueError, match=r"validation_fraction.*range \(0.0, 1.0\)"):
        RandomSubspaceClassifier(weights="validation", validation_fraction=1.0).fit(X, y)
    with pytest.raises(ValueError, match="'weights' parameter"):
        RandomSubspaceClassifier(weights="oob").fit(X, y)
    with pytest.raises(ValueError, match="'weights' parameter"):
        BaggingClassifier(weights="validation").fit(X, y)
    single = np.where(np.arange(20) < 10, 0, np.arange(20))  # classes of a row each stay learned
    with pytest.raises(ValueError, match="leaves no row to evaluate the members"):
        RandomSubspaceClassifier(weights="validation", validation_fraction=0.1).fit(
            np.arange(10.0)[:, np.newaxis], single[10:]
        )


class NoNumbers(LinearRegression):
    """Predicts NaN."""

    def predict(self, X: Any) -> Any:
        return super().predict(X) * np.nan


def test_non_numeric_values_are_refused() -> None:
    with pytest.raises(ValueError, match="Member 0 predicts an infinite value or NaN"):
        BaggingRegressor(NoNumbers(), weights="oob").fit(DIABETES, PROGRESS)


MODELS = [
    BaggingClassifier(STUMP, weights="oob", **SMALL),
    BaggingClassifier(voting="hard", weights="oob", **SMALL),
    RandomSubspaceClassifier(DecisionTreeClassifier(max_depth=3), weights="validation", **SMALL),
    BaggingRegressor(DecisionTreeRegressor(max_depth=4), weights="oob", **SMALL),
    RandomSubspaceRegressor(weights="validation", **SMALL),
]


def fitted(model: Any) -> tuple[Any, Any, Any]:
    table, target = (X, NAMES) if is_classifier(model) else (DIABETES, PROGRESS)
    return clone(model).fit(table, target), table, target


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_loaded_model_has_the_weights_of_the_saved_one(model: Any, tmp_path: Path) -> None:
    model, table, target = fitted(model)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "estimator is not saved")
        model.save(tmp_path / "model")
    again = arboleda.load(tmp_path / "model")
    np.testing.assert_array_equal(again.estimator_weights_, model.estimator_weights_)
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    check_predictions(again, table)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    again.estimator = model.estimator
    more = again.set_params(n_estimators=10, warm_start=True).fit(table, target)
    at_once = clone(model).set_params(n_estimators=10).fit(table, target)
    np.testing.assert_array_equal(more.estimator_weights_, at_once.estimator_weights_)


def test_damaged_weights_are_refused() -> None:
    bag = BaggingClassifier(STUMP, n_estimators=3, weights="oob", random_state=0).fit(X, y)
    for damaged in [
        np.ones(2) / 2,
        np.ones(4) / 4,
        np.zeros(3),
        np.array([0.5, 0.75, -0.25]),
        np.array([0.5, 0.5, np.nan]),
        np.array([np.inf, 0.0, 0.0]),
        np.full(3, 1e308),
        np.ones(3),
    ]:
        sections = Sections()
        members = bag._members.with_weights(damaged)
        header = json.loads(json.dumps(SavedMembers().encode("_members", members, sections)))
        content = Sections((), sections.arrays.items(), sections.forests)
        with pytest.raises(ModelFormatError, match="weights"):
            SavedMembers().decode("_members", header, content)
    sections = Sections()
    header = SavedMembers().encode("_members", bag._members, sections)
    for entry in [None, [0.5, 0.25, 0.25], {"array": "other"}]:
        damaged_header = {**copy.deepcopy(header), "weights": entry}
        content = Sections((), sections.arrays.items(), sections.forests)
        with pytest.raises(ModelFormatError):
            SavedMembers().decode("_members", damaged_header, content)


def test_class_switching_has_no_weights_in_its_files(tmp_path: Path) -> None:
    model = ClassSwitchingClassifier(n_estimators=2, random_state=0).fit(X, y)
    model._members = model._members.with_weights(np.array([0.25, 0.75]))
    model.save(tmp_path / "model")
    with pytest.raises(ModelFormatError, match="members have weights, which"):
        arboleda.load(tmp_path / "model")


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_predictor_predicts_row_by_row(model: Any) -> None:
    model, table, _ = fitted(model)
    predictor = model.predictor()
    for row, predicted in zip(table[:20], model.predict(table[:20]), strict=True):
        assert predictor.predict(row) == predicted
    if is_classifier(model):
        shares = np.array([predictor.predict_proba(row) for row in table])
        np.testing.assert_array_equal(shares, model.predict_proba(table))


@pytest.mark.parametrize(
    "model",
    [
        *MODELS,
        BaggingClassifier(arboleda.DecisionTreeClassifier(ccp_alpha=0.01), weights="oob", **SMALL),
    ],
    ids=str,
)
def test_shapley_values_add_up_to_the_weighted_prediction(model: Any) -> None:
    model, table, _ = fitted(model)
    rows = table[:12]
    found = explain.shap_values(model, rows)
    predicted = model.predict_proba(rows) if is_classifier(model) else model.predict(rows)
    np.testing.assert_allclose(found.scores, predicted, atol=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_curves_match_the_weighted_prediction(model: Any) -> None:
    model, table, _ = fitted(model)
    found = explain.partial_dependence(model, table, 2)
    for k, value in list(enumerate(found.grid[0]))[::7]:
        moved = table.copy()
        moved[:, 2] = value
        predicted = model.predict_proba(moved) if is_classifier(model) else model.predict(moved)
        mean = predicted.mean(axis=0)
        np.testing.assert_allclose(found.average[:, k], np.ravel(mean))


def test_functions_of_a_plain_mean_refuse_weights() -> None:
    bag = BaggingRegressor(n_estimators=30, weights="oob", random_state=0)
    bag.fit(DIABETES, PROGRESS)
    with pytest.raises(ValueError, match=r"members of this BaggingRegressor are weighted.*uniform"):
        explain.prediction_interval(bag, training=(DIABETES, PROGRESS))
    with pytest.raises(ValueError, match=r"members of this BaggingRegressor are weighted.*uniform"):
        explain.prediction_interval(bag, calibration=(DIABETES, PROGRESS), method="normalized")
    with pytest.raises(ValueError, match="unweighted means of trees, got weights='oob'"):
        forest_correlation(bag, DIABETES, PROGRESS, DIABETES[:20])


CHECKED = [
    BaggingClassifier(n_estimators=5, weights="oob"),
    BaggingRegressor(KNeighborsRegressor(), n_estimators=3, weights="oob", random_state=0),
    RandomSubspaceClassifier(n_estimators=5, weights="validation", validation_fraction=0.25),
    RandomSubspaceRegressor(n_estimators=5, weights="validation", validation_fraction=0.25),
]
OTHER_ROWS = "another number of rows, or other rows, is another draw: alike on average alone"


@parametrize_with_checks(
    CHECKED,
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": OTHER_ROWS
        for kind in ("dense", "sparse")
    },
    xfail_strict=True,
)
@pytest.mark.filterwarnings("ignore:no member:UserWarning")
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)
