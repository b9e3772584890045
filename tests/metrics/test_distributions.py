"""The table of predicted distributions, from its definitions."""

import math
import re
from typing import Any

import numpy as np
import pytest

from arboleda.boosting import PredictedDistribution
from arboleda.metrics import distribution_table


def make_normal(n: int, scale: float = 1.0) -> PredictedDistribution:
    return PredictedDistribution("normal", loc=np.zeros(n), scale=scale)


def test_means_and_standard_errors_are_those_of_the_rows() -> None:
    y = np.random.default_rng(0).normal(size=400)
    dist = make_normal(400)
    table = distribution_table(y, dist, coverages=(0.5, 0.8))
    for name, values in {
        "nll": dist.nll(y),
        "crps": dist.crps(y),
        "coverage@0.8": np.abs(y) <= 1.2815515655446004,
        "width@0.5": np.full(400, 2 * 0.6744897501960817),
    }.items():
        assert table.metrics[name] == pytest.approx(values.mean())
        assert table.standard_errors[name] == pytest.approx(
            values.std(ddof=1) / math.sqrt(400), abs=1e-15
        )
    assert math.isnan(table.standard_errors["calibration_error"])
    assert table.n_rows == 400


def test_transforms_of_a_continuous_target_are_counted() -> None:
    y = np.random.default_rng(1).normal(size=1000)
    dist = make_normal(1000, scale=0.5)
    table = distribution_table(y, dist)
    expected = np.histogram(dist.cdf(y), bins=10, range=(0, 1))[0] / 1000
    np.testing.assert_allclose(table.pit, expected, atol=1e-12)
    levels = (np.arange(100) + 0.5) / 100
    shares = np.array([(dist.cdf(y) <= level).mean() for level in levels])
    assert table.metrics["calibration_error"] == pytest.approx(np.abs(shares - levels).mean())
    calibrated = distribution_table(y, make_normal(1000))
    assert calibrated.metrics["calibration_error"] < 0.02 < table.metrics["calibration_error"]


def test_transforms_of_counts_are_spread_over_their_step() -> None:
    dist = PredictedDistribution("poisson", mean=[math.log(2.0), 1.0])
    table = distribution_table([0, 0], dist)  # F steps from 0 to 0.5, and from 0 to exp(-1)
    first = np.repeat([0.2, 0.0], 5)
    edges = np.linspace(0, 1, 11)
    second = np.diff(np.minimum(edges / math.exp(-1), 1.0))
    np.testing.assert_allclose(table.pit, (first + second) / 2, atol=1e-12)
    random = np.random.default_rng(0)
    y = random.poisson(3.0, size=4000)
    calibrated = distribution_table(y, PredictedDistribution("poisson", mean=np.full(4000, 3.0)))
    assert np.abs(calibrated.pit - 0.1).max() < 0.015


def test_one_row_has_no_standard_errors() -> None:
    table = distribution_table([0.0], make_normal(1))
    assert math.isnan(table.standard_errors["crps"])
    assert len(table.plot().patches) >= 10


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0.0], None), TypeError, "must be a PredictedDistribution, got NoneType"),
        (([0.0, 1.0], make_normal(3)), ValueError, "y has 2 rows and dist 3"),
        (([], make_normal(1)), ValueError, "y has the shape (0,)"),
        (([0.0, np.nan], make_normal(2)), ValueError, "y is nan in row 1"),
        (([0.5], PredictedDistribution("poisson", mean=1.0)), ValueError, "y is 0.5 in row 0"),
    ],
)
def test_wrong_arguments_are_errors(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        distribution_table(*arguments)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        distribution_table([0.0], make_normal(1), coverages=[1.0])
