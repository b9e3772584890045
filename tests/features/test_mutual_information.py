"""Mutual information against the textbook's sums, against scikit-learn's and on known laws."""

from collections import Counter
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

from arboleda._engine.columns import DenseTable
from arboleda.features import mutual_information
from arboleda.features._counting import (
    LevelColumns,
    Levels,
    compute_counted_information,
    compute_expected_terms,
)
from arboleda.features._measures import MixedVariable, compute_mixed_information, make_measure

Array = npt.NDArray[Any]


def naive_information(a: Array, b: Array) -> float:
    """Sum of p(a, b) log(p(a, b) / (p(a) p(b))), as it is written, without correction."""
    n = len(a)
    one, other, both = Counter(a), Counter(b), Counter(zip(a, b, strict=True))
    return sum(
        count / n * log(count / n / (one[i] / n * other[j] / n)) for (i, j), count in both.items()
    )


def by_chance(a: Array, b: Array) -> float:
    table = contingency_matrix(a, b)
    return float(expected_mutual_information(table, len(a)))


def levels(*codes: int) -> Levels:
    return Levels.of_codes(np.array(codes))


def random_levels(random: np.random.Generator, n_rows: int, n_levels: int) -> Array:
    return random.integers(0, n_levels, n_rows) * random.integers(0, 2, n_rows)


@pytest.mark.parametrize(
    ("groups", "gain"),
    [(((5, 1), (4, 4)), 0.0903), (((4, 1), (1, 4), (0, 4)), 0.4246)],
)
def test_information_gain_of_fourteen_rows_matches_the_textbook(
    groups: tuple[tuple[int, int], ...], gain: float
) -> None:
    """Five of one class and nine of the other, split by an attribute: the gain in bits."""
    attribute = [group for group, counts in enumerate(groups) for _ in range(sum(counts))]
    label = [k for counts in groups for k, count in enumerate(counts) for _ in range(count)]
    assert sorted(Counter(label).values()) == [5, 9]
    found = compute_counted_information(levels(*attribute), levels(*label))
    found += by_chance(np.array(attribute), np.array(label))
    assert found / log(2) == pytest.approx(gain, abs=5e-5)


@pytest.mark.parametrize(("counts", "bits"), [((4,), 0.0), ((2, 2), 1.0), ((3, 1), 0.811278)])
def test_the_information_of_a_variable_about_itself_is_its_entropy(
    counts: tuple[int, ...], bits: float
) -> None:
    codes = np.repeat(np.arange(len(counts)), counts)
    found = compute_counted_information(levels(*codes), levels(*codes)) + by_chance(codes, codes)
    assert found / log(2) == pytest.approx(bits, abs=1e-6)


@pytest.mark.parametrize("n_rows", [1, 2, 30, 500])
def test_discrete_information_equals_its_naive_twin(n_rows: int) -> None:
    random = np.random.default_rng(n_rows)
    columns = [random_levels(random, n_rows, k) for k in (1, 2, 3, 3, 7, 200)]
    target = random_levels(random, n_rows, 4)
    table = pd.DataFrame({str(j): pd.Categorical(c) for j, c in enumerate(columns)})
    found = mutual_information(table, target)
    wanted = [max(0.0, naive_information(c, target) - by_chance(c, target)) for c in columns]
    np.testing.assert_allclose(found, wanted, atol=2e-5)


def test_pairs_of_columns_equal_their_naive_twin() -> None:
    random = np.random.default_rng(0)
    columns = np.column_stack([random_levels(random, 300, k) for k in (2, 3, 5)])
    target = (columns[:, 0] + columns[:, 1] + random_levels(random, 300, 2)) % 3
    measure = make_measure(
        _table(columns), target, "classification", **_options(continuous="bins", n_bins=5)
    )
    for one in range(3):
        others = np.array([j for j in range(3) if j != one])
        wanted = []
        for j in others:
            alone, pair = columns[:, one], columns[:, j] * 100 + columns[:, one]
            with_y = columns[:, one] * 100 + target
            chance = by_chance(alone, target) + by_chance(columns[:, j], with_y)
            chance -= by_chance(columns[:, j], alone)
            wanted.append(naive_information(pair, target) - chance)
        np.testing.assert_allclose(measure.pairs_with_target(one, others), wanted, atol=2e-5)


