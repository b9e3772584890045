"""Ordered target statistics: by their definition, without a row's own target, the same bits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboleda._engine.columns import MISSING, DenseTable, get_missing_code
from arboleda.boosting._target_statistics import (
    PRIOR_WEIGHT,
    TargetStatistics,
    TargetStatisticsField,
    learn_statistics,
)
from arboleda.persist.fields import Sections


def as_native_table(codes: Any, n_levels: int) -> DenseTable:
    """Make a table of a numeric and a categorical column."""
    column = np.asarray(codes, dtype=np.uint16 if n_levels <= MISSING else np.uint32)
    return DenseTable([np.arange(column.size), column], column.size, (0, n_levels))


def random_order(rows: Any, seed: int) -> list[int]:
    """Recover the order: if only row i has the target 1, the rows after it depend on it."""
    table = as_native_table(np.zeros(max(rows) + 1), 1)
    n_later = {}
    for i in rows:
        y = np.zeros(table.n_rows)
        y[i] = 1.0
        _, found = learn_statistics(table, [1], np.array(rows), y, None, seed=seed)
        n_later[i] = int((found.columns[1][rows] > 1.0 / len(rows)).sum())
    return sorted(rows, key=lambda i: -n_later[i])


def naive_statistics(codes: Any, order: Any, y: Any, w: Any) -> tuple[dict[int, float], Any]:
    """Statistics of the rows in that order, and a function of the category, by the definition."""
    prior = sum(w[i] * y[i] for i in order) / sum(w[i] for i in order)

    def statistic(category: Any, rows: Any) -> float:
        same = [j for j in rows if codes[j] == category]
        above = sum(w[j] * y[j] for j in same) + PRIOR_WEIGHT * prior
        return float(above / (sum(w[j] for j in same) + PRIOR_WEIGHT))

    of_row = {i: statistic(codes[i], order[:place]) for place, i in enumerate(order)}
    return of_row, lambda category: statistic(category, order)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_statistics_match_their_definition(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 14))
    n_levels = data.draw(st.integers(1, 5))
    code = st.integers(0, n_levels).map(lambda c: MISSING if c == n_levels else c)
    codes = data.draw(st.lists(code, min_size=n, max_size=n))
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1))))
    y = np.array(data.draw(st.lists(st.floats(-1e3, 1e3), min_size=n, max_size=n)))
    w = np.array(data.draw(st.lists(st.floats(0.01, 100.0), min_size=n, max_size=n)))
    seed = data.draw(st.integers(0, 2**31))
    weight = w if data.draw(st.booleans()) else None
    statistics, found = learn_statistics(
        as_native_table(codes, n_levels), [1], rows, y, weight, seed=seed
    )
    of_row, of_level = naive_statistics(
        codes, random_order(rows.tolist(), seed), y, np.ones(n) if weight is None else w
    )
    expected = [of_row.get(i, None) if i in of_row else of_level(codes[i]) for i in range(n)]
    scale = np.abs(y).max() + 1e-300
    np.testing.assert_allclose(found.columns[1] / scale, np.array(expected) / scale, atol=1e-12)
    levels = [*range(n_levels), MISSING]
    np.testing.assert_allclose(
        statistics.values[0][:, 0] / scale,
        np.array([of_level(c) for c in levels]) / scale,
        atol=1e-12,
    )
    assert found.n_levels == (0, 0)
    assert found.columns[0] is not None


def test_a_row_never_uses_its_own_target() -> None:
    rng = np.random.default_rng(0)
    n = 300
    codes = rng.integers(0, 40, n)
    y = rng.integers(0, 2, n).astype(float)
    rows = np.arange(n)
    _, found = learn_statistics(as_native_table(codes, 40), [1], rows, y, None, n_classes=2, seed=1)
    for i in range(0, n, 10):
        other = y.copy()
        swap_column = np.flatnonzero((codes != codes[i]) & (y != y[i]))[0]  # the prior stays
        other[[i, swap_column]] = other[[swap_column, i]]
        _, changed = learn_statistics(
            as_native_table(codes, 40), [1], rows, other, None, n_classes=2, seed=1
        )
        assert changed.columns[1][i] == found.columns[1][i]


def test_identifiers_become_a_constant() -> None:
    y = np.random.default_rng(0).normal(size=1000)
    rows = np.arange(0, 1000, 2)
    statistics, found = learn_statistics(
        as_native_table(np.arange(1000), 1000), [1], rows, y, None, seed=0
    )
    assert np.unique(found.columns[1][rows]).size == 1
    assert found.columns[1][1] == found.columns[1][0]  # an unseen category
    assert np.unique(statistics.values[0]).size > 400


def test_held_out_rows_have_no_influence() -> None:
    rng = np.random.default_rng(1)
    codes, y = rng.integers(0, 5, 200), rng.normal(size=200)
    rows = np.flatnonzero(rng.random(200) < 0.7)
    known, _ = learn_statistics(as_native_table(codes, 5), [1], rows, y, None, seed=0)
    y[np.setdiff1d(np.arange(200), rows)] = 1e6
    again, found = learn_statistics(as_native_table(codes, 5), [1], rows, y, None, seed=0)
    assert np.array_equal(known.values[0], again.values[0])
    others = np.setdiff1d(np.arange(200), rows)
    assert np.array_equal(found.columns[1][others], known.values[0][codes[others], 0])


@pytest.mark.parametrize("classes", [0, 2, 4])
def test_row_order_and_seed_do_not_change_prediction_statistics(classes: int) -> None:
    rng = np.random.default_rng(2)
    n = 500
    codes = rng.integers(0, 30, n)
    y = rng.integers(0, classes, n).astype(float) if classes else rng.lognormal(0, 3, n)
    w = rng.random(n)
    rows = np.arange(n)
    first, _ = learn_statistics(
        as_native_table(codes, 30), [1], rows, y, w, n_classes=classes, seed=0
    )
    mixed = rng.permutation(n)
    second, _ = learn_statistics(
        as_native_table(codes[mixed], 30), [1], rows, y[mixed], w[mixed], n_classes=classes, seed=1
    )
    assert np.array_equal(first.values[0], second.values[0])


def test_the_numbering_of_levels_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    codes, y = rng.integers(0, 30, 500), rng.normal(size=500)
    other = rng.permutation(30)
    rows = np.arange(500)
    first, found = learn_statistics(as_native_table(codes, 30), [1], rows, y, None, seed=0)
    second, same = learn_statistics(as_native_table(other[codes], 30), [1], rows, y, None, seed=0)
    assert np.array_equal(found.columns[1], same.columns[1])
    assert np.array_equal(first.values[0][:30], second.values[0][other])


def test_integer_weights_match_repeated_rows_and_unit_weights_no_weights() -> None:
    rng = np.random.default_rng(4)
    codes, y = rng.integers(0, 8, 60), rng.normal(size=60)
    w = rng.integers(1, 4, 60)
    rows = np.arange(60)
    weighted, _ = learn_statistics(as_native_table(codes, 8), [1], rows, y, w.astype(float), seed=0)
    again = np.repeat(rows, w)
    repeated, _ = learn_statistics(
        as_native_table(codes[again], 8), [1], np.arange(again.size), y[again], None, seed=0
    )
    np.testing.assert_allclose(weighted.values[0], repeated.values[0], rtol=1e-12)
    none, found = learn_statistics(as_native_table(codes, 8), [1], rows, y, None, seed=0)
    units, same = learn_statistics(as_native_table(codes, 8), [1], rows, y, np.ones(60), seed=0)
    assert np.array_equal(none.values[0], units.values[0])
    assert np.array_equal(found.columns[1], same.columns[1])


def test_shares_of_several_classes_sum_to_one() -> None:
    rng = np.random.default_rng(5)
    codes, y = rng.integers(0, 8, 300), rng.integers(0, 3, 300).astype(float)
    rows = np.arange(300)
    statistics, found = learn_statistics(
        as_native_table(codes, 8), [1], rows, y, None, n_classes=3, seed=0
    )
    assert found.n_levels == (0, 0, 0, 0)
    assert statistics.owners(2).tolist() == [0, 1, 1, 1]
    np.testing.assert_allclose(np.sum(found.columns[1:], axis=0), 1.0, rtol=1e-14)
    two, _ = learn_statistics(
        as_native_table(codes, 8), [1], rows, (y == 2).astype(float), None, n_classes=2, seed=0
    )
    assert np.array_equal(two.values[0][:, 0], statistics.values[0][:, 2])


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e307])
def test_targets_and_weights_of_any_scale_are_supported(scale: float) -> None:
    rng = np.random.default_rng(6)
    codes, y = rng.integers(0, 5, 100), rng.normal(size=100)
    rows = np.arange(100)
    plain, _ = learn_statistics(as_native_table(codes, 5), [1], rows, y, None, seed=0)
    scaled, _ = learn_statistics(as_native_table(codes, 5), [1], rows, y * scale, None, seed=0)
    np.testing.assert_allclose(scaled.values[0] / scale, plain.values[0], rtol=1e-9, atol=1e-12)
    heavy, found = learn_statistics(
        as_native_table(codes, 5), [1], rows, y, np.full(100, scale / 10), seed=0
    )
    assert np.isfinite(heavy.values[0]).all()
    assert np.isfinite(found.columns[1]).all()


def test_missing_values_are_a_category_and_unseen_levels_get_the_prior() -> None:
    codes = [0, 0, MISSING, MISSING, MISSING, 1]
    y = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.0])
    rows = np.arange(6)
    seen, _ = learn_statistics(as_native_table(codes, 2), [1], rows, y, None, n_classes=2, seed=0)
    assert seen.values[0][2, 0] == (3 + PRIOR_WEIGHT * 0.5) / (3 + PRIOR_WEIGHT)
    none, _ = learn_statistics(as_native_table([0, 0, 0, 1, 1, 1], 2), [1], rows, y, None, seed=0)
    replaced = none.replaced(as_native_table([MISSING], 2))
    assert replaced.columns[1].tolist() == [0.5]


def test_more_levels_than_the_engine_limit_are_supported() -> None:
    n = 200_000
    codes = np.arange(n) // 2
    codes[-1] = get_missing_code(n // 2)
    y = np.random.default_rng(0).normal(size=n)
    table = as_native_table(codes, n // 2)
    statistics, found = learn_statistics(table, [1], np.arange(n), y, None, seed=0)
    assert found.columns[1].dtype == np.float64
    assert statistics.values[0].shape == (n // 2 + 1, 1)
    prior = y.mean()
    last = (y[-1] + PRIOR_WEIGHT * prior) / (1 + PRIOR_WEIGHT)
    np.testing.assert_allclose(statistics.values[0][-1, 0], last, rtol=1e-9)
    firsts = np.isclose(found.columns[1], prior, rtol=0, atol=1e-12)
    assert firsts.sum() == n // 2 + 1


@pytest.mark.parametrize("n_classes", [0, 3])
def test_the_model_file_stores_statistics(n_classes: int) -> None:
    rng = np.random.default_rng(7)
    codes, y = rng.integers(0, 8, 300), rng.integers(0, 3, 300).astype(float)
    statistics, _ = learn_statistics(
        as_native_table(codes, 8), [1], np.arange(300), y, None, n_classes=n_classes, seed=0
    )
    for kept in (statistics, TargetStatistics((), ())):
        sections = Sections()
        stored = TargetStatisticsField().encode("statistics_", kept, sections)
        read = TargetStatisticsField().decode(
            "statistics_", stored, sections=Sections((), sections.arrays.items())
        )
        assert read.columns == kept.columns
        assert len(read.values) == len(kept.values)
        assert all(map(np.array_equal, read.values, kept.values))
