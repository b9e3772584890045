"""Stacks of several labels for each row: scikit-learn's results, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from scipy.sparse import csr_array
from sklearn.datasets import make_multilabel_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, TimeSeriesSplit
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TheirTree
from tests.combine.saved import LABELS
from tests.combine.saved import X as SAVED_X

from arboleda import (
    DecisionTreeClassifier,
    ModelFormatError,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from arboleda.persist._files import model_from_bytes, model_to_bytes

X, Y = make_multilabel_classification(120, n_features=6, n_classes=3, random_state=0)
FINAL = KNeighborsClassifier(7)


def logistic() -> Any:
    return MultiOutputClassifier(make_pipeline(StandardScaler(), LogisticRegression()))


def network() -> Any:
    return make_pipeline(
        StandardScaler(),
        MLPClassifier((3,), solver="lbfgs", alpha=1.0, max_iter=2000, random_state=0),
    )


def forest() -> Any:
    return RandomForestClassifier(5, max_depth=3, random_state=0)


MEMBERS: list[tuple[str, Any]] = [
    ("network", network()),
    ("neighbours", KNeighborsClassifier(9)),
    ("gone", "drop"),
    ("forest", sklearn.ensemble.RandomForestClassifier(5, max_depth=3, random_state=0)),
    ("tree", TheirTree(max_depth=3, random_state=0)),
    ("logistic", logistic()),
    ("ridge", RidgeClassifier()),
    ("line", Ridge()),
    ("ours", forest()),
    ("our tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
]


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"stack_method": "predict", "cv": 3},
        {"cv": KFold(4, shuffle=True, random_state=1)},
        {"final_estimator": RidgeClassifier()},
        {"final_estimator": logistic()},
        {"final_estimator": RandomForestClassifier(5, random_state=0)},
    ],
)
def test_results_match_scikit_learn(settings: dict[str, Any], passthrough: bool) -> None:
    settings = {"final_estimator": FINAL, "passthrough": passthrough, **settings}
    ours = StackingClassifier(MEMBERS, **settings).fit(X, Y)
    theirs = sklearn.ensemble.StackingClassifier(MEMBERS, **settings).fit(X, Y)
    assert ours.stack_method_ == theirs.stack_method_
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.predict(X).dtype == theirs.predict(X).dtype
    assert ours.score(X, Y) == theirs.score(X, Y)
    names = ours.get_feature_names_out().tolist()
    assert len(set(names)) == ours.transform(X).shape[1]
    if "stack_method" in settings:  # scikit-learn counts each array of a list as a member
        assert names == list(theirs.get_feature_names_out())
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert isinstance(ours.classes_, list)
    for method in ("predict_proba", "decision_function"):
        assert hasattr(ours, method) == hasattr(theirs, method)
        if hasattr(ours, method):
            expected = getattr(theirs, method)(X)
            np.testing.assert_allclose(getattr(ours, method)(X), expected, atol=1e-7)


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_one_method_for_all_members_matches_scikit_learn(method: Any) -> None:
    members = [m for m in MEMBERS if m[1] == "drop" or hasattr(m[1], method)]
    ours = StackingClassifier(members, FINAL, stack_method=method).fit(X, Y)
    theirs = sklearn.ensemble.StackingClassifier(members, FINAL, stack_method=method).fit(X, Y)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_fitted_members_are_used_without_refitting() -> None:
    fitted = [(name, m if m == "drop" else m.fit(X[:60], Y[:60])) for name, m in MEMBERS]
    ours = StackingClassifier(fitted, FINAL, cv="prefit").fit(X[60:], Y[60:])
    theirs = sklearn.ensemble.StackingClassifier(fitted, FINAL, cv="prefit").fit(X[60:], Y[60:])
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    assert ours.estimators_[0] is fitted[0][1]


def test_meta_columns_match_values_by_hand() -> None:
    """The final estimator learns from out-of-fold probabilities of label 1 in the order of rows."""
    neighbours, machine = KNeighborsClassifier(9), network()
    stack = StackingClassifier([("near", neighbours), ("network", machine)], FINAL, cv=3)
    stack.fit(X, Y)
    columns = np.zeros((len(X), 6))
    for train, test in KFold(3).split(X):
        near = neighbours.fit(X[train], Y[train]).predict_proba(X[test])
        columns[test, :3] = np.column_stack([shares[:, 1] for shares in near])
        columns[test, 3:] = machine.fit(X[train], Y[train]).predict_proba(X[test])
    np.testing.assert_allclose(stack.final_estimator_._fit_X, columns)
    np.testing.assert_array_equal(stack.final_estimator_._y, Y)


def test_probabilities_are_those_of_the_first_class() -> None:
    """The same for a list and for an array, which scikit-learn does not accept."""
    members = [("forest", forest())]
    own = StackingClassifier([("forest", forest())], forest(), cv=2)
    theirs = sklearn.ensemble.StackingClassifier([("tree", TheirTree(max_depth=3))], FINAL, cv=2)
    search = GridSearchCV(make_pipeline(StandardScaler(), own), {}, cv=2)
    for final in (forest(), network(), own, theirs, search):
        stack = StackingClassifier(members, final).fit(X, Y)
        shares = stack.predict_proba(X)
        assert shares.shape == Y.shape
        clear = np.abs(shares - 0.5) > 1e-9
        np.testing.assert_array_equal((shares < 0.5)[clear], stack.predict(X)[clear] == 1)


def test_two_outputs_keep_all_columns_of_an_array() -> None:
    stack = StackingClassifier([("network", network())], FINAL).fit(X, Y[:, :2])
    np.testing.assert_array_equal(stack.transform(X), stack.estimators_[0].predict_proba(X))
    assert stack.transform(X).shape == (120, 2)


def test_columns_have_names_of_their_member() -> None:
    members = [("forest", forest()), ("ridge", RidgeClassifier())]
    names = StackingClassifier(members, FINAL).fit(X, Y).get_feature_names_out().tolist()
    ours = [f"stackingclassifier_{name}{k}" for name in ("forest", "ridge") for k in range(3)]
    assert names == ours


def test_members_fitted_in_parallel_are_the_same() -> None:
    members = [("ours", forest()), ("ridge", RidgeClassifier()), ("near", KNeighborsClassifier(9))]
    one = StackingClassifier(members, FINAL, cv=2).fit(X, Y)
    two = StackingClassifier(members, FINAL, cv=2, n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(one.transform(X), two.transform(X))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_a_classifier_chain_can_be_a_member() -> None:
    """It has classes of each output and an array of probabilities: scikit-learn's stack fails."""
    chain = ClassifierChain(make_pipeline(StandardScaler(), LogisticRegression()))
    stack = StackingClassifier([("chain", chain)], FINAL, cv=3).fit(X, Y)
    np.testing.assert_array_equal(stack.transform(X), chain.fit(X, Y).predict_proba(X))
    assert stack.score(X, Y) > 0.5


