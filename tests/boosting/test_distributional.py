"""Boosting of a distribution's parameters, from its definition."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import integrate

from arboleda import DistributionalBoostingRegressor, load
from arboleda.boosting import PredictedDistribution
from arboleda.explain import prediction_interval, shap_values

Floats = npt.NDArray[np.float64]

FAMILIES = {
    "normal": {"loc": 0.4, "scale": 1.7},
    "lognormal": {"loc": 0.3, "scale": 0.6},
    "laplace": {"loc": -0.4, "scale": 0.9},
    "student_t": {"loc": 0.5, "scale": 1.2, "df": 3.5},
    "gamma": {"mean": 2.4, "shape": 1.6},
    "poisson": {"mean": 2.2},
    "negative_binomial": {"mean": 2.7, "size": 1.3},
    "zero_inflated_poisson": {"rate": 2.5, "zero_probability": 0.3},
}
_MODEL = {"n_jobs": 1, "random_state": 0, "early_stopping": False}


def draw(distribution: str, n: int = 1500, seed: int = 0) -> tuple[Floats, Floats]:
    """Draw rows whose first parameter depends on column 0, the second on column 1."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    dist = PredictedDistribution(distribution, **make_parameters(distribution, X))
    return X, dist.rvs(random_state=seed).astype(np.float64)


def make_parameters(distribution: str, X: Floats) -> dict[str, Floats]:
    values = {name: np.full(len(X), value) for name, value in FAMILIES[distribution].items()}
    first, *others = values
    step = np.where(X[:, 0] > 0, 0.5, -0.5)
    values[first] = values[first] + step if first == "loc" else values[first] * np.exp(step)
    if others:
        values[others[0]] = values[others[0]] * np.exp(np.where(X[:, 1] > 0, 0.5, -0.5))
    return values


# Distributions


@pytest.mark.parametrize("name", FAMILIES)
def test_moments_quantiles_and_draws_belong_together(name: str) -> None:
    dist = PredictedDistribution(name, **FAMILIES[name])
    draws = dist.rvs(40_000, random_state=0)
    assert draws.shape == (40_000, 1)
    assert dist.rvs(random_state=1).shape == (1,)
    error = draws.std() / 200
    assert abs(draws.mean() - dist.mean()[0]) < 4 * error
    if name != "student_t":
        assert dist.std()[0] == pytest.approx(draws.std(), rel=0.05)
    levels = np.array([[0.05], [0.3], [0.5], [0.9]])
    values = dist.ppf(levels)
    assert values.shape == (4, 1)
    if dist.is_discrete:
        assert (dist.cdf(values) >= levels - 1e-12).all()
        assert (dist.cdf(values - 1) < levels).all()
        counts = np.arange(60.0)
        np.testing.assert_allclose(np.cumsum(dist.pmf(counts)), dist.cdf(counts), atol=1e-9)
        with pytest.raises(AttributeError, match="use logpmf"):
            dist.pdf(1.0)
    else:
        np.testing.assert_allclose(dist.cdf(values), levels, atol=1e-9)
        total = integrate.quad(lambda x: dist.pdf(x)[0], *dist.ppf([[1e-7], [0.7]]).ravel())[0]
        assert total == pytest.approx(0.7, abs=1e-4)
        with pytest.raises(AttributeError, match="use logpdf"):
            dist.pmf(1.0)
    lower, upper = dist.interval(0.8)
    np.testing.assert_allclose([lower, upper], dist.ppf([[0.1], [0.9]]))
    assert dist.median() == dist.ppf(0.5)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("y", [0.0, 1.0, 3.0, 9.0])
def test_crps_is_the_integral_of_its_definition(name: str, y: float) -> None:
    dist = PredictedDistribution(name, **FAMILIES[name])
    if dist.is_discrete:
        counts = np.arange(400.0)
        expected = ((dist.cdf(counts) - (counts >= y)) ** 2).sum()
    else:
        y += 0.01
        left = integrate.quad(lambda x: dist.cdf(x)[0] ** 2, -np.inf, y, limit=200)[0]
        right = integrate.quad(lambda x: (1 - dist.cdf(x)[0]) ** 2, y, np.inf, limit=200)[0]
        expected = left + right
    assert dist.crps(y)[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("mean", "size"), [(1e-9, 0.5), (3.0, 2e4), (400.0, 0.2), (900.0, 50.0)])
