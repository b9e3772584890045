"""Accumulated local effects beside the paper's formulas row by row, and what they recover."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from arboleda import HistGradientBoostingRegressor, RandomForestClassifier
from arboleda.explain import partial_dependence


class Formula(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A model that is a formula of the rows."""

    def __init__(self, formula: Any = None) -> None:
        self.formula = formula

    def fit(self, X: Any, y: Any = None) -> "Formula":
        self.is_fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return np.asarray(self.formula(X), dtype=float)


def formula(of: Any) -> Any:
    return Formula(of).fit(None)


def correlated(n: int = 400, correlation: float = 0.95) -> Any:
    draw = np.random.default_rng(0)
    first = draw.uniform(-1, 1, n)
    second = correlation * first + (1 - correlation) * draw.uniform(-1, 1, n)
    return np.column_stack([first, second, draw.normal(size=n)])


def naive_effect(model: Any, X: Any, j: int, ends: Any, weight: Any) -> Any:
    """Mean differences, interval by interval and row by row."""
    heights, totals = [0.0], []
    for k in range(1, len(ends)):
        above = X[:, j] >= ends[0] if k == 1 else X[:, j] > ends[k - 1]
        inside = np.flatnonzero(above & (X[:, j] <= ends[k]))
        total = mean = 0.0
        for i in inside:
            low, high = X[i : i + 1].copy(), X[i : i + 1].copy()
            low[0, j], high[0, j] = ends[k - 1], ends[k]
            mean += weight[i] * float(model.predict(high)[0] - model.predict(low)[0])
            total += weight[i]
        heights.append(heights[-1] + (mean / total if total else 0.0))
        totals.append(total)
    middles = [(a + b) / 2 for a, b in pairwise(heights)]
    return np.array(heights) - np.average(middles, weights=totals)


@pytest.mark.parametrize("weighted", [False, True])
def test_effects_of_a_column_match_the_paper(weighted: bool) -> None:
    X = correlated(120)
    model = HistGradientBoostingRegressor(max_iter=9, random_state=0).fit(X, X[:, 0] * X[:, 1])
    weight = np.random.default_rng(1).integers(0, 3, 120) if weighted else np.ones(120)
    found = partial_dependence(
        model, X, 0, kind="ale", grid_resolution=7, sample_weight=weight if weighted else None
    )
    assert found.grid[0][0] == X[weight > 0, 0].min()
    assert found.grid[0][-1] == X[weight > 0, 0].max()
    expected = naive_effect(model, X, 0, found.grid[0], weight)
    np.testing.assert_allclose(found.average[0], expected, atol=1e-12)


def test_intervals_contain_equally_many_rows() -> None:
    X = correlated(400)
    ends = partial_dependence(formula(lambda X: X[:, 0]), X, 0, kind="ale").grid[0]
    assert len(ends) == 41
    counts = np.histogram(X[:, 0], np.nextafter(ends, np.inf))[0]
    assert (counts[1:] == 10).all()
    assert np.isin(ends, X[:, 0]).all()


