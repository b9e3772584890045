"""Trees against the naive search: all criteria, weights, missing values, hard scales."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn import tree as theirs
from sklearn.datasets import load_breast_cancer, load_wine
from tests.tree.naive import assert_greedy

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

Array = npt.NDArray[Any]
_CLASS_CRITERIA = ("gini", "entropy", "misclassification")
_CRITERIA = (*_CLASS_CRITERIA, "squared_error", "absolute_error", "poisson")


def make_model(criterion: str, **parameters: Any) -> Any:
    make = DecisionTreeClassifier if criterion in _CLASS_CRITERIA else DecisionTreeRegressor
    return make(criterion=criterion, **parameters)


def make_data(seed: int, n_rows: int, criterion: str, missing: float) -> tuple[Array, Array]:
    """Columns of few and of many values, some missing, and a target that depends on both."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [
            random.normal(size=n_rows),
            random.integers(0, 3, n_rows),
            random.integers(-40, 40, n_rows) / 8,
            np.full(n_rows, 7.0),
            random.normal(size=n_rows) ** 3,
        ]
    )
    signal = X[:, 0] + (X[:, 1] == 1) + random.normal(size=n_rows) / 3
    hole = random.random(X.shape) < missing
    signal += hole[:, 2]  # missing values are informative of the target
    X[hole] = np.nan
    if criterion == "poisson":
        return X, random.poisson(np.exp(signal / 2)).astype(float)
    if criterion not in _CLASS_CRITERIA:
        return X, signal
    return X, np.digitize(signal, [-0.5, 0.4, 1.2])


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer], ids=["wine", "breast_cancer"])
def test_misclassification_splits_of_real_tables_are_optimal(load: Any) -> None:
    X, y = load(return_X_y=True)
    model = DecisionTreeClassifier(criterion="misclassification").fit(X, y)
    assert model.score(X, y) == 1.0
    assert_greedy(model, X, y, "misclassification")


@pytest.mark.parametrize("criterion", _CRITERIA)
@pytest.mark.parametrize("missing", [0.0, 0.2, 0.7])
@pytest.mark.parametrize("n_rows", [40, 700])
def test_missing_values_learn_a_side(criterion: str, missing: float, n_rows: int) -> None:
    if criterion in {"absolute_error", "poisson"}:
        n_rows = min(n_rows, 250)  # their naive twins have no short cut
    X, y = make_data(11, n_rows, criterion, missing)
    model = make_model(criterion).fit(X, y)
    assert assert_greedy(model, X, y, criterion) > 0
    if missing and n_rows > 100:
        assert {0, 1} <= set(model.tree_.missing_go_to_left[model.tree_.feature >= 0])
        assert np.isinf(model.tree_.threshold).any()


@pytest.mark.parametrize("criterion", _CRITERIA)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("kind", ["integers", "reals", "zeros", "wild"])
def test_weighted_splits_match_the_naive_search(criterion: str, missing: float, kind: str) -> None:
    X, y = make_data(12, 300, criterion, missing)
    random = np.random.default_rng(13)
    weight = {
        "integers": random.integers(1, 9, len(y)).astype(float),
        "reals": random.random(len(y)) + 0.001,
        "zeros": random.integers(0, 3, len(y)) * 0.7,
        "wild": np.exp(2 * random.normal(size=len(y))),
    }[kind]
    model = make_model(criterion, max_depth=6).fit(X, y, sample_weight=weight)
    assert assert_greedy(model, X, y, criterion, weight) > 0


@pytest.mark.parametrize("criterion", _CRITERIA)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_leaf_limits_match_the_naive_search(criterion: str, missing: float) -> None:
    X, y = make_data(14, 400, criterion, missing)
    model = make_model(criterion, min_samples_leaf=15).fit(X, y)
    assert assert_greedy(model, X, y, criterion, min_leaf=15) > 0


def test_missing_sides_agree_with_scikit_learn() -> None:
    """Where the tree is shallow both libraries find the same splits and sides."""
    X, y = make_data(15, 2000, "squared_error", 0.25)
    X = X.astype(np.float32).astype(np.float64)
    mine = DecisionTreeRegressor(max_depth=4).fit(X, y)
    other = theirs.DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    np.testing.assert_allclose(mine.predict(X), other.predict(X), rtol=1e-9)
    split = mine.tree_.feature >= 0
    np.testing.assert_array_equal(mine.tree_.feature, other.tree_.feature)
    np.testing.assert_array_equal(
        mine.tree_.missing_go_to_left[split], other.tree_.missing_go_to_left[split]
    )


def test_an_informative_missingness_is_used() -> None:
    X = np.array([[1.0], [5.0], [np.nan], [3.0], [np.nan]])
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 0, 1])
    tree = model.tree_
    np.testing.assert_array_equal(tree.threshold, [np.inf, -2, -2])
    np.testing.assert_array_equal(tree.missing_go_to_left, [0, 0, 0])
    np.testing.assert_array_equal(model.predict([[-1e300], [1e300], [np.nan]]), [0, 0, 1])


@pytest.mark.parametrize(("x", "expected"), [([0, 0, 0, 1], 0), ([0, 1, 1, 1], 1)])
def test_a_value_missing_only_at_prediction_goes_to_the_larger_child(
    x: list[float], expected: int
) -> None:
    model = DecisionTreeClassifier().fit(np.reshape(x, (-1, 1)), x)
    np.testing.assert_array_equal(model.predict([[np.nan]]), [expected])


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9, -1e12])
def test_small_noise_on_a_large_offset_is_split_exactly(offset: float) -> None:
    """The noise is a multiple of 2^-10, so that y holds it exactly beside the offset."""
    X, noise = make_data(16, 500, "squared_error", 0.1)
    noise = np.round(noise * 1024) / 1024
    model = DecisionTreeRegressor(max_depth=7).fit(X, offset + noise)
    plain = DecisionTreeRegressor(max_depth=7).fit(X, noise)
    np.testing.assert_array_equal(model.apply(X), plain.apply(X))
    np.testing.assert_allclose(model.tree_.impurity, plain.tree_.impurity, rtol=1e-12, atol=1e-24)
    mean = plain.predict(X) + offset
    np.testing.assert_allclose(
        model.predict(X), mean, rtol=0, atol=4 * np.spacing(abs(offset)) + 1e-12
    )
    assert_greedy(plain, X, noise, "squared_error")


@pytest.mark.parametrize("exponent", [-1000, -300, -60, 60, 300, 500])
def test_scaling_targets_by_a_power_of_two_keeps_the_splits(exponent: int) -> None:
    X, y = make_data(17, 300, "squared_error", 0.1)
    plain = DecisionTreeRegressor(max_depth=6).fit(X, y)
    model = DecisionTreeRegressor(max_depth=6).fit(X, np.ldexp(y, exponent))
    np.testing.assert_array_equal(model.apply(X), plain.apply(X))
    np.testing.assert_array_equal(model.predict(X), np.ldexp(plain.predict(X), exponent))


def test_an_outlier_does_not_blur_other_targets() -> None:
    """Fixed-point targets still resolve small differences beside one value of 1e6."""
    random = np.random.default_rng(18)
    X = random.normal(size=(400, 2))
    y = X[:, 0] + random.normal(size=400) / 10
    y[7] = 1e6
    model = DecisionTreeRegressor(max_depth=5).fit(X, y)
    assert_greedy(model, X, y, "squared_error")
