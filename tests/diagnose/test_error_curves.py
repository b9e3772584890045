"""Complexity and learning curves beside scikit-learn's numbers and what is known of models."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, cross_validate, validation_curve
from sklearn.neighbors import KNeighborsClassifier

from arboleda import DecisionTreeRegressor
from arboleda.diagnose import complexity_curve, learning_curve

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(240, 2))
y = ((X**2).sum(axis=1) < 0.6) ^ (RNG.random(240) < 0.2)
NUMBERS = X[:, 0] + RNG.normal(scale=0.3, size=240)


def test_nearest_neighbours_underfit_with_more_neighbours() -> None:
    ks = [1, 3, 9, 27, 81, 160]
    curve = complexity_curve(
        KNeighborsClassifier(), X, y, param_name="n_neighbors", param_range=ks, cv=KFold(4),
        complexity=lambda k, n: n / k,
    )  # fmt: skip
    np.testing.assert_allclose(curve.places, [180 / k for k in ks])
    train, test = validation_curve(
        KNeighborsClassifier(), X, y, param_name="n_neighbors", param_range=ks, cv=KFold(4)
    )
    np.testing.assert_allclose(curve.train_error, 1 - train)
    np.testing.assert_allclose(curve.test_error, 1 - test)
    # One neighbour knows its rows by heart; held-out rows are best served between the ends.
    assert (curve.train_error[0] == 0).all()
    means = curve.test_error.mean(axis=1)
    assert 0 < curve.best < len(ks) - 1
    assert means[curve.best] < min(means[0], means[-1]) - 0.03
    frame = curve.to_frame()
    assert frame["n_neighbors"].tolist() == ks
    np.testing.assert_allclose(
        frame["standard_error"], curve.test_error.std(axis=1, ddof=1) / np.sqrt(4)
    )
    axes = curve.plot()
    assert axes.get_xscale() == "log"
    assert (np.diff(axes.lines[0].get_xdata()) > 0).all()
    plt.close(axes.figure)


def test_a_deeper_tree_fits_its_rows_better() -> None:
    curve = complexity_curve(
        DecisionTreeRegressor(random_state=0), X, NUMBERS, param_name="max_depth",
        param_range=[1, 2, 4, 8, 16], cv=5,
    )  # fmt: skip
    assert (np.diff(curve.train_error.mean(axis=1)) <= 1e-12).all()
    assert curve.best < 4
    naive = cross_validate(
        DecisionTreeRegressor(random_state=0, max_depth=4), X, NUMBERS, cv=5,
        scoring="neg_mean_squared_error",
    )["test_score"]  # fmt: skip
    np.testing.assert_allclose(curve.test_error[2], -naive)


def test_non_numeric_values_are_named_on_the_axis() -> None:
    curve = complexity_curve(
        DecisionTreeRegressor(max_depth=3, random_state=0), X, NUMBERS, param_name="max_features",
        param_range=[1, "sqrt", None], cv=3, loss=lambda y, p: np.abs(y - p),
    )  # fmt: skip
    assert curve.values == (1, "sqrt", None)
    assert curve.places.tolist() == [0, 1, 2]
    axes = curve.plot()
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "sqrt", "None"]
    plt.close(axes.figure)


def test_every_value_uses_the_same_random_folds() -> None:
    curve = complexity_curve(
        DummyClassifier(), X, y, param_name="random_state", param_range=[0, 1],
        cv=KFold(3, shuffle=True),
    )  # fmt: skip
    np.testing.assert_array_equal(curve.test_error[0], curve.test_error[1])


def test_training_and_test_errors_converge_with_more_rows() -> None:
    curve = learning_curve(LinearRegression(), X, NUMBERS, train_sizes=[4, 192], random_state=0)
    assert curve.name == "training rows"
    assert curve.values == (4, 192)
    train, test = curve.train_error.mean(axis=1), curve.test_error.mean(axis=1)
    assert test[0] - train[0] > 0.1
    assert abs(test[1] - train[1]) < 0.01
    assert test[1] == pytest.approx(0.09, abs=0.03)  # the noise
    assert curve.to_frame()["training rows"].tolist() == [4, 192]


def test_rows_sorted_by_class_are_shuffled() -> None:
    table, labels = load_iris(return_X_y=True)
    curve = learning_curve(
        KNeighborsClassifier(1), table, labels, train_sizes=[0.25, 1.0], random_state=0
    )
    assert curve.values == (30, 120)
    assert curve.test_error.mean(axis=1).max() < 0.15


def test_groups_stay_together() -> None:
    groups = np.arange(240) // 2
    curve = learning_curve(
        KNeighborsClassifier(1), np.repeat(X[::2], 2, axis=0), np.repeat(y[::2], 2),
        train_sizes=[1.0], cv=GroupKFold(3), groups=groups, random_state=0,
    )  # fmt: skip
    assert curve.test_error.mean() > 0.2  # a twin among the training rows would make it 0


def test_one_fold_has_no_standard_error() -> None:
    fold = [(np.arange(200), np.arange(200, 240))]
    curve = complexity_curve(
        KNeighborsClassifier(), X, y, param_name="n_neighbors", param_range=[1, 5], cv=fold
    )
    assert np.isnan(curve.standard_error).all()


def test_invalid_arguments_are_refused() -> None:
    model = KNeighborsClassifier()
    with pytest.raises(ValueError, match="param_range must hold at least one value"):
        complexity_curve(model, X, y, param_name="n_neighbors", param_range=[])
    with pytest.raises(ValueError, match="Invalid parameter 'k'"):
        complexity_curve(model, X, y, param_name="k", param_range=[1])
    with pytest.raises(TypeError, match="loss must be 'auto' or a callable, got 'log_loss'"):
        learning_curve(model, X, y, loss="log_loss")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="it must return one number per row"):
        learning_curve(model, X, y, loss=lambda y, p: np.mean(y == p))
