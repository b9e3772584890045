"""Cox regression: a naive twin of the likelihood, worked numbers, invariants and its curves."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.survival.times import made, of_numbers, structured

from arboleda.survival import CoxRegression

Floats = npt.NDArray[np.float64]


def naive_log_likelihood(
    X: Floats, y: Any, beta: Floats, ties: str, weight: Floats | None = None
) -> float:
    """The partial log-likelihood, event time by event time."""
    weight = np.ones(len(X)) if weight is None else weight
    total = 0.0
    for t in np.unique(y["time"][y["event"]]):
        later, tied = y["time"] >= t, (y["time"] == t) & y["event"]
        at_risk = weight[later] @ np.exp(X[later] @ beta)
        own, w = X[tied] @ beta, weight[tied]
        d = len(own)
        for number in range(d):
            share = number / d if ties == "efron" else 0.0
            total += w[number] * own[number]
            total -= w.mean() * np.log(at_risk - share * w @ np.exp(own))
    return float(total)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize(("alpha", "weighted"), [(0.0, False), (5.0, False), (1.0, True)])
def test_maximises_the_penalised_likelihood(ties: Any, alpha: float, weighted: bool) -> None:
    X, y = made(60, seed=3, n_features=3)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=60) if weighted else None
    model = CoxRegression(alpha=alpha, ties=ties).fit(X, y, weight)

    def loss(beta: Floats) -> float:
        return -naive_log_likelihood(X, y, beta, ties, weight) + 0.5 * alpha * float(beta @ beta)

    best = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(model.coef_, best.x, atol=1e-5)
    assert model.log_likelihood_ == pytest.approx(
        naive_log_likelihood(X, y, model.coef_, ties, weight), abs=1e-9
    )
    # The information is the negative second derivative.
    step = 1e-3 * np.eye(3)
    information = [
        [
            (
                loss(model.coef_ + a + b)
                - loss(model.coef_ + a - b)
                - loss(model.coef_ - a + b)
                + loss(model.coef_ - a - b)
            )
            / 4e-6
            for b in step
        ]
        for a in step
    ]
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    np.testing.assert_allclose(model.standard_error_, errors, rtol=1e-4)


def test_two_groups_by_hand() -> None:
    """h / (2 h + 2) 1 / (h + 2) h / (h + 1) is largest at h^2 = h + 4."""
    y = structured([True] * 4, [1.0, 2.0, 3.0, 4.0])
    model = CoxRegression().fit([[1.0], [0.0], [1.0], [0.0]], y)
    h = (1 + np.sqrt(17)) / 2
    assert np.exp(model.coef_[0]) == pytest.approx(h)
    # Breslow's steps at the column mean 1/2: the hazards are h^(1/2) and h^(-1/2).
    up, down = np.sqrt(h), 1 / np.sqrt(h)
    steps = [1 / (2 * up + 2 * down), 1 / (up + 2 * down), 1 / (up + down), 1 / down]
    np.testing.assert_allclose(model.baseline_hazard_, np.cumsum(steps))
    survival = model.predict_survival_function([[1.0]], [0.5, 1.0, 3.5])
    expected = [1.0, np.exp(-steps[0] * up), np.exp(-sum(steps[:3]) * up)]
    np.testing.assert_allclose(survival[0], expected)


def test_efron_ties_by_hand() -> None:
    """Two tied events of three rows: the second loses half of the tied hazards."""
    X = np.array([[1.0], [0.0], [0.0]])
    y = structured([True, True, False], [1.0, 1.0, 2.0])
    model = CoxRegression(alpha=1.0).fit(X, y)
    h = np.exp(model.coef_[0])

    def value(b: float) -> float:
        h = np.exp(b)
        return b - np.log(h + 2) - np.log(h + 2 - 0.5 * (h + 1)) - 0.5 * b**2

    around = [value(model.coef_[0] + e) for e in (-1e-3, 0.0, 1e-3)]
    assert around[1] == max(around)
    assert model.log_likelihood_ == pytest.approx(
        np.log(h) - np.log(h + 2) - np.log(h + 2 - 0.5 * (h + 1))
    )


def test_a_row_of_weight_2_is_the_row_twice_with_breslows_ties() -> None:
    X, y = made(60, seed=4)
    weight = np.random.default_rng(1).integers(0, 4, size=60)
    rows = np.repeat(np.arange(60), weight)
    weighted = CoxRegression(ties="breslow").fit(X, y, weight)
    repeated = CoxRegression(ties="breslow").fit(X[rows], y[rows])
    for name in ("coef_", "standard_error_", "mean_", "unique_times_", "time_range_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-8)
    np.testing.assert_allclose(weighted.baseline_hazard_, repeated.baseline_hazard_, rtol=1e-8)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_)
    assert weighted.score(X, y, weight) == pytest.approx(weighted.score(X[rows], y[rows]))
    # Efron's second event of two has a smaller denominator.
    efron = CoxRegression().fit(X, y, weight)
    twice = CoxRegression().fit(X[rows], y[rows])
    assert np.abs(efron.coef_ - twice.coef_).max() > 1e-4


def test_weights_with_efrons_ties_are_those_of_lifelines() -> None:
    X, y = made(60, seed=3, n_features=3)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=60).round(2)
    model = CoxRegression().fit(X, y, weight)
    # CoxPHFitter of lifelines 0.30.3 with weights_col and robust=False.
    np.testing.assert_allclose(model.coef_, [1.61899752, -0.29664687, 0.06759376], rtol=1e-6)
    np.testing.assert_allclose(
        model.standard_error_, [0.22834168, 0.13491959, 0.14625863], rtol=1e-6
    )
    assert model.log_likelihood_ == pytest.approx(-174.30939269244553)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_a_common_factor_of_the_weights_changes_the_errors_only(ties: Any) -> None:
    X, y = made(60, seed=5)
    one = CoxRegression(ties=ties).fit(X, y)
    four = CoxRegression(ties=ties).fit(X, y, np.full(60, 4.0))
    np.testing.assert_allclose(four.coef_, one.coef_, rtol=1e-7)
    np.testing.assert_allclose(four.baseline_hazard_, one.baseline_hazard_, rtol=1e-7)
    np.testing.assert_allclose(four.standard_error_, one.standard_error_ / 2.0, rtol=1e-6)


def test_quantiles_are_the_times_at_which_curves_fall_so_far() -> None:
    X, y = made(80, seed=6)
    model = CoxRegression().fit(X, y)
    curves = model.predict_survival_function(X)
    times = model.predict_quantile(X, [0.25, 0.5])
    for row, (first, median) in enumerate(times):
        for time, level in ((first, 0.25), (median, 0.5)):
            reached = model.unique_times_[curves[row] <= 1.0 - level]
            assert time == (reached[0] if reached.size else np.inf)
    np.testing.assert_array_equal(model.predict_quantile(X), times[:, 1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_quantile(X, 1.0)


def test_functions_are_the_rows_of_the_array() -> None:
    X, y = made(40)
    model = CoxRegression().fit(X, y)
    functions = model.predict_survival_function(X[:3], return_array=False)
    array = model.predict_survival_function(X[:3])
    np.testing.assert_array_equal([f(model.unique_times_) for f in functions], array)


def test_scale_and_shift_of_columns_and_of_times() -> None:
    X, y = made(80, seed=1)
    plain = CoxRegression().fit(X, y)
    moved = CoxRegression().fit(X * 10.0 + 3.0, structured(y["event"], y["time"] * 7.0))
    np.testing.assert_allclose(moved.coef_ * 10.0, plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(moved.predict(X * 10.0 + 3.0), plain.predict(X), atol=1e-7)
    assert moved.score(X * 10.0 + 3.0, y) == pytest.approx(plain.score(X, y))
    again = CoxRegression().fit(X[::-1], y[::-1])
    np.testing.assert_allclose(again.coef_, plain.coef_, atol=1e-9)


def test_extreme_columns_do_not_overflow() -> None:
    X, y = made(50, seed=2)
    model = CoxRegression(alpha=1.0).fit(X * 1e3, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_survival_function(X * 1e3)).all()


def test_curves_fall_and_end_with_the_training_rows() -> None:
    X, y = made(50)
    model = CoxRegression().fit(X, y)
    curves = model.predict_survival_function(X)
    assert (np.diff(curves, axis=1) <= 0).all()
    assert ((curves >= 0) & (curves <= 1)).all()
    with pytest.warns(UserWarning, match="later than the last one"):
        beyond = model.predict_survival_function(X[:1], [1.0, 1e6])
    assert np.isnan(beyond[0, 1])
    assert not np.isnan(beyond[0, 0])


def test_monotone_likelihood_warns() -> None:
    y = structured([True] * 6, np.arange(1.0, 7.0))
    X = -np.arange(6.0)[:, np.newaxis]
    with pytest.warns(ConvergenceWarning, match="alpha"):
        CoxRegression(max_iter=5).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CoxRegression(alpha=1.0).fit(X, y)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[np.nan], [1.0]], structured([True, True], [1.0, 2.0]), "column 0 is missing in row 0"),
        ([[0.0], [1.0]], structured([False, False], [1.0, 2.0]), "no row of y has the event"),
        ([[0.0], [1.0]], [1.0, 2.0], "two parts"),
        ([["a"], ["b"]], structured([True, True], [1.0, 2.0]), "has 'a' in row 0"),
    ],
)
def test_bad_input(X: Any, y: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        CoxRegression().fit(X, y)
    good = structured([True, False], [1.0, 2.0])
    with pytest.raises(ValueError, match="no row of positive weight has the event"):
        CoxRegression().fit([[0.0], [1.0]], good, [0.0, 1.0])
    with pytest.raises(ValueError, match="Negative values"):
        CoxRegression().fit([[0.0], [1.0]], good, [1.0, -1.0])
    with pytest.raises(ValueError, match="alpha"):
        CoxRegression(alpha=-1.0).fit([[0.0], [1.0]], structured([True, True], [1.0, 2.0]))


def test_clones() -> None:
    model = CoxRegression(alpha=2.0, ties="breslow")
    assert clone(model).get_params() == model.get_params()


class CoxOfNumbers(CoxRegression):
    """For scikit-learn's checks, which pass numbers as y."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(X, of_numbers(y), sample_weight)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return super().score(X, of_numbers(y), sample_weight)


@parametrize_with_checks(
    [CoxOfNumbers(alpha=1.0, ties="breslow")],
    expected_failed_checks=lambda _: {
        "check_dtype_object": "labels are no times: the message says what y must be"
    },
    xfail_strict=True,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)
