"""Boosting of times to an event: naive twins, curves, ties, intervals, early stopping, files."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from scipy.stats import logistic, norm
from tests.survival.times import made, structured

from arboleda import (
    HistGradientBoostingClassifier,
    HistGradientBoostingSurvival,
    explain,
    load,
    to_onnx,
)
from arboleda.metrics import concordance_index
from arboleda.survival import person_period_rows

X, Y = made(400)
Y["time"] += 0.5
KINDS: list[dict[str, Any]] = [
    {},
    {"ties": "breslow"},
    {"loss": "aft"},
    {"loss": "aft", "distribution": "logistic", "scale": 0.8},
    {"loss": "aft", "distribution": "extreme"},
    {"loss": "discrete_time"},
]


def booster(**options: Any) -> HistGradientBoostingSurvival:
    return HistGradientBoostingSurvival(**{"max_iter": 15, "random_state": 0, **options})


def model_bytes(model: HistGradientBoostingSurvival) -> bytes:
    return pickle.dumps((model.ensemble_, model.baseline_hazard_, model.unique_times_))


def naive_cox(y: Any, f: Any, *, is_efron: bool) -> tuple[Any, Any]:
    """Derivatives of the partial likelihood, event time by event time."""
    g, h = -y["event"].astype(float), np.zeros(len(y))
    theta = np.exp(f)
    for time in np.unique(y["time"][y["event"]]):
        tied = y["event"] & (y["time"] == time)
        for k in range(tied.sum()):
            share = np.where(tied & is_efron, 1 - k / tied.sum(), 1.0) * (y["time"] >= time)
            q = theta * share / np.sum(theta * share)
            g += q
            h += q * (1 - q)
    return g, h


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_scores_are_those_of_naive_newton_steps(ties: Any) -> None:
    # Every row is a leaf of its own, so that a round moves its score by -g / h.
    y = structured([1, 1, 0, 1, 1, 1, 0, 1], [2, 1, 2, 2, 3, 3, 4, 5])
    row = np.arange(8.0).reshape(-1, 1)
    model = booster(
        ties=ties, max_iter=3, learning_rate=0.3, max_leaf_nodes=None, min_samples_leaf=1,
        min_child_weight=0.0,
    ).fit(row, y)  # fmt: skip
    f = np.zeros(8)
    for _ in range(3):
        g, h = naive_cox(y, f, is_efron=ties == "efron")
        f -= 0.3 * g / h
    np.testing.assert_allclose(model.predict(row), f, rtol=1e-6)


def test_the_baseline_hazard_is_breslows() -> None:
    weight = np.random.default_rng(0).integers(0, 4, len(Y)).astype(float)
    for w in (None, weight):
        model = booster().fit(X, Y, w)
        risk = np.exp(model.predict(X)) * (1.0 if w is None else w)
        events = Y["event"] * (1.0 if w is None else w)
        times = np.unique(Y["time"][events > 0])
        steps = [
            np.sum(events[Y["time"] == time]) / np.sum(risk[Y["time"] >= time]) for time in times
        ]
        np.testing.assert_array_equal(model.unique_times_, times)
        np.testing.assert_allclose(model.baseline_hazard_, np.cumsum(steps), rtol=1e-9)
        hazard = model.predict_cumulative_hazard_function(X[:5])
        expected = np.exp(model.predict(X[:5]))[:, np.newaxis] * np.cumsum(steps)
        np.testing.assert_allclose(hazard, expected, rtol=1e-9)
        np.testing.assert_allclose(model.predict_survival_function(X[:5]), np.exp(-hazard))


@pytest.mark.parametrize("options", KINDS)
def test_models_learn_and_curves_fall_from_one(options: Any) -> None:
    model = booster(max_iter=40, **options).fit(X[:300], Y[:300])
    risk = model.predict(X[300:])
    assert model.score(X[300:], Y[300:]) == concordance_index(Y[300:], risk) > 0.65
    times = np.unique(Y["time"][:300])[:-1]
    survival = model.predict_survival_function(X[300:], times)
    assert np.all(np.diff(survival, axis=1) <= 0.0)
    assert survival.min() >= 0.0
    assert survival.max() <= 1.0
    # Larger risks have lower curves, everywhere but with hazards that need not be proportional.
    if options.get("loss") != "discrete_time":
        assert np.all(np.diff(survival[np.argsort(risk)], axis=0) <= 1e-12)
    quantiles = model.predict_quantile(X[300:], [0.2, 0.5])
    assert np.all(quantiles[:, 0] <= quantiles[:, 1])
    for row, time in zip(X[300:310], quantiles[:10, 0], strict=True):
        at = model.predict_survival_function([row], [time])[0, 0]
        assert at <= 0.8 + 1e-9
        assert options.get("loss") != "aft" or at == pytest.approx(0.8)
    assert list(model.staged_score(X[300:], Y[300:]))[-1] == model.score(X[300:], Y[300:])


def test_curves_end_with_the_training_times_unless_a_distribution_goes_on() -> None:
    last = Y["time"].max()
    for options in KINDS:
        model = booster(**options).fit(X, Y)
        if options.get("loss") == "aft":
            assert model.predict_survival_function(X[:1], [2 * last])[0, 0] > 0.0
            continue
        with pytest.warns(UserWarning, match="the curves end there"):
            curve = model.predict_survival_function(X[:1], [1.0, last + 1])
        assert np.isnan(curve).tolist() == [[False, True]]
    function = booster().fit(X, Y).predict_survival_function(X[:1], return_array=False)[0]
    assert function(0.0) == 1.0
    assert np.isnan(function(last + 1))


@pytest.mark.parametrize("options", KINDS)
def test_models_do_not_depend_on_threads_or_the_order_of_rows(options: Any) -> None:
    one = booster(n_jobs=1, **options).fit(X, Y)
    for n_jobs in (2, 3):
        assert model_bytes(booster(n_jobs=n_jobs, **options).fit(X, Y)) == model_bytes(one)
    order = np.random.default_rng(0).permutation(len(X))
    assert model_bytes(booster(**options).fit(X[order], Y[order])) == model_bytes(one)


def test_weights_are_copies_of_rows_where_ties_do_not_count() -> None:
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    for options in KINDS[1:]:
        exact = {"min_samples_leaf": 1, "periods": [5.0, 20.0, 50.0], **options}
        weighted = booster(**exact).fit(X, Y, weight)
        copied = booster(**exact).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
        np.testing.assert_allclose(weighted.predict(X), copied.predict(X), rtol=1e-6, atol=1e-9)


# Accelerated failure times


@pytest.mark.parametrize("distribution", ["normal", "logistic", "extreme"])
def test_accelerated_times_are_those_of_the_distribution(distribution: Any) -> None:
    model = booster(loss="aft", distribution=distribution, scale=0.6).fit(X, Y)
    times = np.array([0.5, 4.0, 60.0])
    z = (np.log(times) + model.predict(X[:4])[:, np.newaxis]) / 0.6
    expected = {"normal": norm.sf(z), "logistic": logistic.sf(z), "extreme": np.exp(-np.exp(z))}
    survival = model.predict_survival_function(X[:4], times)
    np.testing.assert_allclose(survival, expected[distribution], rtol=1e-9)
    hazard = model.predict_cumulative_hazard_function(X[:4], times)
    np.testing.assert_allclose(np.exp(-hazard), survival, rtol=1e-9)
    assert model.predict_survival_function(X[:1], [0.0])[0, 0] == 1.0


@pytest.mark.parametrize("distribution", ["normal", "logistic", "extreme"])
def test_the_scale_has_the_largest_likelihood_without_columns(distribution: Any) -> None:
    random = np.random.default_rng(4)
    error = {
        "normal": random.normal(size=4000),
        "logistic": random.logistic(size=4000),
        "extreme": np.log(random.exponential(size=4000)),
    }[distribution]
    time, until = np.exp(2.0 + 0.7 * error), random.uniform(2, 40, 4000)
    lower = np.where(time < until, time, until)
    y = np.column_stack([lower, np.where(time < until, time, np.inf)])
    y[:1000, 0], y[:1000, 1] = np.floor(lower[:1000]), np.ceil(y[:1000, 1])
    y[1000:1200, 0] = np.where(np.isinf(y[1000:1200, 1]), y[1000:1200, 0], 0.0)
    noise = random.normal(size=(4000, 1))
    model = booster(loss="aft", distribution=distribution, max_iter=1).fit(noise, y)
    assert model.scale_ == pytest.approx(0.7, rel=0.05)
    assert -model.ensemble_.start[0] == pytest.approx(2.0, abs=0.05)
    losses = {
        scale: booster(
            loss="aft", distribution=distribution, scale=scale, max_iter=1, early_stopping=True,
            validation_fraction=None,
        ).fit(noise, y).train_score_[0] - np.log(scale) * np.mean(y[:, 0] == y[:, 1])
        for scale in (0.9 * model.scale_, model.scale_, 1.1 * model.scale_)
    }  # fmt: skip
    assert max(losses, key=lambda scale: losses[scale]) == model.scale_
    assert model.predict_survival_function(noise[:1], [np.e**2])[0, 0] > 0.3


def test_intervals_are_read_in_every_form_and_exact_ones_are_times() -> None:
    upper = np.where(Y["event"], Y["time"], np.inf)
    frame = pd.DataFrame({"upper": upper, "lower": Y["time"]})
    expected = model_bytes(booster(loss="aft").fit(X, Y))
    for y in (frame, frame[["lower", "upper"]].to_numpy(), frame.to_records(index=False)):
        model = booster(loss="aft").fit(X, y)
        assert model_bytes(model) == expected
        assert model.score(X, y) == model.score(X, Y)


def test_concordance_of_intervals_compares_those_that_are_apart() -> None:
    random = np.random.default_rng(5)
    lower = random.integers(1, 6, 60).astype(float)
    y = np.column_stack([lower, lower + random.choice([0.0, 1.0, np.inf], 60)])
    risk = random.integers(0, 5, 60)
    agrees, pairs = 0.0, 0
    for i in range(60):
        for j in range(60):
            if y[i, 1] < y[j, 0] or (y[i, 1] == y[j, 0] < y[j, 1]):
                pairs += 1
                agrees += (risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j])
    assert concordance_index(y, risk) == pytest.approx(agrees / pairs)


def test_intervals_are_learned_from() -> None:
    random = np.random.default_rng(3)
    time = np.exp(X[:, 0] + 0.3 * random.normal(size=len(X)))
    lower = np.floor(2 * time) / 2  # seen twice in a unit of time
    y = np.column_stack([lower, np.where(random.random(len(X)) < 0.8, lower + 0.5, np.inf)])
    model = booster(loss="aft", scale=0.3, max_iter=60).fit(X[:300], y[:300])
    error = np.log(model.predict_quantile(X[300:])) - X[300:, 0]
    assert np.abs(error).mean() < 0.25
    assert model.score(X[300:], y[300:]) > 0.85


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[1.0, 2.0], [3.0, 2.5]], r"interval from 3.0 to 2.5 in row 1: the lower end is above"),
        ([[1.0, 2.0], [-1.0, 2.0]], "row 1: the lower end must be finite and not negative"),
        ([[np.inf, np.inf], [1.0, 2.0]], "row 0: the lower end must be finite"),
        ([[1.0, np.nan], [1.0, 2.0]], "row 0: the upper end is missing"),
        ([[0.0, 0.0], [1.0, 2.0]], "row 0: an event at time 0 has no logarithm"),
        ([[1.0, np.inf], [1.0, np.inf]], "no row of positive weight has the event"),
    ],
)
def test_wrong_intervals_are_named(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        booster(loss="aft").fit(X[:2], np.array(y))


def test_wrong_targets_are_named() -> None:
    with pytest.raises(ValueError, match="loss='cox' does not support: set loss='aft'"):
        booster().fit(X, np.column_stack([Y["time"], Y["time"]]))
    with pytest.raises(ValueError, match="no row of y has the event"):
        booster().fit(X, structured(False, Y["time"]))
    with pytest.raises(ValueError, match="no row of positive weight has the event"):
        booster().fit(X, Y, ~Y["event"])
    with pytest.raises(ValueError, match="among the validation rows: .* is -1.0 in row 0"):
        booster().fit(X, Y, X_val=X[:2], y_val=structured(True, [-1.0, 2.0]))
    with pytest.raises(ValueError, match="periods must be their number, or the times"):
        booster(loss="discrete_time", periods=[2.0, 1.0]).fit(X, Y)


def test_times_of_zero_and_only_events_or_ties_are_fitted() -> None:
    for options in (KINDS[0], KINDS[1], KINDS[5]):
        booster(**options).fit(X, structured(True, Y["time"] - 0.5))
        booster(**options).fit(X, structured(Y["event"], np.full(len(Y), 3.0)))


# Discrete time


def test_discrete_time_is_a_log_loss_of_person_periods() -> None:
    model = booster(loss="discrete_time", periods=[5.0, 10.0, 20.0, 200.0], max_iter=1).fit(X, Y)
    rows = person_period_rows(X, Y, [5.0, 10.0, 20.0, 200.0])
    assert rows.X.shape == (len(rows.row), X.shape[1] + 1)
    for k in range(4):
        of_period = rows.event[rows.period == k]
        assert expit(model.ensemble_.start[k]) == pytest.approx(of_period.mean(), abs=2e-6)
    raw = model._raw_scores(X[:3])
    survival = model.predict_survival_function(X[:3], [4.9, 5.0, 12.0, 20.0])
    expected = np.cumprod(1 - expit(raw), axis=1)
    np.testing.assert_allclose(survival[:, 0], 1.0)
    np.testing.assert_allclose(survival[:, 1:], expected[:, :3], rtol=1e-12)
    np.testing.assert_allclose(model.predict(X[:3]), -np.log(expected).sum(axis=1))


def test_person_periods_keep_frames_and_train_classifiers() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(len(X))[::-1])
    rows = person_period_rows(frame, Y, 8)
    assert list(rows.X.columns) == [*"abcd", "period"]
    np.testing.assert_array_equal(rows.X["a"], X[rows.row, 0])
    hazard = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8).fit(rows.X, rows.event)
    every = frame.loc[frame.index.repeat(8)].assign(period=np.tile(np.arange(8), len(frame)))
    survival = np.cumprod(1 - hazard.predict_proba(every)[:, 1].reshape(-1, 8), axis=1)
    assert concordance_index(Y, -survival.mean(axis=1)) > 0.75
    with pytest.raises(ValueError, match='X has a column "period"'):
        person_period_rows(every, np.repeat(Y, 8))
    with pytest.raises(ValueError, match="X has 10 rows, and y has 400"):
        person_period_rows(X[:10], Y)


# Everything else that the estimator shares


@pytest.mark.parametrize("options", [KINDS[0], KINDS[2], KINDS[5]])
def test_early_stopping_warm_start_and_files(options: Any, tmp_path: Path) -> None:
    seen: list[float] = []
    stopped = booster(
        max_iter=200, learning_rate=0.3, n_iter_no_change=5, early_stopping=True,
        callbacks=[lambda progress: seen.append(progress.validation_score)], **options,
    ).fit(X, Y)  # fmt: skip
    assert 0 < stopped.n_iter_ < 200
    assert stopped.validation_score_.argmax() == stopped.n_iter_
    np.testing.assert_array_equal(seen[: stopped.n_iter_], stopped.validation_score_[1:])
    assert len(stopped.train_score_) == stopped.n_iter_ + 1
    own = booster(max_iter=50, **options).fit(X[:300], Y[:300], X_val=X[300:], y_val=Y[300:])
    assert own.do_early_stopping_
    once = booster(**options).fit(X, Y)
    twice = booster(warm_start=True, **options).set_params(max_iter=7).fit(X, Y)
    twice.set_params(max_iter=15).fit(X, Y)
    assert model_bytes(twice) == model_bytes(once)
    once.save(tmp_path / "model.arboleda")
    loaded = load(tmp_path / "model.arboleda")
    again = pickle.loads(pickle.dumps(once))
    for other in (loaded, again):
        np.testing.assert_array_equal(
            other.predict_survival_function(X[:20]), once.predict_survival_function(X[:20])
        )
        np.testing.assert_array_equal(other.predict_quantile(X), once.predict_quantile(X))


def test_training_scores_with_encoded_categories() -> None:
    kind = np.digitize(X[:, 0], np.linspace(-1.5, 1.5, 9))
    table = pd.DataFrame({"kind": pd.Categorical(kind.astype(str)), "noise": X[:, 1]})
    options = {"category_encoding": "ordered", "early_stopping": True, "validation_fraction": 0.3}
    scores = booster(**options).fit(table, Y).train_score_
    alone = booster(**options | {"validation_fraction": None}).fit(table, Y).train_score_
    assert np.ptp(scores) > 0.5 * np.ptp(alone) > 0.05


def test_categories_missing_values_and_constraints() -> None:
    random = np.random.default_rng(2)
    group = random.integers(0, 120, len(X))  # more than statistics replace
    frame = pd.DataFrame(
        {"x": np.where(random.random(len(X)) < 0.1, np.nan, X[:, 0]), "group": group}
    ).astype({"group": "category"})
    y = structured(True, random.exponential(np.exp(-X[:, 0] - (group % 2))) + 0.1)
    for options in (KINDS[0], KINDS[2], KINDS[5]):
        model = booster(max_iter=40, monotonic_cst={"x": 1}, **options).fit(frame, y)
        assert model.statistics_.columns == (1,)
        levels = np.asarray(frame["group"].cat.categories)
        statistics = np.ravel(model.statistics_.values[0])[: len(levels)]
        assert np.corrcoef(statistics, levels % 2)[0, 1] > 0.4
        rising = pd.DataFrame({"x": np.linspace(-3, 3, 50), "group": frame["group"].iloc[0]})
        rising["group"] = rising["group"].astype(frame["group"].dtype)
        assert np.all(np.diff(model.predict(rising)) >= 0.0)
        assert model.score(frame, y) > 0.65


@pytest.mark.parametrize("options", [KINDS[0], KINDS[2], KINDS[5]])
def test_options_of_the_other_estimators_and_sparse_tables(options: Any) -> None:
    for other in (
        {"drop_rate": 0.3},
        {"linear_leaves": True},
        {"sampling": "goss"},
        {"subsample": 0.5},
        {"growth": "symmetric"},
        {"extra_trees": True},
        {"interaction_cst": "no_interactions"},
    ):
        model = booster(**options, **other).fit(X, Y)
        assert model.score(X, Y) > 0.65
        assert model_bytes(booster(n_jobs=2, **options, **other).fit(X, Y)) == model_bytes(model)
    dense = booster(**options).fit(X, Y)
    assert model_bytes(booster(**options).fit(sparse.csr_array(X), Y)) == model_bytes(dense)


def test_shapley_values_sum_to_the_risk() -> None:
    for options in KINDS[:4]:
        model = booster(**options).fit(X, Y)
        values = explain.shap_values(model, X[:10])
        total = np.asarray(values.values).sum(axis=1) + np.ravel(values.base_values)
        np.testing.assert_allclose(total, model.predict(X[:10]), atol=1e-9)


def test_onnx_has_the_scores_of_the_trees() -> None:
    runtime = pytest.importorskip("onnxruntime")
    for options in (KINDS[0], KINDS[5]):
        model = booster(**options).fit(X, Y)
        session = runtime.InferenceSession(to_onnx(model).SerializeToString())
        (name,) = [node.name for node in session.get_inputs()]
        (scores,) = session.run(None, {name: X[:10]})
        np.testing.assert_allclose(np.reshape(scores, (10, -1)), model._raw_scores(X[:10]))