def test_crps_of_far_negative_binomial_distributions(mean: float, size: float) -> None:
    dist = PredictedDistribution("negative_binomial", mean=mean, size=size)
    counts = np.arange(60_000.0)
    expected = ((dist.cdf(counts) - (counts >= 5)) ** 2).sum()
    assert dist.crps(5)[0] == pytest.approx(expected, rel=1e-6)


def test_distributions_can_be_indexed_and_shown() -> None:
    dist = PredictedDistribution("normal", loc=[0.0, 1.0, 2.0], scale=1.0)
    assert len(dist) == 3
    assert dist[1:].mean().tolist() == [1.0, 2.0]
    assert dist[np.array([True, False, True])].mean().tolist() == [0.0, 2.0]
    assert dist.to_frame().shape == (3, 2)
    assert "normal" in repr(dist)
    assert len(dist.plot().collections) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"distribution": "cauchy"}, "distribution='cauchy' is unknown"),
        ({"distribution": "normal", "loc": [0.0]}, "has the parameters loc, scale, got loc"),
        ({"distribution": "normal", "loc": 0.0, "scale": [1, 0]}, "positive, got 0.0 in row 1"),
        ({"distribution": "poisson", "mean": np.nan}, "mean must be positive, got nan in row 0"),
        ({"distribution": "poisson", "mean": np.ones((2, 2))}, "has shape (2, 2)"),
    ],
)
def test_wrong_parameters_are_errors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        PredictedDistribution(**arguments)


# Models


@pytest.mark.parametrize("name", FAMILIES)
def test_parameters_of_simulated_rows_are_recovered(name: str) -> None:
    X, y = draw(name, 6000)
    model = DistributionalBoostingRegressor(name, max_leaf_nodes=6, **_MODEL).fit(X, y)
    X_test, y_test = draw(name, 3000, seed=1)
    dist = model.predict_dist(X_test)
    truth = PredictedDistribution(name, **make_parameters(name, X_test))
    constant = PredictedDistribution(name, **FAMILIES[name])
    regret = (dist.nll(y_test) - truth.nll(y_test)).mean()
    assert regret < 0.35 * (constant.nll(y_test) - truth.nll(y_test)).mean()
    groups = [(X_test[:, 0] > 0) == side for side in (False, True)]
    first = next(iter(truth.parameters))
    for rows in groups:
        found, expected = (np.median(each.parameters[first][rows]) for each in (dist, truth))
        assert found == pytest.approx(expected, abs=0.25)
    np.testing.assert_array_equal(model.predict(X_test), dist.mean())


@pytest.mark.parametrize("rule", ["nll", "crps"])
@pytest.mark.parametrize("name", ["normal", "lognormal", "laplace"])
def test_the_history_is_the_scoring_rule(name: str, rule: str) -> None:
    X, y = draw(name)
    model = DistributionalBoostingRegressor(
        name, scoring_rule=rule, max_iter=20, n_jobs=1, random_state=0, early_stopping=True
    )
    model.fit(X[:1000], y[:1000], X_val=X[1000:], y_val=y[1000:])
    dist, target = model.predict_dist(X[1000:]), y[1000:]
    if rule == "crps" and name == "lognormal":
        normal = PredictedDistribution("normal", **dist.parameters)
        losses = normal.crps(np.log(target))
    else:
        losses = getattr(dist, rule)(target)
    assert model.validation_score_[-1] == pytest.approx(-losses.mean(), rel=1e-9)
    assert model.validation_score_[-1] > model.validation_score_[0]


@pytest.mark.parametrize(
    "name", ["student_t", "gamma", "poisson", "negative_binomial", "zero_inflated_poisson"]
)
def test_the_history_is_the_negative_log_likelihood(name: str) -> None:
    X, y = draw(name)
    model = DistributionalBoostingRegressor(
        name, max_iter=10, n_jobs=1, early_stopping=True, validation_fraction=None, random_state=0
    ).fit(X, y)
    assert model.train_score_[-1] == pytest.approx(-model.predict_dist(X).nll(y).mean(), rel=1e-9)
    assert model.train_score_[-1] > model.train_score_[0]


