"""Class switching: fractions of switched labels, their limit, and the errors in the papers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier as PeerTree

import arboleda
from arboleda import ClassSwitchingClassifier, DecisionTreeClassifier
from arboleda.bagging._sampling import (
    RowsToDraw,
    compute_switching_limit,
    switch_labels,
    switch_labels_uniformly,
)


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
def test_limits_of_switching_match_values_by_hand(sizes: list[int], limit: float) -> None:
    assert compute_switching_limit(np.array(sizes)) == pytest.approx(limit)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    table = np.arange(len(labels))[:, np.newaxis]
    model = ClassSwitchingClassifier(n_estimators=1, random_state=0).fit(table, labels)
    assert model.p_limit_ == pytest.approx(limit)
    assert model.p_ == pytest.approx(0.6 * limit)
    rarest = min(sizes) / sum(sizes)
    with pytest.raises(ValueError, match=rf"limit for the {len(sizes)} classes.*{rarest:.2%}"):
        ClassSwitchingClassifier(p=limit).fit(table, labels)


@pytest.mark.parametrize("p", [0.05, 0.2, 0.4])
def test_a_fraction_p_is_switched_and_class_sizes_are_kept(p: float) -> None:
    labels = np.repeat([0, 1, 2], [100, 60, 40])
    rows = RowsToDraw(200)
    changes = np.zeros((3, 3))
    for seed in range(400):
        other = switch_labels(labels, p, rows, seed)
        np.testing.assert_array_equal(np.bincount(other), [100, 60, 40])
        np.add.at(changes, (labels, other), 1)
    changes /= changes.sum()
    shares = np.array([0.5, 0.3, 0.2])
    w = p / (1 - np.sum(shares**2))
    expected = w * np.outer(shares, shares) + np.diag((1 - w) * shares)
    assert 1 - np.trace(changes) == pytest.approx(p, abs=0.004)
    np.testing.assert_allclose(changes, expected, atol=0.004)


@pytest.mark.parametrize("change", [switch_labels, switch_labels_uniformly])
def test_rows_without_weight_keep_their_labels(change: Any) -> None:
    labels = np.repeat([0, 1], 50)
    able = np.flatnonzero(np.arange(100) % 2)
    other = change(labels, 0.3, RowsToDraw(100, able), 3)
    np.testing.assert_array_equal(other[::2], labels[::2])
    assert (other != labels).any()


@pytest.mark.parametrize("p", [0.05, 0.3, 0.65])
def test_uniform_switching_takes_a_fraction_p_of_each_class(p: float) -> None:
    """Martinez-Munoz & Suarez (2005): P(j becomes i) = p / (K - 1), whatever the sizes."""
    labels = np.repeat([0, 2, 3], [100, 60, 40])  # no row is of class 1
    changes = np.zeros((4, 4))
    for seed in range(400):
        other = switch_labels_uniformly(labels, p, RowsToDraw(200), seed)
        assert np.sum(other != labels) == round(200 * p)
        np.add.at(changes, (labels, other), 1 / 400)
    expected = p / 2 + (1 - 1.5 * p) * np.eye(4)
    expected[1], expected[:, 1] = 0, 0
    sizes = np.array([100, 0, 60, 40])
    np.testing.assert_allclose(changes, expected * sizes[:, np.newaxis], atol=1.2)


def test_uniform_switching_draws_class_sizes_jointly() -> None:
    """A class of share P has (1 - p) P + p (1 - P) / (K - 1): 1 / K where p is at the limit."""
    labels = np.repeat([0, 1, 2], [900, 90, 10])
    shares = np.array([0.9, 0.09, 0.01])
    spreads = []
    for p in (0.0, 0.2, 0.4, 0.6, 2 / 3):
        sizes = np.mean(
            [
                np.bincount(switch_labels_uniformly(labels, p, RowsToDraw(1000), seed))
                for seed in range(100)
            ],
            axis=0,
        )
        np.testing.assert_allclose(sizes / 1000, (1 - p) * shares + p * (1 - shares) / 2, atol=0.01)
        spreads.append(np.ptp(sizes))
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[-1] < 20


@pytest.mark.parametrize(("sizes", "limit"), [([95, 5], 1 / 2), ([80, 15, 5], 2 / 3)])
def test_the_limit_of_uniform_switching_ignores_class_sizes(sizes: list[int], limit: float) -> None:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    table = np.arange(len(labels))[:, np.newaxis]
    model = ClassSwitchingClassifier(n_estimators=1, scheme="uniform", random_state=0)
    model.fit(table, labels)
    assert model.p_limit_ == pytest.approx(limit)
    assert model.p_ == pytest.approx(0.6 * limit)
    model.set_params(p=0.49).fit(table, labels)
    assert model.p_ == 0.49
    with pytest.raises(
        ValueError, match=rf"{limit:.4g}, .*scheme='uniform', \(K - 1\) / K: .*wrong"
    ):
        model.set_params(p=limit).fit(table, labels)
    proportional = ClassSwitchingClassifier(p=0.4)
    with pytest.raises(ValueError, match=rf"5.00% .* scheme='uniform', whose limit is {limit:.4g}"):
        proportional.fit(table, labels)
    with pytest.raises(ValueError, match="Lower p, or set p='auto'\\.$"):
        proportional.set_params(p=0.7).fit(table, labels)


@pytest.mark.parametrize("estimator", [None, PeerTree()], ids=["ours", "of any kind"])
def test_uniform_switching_on_a_table_with_a_rare_class(estimator: Any) -> None:
    """Martinez-Munoz & Suarez (2005), sections 2 and 4: with 90 : 10 and p = 0.3, which the other
    scheme cannot do, each member errs on a fraction p of the training rows, and many together on
    no row; on new rows they are better than one tree.
    """
    X, y = make_classification(
        1200, 10, n_informative=6, weights=[0.9], flip_y=0.0, class_sep=0.8, random_state=3
    )
    X, new, y, classes = X[:400], X[400:], y[:400], y[400:]
    n_members = 300 if estimator is None else 150
    model = ClassSwitchingClassifier(
        estimator, n_estimators=n_members, p=0.3, scheme="uniform", random_state=0
    ).fit(X, y)
    alone = [np.mean(member.predict(X) != y) for member in model.estimators_[:20]]
    np.testing.assert_allclose(alone, 0.3, atol=1e-9)
    assert model.score(X, y) > 0.995
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert balanced_accuracy_score(classes, model.predict(new)) > balanced_accuracy_score(
        classes, tree.predict(new)
    )
    assert model.score(new, classes) > tree.score(new, classes) + 0.01
    # More rows are given to the rare class than by the scheme that keeps the sizes.
    other = ClassSwitchingClassifier(estimator, n_estimators=n_members, random_state=0).fit(X, y)
    assert model.predict_proba(new)[:, 1].mean() > other.predict_proba(new)[:, 1].mean() + 0.1


def test_members_of_any_type_learn_uniformly_switched_labels() -> None:
    labels = np.repeat(["n", "y"], [90, 10])
    model = ClassSwitchingClassifier(
        Recorder(), n_estimators=20, p=0.4, scheme="uniform", random_state=0
    )
    model.fit(np.zeros((100, 1)), labels)
    learned = np.array([member.y_ for member in model.estimators_])
    assert (np.sum(learned != (labels == "y"), axis=1) == 40).all()
    assert len({tuple(y) for y in learned}) == 20
    assert learned.mean() == pytest.approx(0.6 * 0.1 + 0.4 * 0.9, abs=0.03)


def test_with_classes_of_equal_size_the_schemes_have_the_same_limit() -> None:
    X, y = load_iris(return_X_y=True)
    models = [
        ClassSwitchingClassifier(n_estimators=50, scheme=scheme, random_state=0).fit(X, y)
        for scheme in ("proportional", "uniform")
    ]
    assert models[0].p_ == pytest.approx(models[1].p_)
    assert all(model.score(X, y) > 0.97 for model in models)


def test_uniform_switching_survives_saving_warm_starts_and_threads(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[:120], y[:120]
    model = ClassSwitchingClassifier(
        n_estimators=8, p=0.5, scheme="uniform", random_state=1, n_jobs=1, warm_start=True
    )
    model.fit(X, y)
    model.save(tmp_path / "model.arboleda")
    loaded = arboleda.load(tmp_path / "model.arboleda")
    assert loaded.scheme == "uniform"
    assert loaded._members.batches == model._members.batches
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    other = clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    whole = clone(model).set_params(n_estimators=12).fit(X, y)
    model.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(whole.predict_proba(X), model.predict_proba(X))


def test_files_of_the_proportional_scheme_are_unchanged(tmp_path: Path) -> None:
    """Its header has no entry for the scheme, and is read without one."""
    X, y = load_iris(return_X_y=True)
    model = ClassSwitchingClassifier(n_estimators=3, random_state=1).fit(X, y)
    model.save(tmp_path / "model.arboleda")
    assert b"switch_uniformly" not in (tmp_path / "model.arboleda").read_bytes()
    model.set_params(scheme="uniform").fit(X, y).save(tmp_path / "model.arboleda")
    assert b"switch_uniformly" in (tmp_path / "model.arboleda").read_bytes()


class Recorder(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> "Recorder":
        self.classes_, self.y_ = np.unique(y), y
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=int)


def test_members_of_any_type_learn_switched_labels() -> None:
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


def test_switching_improves_on_one_tree() -> None:
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


def test_the_limit_counts_only_rows_with_weight() -> None:
    X, y = np.arange(10.0)[:, np.newaxis], np.repeat([0, 1], 5)
    weight = np.array([1, 0, 0, 0, 1, 1, 1, 1, 1, 1], dtype=float)
    model = ClassSwitchingClassifier(n_estimators=1, random_state=0).fit(X, y, weight)
    assert model.p_limit_ == pytest.approx(2 / 7)
