"""Changes of the data that must not change the tree, or change it in a known way, bit by bit."""

from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.property.strategies import (
    CATEGORIES,
    REGRESSION_CRITERIA,
    Problem,
    arrays_of,
    checked,
    growth,
    predictions,
    problems,
)

# Scores of these are exact functions of the ratios of weights. The logarithms of entropy and of the
# Poisson deviance round, so that weights times 3 may change the last bit, and with it the choice
# between equally good splits.
_EXACT = ("gini", "misclassification", "squared_error", "absolute_error")


def have_equal_kinds(X: Any, kept: Any) -> bool:
    """Whether every column has as many values (one, two, more) and gaps in the kept rows as in all.

    The draw of columns for a node depends on these kinds.
    """

    def kinds(rows: Any) -> list[tuple[int, bool]]:
        gaps = np.isnan(rows)
        return [
            (min(len(np.unique(x[~gap])), 3), bool(gap.any()))
            for x, gap in zip(rows.T, gaps.T, strict=True)
        ]

    return kinds(X) == kinds(X[kept])


def strictly_increasing(X: Any, gaps: list[int]) -> Any:
    """Give every column other values in the same order."""
    mapped = np.full_like(X, np.nan)
    for j, x in enumerate(X.T):
        values = np.unique(x[~np.isnan(x)])
        steps = np.resize(np.array(gaps, dtype=float), len(values))
        mapped[~np.isnan(x), j] = np.cumsum(steps)[np.searchsorted(values, x[~np.isnan(x)])] - 17
    return mapped


@checked
@given(problems(), growth(at_random=False), st.lists(st.integers(1, 1000), min_size=5, max_size=5))
def test_monotone_maps_of_columns_change_nothing(
    problem: Problem, parameters: dict[str, Any], gaps: list[int]
) -> None:
    """Bins hold equally many rows, whatever the values; labels of categories keep their order."""
    X = strictly_increasing(problem.X, gaps)
    model = problem.fit(**parameters)
    mapped = problem.replaced(X=X).fit(**parameters)
    assert arrays_of(model, "threshold") == arrays_of(mapped, "threshold")
    kept = problem.full_weight > 0  # rows of weight 0 were not trained on
    np.testing.assert_array_equal(model.apply(problem.X[kept]), mapped.apply(X[kept]))


@checked
@given(problems(), growth(), st.integers(-200, 200))
def test_scaling_columns_by_a_power_of_two_changes_nothing(
    problem: Problem, parameters: dict[str, Any], exponent: int
) -> None:
    X = np.ldexp(problem.X, exponent)
    model = problem.fit(**parameters)
    scaled = problem.replaced(X=X).fit(**parameters)
    assert arrays_of(model, "threshold") == arrays_of(scaled, "threshold")
    fresh = problem.X[::-1] / 3 + 1
    np.testing.assert_array_equal(model.apply(fresh), scaled.apply(np.ldexp(fresh, exponent)))


@checked
@given(problems(criteria=REGRESSION_CRITERIA), growth(), st.integers(-300, 300))
def test_scaling_targets_by_a_power_of_two_scales_predictions(
    problem: Problem, parameters: dict[str, Any], exponent: int
) -> None:
    parameters.pop("min_impurity_decrease", None)  # it is in the unit of the target
    model = problem.fit(**parameters)
    scaled = problem.replaced(y=np.ldexp(problem.y, exponent)).fit(**parameters)
    assert arrays_of(model, "value", "impurity") == arrays_of(scaled, "value", "impurity")
    np.testing.assert_array_equal(scaled.tree_.value, np.ldexp(model.tree_.value, exponent))
    power = 2 if problem.criterion == "squared_error" else 1
    np.testing.assert_array_equal(
        scaled.tree_.impurity, np.ldexp(model.tree_.impurity, power * exponent)
    )


@checked
@given(
    problems(criteria=("squared_error", "absolute_error")),
    growth(),
    st.integers(-(2**30), 2**30),
)
def test_shifting_targets_shifts_predictions(
    problem: Problem, parameters: dict[str, Any], shift: int
) -> None:
    model = problem.fit(**parameters)
    shifted = problem.replaced(y=problem.y + shift).fit(**parameters)
    np.testing.assert_allclose(
        shifted.predict(problem.X) - shift, model.predict(problem.X), rtol=0, atol=1e-6
    )
    assert arrays_of(model, "value", "impurity") == arrays_of(shifted, "value", "impurity")