@pytest.mark.parametrize("kind", ["bool", "float", "frame", "list", "one and two", "text order"])
def test_labels_of_any_type_are_restored(kind: str) -> None:
    targets: dict[str, Any] = {
        "bool": Y.astype(bool),
        "float": Y.astype(float),
        "frame": pd.DataFrame(Y, columns=["a", "b", "c"]),
        "list": Y.tolist(),
        "one and two": Y + 1,
        "text order": np.asfortranarray(Y),
    }
    target = targets[kind]
    plain = StackingClassifier([("tree", TheirTree(random_state=0))], FINAL).fit(X, Y)
    stack = StackingClassifier([("tree", TheirTree(random_state=0))], FINAL).fit(X, target)
    labels = np.asarray(target)
    predicted = stack.predict(X)
    assert predicted.dtype == labels.dtype
    for number, classes in enumerate(stack.classes_):
        np.testing.assert_array_equal(classes, np.unique(labels[:, number]))
    np.testing.assert_array_equal(predicted == labels.max(), plain.predict(X) == 1)
    assert stack.score(X, labels) == plain.score(X, Y)


def test_groups_time_order_and_weights_are_used() -> None:
    groups = np.repeat(np.arange(12), 10)
    members = [("tree", TheirTree(random_state=0))]
    grouped = StackingClassifier(members, forest()).fit(X, Y, groups=groups)
    same = StackingClassifier(members, forest(), cv=GroupKFold(5)).fit(X, Y, groups=groups)
    np.testing.assert_array_equal(grouped.predict_proba(X), same.predict_proba(X))
    timed = StackingClassifier(members, FINAL, cv=TimeSeriesSplit(3)).fit(X, Y)
    assert len(timed.final_estimator_._y) == 90
    weight = np.arange(120) % 3
    weighted = StackingClassifier(members, forest()).fit(X, Y, sample_weight=weight)
    expected = TheirTree(random_state=0).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(weighted.transform(X)[:, 0], expected.predict_proba(X)[0][:, 1])