def boost_naively(x: Floats, y: Floats, rounds: int, rate: float, weight: Floats) -> Floats:
    """Return mu and log s after rounds of stumps, from the formulas of Duan et al. (2020)."""
    mean = np.average(y, weights=weight)
    spread = np.sqrt(np.average((y - mean) ** 2, weights=weight))
    scores = np.column_stack([np.full(len(y), mean), np.full(len(y), np.log(spread))])
    for _ in range(rounds):
        scale = np.exp(scores[:, 1])
        z = (y - scores[:, 0]) / scale
        information = np.column_stack([1 / scale**2, np.full(len(y), 2.0)])
        natural = np.column_stack([-z / scale, 1 - z**2]) / information
        pull, mass = weight[:, None] * information * natural, weight[:, None] * information
        best, sides = -np.inf, None
        for cut in np.unique(x)[1:]:
            halves = [x < cut, x >= cut]
            gain = sum((pull[half].sum(0) ** 2 / mass[half].sum(0)).sum() for half in halves)
            if gain > best:
                best, sides = gain, halves
        assert sides is not None
        for half in sides:
            step = -pull[half].sum(0) / mass[half].sum(0)
            step[1] = np.log1p(2 * step[1]) / 2 if step[1] > 0 else max(step[1], -0.5)
            scores[half] += rate * step
    return scores


@pytest.mark.parametrize("weighted", [False, True])
def test_stumps_are_those_of_a_naive_implementation(weighted: bool) -> None:
    random = np.random.default_rng(3)
    x = random.integers(0, 6, size=300).astype(np.float64)
    y = 40 * x + (5 + 8 * (x > 2)) * random.normal(size=300)
    weight = random.integers(1, 4, size=300).astype(np.float64) if weighted else np.ones(300)
    model = DistributionalBoostingRegressor(
        max_iter=8, learning_rate=0.3, max_leaf_nodes=2, subsample=1.0, min_samples_leaf=1, **_MODEL
    )
    model.fit(x[:, None], y, sample_weight=weight if weighted else None)
    expected = boost_naively(x, y, 8, 0.3, weight)
    dist = model.predict_dist(x[:, None])
    np.testing.assert_allclose(dist.parameters["loc"], expected[:, 0], rtol=1e-9)
    np.testing.assert_allclose(dist.parameters["scale"], np.exp(expected[:, 1]), rtol=1e-9)


@pytest.mark.parametrize("rule", ["nll", "crps"])
def test_units_of_the_target_do_not_matter(rule: str) -> None:
    X, y = draw("normal")
    model = DistributionalBoostingRegressor(scoring_rule=rule, max_iter=15, **_MODEL)
    dist = model.fit(X, y).predict_dist(X)
    scaled = model.fit(X, 2.0**20 * y).predict_dist(X)
    np.testing.assert_allclose(scaled.mean(), 2.0**20 * dist.mean(), rtol=1e-9)
    np.testing.assert_allclose(scaled.std(), 2.0**20 * dist.std(), rtol=1e-9)


@pytest.mark.parametrize("name", ["normal", "student_t", "zero_inflated_poisson"])
def test_threads_do_not_change_a_byte(name: str, tmp_path: Path) -> None:
    X, y = draw(name, 5000)
    data = []
    for n_jobs in (1, 3):
        model = DistributionalBoostingRegressor(
            name, max_iter=8, n_jobs=n_jobs, random_state=0, early_stopping=True
        ).fit(X, y)
        model.set_params(n_jobs=1).save(tmp_path / "model")
        data.append((tmp_path / "model").read_bytes())
    assert data[0] == data[1]


def test_files_and_pickles_predict_the_same(tmp_path: Path) -> None:
    X, y = draw("negative_binomial")
    model = DistributionalBoostingRegressor("negative_binomial", max_iter=5, **_MODEL).fit(X, y)
    model.save(tmp_path / "model")
    for copy in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        for name, values in copy.predict_dist(X).parameters.items():
            np.testing.assert_array_equal(values, model.predict_dist(X).parameters[name])


def test_missing_values_categories_and_warm_start() -> None:
    X, y = draw("normal", 2000)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["kind"] = pd.Categorical(np.where(y > 1, "high", "low"))
    frame.loc[::7, "a"] = np.nan
    model = DistributionalBoostingRegressor(max_iter=10, warm_start=True, **_MODEL).fit(frame, y)
    assert model.is_categorical_.tolist() == [False, False, False, True]
    once = DistributionalBoostingRegressor(max_iter=20, **_MODEL).fit(frame, y)
    continued = model.set_params(max_iter=20).fit(frame, y)
    np.testing.assert_array_equal(once.predict(frame), continued.predict(frame))
    assert once.score(frame, y) > 0.3