def _table(columns: Array) -> DenseTable:
    return DenseTable(list(columns.T), len(columns), (0,) * columns.shape[1])


def _options(**given: Any) -> dict[str, Any]:
    state = np.random.RandomState(0)
    common = {"continuous": "neighbors", "n_bins": 5, "n_neighbors": 3}
    return {**common, "random_state": state, "n_threads": 1, **given}


@pytest.mark.parametrize(
    ("n_rows", "n_levels", "n_others"), [(30, 3, 4), (1000, 300, 2), (5000, 5, 7), (200, 2, 150)]
)
def test_expected_information_matches_scikit_learn(
    n_rows: int, n_levels: int, n_others: int
) -> None:
    """Exact in small cells; in large ones a series, whose error is a millionth of a nat."""
    random = np.random.default_rng(1)
    one, other = random.integers(0, n_levels, n_rows), random.integers(0, n_others, n_rows)
    a, b = np.unique(one, return_counts=True)[1], np.unique(other, return_counts=True)[1]
    assert compute_expected_terms(a, b, n_rows).sum() == pytest.approx(
        by_chance(one, other), rel=2e-5
    )


def test_expected_information_of_very_many_rows_matches_miller() -> None:
    """(A - 1)(B - 1) / 2n in the limit."""
    n = 10**9
    margin = np.full(5, n // 5)
    assert compute_expected_terms(margin, margin, n).sum() == pytest.approx(16 / 2 / n, rel=1e-6)


def test_blocks_and_single_wide_columns_give_the_same_counts() -> None:
    """Columns of few levels are counted together, of very many one by one."""
    random = np.random.default_rng(2)
    n_rows = 3000
    widths = [2] * 300 + [3] * 5 + [2500, 2900]
    columns = np.column_stack([random.integers(0, k, n_rows) for k in widths])
    measure = LevelColumns(_table(columns), 4000, 1)
    target = Levels.of_codes(random.integers(0, 200, n_rows))
    found = measure.compute_information(target)
    for j in (0, 299, 300, 305, 306):
        alone = compute_counted_information(measure.column(j), target)
        assert found[j] == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_nearest_neighbours_match_scikit_learn(task: str) -> None:
    random = np.random.default_rng(3)
    X = random.standard_normal((300, 3))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * random.standard_normal(300)
    theirs: Any = mutual_info_regression
    if task == "classification":
        y, theirs = np.digitize(y, [-0.5, 0.5]), mutual_info_classif
    ours = mutual_information(X, y, continuous="neighbors", random_state=0)
    np.testing.assert_allclose(ours, theirs(X, y, random_state=0), atol=1e-6)


@pytest.mark.parametrize("continuous", ["bins", "neighbors"])
def test_information_of_normal_numbers_matches_theory(continuous: Any) -> None:
    """-1/2 log(1 - r^2); five bins see a part of it."""
    random = np.random.default_rng(4)
    x = random.standard_normal(4000)
    y = 0.8 * x + 0.6 * random.standard_normal(4000)
    (found,) = mutual_information(x[:, np.newaxis], y, continuous=continuous, random_state=0)
    truth = -0.5 * log(1 - 0.8**2)
    assert truth - (0.15 if continuous == "bins" else 0.03) < found < truth + 0.03


def test_two_numbers_are_informative_only_together() -> None:
    random = np.random.default_rng(5)
    X = random.standard_normal((1500, 2))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    for continuous in ("bins", "neighbors"):
        options = _options(continuous=continuous, n_bins=4)
        measure = make_measure(_table(X), y.astype(np.intp), "classification", **options)
        assert measure.with_target().max() < 0.03
        (pair,) = measure.pairs_with_target(0, np.array([1]))
        assert 0.55 < pair < log(2) + 0.02


def test_mixed_columns_obey_the_chain_rule() -> None:
    """For a number missing in half of the rows, both missingness and the value are informative."""
    random = np.random.default_rng(6)
    n = 4000
    y = random.integers(0, 2, n)
    number = random.standard_normal(n) + 6 * y
    number[(random.random(n) < 0.9) & (y == 1)] = np.nan
    (found,) = mutual_information(number[:, np.newaxis], y, continuous="neighbors", random_state=0)
    # Missing implies y = 1, and the value almost separates the classes: together almost log 2.
    assert found == pytest.approx(log(2), abs=0.02)
    totals = MixedVariable(Levels.of_codes(y), None)
    missing = Levels.of_codes(np.isnan(number).astype(np.intp))
    by_absence = compute_mixed_information([MixedVariable(missing, None)], totals, 3)
    assert 0.3 < by_absence < found - 0.1


def test_numbers_of_few_values_can_be_discrete_or_continuous() -> None:
    """Tie-breaking noise would hide their information, and make constants informative."""
    random = np.random.default_rng(10)
    y = random.integers(0, 4, 300)
    X = np.column_stack([y, y + 4.0 * random.integers(0, 2, 300), np.ones(300)])
    X[:50, 1] = np.nan
    by_bins = mutual_information(X, y, n_bins=8)
    by_neighbors = mutual_information(X, y, n_bins=8, continuous="neighbors", random_state=0)
    np.testing.assert_allclose(by_neighbors, by_bins, atol=1e-12)
    assert by_bins[2] == 0.0


def test_an_identifier_has_no_information() -> None:
    random = np.random.default_rng(7)
    table = pd.DataFrame({"id": [f"row {i}" for i in range(500)]})
    table["useful"] = random.integers(0, 3, 500)
    found = mutual_information(table, table["useful"] + random.integers(0, 2, 500))
    assert found[0] < 1e-9 < 0.5 < found[1]


def test_missing_values_are_a_category() -> None:
    y = np.repeat([0, 1], 50)
    column = np.where(y == 1, np.nan, 1.0)
    found = mutual_information(np.column_stack([column, np.ones(100)]), y)
    assert found[0] == pytest.approx(log(2), abs=0.01)
    assert found[1] == 0.0


def test_sparse_and_dense_tables_have_the_same_information() -> None:
    random = np.random.default_rng(8)
    X = random.poisson(0.4, (200, 6)).astype(float)
    y = X[:, 0] + X[:, 1] > 0
    np.testing.assert_array_equal(mutual_information(csr_array(X), y), mutual_information(X, y))
    with pytest.raises(ValueError, match="continuous='bins'"):
        mutual_information(csr_array(X), y, continuous="neighbors")


def test_the_task_is_inferred_or_given() -> None:
    random = np.random.default_rng(9)
    X = random.standard_normal((400, 2))
    counts = np.floor(10 * X[:, 0])
    as_numbers = mutual_information(X, counts, task="regression")
    assert mutual_information(X, counts + 0.5)[0] == pytest.approx(as_numbers[0])
    assert mutual_information(X, np.where(counts > 0, "yes", "no"))[0] > 0.5
    with pytest.raises(ValueError, match="regressor requires numbers"):
        mutual_information(X, np.where(counts > 0, "yes", "no"), task="regression")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("task", "regresion"),
        ("continuous", "knn"),
        ("n_bins", 1),
        ("n_bins", 2.5),
        ("n_neighbors", 0),
        ("n_neighbors", 1.5),
        ("n_jobs", 1.5),
    ],
)
def test_an_invalid_parameter_is_refused(name: str, value: Any) -> None:
    X, y = np.arange(12.0).reshape(6, 2), [0, 1] * 3
    with pytest.raises(ValueError, match=f"The '{name}' parameter of mutual_information"):
        mutual_information(X, y, **{name: value})