def test_a_label_that_a_fold_has_not_seen_has_probability_0() -> None:
    target = Y.copy()
    target[:, 1] = 0
    target[:40, 1] = 1  # the first of three folds has all of them
    stack = StackingClassifier([("tree", TheirTree(random_state=0))], FINAL, cv=KFold(3))
    stack.fit(X, target)
    assert (stack.final_estimator_._fit_X[:40, 1] == 0).all()
    target = 1 - target
    stack.fit(X, target)
    assert (stack.final_estimator_._fit_X[:40, 1] == 1).all()
    assert stack.transform(X).shape == (120, 3)


def test_rows_outside_all_test_folds_can_hold_all_rows_of_a_label() -> None:
    target = Y.copy()
    target[:, 1] = np.arange(120) >= 30
    stack = StackingClassifier([("tree", TheirTree())], forest(), cv=TimeSeriesSplit(3))
    stack.fit(X, target)
    assert stack.final_estimator_.classes_[1].tolist() == [1]
    assert (stack.predict_proba(X)[:, 1] == 0).all()
    assert (stack.predict(X)[:, 1] == 1).all()


@pytest.mark.parametrize("label", [0, 1])
def test_an_output_of_one_label_is_predicted_with_certainty(label: int) -> None:
    target = Y.copy()
    target[:, 1] = label
    for final in (FINAL, network()):
        members = [("tree", TheirTree(random_state=0)), ("network", network())]
        stack = StackingClassifier(members, final).fit(X, target)
        # Nothing is to be learned from the one probability of a list, as in scikit-learn's stack.
        assert stack.transform(X).shape == (120, 2 + 3)
        assert (stack.predict(X)[:, 1] == label).all()
        assert stack.classes_[1].tolist() == [label]
    theirs = sklearn.ensemble.StackingClassifier(members[:1], FINAL).fit(X, target)
    ours = StackingClassifier(members[:1], FINAL).fit(X, target)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_a_fitted_member_can_have_a_label_that_the_rows_lack() -> None:
    rows = np.flatnonzero(Y[:, 0] == 0)
    tree = TheirTree(random_state=0).fit(X, Y)
    for member, cv in ((tree, "prefit"), (FrozenEstimator(tree), 2)):
        stack = StackingClassifier([("tree", member)], FINAL, cv=cv).fit(X[rows], Y[rows])
        expected = np.column_stack([shares[:, 1] for shares in tree.predict_proba(X)])
        np.testing.assert_array_equal(stack.transform(X), expected)


@pytest.mark.parametrize("weights", ["simplex", "nonnegative"])
def test_learned_weights_require_one_label(weights: Any) -> None:
    stack = StackingClassifier([("tree", TheirTree())], weights=weights)
    with pytest.raises(ValueError, match=rf"weights='{weights}'.*y has 3: set weights=None"):
        stack.fit(X, Y)
    assert not hasattr(stack, "classes_")


def test_other_combinations_refuse_several_labels() -> None:
    with pytest.raises(NotImplementedError, match="y is multilabel-indicator: only one label"):
        VotingClassifier([("tree", TheirTree())]).fit(X, Y)
    several = np.column_stack([Y, np.arange(120) % 3])
    with pytest.raises(NotImplementedError, match="y is multiclass-multioutput"):
        StackingClassifier([("tree", TheirTree())], FINAL).fit(X, several)


def test_errors_name_the_part_and_the_remedy() -> None:
    def fit(member: Any, target: Any = Y, final: Any = FINAL, **given: Any) -> Any:
        return StackingClassifier([("odd", member)], final, **given).fit(X, target)

    with pytest.raises(ValueError, match="final estimator, LogisticRegression.*y has 3: set final"):
        fit(TheirTree(), final=None)
    with pytest.raises(
        ValueError, match="the final estimator, a GaussianNB, cannot learn 3 labels"
    ):
        fit(TheirTree(), final=GaussianNB())
    with pytest.raises(ValueError, match=r"'odd', a GaussianNB, cannot learn 3.*1d array"):
        fit(GaussianNB())
    with pytest.raises(TypeError, match="sparse multilabel-indicator for y is not supported"):
        fit(TheirTree(), csr_array(Y))
    late = Y.copy()
    late[:, 1] = np.arange(120) < 24
    line = logistic()
    with pytest.raises(ValueError, match="output 1 of y, which has a single label in the training"):
        fit(line, late)
    late[:, 1] = 0
    with pytest.raises(ValueError, match="output 1 of y, which has a single label in all rows"):
        fit(line, late)
    with pytest.raises(ValueError, match="the final estimator, a Multi.*single label in the rows"):
        fit(TheirTree(), late, line)
    with pytest.raises(ValueError, match="a single label in every output"):
        fit(TheirTree(), np.zeros_like(Y))
    with pytest.raises(ValueError, match="cv to fewer folds"):
        fit(TheirTree(), cv=200)
    with pytest.raises(ValueError, match="NaN"):
        fit(TheirTree(), np.where(Y == 1, np.nan, 0.0))
    with pytest.raises(ValueError, match="0 sample"):
        StackingClassifier([("odd", TheirTree())], FINAL).fit(X[:0], Y[:0])


