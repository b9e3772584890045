"""Reliability tables: scikit-learn's curve, scipy's intervals, Murphy's identity."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from arboleda.metrics import reliability_table

mpl.use("agg")


def _rows(n: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    predicted = draw.random(n).round(2)  # some lie on the edges of bins
    return draw.random(n) < predicted**2, predicted


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_curve_matches_scikit_learn(strategy: str) -> None:
    true, predicted = _rows()
    table = reliability_table(true, predicted, pos_label=True, n_bins=7, strategy=strategy)
    frequency, probability = calibration_curve(true, predicted, n_bins=7, strategy=strategy)
    np.testing.assert_allclose(table.frequency, frequency)
    np.testing.assert_allclose(table.mean_probability, probability)
    assert table.counts.sum() == len(true)
    bins = zip(table.lower, table.mean_probability, table.upper, strict=True)
    assert all(low <= mean <= high for low, mean, high in bins)


def test_confidence_of_the_most_probable_class_is_compared_with_accuracy() -> None:
    draw = np.random.default_rng(1)
    shares = draw.dirichlet(np.ones(3), size=400)
    names = np.array(["b", "c", "a"])  # not in alphabetical order
    true = names[draw.integers(3, size=400)]
    table = reliability_table(true, shares, labels=names, n_bins=5)
    right, confidence = names[shares.argmax(axis=1)] == true, shares.max(axis=1)
    frequency, probability = calibration_curve(right, confidence, n_bins=5)
    np.testing.assert_allclose(table.frequency, frequency)
    np.testing.assert_allclose(table.mean_probability, probability)
    one = reliability_table(true, shares, labels=names, pos_label="c", n_bins=5)
    frequency, _ = calibration_curve(true == "c", shares[:, 1], n_bins=5)
    np.testing.assert_allclose(one.frequency, frequency)


@pytest.mark.parametrize(("interval", "theirs"), [("wilson", "wilson"), ("exact", "exact")])
def test_intervals_match_scipy(interval: str, theirs: str) -> None:
    true = np.repeat([True, False, True, False, True, False], [0, 4, 3, 0, 11, 89])
    predicted = np.repeat([0.05, 0.95, 0.55], [4, 3, 100])
    table = reliability_table(
        true, predicted, pos_label=True, interval=interval, confidence_level=0.9
    )
    for b, (hits, n) in enumerate([(0, 4), (11, 100), (3, 3)]):
        wanted = binomtest(hits, n).proportion_ci(0.9, method=theirs)
        assert table.low[b] == pytest.approx(wanted.low, abs=1e-12)
        assert table.high[b] == pytest.approx(wanted.high, abs=1e-12)


def test_the_brier_score_decomposes_into_murphys_terms() -> None:
    true, predicted = _rows(seed=2)
    table = reliability_table(true, predicted, pos_label=True)
    parts = table.brier_decomposition()
    assert parts["brier"] == pytest.approx(brier_score_loss(true, predicted))
    # Probabilities that are equal within bins leave nothing over.
    coarse = table.mean_probability[np.searchsorted(table.upper, predicted)]
    exact = reliability_table(true, coarse, pos_label=True).brier_decomposition()
    assert exact["within_bins"] == pytest.approx(0.0, abs=1e-12)
    assert exact["reliability"] == pytest.approx(parts["reliability"])
    assert exact["uncertainty"] == pytest.approx(true.mean() * (1 - true.mean()))
    perfect = reliability_table([0, 1, 1], [0.0, 1.0, 1.0], pos_label=1).brier_decomposition()
    assert perfect["brier"] == perfect["reliability"] == 0.0
    assert perfect["resolution"] == pytest.approx(perfect["uncertainty"])


def test_errors_match_the_table() -> None:
    table = reliability_table([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75], pos_label=1, n_bins=2)
    assert table.gaps.tolist() == [0.25, 0.25]
    assert table.expected_calibration_error == table.maximum_calibration_error == 0.25
    assert table.to_frame()["count"].tolist() == [2, 2]


def test_equal_probabilities_share_one_bin() -> None:
    for strategy in ("uniform", "quantile"):
        table = reliability_table([0, 1, 1], np.full(3, 0.5), pos_label=1, strategy=strategy)
        assert table.counts.tolist() == [3]
        assert table.frequency.tolist() == [pytest.approx(2 / 3)]


def test_the_diagram_draws_the_table() -> None:
    true, predicted = _rows()
    table = reliability_table(true, predicted, pos_label=True)
    ax = table.plot()
    drawn = ax.lines[1].get_xydata()
    np.testing.assert_allclose(drawn, np.column_stack([table.mean_probability, table.frequency]))
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == pytest.approx((table.counts / len(true)).tolist())
    assert ax.get_xlabel() == "mean probability of True"
    assert f"ECE {table.expected_calibration_error:.3f}" in [
        text.get_text() for text in ax.get_legend().get_texts()
    ]


@pytest.mark.parametrize(
    ("true", "predicted", "options", "message"),
    [
        ([0, 1], [[0.5, 0.5], [0.7, 0.7]], {}, r"\[0.7, 0.7\] in row 1.*sum to 1"),
        ([0, 1], [0.5, 1.5], {}, "in row 1: probabilities must be between 0 and 1"),
        ([0, 1], [0.5, np.nan], {}, "in row 1: probabilities"),
        ([0, 0], [0.5, 0.5], {}, "give labels="),
        ([], [], {}, "one label for each row"),
        ([0, 1], [0.5, 0.5], {"labels": [0, 2]}, "class 1 in row 1 is not among labels"),
        (["a", None], [0.5, 0.5], {}, "types NoneType, str .* drop rows whose class is missing"),
        (["a", None], [0.5, 0.5], {"labels": ["a", "b"]}, "types NoneType, str cannot be sorted"),
        ([0, 1], [0.5, 0.5], {"labels": [0, "b"]}, "class 0 in row 0 is not among labels"),
        ([0, 1], [0.5, 0.5], {"labels": [1, 1]}, "name a class twice"),
        (["a", "b"], [0.5, 0.5], {"labels": "ab"}, "labels='ab': give a list of the classes"),
        ([0, 1], [0.5, 0.5], {"pos_label": "1"}, "pos_label='1' is not one of the classes"),
        ([0, 1], [0.5, 0.5], {"n_bins": 0}, "n_bins=0"),
        ([0, 1], [0.5, 0.5], {"strategy": "width"}, "strategy='width'"),
        ([0, 1], [0.5, 0.5], {"interval": "wald"}, "interval='wald'"),
        ([0, 1], [0.5, 0.5], {"confidence_level": 1.0}, "confidence_level=1.0"),
    ],
)
def test_invalid_arguments_are_refused(
    true: list, predicted: list, options: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        reliability_table(true, predicted, **options)