@checked
@given(problems(), growth(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(
    problem: Problem, parameters: dict[str, Any], random: Any
) -> None:
    order = list(range(len(problem.y)))
    random.shuffle(order)
    weight = None if problem.weight is None else problem.weight[order]
    shuffled = problem.replaced(X=problem.X[order], y=problem.y[order], weight=weight)
    assert arrays_of(problem.fit(**parameters)) == arrays_of(shuffled.fit(**parameters))


@checked
@given(problems(), st.randoms(use_true_random=False))
def test_batches_and_order_at_prediction_do_not_matter(problem: Problem, random: Any) -> None:
    model = problem.fit()
    X = np.vstack([problem.X, problem.X * 1.5 - 0.3])
    whole = predictions(model, X)
    one_by_one = [predictions(model, X[i : i + 1])[0] for i in range(len(X))]
    np.testing.assert_array_equal(whole, np.array(one_by_one))
    order = list(range(len(X)))
    random.shuffle(order)
    np.testing.assert_array_equal(whole[order], predictions(model, X[order]))
    cut = random.randrange(1, len(X))
    parts = [predictions(model, X[:cut]), predictions(model, X[cut:])]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


@checked
@given(problems(criteria=_EXACT), growth(count_rows=False))
def test_integer_weights_match_repeated_rows(problem: Problem, parameters: dict[str, Any]) -> None:
    count = (problem.full_weight * 4).astype(int)
    assume("max_features" not in parameters or have_equal_kinds(problem.X, count > 0))
    weighted = problem.replaced(weight=count.astype(float)).fit(**parameters)
    rows = np.repeat(np.arange(len(count)), count)
    repeated = problem.replaced(X=problem.X[rows], y=problem.y[rows], weight=None)
    other = repeated.fit(**parameters)
    # Sides of what a node did not miss go by rows; categories are numbered, classes counted, among
    # all rows, those of weight 0 too.
    but = ("n_node_samples", "missing_go_to_left", CATEGORIES, "value")
    assert arrays_of(weighted, *but) == arrays_of(other, *but)
    X = problem.X[rows]
    np.testing.assert_array_equal(weighted.apply(X), other.apply(X))
    np.testing.assert_array_equal(weighted.predict(X), other.predict(X))
    if not problem.is_classification:
        assert arrays_of(weighted)["value"] == arrays_of(other)["value"]


@checked
@given(problems(), growth(count_rows=False))
def test_weight_zero_matches_deletion(problem: Problem, parameters: dict[str, Any]) -> None:
    weight = problem.full_weight.copy()
    weight[::3] = 0.0
    weight[-1] = 1.0
    kept = weight > 0
    assume("max_features" not in parameters or have_equal_kinds(problem.X, kept))
    y = problem.y.copy()
    y[-1] = np.maximum(1, y[-1])  # the Poisson deviance needs a positive target
    problem = problem.replaced(y=y, weight=weight)
    smaller = problem.replaced(X=problem.X[kept], y=problem.y[kept], weight=weight[kept])
    model, other = problem.fit(**parameters), smaller.fit(**parameters)
    but = (CATEGORIES, "value")  # numbered and counted among all rows, those of weight 0 too
    assert arrays_of(model, *but) == arrays_of(other, *but)
    np.testing.assert_array_equal(model.apply(smaller.X), other.apply(smaller.X))
    np.testing.assert_array_equal(model.predict(problem.X), other.predict(problem.X))


@checked
@given(problems(), growth(), st.integers(-60, 60))
def test_scaling_weights_by_a_power_of_two_changes_nothing(
    problem: Problem, parameters: dict[str, Any], exponent: int
) -> None:
    but = "weighted_n_node_samples"
    model = problem.fit(**parameters)
    scaled = problem.replaced(weight=np.ldexp(problem.full_weight, exponent)).fit(**parameters)
    assert arrays_of(model, but) == arrays_of(scaled, but)
    weight = model.tree_.weighted_n_node_samples
    np.testing.assert_array_equal(np.ldexp(weight, exponent), scaled.tree_.weighted_n_node_samples)


@checked
@given(problems(), growth(), st.sampled_from([3.0, 7.0, 1023 * 2.0**-70, 5 * 2.0**600]))
def test_scaling_weights_by_a_constant_changes_nothing(
    problem: Problem, parameters: dict[str, Any], constant: float
) -> None:
    """The products are exact, so one number still measures them; weights are counted in it."""
    but = "weighted_n_node_samples"
    model = problem.fit(**parameters)
    scaled = problem.replaced(weight=problem.full_weight * constant).fit(**parameters)
    assert arrays_of(model, but) == arrays_of(scaled, but)
    np.testing.assert_allclose(
        scaled.tree_.weighted_n_node_samples,
        model.tree_.weighted_n_node_samples * constant,
        rtol=1e-14,
    )


@checked
@given(problems(weighted=False), growth(), st.sampled_from([1.0, 0.1, 7.0, 1e-12, 3e200]))
def test_equal_weights_change_nothing(
    problem: Problem, parameters: dict[str, Any], weight: float
) -> None:
    but = () if weight == 1.0 else ("weighted_n_node_samples",)
    weighted = problem.replaced(weight=np.full(len(problem.y), weight))
    assert arrays_of(problem.fit(**parameters), *but) == arrays_of(weighted.fit(**parameters), *but)


@checked
@given(problems(criteria=_EXACT), growth(count_rows=False))
def test_repeating_all_rows_changes_nothing(problem: Problem, parameters: dict[str, Any]) -> None:
    weight = None if problem.weight is None else np.tile(problem.weight, 2)
    twice = problem.replaced(
        X=np.tile(problem.X, (2, 1)), y=np.concatenate([problem.y, problem.y]), weight=weight
    )
    but = ("n_node_samples", "weighted_n_node_samples")
    assert arrays_of(problem.fit(**parameters), *but) == arrays_of(twice.fit(**parameters), *but)


@checked
@given(
    problems(),
    st.sampled_from(["constant", "missing", "copy"]),
    st.sampled_from([{}, {"splitter": "random", "random_state": 1}, {"max_bins": 3}]),
)
def test_an_appended_useless_column_changes_nothing(
    problem: Problem, kind: str, search: dict[str, Any]
) -> None:
    """Ties go to the first column, so a copy is never split on either, unless splits are drawn."""
    if kind == "copy" and "splitter" in search:
        kind = "constant"
    column = {
        "constant": np.full(len(problem.y), 3.25),
        "missing": np.full(len(problem.y), np.nan),
        "copy": problem.X[:, 0],
    }[kind]
    categorical = problem.categorical
    if kind == "copy" and 0 in categorical:
        categorical = (*categorical, problem.X.shape[1])
    X = np.column_stack([problem.X, column])
    model = problem.replaced(X=X, categorical=categorical).fit(**search)
    assert arrays_of(problem.fit(**search)) == arrays_of(model)
    assert model.feature_importances_[-1] == 0.0


@checked
@given(st.integers(0, 2**32 - 1), st.permutations(range(4)), st.sampled_from([None, 9]))
def test_the_order_of_columns_does_not_matter(
    seed: int, order: list[int], max_bins: int | None
) -> None:
    """Where no two splits are equally good: large nodes, continuous values and targets."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 4))
    y = X[:, 0] + random.normal(size=60)
    for criterion in REGRESSION_CRITERIA:
        target = np.exp(y) if criterion == "poisson" else y
        problem = Problem(X, target, random.random(60) + 0.5, criterion)
        parameters = {"max_depth": 3, "min_samples_leaf": 8, "max_bins": max_bins}
        model = problem.fit(**parameters)
        moved = problem.replaced(X=X[:, order]).fit(**parameters)
        but = "feature"
        assert arrays_of(model, but) == arrays_of(moved, but)
        split = model.tree_.feature >= 0
        features = np.array(order)[moved.tree_.feature[split]]
        np.testing.assert_array_equal(features, model.tree_.feature[split])


@checked
@given(problems(), growth(at_random=False))
def test_bins_that_cover_the_values_change_nothing(
    problem: Problem, parameters: dict[str, Any]
) -> None:
    parameters["max_bins"] = None
    exact = problem.fit(**parameters)
    parameters["max_bins"] = max(2, *(len(np.unique(x[~np.isnan(x)])) for x in problem.X.T))
    assert arrays_of(problem.fit(**parameters)) == arrays_of(exact)


@checked
@given(problems())
def test_missing_values_do_no_worse_than_any_constant(problem: Problem) -> None:
    """The best root split beats those with the missing values replaced by an extreme one.

    Greedy growth promises this of one split alone. Under the absolute error a category's place in
    the order that is tried is a heuristic, and where no category differs from another in its mean
    it is the label's, so that a label for "missing" may come to a better place.
    """
    if problem.criterion == "absolute_error":
        problem = problem.replaced(categorical=())

    def left_over(X: Any) -> float:
        tree = problem.replaced(X=X).fit(max_depth=1).tree_
        leaves = tree.children_left < 0
        return float(tree.impurity[leaves] @ tree.weighted_n_node_samples[leaves])

    scale = (1 + np.ptp(problem.y.astype(float))) ** 2 * len(problem.y)
    for value in (-1e9, 1e9):
        filled = np.where(np.isnan(problem.X), value, problem.X)
        assert left_over(problem.X) <= left_over(filled) + 1e-12 * (1 + scale)