def test_fitted_members_of_other_targets_are_refused() -> None:
    for target, shape in ((Y[:, 0], r"\(1,\)"), (Y[:, :2], r"\(1, 2\)")):
        stack = StackingClassifier([("odd", TheirTree().fit(X, target))], FINAL, cv="prefit")
        with pytest.raises(ValueError, match=rf"'odd' predicts an array of shape {shape}"):
            stack.fit(X, Y)
    # The shape of two probabilities of one target is that of two outputs.
    stack = StackingClassifier([("odd", GaussianNB().fit(X, Y[:, 0]))], FINAL, cv="prefit")
    with pytest.raises(ValueError, match=r"'odd' predicts an array of shape \(1,\)"):
        stack.fit(X, Y[:, :2])
    stack = StackingClassifier([("odd", TheirTree().fit(X, Y + 5))], FINAL, cv="prefit")
    with pytest.raises(ValueError, match=r"'odd' has the labels \[5, 6\] of output 0"):
        stack.fit(X, Y)


class Odd(TheirTree):  # type: ignore[misc]
    """A tree with invalid probabilities."""

    def __init__(self, change: Any = None) -> None:
        super().__init__(max_depth=2)
        self.change = change

    def predict_proba(self, X: Any) -> Any:
        return self.change(super().predict_proba(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda shares: shares[:2], "predicts 2 outputs, and y has 3"),
        (lambda shares: [s[:, :1] for s in shares], r"shape \(24, 1\) for output 0"),
        (np.hstack, r"shape \(24, 6\), expected \(24, 3\)"),
        (lambda shares: [s * np.nan for s in shares], r"\[nan, nan, nan\] for row 0"),
    ],
)
def test_probabilities_of_another_shape_are_refused(change: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"'odd' .*{message}"):
        StackingClassifier([("odd", Odd(change))], FINAL).fit(X, Y)
    if "outputs" in message or "(24, 6)" in message.replace("\\", ""):
        stack = StackingClassifier([("tree", TheirTree())], Odd(change)).fit(X, Y)
        with pytest.raises(ValueError, match="does not have the 3 outputs of y"):
            stack.predict_proba(X)


def test_a_failed_fit_leaves_the_stack_unchanged() -> None:
    stack = StackingClassifier([("forest", forest())], forest()).fit(X, Y[:, 0])
    before = stack.predict(X)
    with pytest.raises(ValueError, match="cv to fewer"):
        stack.set_params(cv=200).fit(X, Y)
    np.testing.assert_array_equal(stack.predict(X), before)
    stack.set_params(cv=3).fit(X, Y)
    again = StackingClassifier([("forest", forest())], forest(), cv=3).fit(X, Y)
    np.testing.assert_array_equal(stack.predict_proba(X), again.predict_proba(X))


def test_multilabel_stacks_are_pickled_but_not_saved(tmp_path: Path) -> None:
    stack = StackingClassifier([("forest", forest())], forest(), cv=3).fit(X, Y)
    with pytest.raises(TypeError, match="fitted on 3 labels for each row.*pickle"):
        stack.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
    again = pickle.loads(pickle.dumps(stack))
    np.testing.assert_array_equal(again.predict_proba(X), stack.predict_proba(X))


@pytest.mark.parametrize("part", ["estimators_", "final_estimator_"])
def test_a_file_with_members_of_several_targets_is_refused(part: str) -> None:
    tree = DecisionTreeClassifier(max_depth=2)
    stack = StackingClassifier([("tree", tree)], tree, cv=3).fit(SAVED_X, LABELS)
    two = np.column_stack([LABELS, LABELS])
    if part == "estimators_":
        stack.named_estimators_["tree"] = DecisionTreeClassifier().fit(SAVED_X, two)
    else:
        stack.final_estimator_ = DecisionTreeClassifier().fit(stack.transform(SAVED_X), two)
    with pytest.raises(ModelFormatError, match="several targets|classes that the stack"):
        model_from_bytes(model_to_bytes(stack))
