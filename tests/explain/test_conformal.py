"""Which sorted score is the limit, and the distribution of its coverage."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from arboleda.explain import prediction_interval, prediction_set
from arboleda.explain._conformal import compute_limit, compute_rank, read_coverage, read_coverages


class Identity(RegressorMixin, BaseEstimator):
    """Predicts its only column."""

    def fit(self, X: Any, y: Any) -> Identity:
        self.n_features_in_ = 1
        return self

    def predict(self, X: Any) -> Any:
        return np.asarray(X, dtype=float)[:, 0]


class Given(ClassifierMixin, BaseEstimator):
    """Predict the probabilities in the table."""

    def fit(self, X: Any, y: Any) -> Given:
        self.classes_ = np.arange(np.asarray(X).shape[1])
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.asarray(X, dtype=float)


@pytest.mark.parametrize("coverage", [0.1, 0.3, 0.55, 0.7, 0.8, 0.9, 0.95, 0.99])
def test_the_rank_is_the_smallest_sufficient_one(coverage: float) -> None:
    wanted = Fraction(str(coverage))
    for n in range(1, 400):
        rank = compute_rank(coverage, n)
        assert Fraction(rank, n + 1) >= wanted > Fraction(rank - 1, n + 1)


def test_rounding_up_requires_no_additional_row() -> None:
    assert 100 * 0.56 > 56  # in float64
    assert compute_rank(0.56, 99) == 56


def test_too_few_scores_have_no_limit() -> None:
    scores = np.arange(8.0)
    assert compute_limit(scores, 0.9) == math.inf
    assert compute_limit(np.arange(9.0), 0.9) == 8.0


@pytest.mark.parametrize("coverage", [0, 1, 1.5, -0.1, float("nan"), "0.9", True, None])
def test_a_coverage_must_be_between_0_and_1(coverage: Any) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        read_coverage(coverage)


def test_coverages_can_be_one_or_several() -> None:
    assert read_coverages([0.9, 0.5, 0.9]) == (0.5, 0.9)
    assert read_coverages(0.9) == (0.9,)


def test_coverage_given_the_calibration_rows_follows_the_beta_distribution() -> None:
    # With scores uniform on [0, 1] the limit itself is the share covered: of n = 39 rows and 0.9
    # it is the 36th smallest of 39, Beta(36, 4).
    draw = np.random.default_rng(0)
    n, coverage = 39, 0.9
    shares = []
    for _ in range(1500):
        y = draw.random(n)
        X = np.zeros((n, 1))
        calibrated = prediction_interval(
            Identity().fit(X, y), calibration=(X, y), coverage=coverage
        )
        shares.append(calibrated.half_width)
    law = stats.beta(36, 4)
    assert np.mean(shares) == pytest.approx(law.mean(), abs=4 * law.std() / math.sqrt(1500))
    assert np.std(shares) == pytest.approx(law.std(), rel=0.1)
    assert stats.kstest(shares, law.cdf).pvalue > 0.001


@pytest.mark.parametrize("method", ["absolute", "normalized", "quantile"])
def test_new_rows_have_the_nominal_coverage(method: str) -> None:
    # Exchangeable rows of a model that is wrong: coverage between 0.8 and 0.8 + 1 / (n + 1).
    draw = np.random.default_rng(1)
    n, n_new, n_trials = 24, 40, 250
    covered = []
    for _ in range(n_trials):
        X = draw.normal(size=(n + n_new, 1))
        y = 3 * X[:, 0] ** 2 + draw.exponential(size=len(X)) * np.abs(X[:, 0])
        model = TwoQuantiles().fit(X, y) if method == "quantile" else Identity().fit(X, y)
        options = {"spread": Steps(), "random_state": 0} if method == "normalized" else {}
        calibrated = prediction_interval(
            model, calibration=(X[:n], y[:n]), method=method, coverage=0.8, **options
        )
        covered.append(calibrated.predict(X[n:]).covers(y[n:]).mean())
    error = np.std(covered) / math.sqrt(n_trials)
    assert 0.8 - 4 * error < np.mean(covered) < 0.8 + 1 / (calibrated.n_rows + 1) + 4 * error


class Steps(RegressorMixin, BaseEstimator):
    """Mean of rows inside [-1, 1] and of those outside."""

    def fit(self, X: Any, y: Any) -> Steps:
        inside = np.abs(X[:, 0]) < 1
        self.means_ = [y[part].mean() if part.any() else 0.0 for part in (inside, ~inside)]
        return self

    def predict(self, X: Any) -> Any:
        return np.where(np.abs(X[:, 0]) < 1, *self.means_)


class TwoQuantiles(RegressorMixin, BaseEstimator):
    """Predicts two quantiles, badly."""

    def __init__(self, loss: str = "quantile", quantile: Any = (0.1, 0.9)) -> None:
        self.loss = loss
        self.quantile = quantile

    def fit(self, X: Any, y: Any) -> TwoQuantiles:
        self.n_features_in_ = 1
        return self

    def predict(self, X: Any) -> Any:
        return np.column_stack([np.abs(X[:, 0]), 2 * np.abs(X[:, 0])])


@pytest.mark.parametrize("method", ["lac", "aps"])
def test_sets_of_new_rows_have_the_nominal_coverage(method: Any) -> None:
    draw = np.random.default_rng(2)
    n, n_new, n_trials = 24, 40, 250
    covered = []
    for trial in range(n_trials):
        P = draw.dirichlet([1, 1, 1, 1], size=n + n_new)
        # The true probabilities differ from those of the classifier.
        y = np.array([draw.choice(4, p=p) for p in np.roll(P, 1, axis=1) / 2 + P / 2])
        calibrated = prediction_set(
            Given().fit(P, y), calibration=(P[:n], y[:n]), method=method, coverage=0.8,
            random_state=trial,
        )  # fmt: skip
        covered.append(calibrated.predict(P[n:]).covers(y[n:]).mean())
    error = np.std(covered) / math.sqrt(n_trials)
    assert 0.8 - 4 * error < np.mean(covered) < 0.8 + 1 / (n + 1) + 4 * error