def naive_effects_of_two(model: Any, X: Any, ends: Any) -> Any:
    """Second differences by loops: the nearest cell stands for one without rows."""
    k1, k2 = len(ends[0]) - 1, len(ends[1]) - 1
    cell = [
        np.clip(np.searchsorted(ends[j], X[:, j], side="left") - 1, 0, len(ends[j]) - 2)
        for j in (0, 1)
    ]
    mean, count = np.zeros((k1, k2)), np.zeros((k1, k2))
    for i in range(len(X)):
        a, b = cell[0][i], cell[1][i]
        corners = {}
        for p in (0, 1):
            for q in (0, 1):
                row = X[i : i + 1].copy()
                row[0, 0], row[0, 1] = ends[0][a + p], ends[1][b + q]
                corners[p, q] = float(model.predict(row)[0])
        mean[a, b] += corners[1, 1] - corners[0, 1] - corners[1, 0] + corners[0, 0]
        count[a, b] += 1
    middle = [(e[:-1] + e[1:]) / 2 / (e[-1] - e[0]) for e in ends]
    full = np.argwhere(count > 0)
    steps = np.zeros((k1, k2))
    for a in range(k1):
        for b in range(k2):
            away = [
                (middle[0][a] - middle[0][c]) ** 2 + (middle[1][b] - middle[1][d]) ** 2
                for c, d in full
            ]
            c, d = full[int(np.argmin(away))]
            steps[a, b] = mean[c, d] / count[c, d]
    surface = np.zeros((k1 + 1, k2 + 1))
    for a in range(k1):
        for b in range(k2):
            surface[a + 1, b + 1] = steps[: a + 1, : b + 1].sum()
    alone = [np.zeros(k1 + 1), np.zeros(k2 + 1)]
    for a in range(k1):
        rise = [
            count[a, b] * (surface[a + 1, b : b + 2] - surface[a, b : b + 2]).mean()
            for b in range(k2)
        ]
        alone[0][a + 1] = alone[0][a] + sum(rise) / count[a].sum()
    for b in range(k2):
        rise = [
            count[a, b] * (surface[a : a + 2, b + 1] - surface[a : a + 2, b]).mean()
            for a in range(k1)
        ]
        alone[1][b + 1] = alone[1][b] + sum(rise) / count[:, b].sum()
    surface = surface - alone[0][:, None] - alone[1][None, :]
    corners = [
        count[a, b] * surface[a : a + 2, b : b + 2].mean() for a in range(k1) for b in range(k2)
    ]
    return surface - sum(corners) / count.sum()


def test_effects_of_two_columns_match_the_paper() -> None:
    X = correlated(150, 0.5)
    y = X[:, 0] * X[:, 1] + X[:, 2]
    model = HistGradientBoostingRegressor(max_iter=9, random_state=0).fit(X, y)
    found = partial_dependence(model, X, [0, 1], kind="ale", grid_resolution=6)
    expected = naive_effects_of_two(model, X, found.grid)
    np.testing.assert_allclose(found.average[0], expected, atol=1e-12)


def test_an_additive_model_is_decomposed_despite_correlated_columns() -> None:
    X = correlated(2000)
    model = formula(lambda X: X[:, 0] ** 2 + 3 * X[:, 1] + X[:, 2])
    for j, part in enumerate((np.square, lambda x: 3 * x, lambda x: x)):
        found = partial_dependence(model, X, j, kind="ale")
        true = part(found.grid[0])
        middles = (true[:-1] + true[1:]) / 2
        np.testing.assert_allclose(found.average[0], true - middles.mean(), atol=0.02)
    both = partial_dependence(model, X, [0, 1], kind="ale", grid_resolution=10)
    np.testing.assert_allclose(both.average, 0.0, atol=1e-9)


def test_partial_dependence_extrapolates_and_effects_do_not() -> None:
    # Of no account where rows are, but large where the columns are unlike each other.
    X = correlated(1000)
    model = formula(lambda X: X[:, 0] + 100 * (np.abs(X[:, 0] - X[:, 1]) > 0.5))
    effects = partial_dependence(model, X, 0, kind="ale")
    slope = np.polyfit(effects.grid[0], effects.average[0], 1)[0]
    assert slope == pytest.approx(1.0, abs=0.01)
    average = partial_dependence(model, X, 0).average[0]
    assert average.max() - average.min() > 20


def test_the_surface_of_a_product_is_found() -> None:
    draw = np.random.default_rng(0)
    X = draw.uniform(0, 1, (4000, 2))
    found = partial_dependence(formula(lambda X: X[:, 0] * X[:, 1]), X, [0, 1], kind="ale")
    true = np.outer(found.grid[0] - 0.5, found.grid[1] - 0.5)
    np.testing.assert_allclose(found.average[0], true, atol=0.02)


LEVELS = pd.DataFrame(
    {
        "c": ["a"] * 40 + ["b"] * 30 + ["c"] * 20,
        "u": np.concatenate([np.full(40, 0.0), np.full(30, 2.0), np.full(20, 1.0)])
        + np.random.default_rng(0).uniform(0, 0.5, 90),
    }
)


