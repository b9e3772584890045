"""Friedman's and Nemenyi's tests beside Demšar's worked example, his tables and scipy."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from arboleda.diagnose import compare_over_data_sets

# Demšar (2006), table 6: ranks of four variants of C4.5 by AUC on 14 data sets.
NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
RANKS = np.array(
    [
        [4, 3, 2, 1], [1, 2, 3, 4], [4, 1, 2, 3], [4, 1, 3, 2], [4, 2, 3, 1], [1, 2.5, 4, 2.5],
        [3, 2, 4, 1], [2.5, 2.5, 4, 1], [4, 3, 2, 1], [2.5, 2.5, 2.5, 2.5], [4, 2.5, 1, 2.5],
        [3, 2, 4, 1], [4, 1, 2, 3], [3, 1, 4, 2],
    ]
)  # fmt: skip


def test_the_example_of_demsar_matches() -> None:
    found = compare_over_data_sets(RANKS, names=NAMES)
    np.testing.assert_array_equal(found.ranks, RANKS)
    np.testing.assert_allclose(found.mean_rank, [3.143, 2.0, 2.893, 1.964], atol=5e-4)
    # The article leaves ties uncorrected: 9.28 and F = 3.69.
    uncorrected = found.chi2 * tie_correction(RANKS)
    assert uncorrected == pytest.approx(9.28, abs=5e-3)
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=5e-3)
    assert found.f == pytest.approx(13 * found.chi2 / (14 * 3 - found.chi2))
    # The critical value of F with 3 and 39 degrees of freedom is 2.85.
    assert found.f_p_value < 0.05
    assert found.critical_difference == pytest.approx(1.25, abs=5e-3)
    tenth = compare_over_data_sets(RANKS, names=NAMES, alpha=0.1)
    assert tenth.critical_difference == pytest.approx(1.12, abs=5e-3)
    # At 0.05 the test is too weak to separate any two; at 0.1 C4.5 is worse than the two with m.
    assert found.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"),)
    assert tenth.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))


@pytest.mark.parametrize(
    ("alpha", "table"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_critical_values_match_the_published_table(alpha: float, table: list[float]) -> None:
    # Demšar (2006), table 5(a).
    for k, q in enumerate(table, start=2):
        errors = np.arange(5 * k).reshape(5, k)
        found = compare_over_data_sets(errors, alpha=alpha)
        expected = q * np.sqrt(k * (k + 1) / (6 * 5))
        assert found.critical_difference == pytest.approx(expected, rel=1e-3)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.integers(3, 7), st.integers(0, 10**6))
def test_friedmans_statistic_matches_scipy(n_sets: int, k: int, seed: int) -> None:
    errors = np.random.default_rng(seed).random((n_sets, k))
    found = compare_over_data_sets(errors)
    expected = stats.friedmanchisquare(*errors.T)
    assert found.chi2 == pytest.approx(expected.statistic, abs=1e-9)
    assert found.chi2_p_value == pytest.approx(expected.pvalue)


def tie_correction(ranks: np.ndarray) -> float:
    n_sets, k = ranks.shape
    ties = sum(
        (count**3 - count) for row in ranks for count in np.unique(row, return_counts=True)[1]
    )
    return float(1 - ties / (n_sets * k * (k**2 - 1)))


def test_scipy_divides_by_the_tie_correction() -> None:
    found = compare_over_data_sets(RANKS, names=NAMES)
    assert stats.friedmanchisquare(*RANKS.T).statistic == pytest.approx(found.chi2)


def test_p_values_of_pairs_agree_with_the_critical_difference() -> None:
    random = np.random.default_rng(0)
    errors = random.random((20, 5)) + np.linspace(0, 0.6, 5)
    found = compare_over_data_sets(errors, names=list("abcde"))
    gaps = np.abs(found.mean_rank[:, np.newaxis] - found.mean_rank)
    np.testing.assert_array_equal(found.p_values < 0.05, gaps > found.critical_difference)
    np.testing.assert_allclose(np.diag(found.p_values), 1)
    assert (found.p_values < 0.05).any()
    for group in found.groups:
        inside = [found.names.index(name) for name in group]
        assert np.ptp(found.mean_rank[inside]) < found.critical_difference
        assert (np.diff(found.mean_rank[inside]) >= 0).all()


def test_equal_models_and_constant_orders_are_handled() -> None:
    alike = compare_over_data_sets(np.ones((6, 3)))
    assert (alike.chi2, alike.f, alike.f_p_value) == (0, 0, 1)
    ordered = compare_over_data_sets(np.tile([0.1, 0.2, 0.3], (6, 1)))
    assert ordered.chi2 == pytest.approx(12)
    assert ordered.f == np.inf
    assert ordered.f_p_value == 0
    assert ordered.names == ("model 1", "model 2", "model 3")


def test_names_of_frames_are_kept() -> None:
    frame = pd.DataFrame(RANKS, columns=NAMES)
    found = compare_over_data_sets(frame)
    assert found.names == tuple(NAMES)
    table = found.to_frame()
    assert list(table.index) == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert table["mean_rank"].is_monotonic_increasing
    assert table.loc["C4.5", "C4.5+m"] == found.p_values[0, 1] == table.loc["C4.5+m", "C4.5"]


def test_the_diagram_names_every_model_and_joins_those_that_do_not_differ() -> None:
    found = compare_over_data_sets(RANKS, names=NAMES, alpha=0.1)
    axes = found.plot()
    texts = {text.get_text().strip() for text in axes.texts}
    assert {"C4.5 (3.14)", "C4.5+m (2.00)", "CD = 1.12"} <= texts
    bars = [line.get_xdata() for line in axes.lines if line.get_linewidth() == 4]
    assert len(bars) == 2
    np.testing.assert_allclose(bars[0], [1.964, 2.893], atol=0.1)
    left, right = axes.get_xlim()
    assert left > right  # the best to the right
    plt.close(axes.figure)


@pytest.mark.parametrize(
    ("errors", "options", "message"),
    [
        (np.ones((1, 3)), {}, r"at least two data sets .* got the shape \(1, 3\)"),
        (np.ones((3, 1)), {}, "at least two models"),
        (np.ones(3), {}, "a row for each"),
        ([[0.1, 0.2], [np.nan, 0.3]], {}, r"errors\[1, 0\] is NaN"),
        (np.ones((3, 2)), {"names": ["one"]}, "a different name for each of 2 models"),
        (np.ones((3, 2)), {"names": ["one", "one"]}, "a different name"),
        (np.ones((3, 2)), {"alpha": 0.0}, "alpha must lie between 0 and 1; got 0.0"),
    ],
)
def test_studies_that_cannot_be_compared_are_refused(
    errors: object, options: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        compare_over_data_sets(errors, **options)


def test_ties_are_corrected_as_by_scipy() -> None:
    """scipy.stats.friedmanchisquare divides by 1 - sum (t^3 - t) / (N k (k^2 - 1))."""
    errors = np.random.default_rng(3).integers(0, 3, size=(12, 4)).astype(float)
    found = compare_over_data_sets(errors)
    expected = stats.friedmanchisquare(*errors.T)
    assert found.chi2 == pytest.approx(expected.statistic, rel=1e-12)
    assert found.chi2_p_value == pytest.approx(expected.pvalue, rel=1e-12)
    same = compare_over_data_sets(np.ones((5, 3)))
    assert (same.chi2, same.chi2_p_value, same.f, same.f_p_value) == (0.0, 1.0, 0.0, 1.0)


def test_errors_can_be_a_dict() -> None:
    errors = {"tree": [0.1, 0.2, 0.3], "forest": [0.05, 0.1, 0.4]}
    found = compare_over_data_sets(errors)
    listed = compare_over_data_sets(np.column_stack(list(errors.values())))
    assert found.names == ("tree", "forest")
    np.testing.assert_array_equal(found.ranks, listed.ranks)
