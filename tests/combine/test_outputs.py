"""Out-of-fold outputs of members, in the order of the rows."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneGroupOut,
    RepeatedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from arboleda import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.combine import MemberOutputs, out_of_fold_outputs, outputs_of

X, y = load_iris(return_X_y=True)
SHUFFLED = StratifiedKFold(3, shuffle=True, random_state=0)


class Spy(ClassifierMixin, BaseEstimator):
    """Predicts 1 for rows that it was fitted on, which are identified by their first column."""

    def fit(self, X: Any, y: Any) -> Spy:
        self.classes_ = np.unique(y)
        self.seen_ = set(X[:, 0].tolist())
        return self

    def predict_proba(self, X: Any) -> Any:
        seen = np.array([value in self.seen_ for value in X[:, 0].tolist()], dtype=float)
        return np.column_stack([seen, 1 - seen])

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Counting(GaussianNB):
    """Counts its fits."""

    n_fits = 0

    def fit(self, *args: Any, **params: Any) -> Any:
        Counting.n_fits += 1
        return super().fit(*args, **params)


def members_of_all_kinds() -> list[tuple[str, Any]]:
    return [
        ("tree", DecisionTreeClassifier(random_state=0)),
        ("forest", RandomForestClassifier(10, random_state=0)),
        ("extra", ExtraTreesClassifier(10, random_state=0, max_bins=16)),
        ("boosting", HistGradientBoostingClassifier(max_iter=5)),
        ("few bins", HistGradientBoostingClassifier(max_iter=5, max_bins=8)),
        ("bayes", GaussianNB()),
        ("logistic", LogisticRegression(max_iter=500)),
    ]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_outputs_match_each_member_alone(n_jobs: int) -> None:
    members = members_of_all_kinds()
    found = out_of_fold_outputs(members, X, y, cv=SHUFFLED, n_jobs=n_jobs)
    assert found.names == [name for name, _ in members]
    for (_, member), predicted in zip(members, found.outputs, strict=True):
        alone = cross_val_predict(member, X, y, cv=SHUFFLED, method="predict_proba")
        np.testing.assert_array_equal(predicted, alone)


def test_outputs_of_regressors_match_each_member() -> None:
    X, y = load_diabetes(return_X_y=True)
    members = [
        ("ridge", Ridge()),
        ("forest", RandomForestRegressor(10, random_state=0)),
        ("boosting", HistGradientBoostingRegressor(max_iter=5)),
        ("near", KNeighborsRegressor()),
    ]
    found = out_of_fold_outputs(members, X, y)
    assert found.classes is None
    for (_, member), predicted in zip(members, found.outputs, strict=True):
        np.testing.assert_array_equal(predicted, cross_val_predict(member, X, y))


def test_no_member_predicts_a_row_that_it_was_fitted_on() -> None:
    rows = np.arange(60, dtype=float).reshape(-1, 1)
    found = out_of_fold_outputs([("spy", Spy())], rows, np.arange(60) % 2, cv=SHUFFLED)
    assert not found.outputs[0, :, 0].any()


def test_overlapping_rows_of_a_split_are_refused() -> None:
    cv = [(np.arange(100), np.arange(90, 150))]
    with pytest.raises(
        ValueError, match="row 90 in split 0 of cv is both a training row and a test row"
    ):
        out_of_fold_outputs([("bayes", GaussianNB())], X, y, cv=cv)


def test_rows_never_predicted_are_left_out_and_reported() -> None:
    order = np.random.default_rng(0).permutation(len(X))
    found = out_of_fold_outputs(
        [("bayes", GaussianNB())], X[order], y[order], cv=TimeSeriesSplit(4)
    )
    assert found.rows.tolist() == list(range(30, 150))
    assert found.n_left_out == 30
    assert repr(found) == (
        "MemberOutputs(members=['bayes'], n_rows=120, n_never_predicted=30, classes=[0, 1, 2])"
    )
    past = GaussianNB().fit(X[order[:30]], y[order[:30]])
    np.testing.assert_array_equal(found.outputs[0, :30], past.predict_proba(X[order[30:60]]))


def test_a_row_in_several_test_folds_gets_the_mean() -> None:
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    member = [("tree", DecisionTreeClassifier(random_state=0)), ("bayes", GaussianNB())]
    expected = np.zeros((2, 150, 3))
    for train, test in cv.split(X):
        for predicted, (_, template) in zip(expected, member, strict=True):
            predicted[test] += template.fit(X[train], y[train]).predict_proba(X[test]) / 2
    np.testing.assert_allclose(out_of_fold_outputs(member, X, y, cv=cv).outputs, expected)


def test_groups_are_not_divided() -> None:
    groups = np.repeat(np.arange(15), 10)
    same_in_group = groups.reshape(-1, 1).astype(float)
    labels = np.random.default_rng(0).integers(0, 2, 150)
    for cv in (5, GroupKFold(5), LeaveOneGroupOut()):
        found = out_of_fold_outputs([("spy", Spy())], same_in_group, labels, cv=cv, groups=groups)
        assert not found.outputs[0, :, 0].any()


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["setosa", "versicolor", "virginica"]),
        np.array(["b", "a", "c"], dtype=object),
        np.array([10, -5, 7]),
        np.array([3.0, 1.0, 2.0]),
        np.array(["2020-01-01", "2021-01-01", "2019-01-01"], dtype="datetime64[D]"),
    ],
)
def test_labels_of_any_type_are_supported(labels: Any) -> None:
    order = np.argsort(labels)
    found = out_of_fold_outputs(members_of_all_kinds(), X, labels[y], cv=SHUFFLED)
    np.testing.assert_array_equal(found.classes, labels[order])
    numbers = np.argsort(order)
    same = out_of_fold_outputs(members_of_all_kinds(), X, numbers[y], cv=SHUFFLED)
    np.testing.assert_array_equal(found.outputs, same.outputs)


def test_boolean_labels_and_class_weights_by_label_are_supported() -> None:
    tree = DecisionTreeClassifier(max_depth=1, class_weight={False: 1, True: 50})
    found = out_of_fold_outputs([("tree", tree)], X, y == 2, cv=SHUFFLED)
    tree.set_params(class_weight={0: 1, 1: 50})
    expected = cross_val_predict(tree, X, (y == 2).astype(int), cv=SHUFFLED, method="predict_proba")
    np.testing.assert_array_equal(found.outputs[0], expected)
    assert found.classes is not None
    assert found.classes.dtype == bool


def test_a_member_that_lacks_a_class_gives_it_probability_0() -> None:
    cv = [(np.arange(100), np.arange(100, 150)), (np.arange(50, 150), np.arange(50))]
    found = out_of_fold_outputs(members_of_all_kinds(), X, y, cv=cv)
    first, second = slice(0, 50), slice(100, 150)
    at = {row: place for place, row in enumerate(found.rows.tolist())}
    for part, lacking in ((first, 0), (second, 2)):
        places = [at[row] for row in range(150)[part]]
        assert not found.outputs[:, places, lacking].any()
        np.testing.assert_allclose(found.outputs[:, places].sum(axis=2), 1)


def test_members_without_probabilities_vote() -> None:
    member = LinearSVC()
    found = out_of_fold_outputs([("svc", member), ("bayes", GaussianNB())], X, y, votes=False)
    predicted = cross_val_predict(member, X, y)
    np.testing.assert_array_equal(found.outputs[0], np.eye(3)[predicted])
    np.testing.assert_array_equal(found.choices()[0], predicted)
    votes = out_of_fold_outputs([("bayes", GaussianNB())], X, y, votes=True)
    np.testing.assert_array_equal(
        votes.outputs[0], np.eye(3)[cross_val_predict(GaussianNB(), X, y)]
    )


def test_sample_weights_reach_the_members() -> None:
    weight = np.random.default_rng(0).integers(1, 4, 150).astype(float)
    members = members_of_all_kinds()
    found = out_of_fold_outputs(members, X, y, cv=SHUFFLED, sample_weight=weight)
    for (_, member), predicted in zip(members, found.outputs, strict=True):
        params = {"sample_weight": weight}
        alone = cross_val_predict(member, X, y, cv=SHUFFLED, method="predict_proba", params=params)
        np.testing.assert_array_equal(predicted, alone)
    with pytest.raises(TypeError, match="'near', or fit without sample_weight"):
        out_of_fold_outputs([("near", KNeighborsClassifier())], X, y, sample_weight=weight)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_stay_frames(frame: Any) -> None:
    named = frame({name: X[:, j] for j, name in enumerate("abcd")})
    members = [("tree", DecisionTreeClassifier(random_state=0)), ("bayes", GaussianNB())]
    found = out_of_fold_outputs(members, named, y, cv=SHUFFLED)
    plain = out_of_fold_outputs(members, X, y, cv=SHUFFLED)
    np.testing.assert_array_equal(found.outputs, plain.outputs)


def test_a_frozen_member_predicts_without_refitting() -> None:
    labels = np.array(["b", "c", "a"])[y]
    fitted = GaussianNB().fit(X[::3], labels[::3])
    found = out_of_fold_outputs(
        [("frozen", FrozenEstimator(fitted)), ("bayes", GaussianNB())], X, labels
    )
    np.testing.assert_array_equal(found.outputs[0], fitted.predict_proba(X))


def test_outputs_of_fitted_members_are_their_predictions() -> None:
    labels = np.array(["b", "c", "a"])[y]
    members = [
        ("two classes", GaussianNB().fit(X[y < 2], labels[y < 2])),
        ("all", GaussianNB().fit(X, labels)),
        ("votes", LinearSVC().fit(X, labels)),
    ]
    for n_jobs in (None, 2):
        found = outputs_of(members, X, ["a", "b", "c"], n_jobs=n_jobs)
        np.testing.assert_array_equal(found.outputs[0, :, 1:], members[0][1].predict_proba(X))
        assert not found.outputs[0, :, 0].any()
        np.testing.assert_array_equal(found.outputs[1], members[1][1].predict_proba(X))
        assert (np.array(["a", "b", "c"])[found.choices()[2]] == members[2][1].predict(X)).all()
    with pytest.raises(ValueError, match="'all' predicts 'a', which is none of the classes"):
        outputs_of(members, X, ["b", "c"])


def test_cached_outputs_are_read_and_invalidated(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    members = [("counting", Counting()), ("tree", DecisionTreeClassifier(random_state=0))]

    def outputs(rows: Any = X, target: Any = y, **options: Any) -> MemberOutputs:
        return out_of_fold_outputs(members, rows, target, cache=folder, **options)

    first = outputs()
    Counting.n_fits = 0
    np.testing.assert_array_equal(outputs().outputs, first.outputs)
    assert Counting.n_fits == 0
    other = X.copy()
    other[0, 0] += 1
    for changed in (
        {"rows": other},
        {"target": y[::-1].copy()},
        {"cv": 3},
        {"votes": True},
        {"sample_weight": np.arange(1.0, 151)},
    ):
        before = Counting.n_fits
        outputs(**changed)
        assert Counting.n_fits > before, changed
    members[1] = ("tree", DecisionTreeClassifier(random_state=0, max_depth=1))
    before = Counting.n_fits
    assert not np.array_equal(outputs().outputs[1], first.outputs[1])
    assert Counting.n_fits == before  # the other member is as it was


def test_a_member_without_a_hash_is_not_cached(tmp_path: Path) -> None:
    member = FunctionTransformer(lambda rows: rows)
    members = [("pipe", make_pipeline(member, GaussianNB()))]
    with pytest.raises(ValueError, match="cannot be hashed.*cache=None"):
        out_of_fold_outputs(members, X, y, cache=tmp_path)


def test_damaged_and_hostile_cache_files_are_replaced(tmp_path: Path) -> None:
    members = [("bayes", GaussianNB())]
    expected = out_of_fold_outputs(members, X, y, cache=tmp_path).outputs
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, outputs=np.array([Boom()], dtype=object))
    hostile = pickled.read_bytes()
    pickled.unlink()
    contents = [b"", whole[:-30], b"PK" + whole[2:100], hostile, of_a_file(np.save, expected[0])]
    contents += [
        of_a_file(np.savez, outputs=wrong)
        for wrong in (expected[0] * np.nan, expected[0][:3], expected[0].astype(np.float32))
    ]
    packed = bytearray(of_a_file(np.savez_compressed, outputs=expected[0]))
    packed[80:120] = bytes(40)
    changed = bytearray(whole)
    changed[600] ^= 1
    contents += [bytes(changed), bytes(packed), archive_of(b"no array"), archive_of(bytes(10**6))]
    vast = of_a_file(np.save, expected[0]).replace(b"(150, 3), }    ", b"(99999999999,)}")
    contents += [archive_of(vast), archive_of(vast.replace(b"{'descr", b"((((((("))]
    for content in contents:
        path.write_bytes(content)
        with pytest.warns(UserWarning, match="computed again"):
            found = out_of_fold_outputs(members, X, y, cache=tmp_path)
        np.testing.assert_array_equal(found.outputs, expected)
        assert zipfile.is_zipfile(path)


def of_a_file(write: Any, *arrays: Any, **named: Any) -> bytes:
    content = io.BytesIO()
    write(content, *arrays, **named)
    return content.getvalue()


def archive_of(content: bytes) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("outputs.npy", content)
    return whole.getvalue()


class Boom:
    """Raise when unpickled."""

    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('code of a file was run')",))


def test_a_wrong_kind_of_member_is_refused() -> None:
    bayes = GaussianNB()
    with pytest.raises(ValueError, match="non-empty list of \\(string, estimator\\)"):
        out_of_fold_outputs([bayes], X, y)
    with pytest.raises(ValueError, match=r"not unique: \['a', 'a'\]"):
        out_of_fold_outputs([("a", bayes), ("a", bayes)], X, y)
    with pytest.raises(ValueError, match="must not contain __"):
        out_of_fold_outputs([("a__b", bayes)], X, y)
    with pytest.raises(ValueError, match="All estimators are dropped"):
        out_of_fold_outputs([("a", "drop")], X, y)
    with pytest.raises(ValueError, match="'a' and 'b' are a classifier and a regressor"):
        out_of_fold_outputs([("a", bayes), ("b", Ridge())], X, y)
    with pytest.raises(NotImplementedError, match="multilabel"):
        out_of_fold_outputs([("a", bayes)], X, np.eye(3)[y])
    with pytest.raises(ValueError, match="'C' parameter") as caught:
        out_of_fold_outputs([("a", bayes), ("logistic", LogisticRegression(C=-1))], X, y)
    [note] = caught.value.__notes__
    assert note.startswith(
        "raised by the member 'logistic' of the ensemble, fitted on the training"
    )
