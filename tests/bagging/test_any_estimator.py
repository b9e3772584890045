"""Members of every type, and tables of every type."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from scipy.sparse import csr_matrix
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import arboleda
from arboleda import (
    BaggingClassifier,
    BaggingRegressor,
    ClassSwitchingClassifier,
    DecisionTreeClassifier,
    HistGradientBoostingClassifier,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]
CLASSIFIERS = [BaggingClassifier, RandomSubspaceClassifier, ClassSwitchingClassifier]


@pytest.mark.parametrize("ensemble", CLASSIFIERS)
@pytest.mark.parametrize(
    "member",
    [
        None,
        GaussianNB(),
        SVC(),
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), GaussianNB()),
        HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5),
        DecisionTreeClassifier(ccp_alpha=0.01),
    ],
    ids=lambda member: type(member).__name__,
)
def test_bags_of_any_classifier_learn(ensemble: Any, member: Any) -> None:
    model = ensemble(member, n_estimators=15, random_state=0).fit(X, NAMES)
    # Members that do not fit switched labels without error learn little from so few of them.
    assert model.score(X, NAMES) > (0.6 if ensemble is ClassSwitchingClassifier else 0.9)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert len(model) == len(model.estimators_) == 15
    assert model.predict(X[:2]).dtype == NAMES.dtype
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("ensemble", [BaggingRegressor, RandomSubspaceRegressor])
@pytest.mark.parametrize("member", [None, LinearRegression()])
def test_bagged_regressors_of_one_and_several_targets_match_their_definition(
    ensemble: Any, member: Any
) -> None:
    table, target = load_diabetes(return_X_y=True)
    both = np.column_stack([target, 10 - 3 * target])
    one = ensemble(member, n_estimators=8, random_state=0).fit(table, target)
    two = ensemble(member, n_estimators=8, random_state=0).fit(table, both)
    assert one.predict(table).shape == (442,)
    assert one.score(table, target) > 0.35
    mean = np.mean(
        [
            fitted.predict(table[:, columns])
            for fitted, columns in zip(one.estimators_, one.estimators_features_, strict=True)
        ],
        axis=0,
    )
    np.testing.assert_allclose(one.predict(table), mean)
    np.testing.assert_allclose(two.predict(table)[:, 0], one.predict(table), rtol=1e-9)
    np.testing.assert_allclose(two.predict(table)[:, 1], 10 - 3 * two.predict(table)[:, 0])


def test_soft_and_hard_votes_match_values_by_hand() -> None:
    for member in [None, KNeighborsClassifier()]:
        soft, hard = (
            BaggingClassifier(member, n_estimators=7, voting=voting, random_state=0).fit(X, y)
            for voting in ("soft", "hard")
        )
        shares = [one.predict_proba(X) for one in soft.estimators_]
        np.testing.assert_allclose(soft.predict_proba(X), np.mean(shares, axis=0))
        votes = np.stack([one.predict(X).astype(int) for one in hard.estimators_])
        expected = np.stack([(votes == k).mean(axis=0) for k in range(3)], axis=1)
        np.testing.assert_allclose(hard.predict_proba(X), expected)
        np.testing.assert_array_equal(hard.predict(X), expected.argmax(axis=1))
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(soft.predict_log_proba(X), np.log(soft.predict_proba(X)))


def test_soft_votes_fall_back_to_hard_ones() -> None:
    soft = BaggingClassifier(SVC(), n_estimators=5, random_state=0).fit(X, y)
    hard = BaggingClassifier(SVC(), n_estimators=5, voting="hard", random_state=0).fit(X, y)
    np.testing.assert_array_equal(soft.predict_proba(X), hard.predict_proba(X))
    assert set(np.unique(soft.predict_proba(X) * 5).tolist()) <= {0, 1, 2, 3, 4, 5}


def test_decision_functions_are_averaged_where_members_have_them() -> None:
    bag = BaggingClassifier(RidgeClassifier(), n_estimators=3, random_state=0).fit(X, y)
    expected = np.mean([member.decision_function(X) for member in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.decision_function(X), expected)
    assert not hasattr(BaggingClassifier(), "decision_function")
    assert not hasattr(BaggingClassifier(GaussianNB()).fit(X, y), "decision_function")


def test_bags_can_lack_a_class() -> None:
    """Members fitted by index have only the classes of their bag; votes go to the right columns."""
    table = np.arange(12.0)[:, np.newaxis]
    labels = np.array(["a"] * 5 + ["b"] * 6 + ["z"])
    bag = BaggingClassifier(
        KNeighborsClassifier(1), n_estimators=30, oob_score=True, random_state=0
    ).fit(table, labels)
    seen = {tuple(member.classes_) for member in bag.estimators_}
    assert (0, 1) in seen
    assert (0, 1, 2) in seen
    with_z = np.mean([11 in rows for rows in bag.estimators_samples_])
    assert bag.predict_proba(table)[11, 2] == pytest.approx(with_z)
    assert np.isnan(bag.oob_decision_function_).sum() == 0
    assert bag.oob_decision_function_[11, 2] == 0.0


def test_decision_functions_of_different_classes_are_refused() -> None:
    table = np.arange(12.0)[:, np.newaxis]
    labels = np.array([0] * 5 + [1] * 6 + [2])
    pipeline = make_pipeline(StandardScaler(), RidgeClassifier())
    bag = BaggingClassifier(pipeline, n_estimators=20, random_state=0).fit(table, labels)
    with pytest.raises(ValueError, match="holds 2 of the 3 classes.*use predict_proba"):
        bag.decision_function(table)
    np.testing.assert_allclose(bag.predict_proba(table).sum(axis=1), 1.0)


def test_a_bag_of_one_class_is_explained() -> None:
    table, labels = np.arange(6.0)[:, np.newaxis], np.array([0, 0, 0, 0, 0, 1])
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.raises(ValueError, match=r"Pipeline failed on a bag with rows of a single class"):
        BaggingClassifier(pipeline, n_estimators=30, random_state=0).fit(table, labels)


@pytest.mark.parametrize("ensemble", CLASSIFIERS)
def test_one_class_and_one_row(ensemble: Any) -> None:
    model = ensemble(n_estimators=3, random_state=0).fit(X[:5], ["x"] * 5)
    assert model.predict(X[:2]).tolist() == ["x", "x"]
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    assert ensemble(n_estimators=3).fit(X[:1], ["x"]).predict(X[1:2]).tolist() == ["x"]


def test_frames_reach_the_members_as_frames() -> None:
    frame = pd.DataFrame({"size": X[:, 0], "colour": np.array(["red", "blue", "red"])[y]})
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["colour"]), remainder="passthrough"
    )
    pipeline = make_pipeline(encode, GaussianNB())
    for table in [frame, pl.from_pandas(frame)]:
        bag = BaggingClassifier(pipeline, n_estimators=25, oob_score=True, random_state=1)
        bag.fit(table, NAMES)
        assert bag.feature_names_in_.tolist() == ["size", "colour"]
        assert bag.score(table, NAMES) > 0.6


def test_frames_with_categories_and_gaps() -> None:
    frame = pd.DataFrame(
        {
            "kind": pd.Categorical(np.array(["p", "q", "r"])[y]),
            "size": np.where(np.arange(150) % 7 == 0, np.nan, X[:, 2]),
            "other": X[:, 1],
        }
    )
    members = [None, HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5)]
    for member in members:
        for ensemble in CLASSIFIERS:
            model = ensemble(member, n_estimators=10, random_state=0).fit(frame, NAMES)
            assert model.score(frame, NAMES) > 0.85
            assert model.n_features_in_ == 3


def test_columns_in_another_order_and_number() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    bag = BaggingClassifier(GaussianNB(), n_estimators=2, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        bag.predict(frame[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match="features"):
        BaggingClassifier(GaussianNB(), n_estimators=2).fit(X, y).predict(X[:, :3])


def test_sparse_tables() -> None:
    sparse = csr_matrix(np.where(X > 2, X, 0.0))
    for member in [None, MultinomialNB()]:
        for ensemble in CLASSIFIERS:
            dense, thin = (
                ensemble(member, n_estimators=5, random_state=0).fit(table, y)
                for table in (sparse.toarray(), sparse)
            )
            np.testing.assert_allclose(
                dense.predict_proba(sparse.toarray()), thin.predict_proba(sparse)
            )


def test_class_weights_of_members_refer_to_labels() -> None:
    weights = {"setosa": 1.0, "versicolor": 1.0, "virginica": 30.0}
    for plain, weighted in [
        (RidgeClassifier(), RidgeClassifier(class_weight=weights)),
        (None, DecisionTreeClassifier(max_depth=1, class_weight=weights)),
        (
            make_pipeline(StandardScaler(), RidgeClassifier()),
            make_pipeline(StandardScaler(), RidgeClassifier(class_weight=weights)),
        ),
    ]:
        without = BaggingClassifier(plain, n_estimators=5, random_state=0).fit(X, NAMES)
        with_weights = BaggingClassifier(weighted, n_estimators=5, random_state=0).fit(X, NAMES)
        share = (without.predict(X) == "virginica").mean()
        assert (with_weights.predict(X) == "virginica").mean() > share
        assert with_weights.estimator_ is weighted


@pytest.mark.parametrize("member", [DecisionTreeClassifier, RidgeClassifier])
def test_a_class_weight_for_an_unknown_label_is_refused(member: Any) -> None:
    weights = {"setosa": 2.0, "virginca": 30.0}
    bag = BaggingClassifier(member(class_weight=weights), n_estimators=3)
    with pytest.raises(ValueError, match="'virginca', which is not a class of y.*'versicolor'"):
        bag.fit(X, NAMES)
    # Where every class of y has a weight, others do no harm: they may come with other rows.
    known = {"setosa": 2.0, "versicolor": 1.0, "virginica": 30.0}
    bag.set_params(random_state=0, estimator__class_weight={**known, "other": 9.0})
    expected = clone(bag).set_params(estimator__class_weight=known).fit(X, NAMES)
    np.testing.assert_array_equal(bag.fit(X, NAMES).predict(X), expected.predict(X))


def test_a_bag_can_lack_a_class_that_has_a_weight() -> None:
    # A pipeline accepts no sample weights, so its members are fitted on the rows of their bags.
    model = make_pipeline(StandardScaler(), RidgeClassifier(class_weight={"setosa": 2.0}))
    rows = np.r_[0, 50:150]
    bag = BaggingClassifier(model, n_estimators=10, random_state=0).fit(X[rows], NAMES[rows])
    assert {len(member.classes_) for member in bag.estimators_} == {2, 3}


@pytest.mark.parametrize("ensemble", CLASSIFIERS)
def test_a_member_that_predicts_numbers_is_not_a_classifier(ensemble: Any) -> None:
    with pytest.raises(ValueError, match="must be classifiers, but estimator is a LinearReg"):
        ensemble(LinearRegression()).fit(X, y)
    with pytest.raises(TypeError, match="instance of scikit-learn estimator instead of a class"):
        ensemble(LogisticRegression).fit(X, y)


class ThreadCounter(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    def __init__(self, n_jobs: int | None = -1) -> None:
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> "ThreadCounter":
        self.classes_ = np.unique(y)
        self.seen_ = self.n_jobs
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


def test_members_fitted_in_parallel_do_not_oversubscribe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arboleda.bagging._members.count_available_cores", lambda: 6)
    for n_jobs, seen in [(1, -1), (2, 3)]:
        with parallel_config("threading"):
            bag = BaggingClassifier(ThreadCounter(), n_estimators=4, n_jobs=n_jobs).fit(X, y)
        assert {member.seen_ for member in bag.estimators_} == {seen}
        assert {member.n_jobs for member in bag.estimators_} == {-1}
    ours = HistGradientBoostingClassifier(max_iter=2)
    with parallel_config("threading"):
        bag = BaggingClassifier(ours, n_estimators=2, n_jobs=2, random_state=0).fit(X, y)
    assert [member.n_jobs for member in bag.estimators_] == [None, None]


def test_metadata_is_routed_to_the_members() -> None:
    groups = np.arange(150)

    class Grouped(ThreadCounter):
        def fit(self, X: Any, y: Any, groups: Any = None) -> "Grouped":
            assert groups is not None
            self.groups_ = groups
            return super().fit(X, y)  # type: ignore[return-value]

    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        BaggingClassifier(Grouped()).fit(X, y, groups=groups)
    with config_context(enable_metadata_routing=True):
        member = Grouped().set_fit_request(groups=True)
        bag = BaggingClassifier(member, n_estimators=3, random_state=0).fit(X, y, groups=groups)
        for fitted, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
            np.testing.assert_array_equal(fitted.groups_, rows)


def test_warm_start_matches_a_single_fit() -> None:
    for member in [None, KNeighborsClassifier()]:
        grown = BaggingClassifier(
            member, n_estimators=3, warm_start=True, oob_score=True, random_state=5
        )
        with pytest.warns(UserWarning, match="left out by no member"):
            grown.fit(X, y)
        grown.set_params(n_estimators=30).fit(X, y)
        at_once = BaggingClassifier(member, n_estimators=30, oob_score=True, random_state=5)
        at_once.fit(X, y)
        np.testing.assert_array_equal(grown.predict_proba(X), at_once.predict_proba(X))
        np.testing.assert_array_equal(grown.oob_decision_function_, at_once.oob_decision_function_)
        for first, second in zip(
            grown.estimators_samples_, at_once.estimators_samples_, strict=True
        ):
            np.testing.assert_array_equal(first, second)
        with pytest.warns(UserWarning, match="without increasing n_estimators"):
            grown.fit(X, y)
        with pytest.raises(ValueError, match=r"n_estimators=2 .* len\(estimators_\)=30"):
            grown.set_params(n_estimators=2).fit(X, y)
        with pytest.raises(ValueError, match="must hold the same classes"):
            grown.set_params(n_estimators=40).fit(X, NAMES)
        assert len(grown.estimators_) == 30


def test_a_failed_fit_leaves_the_model_unchanged() -> None:
    for member in [None, GaussianNB()]:
        bag = BaggingClassifier(member, n_estimators=2, random_state=0).fit(X, NAMES)
        before = bag.predict_proba(X)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            bag.fit(X, y[:100])
        np.testing.assert_array_equal(bag.predict_proba(X), before)
        assert bag.classes_.tolist() == ["setosa", "versicolor", "virginica"]


def test_unfitted_models_raise() -> None:
    bag = BaggingClassifier()
    assert not hasattr(bag, "estimators_")
    with pytest.raises(NotFittedError):
        bag.predict(X)
    with pytest.raises(NotFittedError):
        bag.oob_curve()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BaggingClassifier(max_samples=151, bootstrap=False), "151 is more than the 150 rows"),
        (BaggingClassifier(max_features=5), "max_features=5 must be <= n_features=4"),
        (BaggingClassifier(voting="laplace"), "'voting'"),
        (BaggingRegressor(n_estimators=0), "'n_estimators'"),
        (RandomSubspaceRegressor(max_features=1.5), "'max_features'"),
        (ClassSwitchingClassifier(p=1.0), "'p'"),
    ],
)
def test_parameters_out_of_range_are_refused(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_missing_targets_and_negative_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="y has a missing value in row 1"):
        BaggingClassifier().fit([[1], [2]], ["a", None])
    with pytest.raises(ValueError, match="`sample_weight`: -1.0 in row 0"):
        BaggingClassifier().fit([[1], [2]], [0, 1], [-1.0, 1.0])


def test_public_names_are_exported() -> None:
    for name in arboleda.bagging.__all__:  # type: ignore[attr-defined]
        assert name == "OobCurve" or name in arboleda.__all__
