"""BARTRegressor: properties of its posterior draws."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.stats import binom, norm
from sklearn.exceptions import ConvergenceWarning

import arboleda
from arboleda import BARTRegressor, ModelFormatError, RandomForestRegressor
from arboleda._engine.bart import Posterior
from arboleda.bart._bart import MOVES
from arboleda.bart._posterior import compute_noisy_quantiles, compute_split_r_hat

Floats = npt.NDArray[np.float64]

pytestmark = pytest.mark.filterwarnings("ignore:the chains have not converged")


def friedman(n: int, seed: int, columns: int = 10) -> tuple[Floats, Floats, Floats]:
    """Rows, their means and noisy targets: Friedman (1991), as in section 5.2 of the paper."""
    random = np.random.default_rng(seed)
    X = random.uniform(size=(n, columns))
    mean = (
        10 * np.sin(np.pi * X[:, 0] * X[:, 1])
        + 20 * (X[:, 2] - 0.5) ** 2
        + 10 * X[:, 3]
        + 5 * X[:, 4]
    )
    return X, mean, mean + random.normal(size=n)


def small(**more: Any) -> BARTRegressor:
    parameters = {"n_estimators": 30, "n_draws": 100, "n_burn_in": 50, "random_state": 0}
    return BARTRegressor(**(parameters | more))


@pytest.fixture(scope="module")
def fitted() -> BARTRegressor:
    X, _, y = friedman(300, 0)
    return BARTRegressor(n_draws=600, random_state=0).fit(X, y)


def test_friedman_is_learned_better_than_by_a_forest(fitted: BARTRegressor) -> None:
    X, _, y = friedman(300, 0)
    new, mean, _ = friedman(2000, 1)

    def rmse(model: Any) -> float:
        return float(np.sqrt(np.mean((model.predict(new) - mean) ** 2)))

    forest = RandomForestRegressor(n_estimators=200, random_state=0).fit(X, y)
    assert rmse(fitted) < 0.75 * rmse(forest)
    assert rmse(fitted) < 1.25
    # 200 trees on 300 rows fit some of the noise, whose standard deviation is 1.
    assert 0.55 < fitted.sigma_samples_.mean() < 1.1


def test_intervals_have_their_nominal_coverage(fitted: BARTRegressor) -> None:
    new, mean, y = friedman(2000, 2)
    low, high = fitted.predict_interval(new, coverage=0.9).T
    covered = int(((low <= y) & (y <= high)).sum())
    # Rows of one model are not independent of each other: 5 % beside the binomial limits.
    lower, upper = binom.ppf([0.001, 0.999], 2000, 0.9)
    assert lower - 100 < covered < upper + 100
    low, high = fitted.predict_interval(new, coverage=0.9, kind="mean").T
    assert 0.75 < ((low <= mean) & (mean <= high)).mean() < 0.99


def test_informative_columns_are_used_more() -> None:
    X, _, y = friedman(300, 0)
    model = BARTRegressor(n_estimators=20, n_draws=400, random_state=0).fit(X, y)
    shares = model.feature_inclusion()
    assert shares.shape == (400, 10)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert model.feature_importances_[:5].min() > 2 * model.feature_importances_[5:].max()


def test_draws_mean_and_quantiles_agree(fitted: BARTRegressor) -> None:
    X = friedman(50, 3)[0]
    draws = fitted.sample_posterior(X)
    assert draws.shape == (600, 50)
    mean, std = fitted.predict(X, return_std=True)
    np.testing.assert_allclose(mean, draws.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(std, draws.std(axis=0, ddof=1), rtol=1e-9)
    np.testing.assert_array_equal(fitted.predict(X), mean)
    quantiles = fitted.predict_quantiles(X, [0.0, 0.2, 1.0], kind="mean")
    np.testing.assert_allclose(quantiles[:, 1], np.quantile(draws, 0.2, axis=0))
    np.testing.assert_array_equal(quantiles[:, [0, 2]].T, [draws.min(axis=0), draws.max(axis=0)])
    median = fitted.predict_quantiles(X, 0.5)
    assert median.shape == (50,)
    noise = np.random.default_rng(0).normal(size=draws.shape) * fitted.sigma_samples_[:, None]
    interval = fitted.predict_interval(X, 0.8)
    np.testing.assert_allclose(
        interval, np.quantile(draws + noise, [0.1, 0.9], axis=0).T, atol=0.35
    )


def _excess(q: float, draws: Floats, sigma: Floats, level: float) -> float:
    return float(norm.cdf((q - draws) / sigma).mean() - level)


def test_quantiles_of_a_mixture_solve_its_equation() -> None:
    random = np.random.default_rng(0)
    draws, sigma = random.normal(size=(40, 7)) * 3, random.uniform(0.01, 2.0, 40)
    levels = np.array([1e-6, 0.05, 0.5, 0.95, 1 - 1e-6])
    found = compute_noisy_quantiles(draws, sigma, levels)
    for i in range(7):
        for k, level in enumerate(levels):
            exact = brentq(_excess, -99, 99, (draws[:, i], sigma, level), xtol=1e-13)
            assert abs(found[i, k] - exact) < 1e-8


def test_split_r_hat_matches_values_by_hand() -> None:
    # Halves (1, 2), (3, 6) and (1, 4), (2, 3): variances 0.5, 4.5, 4.5, 0.5.
    found = compute_split_r_hat(np.array([[1.0, 2.0, 3.0, 6.0], [1.0, 4.0, 2.0, 3.0]]))
    between = np.var([1.5, 4.5, 2.5, 2.5], ddof=1)
    assert found == pytest.approx(np.sqrt((2.5 / 2 + between) / 2.5))
    assert np.isnan(compute_split_r_hat(np.ones((2, 3))))
    assert compute_split_r_hat(np.ones((2, 8))) == 1.0
    assert compute_split_r_hat(np.repeat([[0.0], [1.0]], 8, axis=1)) == np.inf


@pytest.mark.filterwarnings("error")
def test_chains_that_disagree_raise_a_warning() -> None:
    X, _, y = friedman(200, 0)
    with pytest.warns(ConvergenceWarning, match="R-hat is above 1.1"):
        model = BARTRegressor(n_draws=16, n_burn_in=0, random_state=0).fit(X, y)
    assert max(model.r_hat_.values()) > 1.1


def test_attributes_describe_the_samples(fitted: BARTRegressor) -> None:
    assert fitted.sigma_samples_.shape == (600,)
    assert fitted.trace_.shape == (2, 4, 250 + 150)
    np.testing.assert_array_equal(fitted.sigma_samples_, fitted.trace_[0, :, 250:].ravel())
    assert list(fitted.acceptance_rates_) == list(MOVES)
    assert all(0.02 < rate < 0.9 for rate in fitted.acceptance_rates_.values())
    assert list(fitted.r_hat_) == ["sigma", "mean_prediction"]
    X, _, _ = friedman(300, 0)
    np.testing.assert_allclose(
        fitted.sample_posterior(X).mean(axis=1), fitted.trace_[1, :, 250:].ravel(), rtol=1e-6
    )


def test_the_number_of_threads_changes_no_bit(tmp_path: Path) -> None:
    X, _, y = friedman(150, 4)
    X[::7, 0] = np.nan
    content = []
    for n_jobs in (1, 2):
        path = tmp_path / "model.arboleda"
        small(n_jobs=n_jobs).fit(X, y).set_params(n_jobs=None).save(path)
        content.append(path.read_bytes())
    assert content[0] == content[1]
    one = small(n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), one.set_params(n_jobs=2).predict(X))
    other = small(random_state=1).fit(X, y)
    assert (other.predict(X) != one.predict(X)).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_a_loaded_model_predicts_the_same(tmp_path: Path, sparse: bool) -> None:
    X, _, y = friedman(120, 5)
    if sparse:
        X[X < 0.5] = 0.0
    model = small().fit(csr_array(X) if sparse else X, y)
    path = tmp_path / "model.arboleda"
    model.save(path)
    for other in (arboleda.load(path), pickle.loads(pickle.dumps(model))):
        for method in ("predict", "predict_interval", "sample_posterior"):
            np.testing.assert_array_equal(getattr(other, method)(X), getattr(model, method)(X))
        assert other.r_hat_ == model.r_hat_
        np.testing.assert_array_equal(other.sigma_samples_, model.sigma_samples_)
    if sparse:
        np.testing.assert_array_equal(model.predict(csr_array(X)), model.predict(X))
        # Least squares is not computed on a sparse table, so sigma has another prior.
        assert np.corrcoef(small().fit(X, y).predict(X), model.predict(X))[0, 1] > 0.95


def test_missing_values_are_a_separate_value() -> None:
    random = np.random.default_rng(0)
    x = random.uniform(size=400)
    missing = random.random(400) < 0.3
    y = np.where(missing, 5.0, np.where(x > 0.5, 1.0, -1.0)) + random.normal(0, 0.1, 400)
    X = np.where(missing, np.nan, x)[:, None]
    model = small().fit(X, y)
    np.testing.assert_allclose(model.predict([[np.nan], [0.2], [0.8]]), [5, -1, 1], atol=0.15)
    # If no training row lacked it, both sides are equally probable: a mean with a wide interval.
    model = small().fit(X[~missing], y[~missing])
    (low, high), _ = model.predict_interval([[np.nan], [0.2]], kind="mean")
    assert high - low > 1.0


def test_categories_are_learned() -> None:
    random = np.random.default_rng(0)
    labels = np.array(["red", "green", "blue", "grey"])
    effect = {"red": 4.0, "green": 0.0, "blue": -3.0, "grey": 0.0}
    colour = random.choice(labels, 400)
    y = np.array([effect[c] for c in colour]) + random.normal(0, 0.1, 400)
    frame = pd.DataFrame({"colour": pd.Categorical(colour), "x": random.normal(size=400)})
    model = small().fit(frame, y)
    new = pd.DataFrame({"colour": labels, "x": 0.0})
    np.testing.assert_allclose(model.predict(new), list(effect.values()), atol=0.15)
    unseen = pd.DataFrame({"colour": ["pink"], "x": [0.0]})
    absent = pd.DataFrame({"colour": [None], "x": [0.0]})
    assert model.predict(unseen) == model.predict(absent)


def test_weights_divide_the_variance() -> None:
    # Half of the rows have noise of 10 and small weights: the fit is as good as on the others.
    random = np.random.default_rng(0)
    X = random.uniform(size=(600, 1))
    mean = np.where(X[:, 0] > 0.5, 5.0, 0.0)
    sd = np.where(np.arange(600) % 2, 10.0, 0.5)
    y = mean + sd * random.normal(size=600)
    weighted = small(n_draws=400).fit(X, y, sample_weight=1 / sd**2)
    plain = small(n_draws=400).fit(X, y)

    def rmse(model: Any) -> float:
        return float(np.sqrt(np.mean((model.predict(X) - mean) ** 2)))

    assert rmse(weighted) < 0.5 * rmse(plain)
    # sigma / sqrt(w) is the standard deviation of a row's noise: sigma is 1.
    assert weighted.sigma_samples_.mean() == pytest.approx(1.0, abs=0.1)


def test_weights_are_relative_and_zeros_are_ignored() -> None:
    X, _, y = friedman(100, 6)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 100)
    one = small().fit(X, y, sample_weight=weight)
    four = small().fit(X, y, sample_weight=4 * weight)
    np.testing.assert_allclose(four.predict(X), one.predict(X), rtol=1e-6)
    np.testing.assert_allclose(four.sigma_samples_, 2 * one.sigma_samples_, rtol=1e-6)
    same = small().fit(X, y, sample_weight=np.full(100, 3.0))
    np.testing.assert_array_equal(same.predict(X), small().fit(X, y).predict(X))
    weight[::3] = 0.0
    left = small().fit(X, y, sample_weight=weight)
    only = small().fit(X[weight > 0], y[weight > 0], sample_weight=weight[weight > 0])
    np.testing.assert_array_equal(left.predict(X), only.predict(X))


def test_weights_match_repeated_rows_in_distribution() -> None:
    # Given sigma, the function has the same posterior; sigma is learned from more rows.
    X, _, y = friedman(150, 7)
    times = np.random.default_rng(1).integers(1, 4, 150)
    weighted = BARTRegressor(n_draws=800, random_state=0).fit(X, y, sample_weight=times)
    repeated = BARTRegressor(n_draws=800, min_samples_leaf=10, random_state=1).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times)
    )
    new = friedman(100, 8)[0]
    (a, sd), b = weighted.predict(new, return_std=True), repeated.predict(new)
    assert np.sqrt(np.mean((a - b) ** 2)) < 0.6 * sd.mean()


def test_the_scale_of_y_does_not_matter() -> None:
    X, _, y = friedman(100, 9)
    one, other = small().fit(X, y), small().fit(X, 1024.0 * y - 7.0)
    np.testing.assert_allclose(other.predict(X), 1024.0 * one.predict(X) - 7.0, rtol=1e-4)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_rows_are_fitted(n: int) -> None:
    X, _, y = friedman(n, 10)
    model = small(n_estimators=5).fit(X, y)
    assert np.isfinite(model.predict_interval(X)).all()


def test_constant_targets_are_fitted() -> None:
    X, _, y = friedman(50, 11)
    model = small().fit(X, np.full(50, 3.25))
    np.testing.assert_array_equal(model.predict(X), 3.25)
    np.testing.assert_array_equal(model.predict_interval(X), 3.25)
    np.testing.assert_array_equal(model.sigma_samples_, 0.0)
    X[:, 3:] = 1.0
    assert (small().fit(X, y).feature_importances_[3:] == 0.0).all()
    model = small().fit(np.full((50, 2), np.nan), y)
    assert (model.posteriors_[0].leaf_counts() == 1).all()
    assert not model.feature_importances_.any()
    assert set(model.acceptance_rates_) == set(MOVES)


def test_trees_have_the_sizes_of_the_prior_without_informative_rows() -> None:
    # Noise only: of 200 trees few need other sizes than those of the prior.
    random = np.random.default_rng(0)
    model = BARTRegressor(n_draws=400, min_samples_leaf=1, random_state=0)
    model.fit(random.uniform(size=(400, 3)), random.normal(size=400))
    counts = model.posteriors_[0].leaf_counts()
    shares = [np.mean(counts == n) for n in (1, 2, 3, 4)] + [np.mean(counts >= 5)]
    np.testing.assert_allclose(shares, [0.05, 0.55, 0.28, 0.09, 0.03], atol=0.04)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_draws": 10, "n_chains": 4}, "n_draws must be a multiple of n_chains, got n_draws=10"),
        ({"n_draws": 10**9}, "GiB of memory: lower n_draws or n_estimators"),
        ({"alpha": 1.0}, "'alpha' parameter"),
        ({"k": 0.0}, "'k' parameter"),
        ({"q": 1.0}, "'q' parameter"),
        ({"nu": 0.5}, "'nu' parameter"),
    ],
)
def test_invalid_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    X, _, y = friedman(20, 0)
    with pytest.raises(ValueError, match=message):
        small(**parameters).fit(X, y)


def test_invalid_quantiles_are_refused(fitted: BARTRegressor) -> None:
    X = friedman(3, 0)[0]
    with pytest.raises(
        ValueError, match="coverage must be strictly between 0 and 1, such as 0.9, got 1"
    ):
        fitted.predict_interval(X, 1)
    with pytest.raises(ValueError, match="quantiles must be numbers strictly between 0 and 1"):
        fitted.predict_quantiles(X, [0.0])
    with pytest.raises(ValueError, match="quantiles must be numbers from 0 to 1"):
        fitted.predict_quantiles(X, [1.5], kind="mean")
    with pytest.raises(ValueError, match="kind must be 'prediction' or 'mean', got 'noise'"):
        fitted.predict_interval(X, kind="noise")  # type: ignore[arg-type]


def test_progress_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    X, _, y = friedman(30, 0)
    small(verbose=1, n_jobs=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("sweep 300 of 300, ")
    assert len(lines) == 10


def test_a_failed_fit_leaves_the_model_unchanged() -> None:
    X, _, y = friedman(30, 0)
    model = small().fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X[:, :2], np.where(y > 10, np.nan, y))
    np.testing.assert_array_equal(model.predict(X), before)


_PRESS = """
import os, signal, threading, time
import numpy as np
from arboleda import BARTRegressor
X = np.random.default_rng(0).uniform(size=(2000, 5))
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    BARTRegressor(n_draws=40_000, n_estimators=50).fit(X, X[:, 0])
except KeyboardInterrupt:
    print("stopped")
"""


def test_ctrl_c_stops_the_chains() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PRESS], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "stopped\n", done.stderr


def test_damaged_draws_are_refused(tmp_path: Path) -> None:
    X, _, y = friedman(40, 0)
    model = small().fit(X, y)
    arrays = model.posteriors_[0].arrays
    for name in ("nodes", "cuts", "n_cuts"):
        damaged = {**arrays, name: arrays[name][:-1].copy()}
        with pytest.raises(ValueError, match="posterior"):
            Posterior.from_arrays(100, 30, damaged)
    with pytest.raises(ValueError, match="nodes of no tree|does not end|fewer nodes"):
        Posterior.from_arrays(99, 30, arrays)
    path = tmp_path / "model.arboleda"
    model.posteriors_ = (*model.posteriors_, *model.posteriors_)
    model.save(path)
    with pytest.raises(ModelFormatError, match="shape of moves_ does not match"):
        arboleda.load(path)
