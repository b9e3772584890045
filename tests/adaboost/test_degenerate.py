"""Degenerate rounds: huge learning rates, members at chance level, tables that are too small."""

from typing import Any

import numpy as np
import pytest
from sklearn import tree as peer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

import arboleda
from arboleda import AdaBoostClassifier, AdaBoostRegressor, SchapireBoostingClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
VALUES = 2.0 * X[:, 0] + X[:, 1] ** 2


def members(algorithm: str, **parameters: Any) -> tuple[Any, Any]:
    """A tree of ours, and one of scikit-learn's."""
    kind = "Regressor" if algorithm in {"gentle", "logit"} else "Classifier"
    return tuple(
        getattr(library, f"DecisionTree{kind}")(**parameters) for library in (arboleda, peer)
    )  # type: ignore[return-value]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "algorithm", ["discrete", "M1", "M2", "MH", "MR", "SAMME", "real", "gentle"]
)
@pytest.mark.parametrize("max_depth", [1, None])
def test_weights_that_overflow_are_refused_with_members_of_any_kind(
    algorithm: Any, max_depth: int | None
) -> None:
    for member in members(algorithm, max_depth=max_depth):
        model = AdaBoostClassifier(member, algorithm=algorithm, learning_rate=1e6)
        with pytest.raises(ValueError, match="overflow: lower learning_rate"):
            model.fit(X, Y)


@pytest.mark.parametrize("max_depth", [1, None])
def test_sums_of_label_weights_that_rounding_spoils_are_refused(max_depth: int | None) -> None:
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
    member = arboleda.DecisionTreeClassifier(max_depth=max_depth)
    with pytest.raises(ValueError, match="do not sum to 1: lower learning_rate"):
        AdaBoostClassifier(member, algorithm="MH", learning_rate=30.0).fit(X, y)


def test_a_deviance_of_0_stays_0() -> None:
    for member in members("logit"):
        model = AdaBoostClassifier(member, algorithm="logit", learning_rate=1e4, n_estimators=3)
        assert model.fit(X, Y).normalizers_.tolist() == [0.0, 1.0, 1.0]


def test_real_adaboost_ends_with_a_member_without_error_of_any_type() -> None:
    for member in members("real"):
        model = AdaBoostClassifier(member, algorithm="real", n_estimators=5).fit(X, Y)
        assert len(model) == 1
        model.set_params(on_degenerate="reset", random_state=0).fit(X, Y)
        assert len(model) == 5


def test_real_adaboost_explains_members_with_equal_probabilities() -> None:
    constant = np.ones((20, 2))
    for member in members("real", max_depth=1):
        model = AdaBoostClassifier(member, algorithm="real")
        with pytest.raises(ValueError, match="needs probabilities that are not the same for all"):
            model.fit(constant, [0, 1] * 10)
        with pytest.warns(UserWarning, match=r"ended after 1 of 50 .* probabilities that are not"):
            model.fit(constant, [0, 1, 1, 1] * 5)
        assert len(model) == 1


@pytest.mark.parametrize("member", [None, peer.DecisionTreeRegressor(max_depth=3)])
def test_densities_that_vanish_are_refused(member: Any) -> None:
    model = AdaBoostRegressor(member, algorithm="R", learning_rate=1e4)
    with pytest.raises(ValueError, match="underflow: lower learning_rate"):
        model.fit(X, VALUES)


def test_a_bound_beyond_float64_is_infinite() -> None:
    model = AdaBoostRegressor(algorithm="R", n_estimators=3).fit(X, VALUES * 1e300)
    assert (model.training_error_bound_ == np.inf).all()
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("algorithm", ["R", "R2"])
def test_boosted_regressors_reject_invalid_input(algorithm: Any) -> None:
    with pytest.raises(ValueError, match="GaussianNB, which is not a regressor: use a regressor"):
        AdaBoostRegressor(GaussianNB(), algorithm=algorithm).fit(X, VALUES)
    for member in (None, Ridge()):
        with pytest.raises(ValueError, match="sum of sample_weight overflows float64"):
            AdaBoostRegressor(member, algorithm=algorithm).fit(X, VALUES, np.full(len(X), 1e308))


@pytest.mark.parametrize("model", [AdaBoostClassifier(), AdaBoostRegressor()])
def test_too_few_rows_for_a_holdout_are_refused(model: Any) -> None:
    model = model.__class__(n_iter_no_change=2)
    with pytest.raises(ValueError, match="less than one row: increase it or use more rows$"):
        model.fit(X[:4], [0, 1, 0, 1])


def test_a_third_of_the_rows_can_lack_a_class() -> None:
    model = SchapireBoostingClassifier(LogisticRegression(), depth=3, random_state=0)
    with pytest.raises(
        ValueError, match="LogisticRegression failed on .*rows of a single class .*: "
    ):
        model.fit(X[:12], Y[:12])
