"""Class switching: shares of switched labels, their limit, and the errors that the papers show."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.model_selection import train_test_split

from arboleda import ClassSwitchingClassifier, DecisionTreeClassifier
from arboleda.bagging._draws import RowsToDraw, limit_of_switching, switched


@pytest.mark.parametrize(
    ("sizes", "limit"),
    [
        ([50, 50], 0.5),
        ([10, 90], 0.1),  # two classes: the share of the smaller one
        ([30, 30, 30], 2 / 3),  # equal sizes: (K - 1) / K
        ([20] * 10, 0.9),
        # P = 0.5, 0.3, 0.2: (1 - 0.38) / (1 - 0.2 + 0.5)
        ([50, 30, 20], 0.62 / 1.3),
    ],
)
def test_limits_by_hand(sizes: list[int], limit: float) -> None:
    assert limit_of_switching(np.array(sizes)) == pytest.approx(limit)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    table = np.arange(len(labels))[:, np.newaxis]
    model = ClassSwitchingClassifier(n_estimators=1, random_state=0).fit(table, labels)
    assert model.p_limit_ == pytest.approx(limit)
    assert model.p_ == pytest.approx(0.6 * limit)
    rarest = min(sizes) / sum(sizes)
    with pytest.raises(ValueError, match=rf"limit for the {len(sizes)} classes.*{rarest:.2%}"):
        ClassSwitchingClassifier(p=limit).fit(table, labels)


@pytest.mark.parametrize("p", [0.05, 0.2, 0.4])
def test_a_share_p_is_switched_and_classes_keep_their_sizes(p: float) -> None:
    labels = np.repeat([0, 1, 2], [100, 60, 40])
    rows = RowsToDraw(200)
    changes = np.zeros((3, 3))
    for seed in range(400):
        other = switched(labels, p, rows, seed)
        np.testing.assert_array_equal(np.bincount(other), [100, 60, 40])
        np.add.at(changes, (labels, other), 1)
    changes /= changes.sum()
    shares = np.array([0.5, 0.3, 0.2])
    w = p / (1 - np.sum(shares**2))
    expected = w * np.outer(shares, shares) + np.diag((1 - w) * shares)
    assert 1 - np.trace(changes) == pytest.approx(p, abs=0.004)
    np.testing.assert_allclose(changes, expected, atol=0.004)


def test_rows_without_weight_keep_their_labels() -> None:
    labels = np.repeat([0, 1], 50)
    able = np.flatnonzero(np.arange(100) % 2)
    other = switched(labels, 0.3, RowsToDraw(100, able), 3)
    np.testing.assert_array_equal(other[::2], labels[::2])
    assert (other != labels).any()


class Recorder(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> "Recorder":
        self.classes_, self.y_ = np.unique(y), y
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=int)


def test_members_of_any_kind_learn_switched_labels() -> None:
    labels = np.repeat(["n", "y"], [70, 30])
    model = ClassSwitchingClassifier(Recorder(), n_estimators=20, p=0.2, random_state=0)
    model.fit(np.zeros((100, 1)), labels)
    learned = np.array([member.y_ for member in model.estimators_])
    assert (learned.sum(axis=1) == 30).all()
    assert np.mean(learned != (labels == "y")) == pytest.approx(0.2, abs=0.03)
    assert len({tuple(y) for y in learned}) == 20


def test_training_error_of_one_member_is_p_and_of_many_is_zero() -> None:
    """Martinez-Munoz & Suarez (2005), section 3: the curve falls to 0 below the limit."""
    X, y = make_classification(n_samples=300, flip_y=0.1, random_state=0)
    model = ClassSwitchingClassifier(n_estimators=300, p=0.3, random_state=0).fit(X, y)
    alone = [np.mean(member.predict(X) != y) for member in model.estimators_[:30]]
    assert np.mean(alone) == pytest.approx(0.3, abs=0.01)
    assert model.score(X, y) > 0.99
    few = ClassSwitchingClassifier(n_estimators=9, p=0.3, random_state=0).fit(X, y)
    # Binomial(9, 0.3) above 4: 0.099
    assert 1 - few.score(X, y) == pytest.approx(0.099, abs=0.05)


def test_it_improves_on_one_tree() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    gains = []
    for seed in range(5):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=0.4, random_state=seed, stratify=y
        )
        tree = DecisionTreeClassifier(random_state=seed).fit(X_train, y_train)
        forest = ClassSwitchingClassifier(n_estimators=200, random_state=seed)
        forest.fit(X_train, y_train)
        gains.append(forest.score(X_test, y_test) - tree.score(X_test, y_test))
    assert np.mean(gains) > 0.015


def test_one_class_has_nothing_to_switch() -> None:
    model = ClassSwitchingClassifier(n_estimators=2, p=0.4).fit([[1], [2]], ["a", "a"])
    assert model.p_ == 0.0
    assert np.isnan(model.p_limit_)


def test_the_limit_is_that_of_rows_with_weight() -> None:
    X, y = np.arange(10.0)[:, np.newaxis], np.repeat([0, 1], 5)
    weight = np.array([1, 0, 0, 0, 1, 1, 1, 1, 1, 1], dtype=float)
    model = ClassSwitchingClassifier(n_estimators=1, random_state=0).fit(X, y, weight)
    assert model.p_limit_ == pytest.approx(2 / 7)
