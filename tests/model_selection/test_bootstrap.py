"""Bootstrap splits, and the .632 and .632+ errors against their formulas."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from arboleda import DecisionTreeClassifier
from arboleda.model_selection import BootstrapSplit, bootstrap_error
from arboleda.model_selection._bootstrap import bootstrap_estimates

X, y = load_iris(return_X_y=True)


def test_bags_and_out_of_bag_rows_are_disjoint_and_complete() -> None:
    splits = BootstrapSplit(n_splits=30, random_state=0)
    assert splits.get_n_splits(X) == 30
    shares = []
    for bag, left_out in splits.split(X, y):
        assert len(bag) == 150
        assert len(left_out) == len(set(left_out.tolist())) > 0
        assert set(bag.tolist()) | set(left_out.tolist()) == set(range(150))
        assert not set(bag.tolist()) & set(left_out.tolist())
        shares.append(len(left_out) / 150)
    assert np.mean(shares) == pytest.approx((1 - 1 / 150) ** 150, abs=0.02)


def test_the_same_seed_gives_the_same_draws() -> None:
    for first, second in zip(
        BootstrapSplit(3, random_state=4).split(X),
        BootstrapSplit(3, random_state=4).split(X),
        strict=True,
    ):
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])


def test_scikit_learn_accepts_it_as_a_splitter() -> None:
    scores = cross_val_score(
        DecisionTreeClassifier(), X, y, cv=BootstrapSplit(n_splits=7, random_state=0)
    )
    assert scores.shape == (7,)
    assert scores.min() > 0.85
    assert repr(BootstrapSplit(7)) == "BootstrapSplit(n_splits=7, random_state=None)"


def test_small_tables_are_split() -> None:
    for bag, left_out in BootstrapSplit(n_splits=20, random_state=0).split([1, 2]):
        assert bag.tolist() in ([0, 0], [1, 1])
        assert left_out.tolist() == [1 - bag[0]]
    with pytest.raises(ValueError, match="at least 2 rows"):
        next(BootstrapSplit().split([1]))


@pytest.mark.parametrize(
    ("training", "left_out", "no_information", "plain", "overfitting", "plus"),
    [
        # The nearest neighbour on pure noise: err 0, Err1 = gamma = 0.5, so R = 1.
        (0.0, 0.5, 0.5, 0.316, 1.0, 0.5),
        # R = 0.2 / 0.5: w = 0.632 / (1 - 0.368 * 0.4) = 0.741088..., .632+ = w * 0.2
        (0.0, 0.2, 0.5, 0.1264, 0.4, 0.2 * 0.632 / (1 - 0.368 * 0.4)),
        (0.1, 0.1, 0.5, 0.1, 0.0, 0.1),  # no overfitting
        (0.2, 0.15, 0.5, 0.1684, 0.0, 0.1684 - 0.0),  # left-out rows are easier
        # Err1 beyond gamma: 0.632 * 0.6 + 0.368 * 0.5 with err = 0
        (0.0, 0.6, 0.5, 0.3792, 1.0, 0.3792 + 0.5 * 0.368),
        (0.4, 0.5, 0.3, 0.4632, 0.0, 0.4632),  # worse than no information already in training
    ],
)
def test_estimates_match_formulas_by_hand(
    training: float,
    left_out: float,
    no_information: float,
    plain: float,
    overfitting: float,
    plus: float,
) -> None:
    found = bootstrap_estimates(training, left_out, no_information)
    assert found.plain_632 == pytest.approx(plain)
    assert found.overfitting == pytest.approx(overfitting)
    assert found.plus_632 == pytest.approx(plus)


@pytest.mark.parametrize("member", [DecisionTreeClassifier(max_depth=3), KNeighborsClassifier(1)])
def test_estimates_match_a_naive_twin(member: Any) -> None:
    labels = np.array(["a", "b", "c"])[y]
    found = bootstrap_error(member, X, labels, n_splits=25, random_state=3)
    errors: list[list[float]] = [[] for _ in range(150)]
    for bag, left_out in BootstrapSplit(25, random_state=3).split(X):
        model = clone(member).fit(X[bag], labels[bag])
        for row in left_out:
            errors[row].append(float(model.predict(X[[row]])[0] != labels[row]))
    known = [np.mean(of_row) for of_row in errors if of_row]
    assert found.left_out == pytest.approx(np.mean(known))
    predicted = clone(member).fit(X, labels).predict(X)
    assert found.training == np.mean(predicted != labels)
    pairs = [a != b for a in labels for b in predicted]
    assert found.no_information == pytest.approx(np.mean(pairs))


def test_regression_and_custom_losses_are_supported() -> None:
    table, target = load_diabetes(return_X_y=True)
    table, target = table[:60], target[:60]
    found = bootstrap_error(LinearRegression(), table, target, random_state=0)
    predicted = LinearRegression().fit(table, target).predict(table)
    every = (target[:, np.newaxis] - predicted) ** 2
    assert found.no_information == pytest.approx(every.mean())
    assert found.training == pytest.approx(np.mean((target - predicted) ** 2))
    assert found.training < found.plain_632 < found.plus_632 < found.left_out
    same = bootstrap_error(
        LinearRegression(), table, target, loss=lambda a, b: (a - b) ** 2, random_state=0
    )
    np.testing.assert_allclose(same, found)
    absolute = bootstrap_error(
        LinearRegression(), table, target, loss=lambda a, b: abs(a - b), random_state=0
    )
    assert absolute.no_information == pytest.approx(np.sqrt(every).mean())


def test_the_estimate_is_near_the_error_on_new_rows() -> None:
    table, target = make_classification(n_samples=3000, flip_y=0.2, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(
        table, target, train_size=150, random_state=0
    )
    for model in [KNeighborsClassifier(1), DecisionTreeClassifier(random_state=0)]:
        found = bootstrap_error(model, X_train, y_train, random_state=0)
        true = 1 - model.fit(X_train, y_train).score(X_test, y_test)
        assert found.training < 0.05
        assert abs(found.plus_632 - true) < 0.06
        assert found.plain_632 < found.plus_632 <= found.left_out


def test_models_that_learn_nothing_do_not_overfit() -> None:
    constant = bootstrap_error(DummyClassifier(), X, y, random_state=0)
    assert constant.no_information == pytest.approx(2 / 3)
    mean = bootstrap_error(DummyRegressor(), X, y, random_state=0)
    assert mean.overfitting < 0.3


def test_frames_jobs_and_several_outputs_are_supported() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    one = bootstrap_error(KNeighborsClassifier(), frame, pd.Series(y), n_splits=25, random_state=0)
    with parallel_config("threading"):
        two = bootstrap_error(KNeighborsClassifier(), X, y, n_splits=25, random_state=0, n_jobs=2)
    assert one == two
    both = np.column_stack([X[:, 0], X[:, 0]])
    several = bootstrap_error(KNeighborsRegressor(), X[:, 1:], both, random_state=0)
    single = bootstrap_error(KNeighborsRegressor(), X[:, 1:], X[:, 0], random_state=0)
    np.testing.assert_allclose(several, single)


@pytest.mark.parametrize("member", [KNeighborsClassifier(), KNeighborsRegressor()])
def test_a_target_of_one_column_counts_as_one_dimensional(member: Any) -> None:
    one = bootstrap_error(member, X, y, n_splits=25, random_state=0)
    for column in (y[:, np.newaxis], pd.DataFrame({"kind": y})):
        assert bootstrap_error(member, X, column, n_splits=25, random_state=0) == one


def test_several_targets_are_wrong_where_any_one_is() -> None:
    both = np.column_stack([y, y > 0])
    found = bootstrap_error(KNeighborsClassifier(), X, both, n_splits=25, random_state=0)
    # The second output follows from the first.
    single = bootstrap_error(KNeighborsClassifier(), X, y, n_splits=25, random_state=0)
    np.testing.assert_allclose(found, single)


class Broken(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> "Broken":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X))


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"shape \(\) for 150 rows: it must return one number per row"
    ):
        bootstrap_error(Broken(), X, y, loss=lambda a, b: np.mean(a != b))
    with pytest.raises(ValueError, match="must be finite"):
        bootstrap_error(Broken(), X, y, loss=lambda a, b: np.full(len(a), np.nan))
    with pytest.warns(UserWarning, match="rows were in every bag.*raise n_splits"):
        bootstrap_error(Broken(), X, y, n_splits=1, random_state=0)
    with pytest.raises(TypeError, match="loss must be 'auto' or a callable, got 'squared'"):
        bootstrap_error(Broken(), X, y, loss="squared")  # type: ignore[arg-type]
    for n_splits in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="n_splits must be a whole number of at least 1"):
            bootstrap_error(Broken(), X, y, n_splits=n_splits)  # type: ignore[arg-type]