def test_effects_of_categories_are_mean_differences_of_neighbours() -> None:
    model = formula(lambda X: X["c"].map({"a": 1.0, "b": 5.0, "c": 2.0}) * (1 + X["u"]).to_numpy())
    found = partial_dependence(model, LEVELS, "c", kind="ale")
    assert found.grid[0].tolist() == ["a", "c", "b"]
    assert found.density[0].tolist() == [40, 20, 30]
    u, c = 1 + LEVELS["u"], LEVELS["c"]
    first = (1.0 * u)[c.isin(["a", "c"])].mean()  # from 1 to 2, in the rows of both
    second = (3.0 * u)[c.isin(["c", "b"])].mean()
    heights = np.cumsum([0.0, first, second])
    expected = heights - np.average(heights, weights=[40, 20, 30])
    np.testing.assert_allclose(found.average[0], expected)
    given = partial_dependence(model, LEVELS, "c", kind="ale", custom_values={"c": ["b", "a"]})
    assert given.grid[0].tolist() == ["b", "a"]
    step = (-4.0 * u)[c.isin(["a", "b"])].mean()
    np.testing.assert_allclose(np.diff(given.average[0]), step)


def test_rows_without_a_value_are_left_out() -> None:
    X = correlated(200)
    model = formula(lambda X: np.nan_to_num(X[:, 0], nan=50.0) * X[:, 2])
    with_gaps = np.concatenate([X, X[:40]])
    with_gaps[200:, 0] = np.nan
    expected = partial_dependence(model, X, 0, kind="ale")
    found = partial_dependence(model, with_gaps, 0, kind="ale")
    np.testing.assert_array_equal(found.grid[0], expected.grid[0])
    np.testing.assert_array_equal(found.average, expected.average)


def test_effects_of_all_classes_sum_to_zero() -> None:
    X = correlated(150)
    model = RandomForestClassifier(9, random_state=0).fit(X, np.digitize(X[:, 0], [-0.3, 0.3]))
    found = partial_dependence(model, X, 0, kind="ale")
    assert found.average.shape == (3, 41)
    np.testing.assert_allclose(found.average.sum(axis=0), 0.0, atol=1e-12)


def test_pairs_with_categories_have_effects() -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"c": draw.choice(list("abc"), 3000), "u": draw.uniform(0, 1, 3000)}
    ).assign(d=draw.choice(list("xy"), 3000))
    slope = {"a": 0.0, "b": 1.0, "c": 3.0}
    model = formula(lambda X: X["c"].map(slope) * X["u"] + X["u"] ** 2)
    found = partial_dependence(
        model, frame, ["c", "u"], kind="ale", custom_values={"c": ["a", "b", "c"]}
    )
    # Without what each does alone the product of both deviations remains.
    deviation = np.array([0.0, 1.0, 3.0]) - frame["c"].map(slope).mean()
    np.testing.assert_allclose(
        found.average[0], np.outer(deviation, found.grid[1] - 0.5), atol=0.05
    )
    turned = partial_dependence(
        model, frame, ["u", "c"], kind="ale", custom_values={"c": ["a", "b", "c"]}
    )
    np.testing.assert_allclose(turned.average[0], found.average[0].T, atol=1e-12)
    pair = formula(lambda X: 4.0 * ((X["c"] == "b") & (X["d"] == "y")) + (X["d"] == "y"))
    found = partial_dependence(pair, frame, ["c", "d"], kind="ale")
    shares = [(frame["c"] == "b").mean(), (frame["d"] == "y").mean()]
    order = [list("abc").index(label) for label in found.grid[0]]
    true = 4 * np.outer(np.array([0, 1, 0]) - shares[0], np.array([0, 1]) - shares[1])
    np.testing.assert_allclose(found.average[0], true[order], atol=0.15)
    additive = formula(lambda X: X["c"].map(slope) + 2 * (X["d"] == "y") + X["u"])
    for two in (["c", "d"], ["c", "u"], ["u", "d"]):
        effects = partial_dependence(additive, frame, two, kind="ale").average
        np.testing.assert_allclose(effects, 0.0, atol=1e-9)
