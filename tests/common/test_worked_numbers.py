"""The gallery's pages have the textbooks' numbers."""

import runpy
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.integrate import quad, trapezoid
from tests.conftest import shared_data

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "gallery" / "examples"

Run = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Run a page once, without a screen, and return its variables."""
    backend = mpl.get_backend()
    plt.switch_backend("agg")
    yield cache(lambda name: runpy.run_path(str(EXAMPLES / f"{name}.py")))
    plt.close("all")
    plt.switch_backend(backend)


def test_the_table_of_eyes_and_hair_matches(run: Run) -> None:
    page = run("decision_theory/plot_bayes_rule")
    assert page["eyes"]["brown"] == pytest.approx(15 / 45)
    assert page["joint"].loc["brown", "blond"] == pytest.approx(10 / 45)
    assert page["eyes_given_hair"].loc["brown", "blond"] == pytest.approx(10 / 30)
    assert page["hair_given_eyes"].loc["blue", "red"] == pytest.approx(10 / 30)


def test_the_test_of_a_disease(run: Run) -> None:
    page = run("decision_theory/plot_bayes_rule")
    posterior = page["posterior"]
    assert posterior(0.5) == pytest.approx(0.947, abs=5e-4)
    assert posterior(0.01) == pytest.approx(0.154, abs=5e-4)
    assert page["highest_rate"] == pytest.approx(0.00101, abs=5e-6)
    assert posterior(0.01, false_positive_rate=page["highest_rate"]) == pytest.approx(0.9)
    assert posterior(0.01, times=2) < 0.9 < posterior(0.01, times=3)


def test_the_reject_region_is_below_log_9(run: Run) -> None:
    rejected, step = run("decision_theory/plot_decision_and_rejection")["rejected"], 0.01
    assert np.log(9) - step <= rejected.max() <= np.log(9)
    assert -np.log(9) <= rejected.min() <= step - np.log(9)


def test_the_likelihoods_of_the_number_game_match(run: Run) -> None:
    page = run("decision_theory/plot_maximum_likelihood")
    supports, sample = page["supports"], page["sample"]
    powers, even = (page["likelihood"](supports[name], sample) for name in supports)
    assert powers == pytest.approx(7.7e-4, rel=0.005)
    assert even == pytest.approx(1.6e-7, rel=0.005)
    assert page["likelihood"](supports["powers of two"], (16, 10)) == 0


def test_the_likeliest_coin_and_normal_distribution(run: Run) -> None:
    page = run("decision_theory/plot_maximum_likelihood")
    p = page["p"]
    assert p[page["log_likelihood"](7, 10, p).argmax()] == pytest.approx(0.7)
    assert page["maximum_likelihood"]([3.0]) == (3.0, 0.0)
    assert page["maximum_likelihood"]([1.0, 3.0]) == (2.0, 1.0)


def test_the_posterior_of_the_number_game(run: Run) -> None:
    page = run("decision_theory/plot_posterior")
    names, sample = list(page["hypotheses"]), page["sample"]
    powers, without_32 = names.index("powers of two"), names.index("powers of two\nwithout 32")
    assert page["likelihoods"](sample).argmax() == without_32
    after = page["posterior"](sample)
    assert after.argmax() == powers
    odds = (1 / 6) ** 4 / (0.01 * (1 / 5) ** 4)
    assert after[powers] / after[without_32] == pytest.approx(odds)
    assert page["posterior"](()) == pytest.approx(page["prior"])


def test_the_predictive_distribution_of_the_number_game(run: Run) -> None:
    page = run("decision_theory/plot_posterior")
    for numbers in ((), (16,), page["sample"]):
        assert page["predictive"](numbers).sum() == pytest.approx(1)
    before, after = page["predictive"]((16,)), page["predictive"](page["sample"])
    assert before[10 - 1] > 1e-3 > after[10 - 1] > 0
    assert after[32 - 1] < after[64 - 1]
    assert before[9 - 1] == after[9 - 1] == 0


@pytest.mark.parametrize("variance", [0.5, 1.0, 4.0])
def test_the_mean_with_a_prior_is_the_mode_of_the_posterior(run: Run, variance: float) -> None:
    page = run("decision_theory/plot_posterior")
    values = np.array([7.0, 9.5, 8.0])
    grid = np.linspace(4, 10, 600_001)
    log_density = -((grid - 5) ** 2) / 2
    for value in values:
        log_density -= (value - grid) ** 2 / (2 * variance)
    assert page["map_mean"](values, variance) == pytest.approx(grid[log_density.argmax()], abs=1e-5)
    assert page["shrinkage"](3, variance) == pytest.approx(3 / (3 + variance))


@pytest.mark.parametrize("values", [[3.0], [1.0, 4.0, 7.0], [8.0, 8.5, 9.0, 4.0, 6.0]])
def test_the_variance_with_a_prior_is_the_mode_of_the_posterior(
    run: Run, values: list[float]
) -> None:
    page = run("decision_theory/plot_posterior")
    grid = np.linspace(0.05, 12, 1_000_001)
    log_prior = -1 / grid - np.log(grid)
    squares = np.sum((np.array(values) - np.mean(values)) ** 2)
    log_density = log_prior - squares / (2 * grid) - len(values) / 2 * np.log(grid)
    mode = grid[log_density.argmax()]
    assert page["map_variance"](values) == pytest.approx(mode, abs=5e-5)
    drawn = page["log_posterior_of_variance"](np.array(values), grid)
    assert grid[drawn.argmax()] == pytest.approx(mode, abs=5e-5)


def test_maximum_likelihood_and_map_choose_different_models(run: Run) -> None:
    page = run("decision_theory/plot_posterior")
    assert (page["ml_model"], page["map_model"]) == (1, 2)
    assert page["model_posterior"] == pytest.approx([5 / 14, 9 / 14])


def test_the_evidence_of_a_bias(run: Run) -> None:
    page = run("decision_theory/plot_posterior")
    for heads, tosses in ((5, 10), (9, 10), (30, 40)):
        area = quad(lambda p, m=heads, n=tosses: p**m * (1 - p) ** (n - m), 0, 1)[0]
        expected = area / (area + 0.5**tosses)
        assert page["probability_of_bias"](heads, tosses) == pytest.approx(expected, rel=1e-6)
    assert page["probability_of_bias"](5, 10) < 0.5 < page["probability_of_bias"](9, 10)


def test_the_line_of_least_squares(run: Run) -> None:
    page = run("linear_models/plot_least_squares_line")
    assert page["slope"] == pytest.approx(0.8)
    assert page["intercept"] == pytest.approx(4.0)
    assert page["squared_error"] == pytest.approx(0.96)
    assert (page["absolute"], page["squared"]) == (1.5, 2.5)


def test_the_likelihood_of_a_linear_classifier(run: Run) -> None:
    page = run("linear_models/plot_logistic_likelihood")
    assert page["predictions"].tolist() == [1, 0, 1]
    assert page["accuracy"] == pytest.approx(2 / 3)
    assert page["observed"] == pytest.approx([0.982, 0.881, 0.269], abs=5e-4)
    assert page["likelihood"] == pytest.approx(0.23, abs=0.005)
    assert page["cross_entropy"] == pytest.approx(-np.log(page["likelihood"]))


def test_margins_hinge_and_insensitive_losses(run: Run) -> None:
    page = run("linear_models/plot_support_vectors")
    assert page["distances"].tolist() == [1, 2, 1]
    assert page["margin"](page["X"], page["y"], page["w"]) == 1
    assert page["margin"](page["X"], page["y"], 7 * page["w"]) == 1
    assert page["best_margin"] == pytest.approx(np.sqrt(5) / 2, abs=1e-3)
    assert page["hinge"].tolist() == [1.25, 0, 0.75]
    assert page["insensitive"].tolist() == [0, 0, 0.75]


def test_the_density_of_figure_6_13(run: Run) -> None:
    page = run("generative_models/plot_kernel_density")
    assert trapezoid(page["estimate"], page["grid"]) == pytest.approx(1, abs=1e-3)
    priors = np.array([np.mean(~page["ill"]), np.mean(page["ill"])])
    groups = [page["pressure"][page["ill"] == is_ill] for is_ill in (False, True)]
    joint = priors[:, np.newaxis] * [
        page["density"](page["grid"], rows, page["bandwidth"]) for rows in groups
    ]
    assert page["posterior"] == pytest.approx(joint[1] / joint.sum(axis=0), abs=1e-9)


def test_the_six_rules_of_table_1_2(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shared_data("heart_cleveland").parent
    monkeypatch.setenv("ARBOLEDA_DATA", str(folder))
    page = run("boosting/plot_adaboost_heart_disease")
    assert page["first_rules"] == [
        ["if thal != 3.0 or missing then sick", "if thal = 3.0 then healthy"],
        ["if ca <= 0.5 or missing then healthy", "if ca > 0.5 then sick"],
        ["if cp != 4.0 then healthy", "if cp = 4.0 then sick"],
        ["if oldpeak <= 0.75 then healthy", "if oldpeak > 0.75 then sick"],
        ["if chol <= 228.5 then healthy", "if chol > 228.5 then sick"],
        ["if restecg = 0.0 then healthy", "if restecg != 0.0 then sick"],
    ]
