"""Accuracy over coverage: the definition, the area, the thresholds it gives."""

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from arboleda.decide import accuracy_coverage_curve

mpl.use("agg")


def _rows(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    shares = draw.dirichlet(np.ones(3), size=n).round(2)
    shares[:, 2] = 1 - shares[:, 0] - shares[:, 1]
    shares = shares.clip(0, 1)
    return np.array([draw.choice(3, p=p / p.sum()) for p in shares]), shares


def test_each_point_matches_its_threshold() -> None:
    true, shares = _rows()
    curve = accuracy_coverage_curve(true, shares)
    right, confidence = shares.argmax(axis=1) == true, shares.max(axis=1)
    assert (np.diff(curve.threshold) < 0).all()
    for threshold, coverage, accuracy in zip(
        curve.threshold, curve.coverage, curve.accuracy, strict=True
    ):
        accepted = confidence >= threshold
        assert coverage == pytest.approx(accepted.mean())
        assert accuracy == pytest.approx(right[accepted].mean())
        rejected = right[~accepted].sum() / len(true)
        assert coverage * accuracy + rejected == pytest.approx(right.mean())
    assert curve.coverage[-1] == 1.0
    assert curve.risk[-1] == pytest.approx(1 - right.mean())


def test_the_area_is_the_mean_risk_over_the_orders_of_equal_rows() -> None:
    true, shares = _rows(400)
    curve = accuracy_coverage_curve(true, shares)
    right, confidence = shares.argmax(axis=1) == true, shares.max(axis=1)
    draw = np.random.default_rng(1)
    areas = []
    for _ in range(200):
        order = np.lexsort([draw.random(400), -confidence])
        wrong = np.cumsum(~right[order])
        areas.append(np.mean(wrong / np.arange(1, 401)))
    assert curve.area == pytest.approx(np.mean(areas), abs=2e-3)  # sums of 400 are no integral


def test_areas_of_a_perfect_and_of_no_order_match() -> None:
    true = np.repeat([1, 0], [700, 300])
    none = accuracy_coverage_curve(true, np.full(1000, 0.6))
    assert none.area == pytest.approx(0.3)
    best = accuracy_coverage_curve(true, np.linspace(1.0, 0.51, 1000))
    assert best.area == pytest.approx(0.3 + 0.7 * np.log(0.7), abs=1e-3)
    assert best.excess_area == pytest.approx(0.0, abs=1e-3)
    assert none.excess_area == pytest.approx(-0.7 * np.log(0.7))
    wrong = accuracy_coverage_curve([0, 0], [0.9, 0.8], labels=[0, 1])
    assert (wrong.area, wrong.excess_area) == (1.0, 0.0)


def test_thresholds_reach_a_coverage_or_an_accuracy() -> None:
    true, shares = _rows()
    curve = accuracy_coverage_curve(true, shares)
    right, confidence = shares.argmax(axis=1) == true, shares.max(axis=1)
    for coverage in (0.0, 0.3, 0.5, 0.999, 1.0):
        threshold = curve.threshold_for(coverage=coverage)
        assert (confidence >= threshold).mean() >= coverage - 1e-12
        assert (confidence > threshold).mean() < max(coverage, 1e-9)
    for accuracy in (0.0, 0.6, 0.8):
        threshold = curve.threshold_for(accuracy=accuracy)
        assert right[confidence >= threshold].mean() >= accuracy - 1e-12
        lower = np.unique(confidence[confidence < threshold])
        assert all(right[confidence >= t].mean() < accuracy for t in lower)
    wrong = accuracy_coverage_curve([0, 0], [0.9, 0.2], labels=[0, 1])
    with pytest.raises(
        ValueError, match=r"accuracy=0.9 is not reached.*maximum is 0.5000, at coverage 1"
    ):
        wrong.threshold_for(accuracy=0.9)
    with pytest.raises(ValueError, match="one of the two"):
        wrong.threshold_for()
    with pytest.raises(ValueError, match="coverage=1.5 must lie between 0 and 1"):
        wrong.threshold_for(coverage=1.5)


def test_weights_count_rows() -> None:
    true, shares = _rows(60)
    times = np.random.default_rng(2).integers(3, size=60)
    again = np.repeat(np.arange(60), times)
    by_weight = accuracy_coverage_curve(true, shares, sample_weight=times)
    by_rows = accuracy_coverage_curve(true[again], shares[again])
    np.testing.assert_allclose(by_weight.coverage, by_rows.coverage)
    np.testing.assert_allclose(by_weight.accuracy, by_rows.accuracy)
    assert by_weight.area == pytest.approx(by_rows.area)
    with pytest.raises(ValueError, match="0 for all rows|non-zero"):
        accuracy_coverage_curve(true, shares, sample_weight=times * 0)


def test_negligible_weights_leave_rows_out() -> None:
    weights = [5e-324, 1e308, 1e308]
    curve = accuracy_coverage_curve([0, 1, 0], [0.05, 0.9, 0.7], sample_weight=weights)
    assert curve.threshold.tolist() == [0.9, 0.7]
    assert curve.coverage.tolist() == [0.5, 1.0]
    assert curve.accuracy.tolist() == [1.0, 0.5]


def test_frame_and_curve_show_the_points() -> None:
    true, shares = _rows()
    curve = accuracy_coverage_curve(true, shares)
    frame = curve.to_frame()
    assert frame["coverage"].tolist() == curve.coverage.tolist()
    ax: Any = curve.plot(label="one")
    assert curve.plot(ax, label="two") is ax
    assert [line.get_label() for line in ax.lines] == ["one", "two"]
    np.testing.assert_array_equal(
        ax.lines[0].get_xydata(), np.column_stack([curve.coverage, curve.accuracy])
    )