def test_quantiles_intervals_and_conformal_correction() -> None:
    X, y = draw("student_t", 4000)
    model = DistributionalBoostingRegressor(max_iter=60, **_MODEL).fit(X[:2000], y[:2000])
    dist = model.predict_dist(X)
    intervals = model.predict_interval(X, 0.8)
    np.testing.assert_array_equal(intervals, model.predict_quantiles(X, [0.1, 0.9]))
    np.testing.assert_array_equal(intervals, np.column_stack(dist.interval(0.8)))
    np.testing.assert_array_equal(model.predict_quantiles(X, 0.5), dist.median())
    calibrated = prediction_interval(
        model, calibration=(X[2000:3000], y[2000:3000]), method="quantile", coverage=0.8
    )
    corrected = calibrated.predict(X[3000:])
    assert abs(corrected.covers(y[3000:]).mean() - 0.8) < 0.04
    with pytest.raises(ValueError, match="strictly between 0 and 1, got 1"):
        model.predict_quantiles(X, [0.5, 1.0])
    with pytest.raises(ValueError, match="coverage must be strictly between"):
        model.predict_interval(X, 1.0)


def test_shapley_values_add_up_to_each_parameter() -> None:
    X, y = draw("gamma", 600)
    model = DistributionalBoostingRegressor("gamma", max_iter=5, **_MODEL).fit(X, y)
    explained = shap_values(model, X[:20])
    total = explained.values.sum(axis=1) + explained.base_values
    parameters = model.predict_dist(X[:20]).parameters
    np.testing.assert_allclose(np.exp(total), np.column_stack([*parameters.values()]), rtol=1e-6)


# Bad input


@pytest.mark.parametrize(
    ("distribution", "value", "message"),
    [
        ("gamma", 0.0, "distribution='gamma' requires strictly positive y, but y is 0.0 in row 3"),
        ("lognormal", -2.0, "'lognormal' requires strictly positive y, but y is -2.0 in row 3"),
        ("poisson", 1.5, "'poisson' requires y of counts, integers from 0 on, but y is 1.5 in row"),
        ("zero_inflated_poisson", -1.0, "integers from 0 on, but y is -1.0 in row 3"),
        ("normal", np.inf, "infinity"),
    ],
)
def test_targets_outside_of_the_support_are_errors(
    distribution: str, value: float, message: str
) -> None:
    X = np.arange(40.0).reshape(-1, 1)
    y = np.ones(40)
    y[3] = value
    with pytest.raises(ValueError, match=message):
        DistributionalBoostingRegressor(distribution).fit(X, y)
    if np.isfinite(value):  # a row of weight 0 is ignored
        DistributionalBoostingRegressor(distribution).fit(X, y, sample_weight=np.arange(40) != 3)


def test_wrong_combinations_are_errors() -> None:
    X = np.arange(40.0).reshape(-1, 1)
    with pytest.raises(ValueError, match="scoring_rule='crps' is supported for the distributions"):
        DistributionalBoostingRegressor("gamma", scoring_rule="crps").fit(X, np.ones(40))
    with pytest.raises(ValueError, match="0 in every row"):
        DistributionalBoostingRegressor("poisson").fit(X, np.zeros(40))
    with pytest.raises(ValueError, match="'distribution' parameter"):
        DistributionalBoostingRegressor("cauchy").fit(X, np.ones(40))


@pytest.mark.parametrize("name", FAMILIES)
def test_outliers_constants_and_many_rounds_stay_finite(name: str) -> None:
    X, y = draw(name, 300)
    y[7] = 1e6  # one outlier
    y[X[:, 2] > 0.5] = 2.0  # a region without any spread
    model = DistributionalBoostingRegressor(name, max_iter=400, learning_rate=0.5, **_MODEL)
    for target in (y, np.full(300, 3.0)):
        dist = model.fit(X, target).predict_dist(X)
        for values in (*dist.parameters.values(), dist.nll(target), dist.crps(target)):
            assert np.isfinite(values).all()
    if name in {"normal", "laplace", "student_t"}:
        np.testing.assert_allclose(dist.mean(), 3.0, atol=1e-6)


def test_student_t_is_robust_where_the_normal_distribution_is_not() -> None:
    X, y = draw("normal")
    y[::50] += 300.0
    clean = np.arange(len(y)) % 50 != 0
    losses = [
        DistributionalBoostingRegressor(name, max_iter=50, **_MODEL)
        .fit(X, y)
        .predict_dist(X)
        .crps(y)[clean]
        .mean()
        for name in ("student_t", "normal")
    ]
    assert losses[0] < 0.2 * losses[1]
