"""Degenerate data: a documented value or a clear message, never a crash or a NaN."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.property.strategies import arrays_of

from arboleda import (
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
)

_X = np.random.default_rng(0).normal(size=(20, 2))
_LABELS = np.arange(20) % 3
_BOTH = pytest.mark.parametrize("make", [DecisionTreeClassifier, DecisionTreeRegressor])


@_BOTH
def test_empty_tables_are_refused(make: Any) -> None:
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        make().fit(np.zeros((0, 2)), np.zeros(0))
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        make().fit(np.zeros((5, 0)), np.arange(5))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        make().fit(_X, _LABELS).predict(_X[:0])


@_BOTH
@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0, 2.0]]),
        np.zeros((1, 1)),
        np.full((2, 1), 3.0),
        np.full((6, 3), np.nan),
        np.zeros((6, 2)),
    ],
    ids=["one row", "one cell", "two equal rows", "all missing", "constant"],
)
def test_tables_without_splits_give_one_leaf(make: Any, X: Any) -> None:
    y = (np.arange(len(X)) % 2).astype(float)
    model = make().fit(X, y)
    assert (model.get_depth(), model.get_n_leaves()) == (0, 1)
    assert not model.feature_importances_.any()
    fresh = np.vstack([X[:1] * 0 + 5, np.full((1, X.shape[1]), np.nan)])
    expected = y.mean() if make is DecisionTreeRegressor else 0.0
    np.testing.assert_array_equal(model.predict(fresh), expected)
    np.testing.assert_array_equal(model.apply(fresh), 0)


@_BOTH
def test_two_rows_are_split(make: Any) -> None:
    model = make().fit([[1.0], [2.0]], [3, 8])
    np.testing.assert_array_equal(model.predict([[1.4], [1.5], [1.6]]), [3, 3, 8])


@_BOTH
def test_one_target_value_gives_one_leaf(make: Any) -> None:
    model = make().fit(_X, np.full(20, 4))
    assert model.get_n_leaves() == 1
    np.testing.assert_array_equal(model.predict(_X), 4)
    np.testing.assert_array_equal(model.tree_.impurity, 0.0)


@_BOTH
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_errors_name_infinite_values(make: Any, bad: float) -> None:
    X = _X.copy()
    X[3, 0] = np.nan
    X[7, 1] = bad
    with pytest.raises(ValueError, match=f"column 1, row 7 is {bad}"):
        make().fit(X, _LABELS)
    with pytest.raises(ValueError, match=f"column 1, row 7 is {bad}"):
        make().fit(_X, _LABELS).predict(X)


@pytest.mark.parametrize(
    "values",
    [
        [-1.7e308, -1e308, 1e308, 1.7e308],
        [-5e-324, 0.0, 5e-324, 1e-323],
        [1.0, np.nextafter(1.0, 2.0), np.nextafter(np.nextafter(1.0, 2.0), 2.0), 2.0],
        [-np.nextafter(0.1, 1), -0.1, 0.1, np.nextafter(0.1, 1)],
    ],
    ids=["huge", "denormal", "neighbours", "mixed"],
)
def test_values_near_the_float64_limits_are_separated(values: list[float]) -> None:
    X = np.reshape(values, (-1, 1))
    model = DecisionTreeClassifier().fit(X, [0, 1, 0, 1])
    np.testing.assert_array_equal(model.predict(X), [0, 1, 0, 1])
    thresholds = np.sort(model.tree_.threshold[model.tree_.feature >= 0])
    assert (np.array(values[:-1]) <= thresholds).all()
    assert (thresholds < np.array(values[1:])).all()


def test_minus_zero_equals_zero() -> None:
    model = DecisionTreeClassifier().fit([[0.0], [-0.0], [1.0]], [0, 1, 1])
    np.testing.assert_array_equal(model.tree_.threshold, [0.5, -2, -2])
    np.testing.assert_array_equal(model.predict_proba([[-0.0]]), [[0.5, 0.5]])


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("near", [[0.0, -0.0], [0.0, 1e-30], [2e-30, 1e-30, 0.0]])
def test_indistinguishable_targets_give_the_same_leaf_in_any_order(
    criterion: str, near: list[float]
) -> None:
    """A leaf of several such targets predicts the same whichever row comes first."""
    X = np.array([[0.0]] * len(near) + [[1.0], [1.0], [2.0]])
    y = np.array([*near, 1.0, 2.0, 2.0])
    forth = DecisionTreeRegressor(criterion=criterion).fit(X, y)
    back = DecisionTreeRegressor(criterion=criterion).fit(X[::-1], y[::-1])
    assert arrays_of(forth) == arrays_of(back)


@_BOTH
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_and_infinite_targets_are_refused(make: Any, bad: float) -> None:
    y = _LABELS.astype(float)
    y[5] = bad
    with pytest.raises(ValueError, match="y contains (NaN|infinity)"):
        make().fit(_X, y)


@pytest.mark.parametrize(
    "y",
    [
        np.array(["a", None, "b"], dtype=object),
        np.array(["a", np.nan, "b"], dtype=object),
        pd.Series(["a", None, "b"]),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        pd.Series(["a", None, "b"], dtype="category"),
        pd.Series([1, pd.NA, 2], dtype="Int64"),
    ],
    ids=["None", "NaN", "series", "string", "category", "Int64"],
)
def test_missing_labels_are_refused(y: Any) -> None:
    with pytest.raises(ValueError, match="(?i)y (contains|has) .*(NaN|missing)|contains NaN"):
        DecisionTreeClassifier().fit(_X[:3], y)


@pytest.mark.parametrize("kind", ["M8[D]", "m8[s]"])
def test_dates_are_not_numeric_targets(kind: str) -> None:
    with pytest.raises(ValueError, match="y .*dates"):
        DecisionTreeRegressor().fit(_X[:3], np.array([1, "NaT", 3], dtype=kind))


def test_many_classes_are_fitted() -> None:
    y = np.arange(2000) % 900
    model = DecisionTreeClassifier().fit(np.arange(2000.0).reshape(-1, 1), y)
    assert model.predict_proba([[17.0]]).shape == (1, 900)
    np.testing.assert_array_equal(model.predict([[17.0], [1999.0]]), [17, 1999 % 900])


@_BOTH
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.full(20, -1.0), "(?i)negative"),
        (np.full(20, np.nan), "NaN"),
        (np.full(20, np.inf), "infinity"),
        (np.zeros(20), "zero"),
        (np.ones(19), "19"),
        (np.ones((20, 1)), "1D"),
        (np.where(np.arange(20) < 19, 1e308, 1.0), "(?i)sum"),
    ],
    ids=["negative", "NaN", "infinite", "zero", "short", "2-D", "too large"],
)
def test_invalid_weights_are_refused(make: Any, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make().fit(_X, _LABELS, sample_weight=weight)


@_BOTH
@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1e300])
def test_weights_of_any_scale_are_fitted(make: Any, weight: float) -> None:
    model = make().fit(_X, _LABELS, sample_weight=np.full(20, weight))
    but = "weighted_n_node_samples"
    assert arrays_of(model, but) == arrays_of(make().fit(_X, _LABELS), but)
    assert model.score(_X, _LABELS) == 1.0


@_BOTH
def test_weights_of_very_different_scale_are_fitted(make: Any) -> None:
    """A row that weighs 1e-300 of another takes no part, as if its weight were 0."""
    model = make().fit(_X, _LABELS, sample_weight=np.where(np.arange(20) < 10, 1.0, 1e-300))
    assert model.tree_.n_node_samples[0] == 10
    np.testing.assert_array_equal(model.predict(_X[:10]), _LABELS[:10])


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, 0.0])
def test_invalid_class_weights_are_refused(bad: float) -> None:
    model = DecisionTreeClassifier(class_weight={0: bad, 1: bad, 2: bad})
    with pytest.raises(ValueError, match="class_weight"):
        model.fit(_X, _LABELS)


@pytest.mark.parametrize("bad", ["a", None, -1.0, np.nan, 1 + 2j, [1.0]])
def test_errors_name_invalid_class_weights(bad: Any) -> None:
    message = re.escape(
        f"gives the class 1 the weight {bad!r}: weights must be finite, non-negative numbers"
    )
    weights = {0: 2, 1: bad}
    with pytest.raises(ValueError, match="^class_weight " + message):
        DecisionTreeClassifier(class_weight=weights).fit(_X, _LABELS)
    with pytest.raises(ValueError, match="^class_weight " + message):
        RandomForestClassifier(2, class_weight=weights).fit(_X, _LABELS)
    with pytest.raises(ValueError, match="^class_weight of the member " + message):
        BaggingClassifier(DecisionTreeClassifier(class_weight=weights)).fit(_X, _LABELS)
    with pytest.raises(ValueError, match="^class_weight of output 1 " + message):
        DecisionTreeClassifier(class_weight=[{0: 1.0, 1: 1.0, 2: 1.0}, weights]).fit(
            _X, np.column_stack([_LABELS, _LABELS])
        )


def test_targets_of_weight_zero_are_ignored() -> None:
    X, y = np.arange(8.0).reshape(-1, 1), np.array([0, 0, 1, 1, 5, 5, 9, 1e300])
    weight = np.ones(8)
    weight[-1] = 0.0
    model = DecisionTreeRegressor().fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.predict(X[:-1]), y[:-1])


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e300])
def test_importances_of_huge_and_tiny_targets_are_finite(scale: float) -> None:
    """Squares of such targets leave the range of float64; shares of them do not."""
    y = _X[:, 0] + _X[:, 1] ** 2
    plain = DecisionTreeRegressor(max_leaf_nodes=6).fit(_X, y)
    model = DecisionTreeRegressor(max_leaf_nodes=6).fit(_X, y * scale)
    np.testing.assert_array_equal(model.apply(_X), plain.apply(_X))
    np.testing.assert_allclose(model.feature_importances_, plain.feature_importances_, rtol=1e-9)


@pytest.mark.parametrize("weight", [1e-300, 1e306])
def test_importances_of_huge_and_tiny_weights_are_finite(weight: float) -> None:
    y = _X[:, 0] + _X[:, 1] ** 2
    weights = np.arange(1.0, 21.0) / 32
    plain = DecisionTreeRegressor(max_leaf_nodes=6).fit(_X, y, weights)
    model = DecisionTreeRegressor(max_leaf_nodes=6).fit(_X, y, weights * weight)
    np.testing.assert_array_equal(model.apply(_X), plain.apply(_X))
    np.testing.assert_allclose(model.feature_importances_, plain.feature_importances_, rtol=1e-9)
    path = DecisionTreeRegressor().cost_complexity_pruning_path(_X, y, weights * weight)
    expected = DecisionTreeRegressor().cost_complexity_pruning_path(_X, y, weights)
    np.testing.assert_allclose(path.ccp_alphas, expected.ccp_alphas, rtol=1e-9, atol=1e-15)


def test_equal_weights_do_not_round_the_smallest_share_of_a_leaf() -> None:
    """18 rows of weight 0.1: half of them weigh half, whatever 0.1 is in binary."""
    X = (np.arange(18) % 2).reshape(-1, 1)
    y = np.arange(18) == 17
    for weight in (None, np.full(18, 0.1), np.full(18, 0.7)):
        model = DecisionTreeClassifier(min_weight_fraction_leaf=0.5).fit(X, y, weight)
        assert model.get_n_leaves() == 2


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_a_leaf_of_one_class_is_pure_for_any_weights(criterion: str) -> None:
    weight = np.random.default_rng(5).random(20)
    model = DecisionTreeClassifier(criterion=criterion).fit(_X, _LABELS, weight)
    leaves = model.tree_.impurity[model.tree_.children_left < 0]
    np.testing.assert_array_equal(leaves, 0.0)


def test_random_labels_do_not_grow_a_chain() -> None:
    """A split that improves nothing may not shave off one row after the other."""
    random = np.random.default_rng(3)
    X, y = random.normal(size=(1000, 5)), random.random(1000) < 0.2
    model = DecisionTreeClassifier(criterion="misclassification").fit(X, y)
    assert model.get_depth() < 200


@_BOTH
@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 0},
        {"max_depth": 1.5},
        {"max_leaf_nodes": 1},
        {"min_samples_split": 1},
        {"min_samples_split": 1.5},
        {"min_samples_leaf": 0},
        {"min_samples_leaf": 1.0},
        {"min_weight_fraction_leaf": 0.6},
        {"min_weight_fraction_leaf": -0.1},
        {"min_impurity_decrease": -1.0},
        {"min_impurity_decrease": np.nan},
        {"max_features": 0},
        {"max_features": "cube"},
        {"max_features": 1.5},
        {"random_state": "seed"},
        {"criterion": "Gini"},
        {"criterion": None},
        {"n_jobs": 1.5},
    ],
    ids=str,
)
def test_errors_name_parameters_out_of_range(make: Any, parameters: dict[str, Any]) -> None:
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of {make.__name__}"):
        make(**parameters).fit(_X, _LABELS)


@pytest.mark.parametrize("criterion", ["squared_error", "friedman", "mse"])
def test_a_criterion_of_the_other_task_is_refused(criterion: str) -> None:
    with pytest.raises(ValueError, match="'criterion' parameter"):
        DecisionTreeClassifier(criterion=criterion).fit(_X, _LABELS)


def test_log_loss_equals_entropy() -> None:
    trees = [DecisionTreeClassifier(criterion=c).fit(_X, _LABELS) for c in ("log_loss", "entropy")]
    assert arrays_of(trees[0]) == arrays_of(trees[1])


@_BOTH
@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("max_depth", None),
        ("max_leaf_nodes", 20),
        ("min_samples_split", 21),
        ("min_samples_leaf", 21),
        ("max_features", None),
    ],
)
def test_limits_beyond_the_data_have_no_effect(make: Any, name: str, same: Any) -> None:
    expected = arrays_of(make(**{name: same}).fit(_X, _LABELS))
    for huge in (10**9, 2**31, 2**63, 10**30):
        assert arrays_of(make(**{name: huge}).fit(_X, _LABELS)) == expected
    small = make(**{name: np.int8(100)}).fit(_X, _LABELS)
    assert arrays_of(small) == expected


def test_classes_and_targets_of_other_shapes_are_refused() -> None:
    for make in (DecisionTreeClassifier, DecisionTreeRegressor):
        with pytest.raises(ValueError, match="dim"):
            make().fit(_X, np.zeros((20, 2, 2)))
        with pytest.raises(ValueError, match="0 feature"):
            make().fit(_X, np.zeros((20, 0)))
    with pytest.raises(ValueError, match="inconsistent"):
        DecisionTreeClassifier().fit(_X, _LABELS[:-1])
    with pytest.raises(ValueError, match="continuous"):
        DecisionTreeClassifier().fit(_X, _X[:, 0])


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_other_criteria_fit_huge_and_tiny_targets(criterion: str, scale: float) -> None:
    y = np.exp(_X[:, 0] + _X[:, 1] ** 2)
    plain = DecisionTreeRegressor(criterion=criterion, max_leaf_nodes=6).fit(_X, y)
    model = DecisionTreeRegressor(criterion=criterion, max_leaf_nodes=6).fit(_X, y * scale)
    np.testing.assert_array_equal(model.apply(_X), plain.apply(_X))
    np.testing.assert_allclose(model.predict(_X), plain.predict(_X) * scale, rtol=1e-9)


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_other_criteria_fit_degenerate_tables(criterion: str) -> None:
    make = DecisionTreeRegressor(criterion=criterion)
    assert make.fit(_X, np.full(20, 3.7)).predict(_X[:1]) == [3.7]
    assert make.fit(_X[:1], [0.25]).predict(_X[:1]) == [0.25]
    X = np.where(np.arange(20)[:, None] % 4 == 0, np.nan, _X)
    model = make.fit(X, np.arange(20) % 4 + 1.0)
    assert np.isfinite(model.predict(X)).all()
    np.testing.assert_array_equal(model.predict(X[::4]), 1.0)


def test_targets_without_poisson_deviance_are_refused() -> None:
    model = DecisionTreeRegressor(criterion="poisson")
    with pytest.raises(
        ValueError, match=r"are negative which is not allowed .*: y is -1\.0 in row 2;"
    ):
        model.fit(_X[:4], [1, 2, -1, -5])
    with pytest.raises(ValueError, match="y is 0 in every row"):
        model.fit(_X[:4], np.zeros(4))
    with pytest.raises(ValueError, match="positive weight"):
        model.fit(_X[:4], [0, 0, 0, 5.0], sample_weight=[1, 1, 1, 0])


def test_random_counts_do_not_grow_a_chain_under_absolute_error() -> None:
    random = np.random.default_rng(3)
    X, y = random.normal(size=(1000, 5)), (random.random(1000) < 0.2).astype(float)
    model = DecisionTreeRegressor(criterion="absolute_error").fit(X, y)
    assert model.get_depth() < 200


@_BOTH
def test_columns_are_drawn_until_one_varies(make: Any) -> None:
    X = np.column_stack([np.full((20, 9), 2.0), np.arange(20.0)])
    model = make(max_features=1, random_state=0).fit(X, np.arange(20) % 2)
    assert model.score(X, np.arange(20) % 2) == 1.0
