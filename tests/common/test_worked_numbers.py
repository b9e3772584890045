"""The gallery's page of decision theory has the textbook's numbers."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.integrate import quad

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "gallery" / "examples"


@pytest.fixture(scope="module")
def page() -> Iterator[dict[str, Any]]:
    backend = mpl.get_backend()
    plt.switch_backend("agg")
    yield runpy.run_path(str(EXAMPLES / "plot_decision_theory.py"))
    plt.close("all")
    plt.switch_backend(backend)


def test_the_line_of_least_squares(page: dict[str, Any]) -> None:
    assert page["slope"] == pytest.approx(0.8)
    assert page["intercept"] == pytest.approx(4.0)
    assert page["squared_error"] == pytest.approx(0.96)


@pytest.mark.parametrize("variance", [0.5, 1.0, 4.0])
def test_the_mean_with_a_prior_is_the_mode_of_the_posterior(
    page: dict[str, Any], variance: float
) -> None:
    values = np.array([7.0, 9.5, 8.0])
    grid = np.linspace(4, 10, 600_001)
    log_density = -((grid - 5) ** 2) / 2
    for value in values:
        log_density -= (value - grid) ** 2 / (2 * variance)
    assert page["map_mean"](values, variance) == pytest.approx(grid[log_density.argmax()], abs=1e-5)
    assert page["shrinkage"](3, variance) == pytest.approx(3 / (3 + variance))


def test_the_evidence_of_a_bias(page: dict[str, Any]) -> None:
    for heads, tosses in ((5, 10), (9, 10), (30, 40)):
        area = quad(lambda p, m=heads, n=tosses: p**m * (1 - p) ** (n - m), 0, 1)[0]
        expected = area / (area + 0.5**tosses)
        assert page["probability_of_bias"](heads, tosses) == pytest.approx(expected, rel=1e-6)
    assert page["probability_of_bias"](5, 10) < 0.5 < page["probability_of_bias"](9, 10)


def test_the_rejected_region_is_below_log_9(page: dict[str, Any]) -> None:
    step = 0.01
    assert np.log(9) - step <= page["rejected"].max() <= np.log(9)
    assert -np.log(9) <= page["rejected"].min() <= step - np.log(9)


def test_the_test_of_a_disease(page: dict[str, Any]) -> None:
    posterior = page["posterior"]
    assert posterior(0.5) == pytest.approx(0.947, abs=5e-4)
    assert posterior(0.01) == pytest.approx(0.154, abs=5e-4)
    assert page["highest_rate"] == pytest.approx(0.00101, abs=5e-6)
    assert posterior(0.01, alarmed=page["highest_rate"]) == pytest.approx(0.9)
    assert posterior(0.01, times=2) < 0.9 < posterior(0.01, times=3)
