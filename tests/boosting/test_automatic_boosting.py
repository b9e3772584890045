"""`BoostingClassifier`, `BoostingRegressor`: parameters chosen by held-out rows."""

import math
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import (
    log_loss,
    mean_absolute_error,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_squared_error,
    mean_tweedie_deviance,
)

import arboleda
from arboleda import (
    BoostingClassifier,
    BoostingRegressor,
    HistGradientBoostingRegressor,
    explain,
)
from arboleda._base.folds import fold_splits
from arboleda.boosting import BoostingRound
from arboleda.boosting import _automatic_boosting as automatic
from arboleda.boosting._held_out import (
    compute_mean_and_error,
    compute_plus_bounds,
    compute_row_losses,
)
from arboleda.boosting._losses import Loss, classification_loss, regression_loss

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(400, 4))
X[RANDOM.random(X.shape) < 0.05] = np.nan
SCORE = np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2]) + 0.5 * RANDOM.normal(size=400)
CLASSES = np.digitize(SCORE, [-0.7, 0.7])
# Without searching, so that a fit is quick.
QUICK: dict[str, Any] = {"effort": "quick", "random_state": 0}


def folds_of(model: Any, target: Any, *, classes: bool) -> list[Any]:
    n_folds = {"quick": 3, "normal": 5, "high": 5}[model.effort]
    numbers = np.arange(len(target))
    return list(
        fold_splits(n_folds, target.astype(float), numbers, stratify=classes, seed=model.seed_)
    )


# The held-out rows


def test_held_out_predictions_are_by_the_member_that_was_not_fitted_on_the_row() -> None:
    model = BoostingRegressor(**QUICK).fit(X, SCORE)
    table = model._check_input(X)
    for member, (_, held_out) in zip(
        model.members_, folds_of(model, SCORE, classes=False), strict=True
    ):
        by_member = member.scores(table)[held_out, 0]
        np.testing.assert_allclose(model.cv_predictions_[held_out], by_member, rtol=1e-12)


def test_held_out_predictions_do_not_depend_on_the_target_of_the_row() -> None:
    """A changed target changes no round of the member that the row was held out from.

    Only where that member stops may change, so its rounds are fixed by a single tree's patience.
    """
    one = 17
    options: dict[str, Any] = {**QUICK, "n_iter_no_change": 1, "max_leaf_nodes": 2}
    model = BoostingRegressor(**options).fit(X, SCORE)
    changed = SCORE.copy()
    changed[one] += 1e-6
    again = BoostingRegressor(**options).fit(X, changed)
    assert again.report_.n_rounds == model.report_.n_rounds
    assert again.cv_predictions_[one] == model.cv_predictions_[one]
    assert (again.cv_predictions_ != model.cv_predictions_).any()
    error = np.abs(SCORE - model.cv_predictions_).mean()
    assert error > np.abs(SCORE - model.predict(X)).mean()


def test_probabilities_of_held_out_rows() -> None:
    model = BoostingClassifier(**QUICK).fit(X, CLASSES)
    assert model.cv_predictions_.shape == (400, 3)
    np.testing.assert_allclose(model.cv_predictions_.sum(axis=1), 1.0, rtol=1e-12)
    loss = log_loss(CLASSES, model.cv_predictions_)
    assert model.report_.cv_loss == pytest.approx(loss, rel=1e-9)
    assert log_loss(CLASSES, model.predict_proba(X)) < loss < math.log(3)


def test_rows_of_weight_zero_are_in_no_fold() -> None:
    weight = np.where(np.arange(400) % 4 == 0, 0.0, 1.5)
    wild = np.where(weight > 0.0, SCORE, 1e9)
    model = BoostingRegressor(**QUICK).fit(X, wild, sample_weight=weight)
    np.testing.assert_array_equal(np.isnan(model.cv_predictions_), weight == 0.0)
    assert model.fold_sizes_.sum() == 300
    assert np.abs(model.predict(X)).max() < 10.0


def test_validation_rows_take_the_place_of_folds() -> None:
    model = BoostingRegressor(random_state=0)
    model.fit(X[:300], SCORE[:300], X_val=X[300:], y_val=SCORE[300:])
    assert np.isnan(model.cv_predictions_).all()
    assert model.fold_sizes_.tolist() == [100]
    table = model._check_input(X[300:])
    errors = np.sort(np.abs(SCORE[300:] - model.members_[0].scores(table)[:, 0]))
    np.testing.assert_allclose(model.cv_residuals_[:, 0], errors, rtol=1e-12)
    # With one member: its prediction plus and minus an order statistic (split conformal).
    middle = model.members_[0].scores(model._check_input(X[:5]))[:, 0]
    intervals = model.predict_interval(X[:5], coverage=0.8)
    np.testing.assert_allclose(intervals[:, 1] - middle, errors[math.ceil(101 * 0.8) - 1])
    np.testing.assert_allclose(middle - intervals[:, 0], errors[math.ceil(101 * 0.8) - 1])


def test_leaves_are_refitted_on_all_rows() -> None:
    model = BoostingRegressor(**QUICK).fit(X, SCORE)
    tree = model.ensemble_.trees[0]
    assert tree.n_node_samples[0] == 400
    assert model.members_[0].trees[0].n_node_samples[0] < 400
    # A leaf's value: learning rate times the mean residual of all its rows, by the members.
    leaf = tree.apply(model._check_input(X))
    start = SCORE.mean()
    for node in np.unique(leaf):
        mean = 0.1 * np.mean(SCORE[leaf == node] - start) / len(model.members_)
        assert tree.value[node, 0, 0] == pytest.approx(mean, rel=1e-9)


# Losses of rows


@pytest.mark.parametrize("task", ["binary", "classes", "exponential"])
def test_losses_of_classes(task: str) -> None:
    n_classes = 4 if task == "classes" else 2
    y = RANDOM.integers(0, n_classes, 50)
    raw = RANDOM.normal(size=(50, n_classes if task == "classes" else 1))
    loss = classification_loss("exponential" if task == "exponential" else "log_loss", n_classes)
    losses = compute_row_losses(loss, y.astype(float), raw)
    if task == "exponential":
        np.testing.assert_allclose(losses, np.exp(-(2 * y - 1) * raw[:, 0]), rtol=1e-9)
    else:
        expected = log_loss(y, loss.predictions(raw), labels=range(n_classes))
        assert losses.mean() == pytest.approx(expected, rel=1e-12)


def test_losses_of_probabilities_that_round_to_0_or_1() -> None:
    loss = classification_loss("log_loss", 2)
    raw = np.array([[40.0], [40.0], [-40.0], [-800.0]])
    losses = compute_row_losses(loss, np.array([0.0, 1.0, 1.0, 1.0]), raw)
    np.testing.assert_allclose(losses, [40.0, np.exp(-40.0), 40.0, 800.0], rtol=1e-9)


def test_losses_of_numbers() -> None:
    """The losses differ from scikit-learn's deviances by what the prediction does not change."""
    y = RANDOM.gamma(2.0, size=60)
    one, two = RANDOM.gamma(2.0, size=(2, 60))

    def compute(loss: Loss, predicted: Any) -> float:
        raw = loss.scores(predicted)
        return float(compute_row_losses(loss, y, raw).mean())

    for name, metric, factor in (
        ("squared_error", mean_squared_error, 0.5),
        ("absolute_error", mean_absolute_error, 1.0),
        ("poisson", mean_poisson_deviance, 0.5),
        ("gamma", mean_gamma_deviance, 0.5),
        ("tweedie", lambda a, b: mean_tweedie_deviance(a, b, power=1.3), 0.5),
    ):
        loss = regression_loss(name, (), 0.9, 1.3)
        difference = compute(loss, one) - compute(loss, two)
        expected = factor * (metric(y, one) - metric(y, two))
        assert difference == pytest.approx(expected, rel=1e-9), name
    levels = regression_loss("quantile", (0.2, 0.7), 0.9, 1.5)
    both = np.column_stack([one, np.maximum(one, two)])
    losses = compute_row_losses(levels, y, both)
    expected = mean_pinball_loss(y, both[:, 0], alpha=0.2) + mean_pinball_loss(
        y, both[:, 1], alpha=0.7
    )
    assert losses.mean() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_means_and_errors_of_numbers_of_any_size(scale: float) -> None:
    values, weights = RANDOM.normal(size=80), RANDOM.integers(0, 3, 80).astype(float)
    mean, error = compute_mean_and_error(scale * values, weights / scale)
    assert mean == pytest.approx(scale * np.average(values, weights=weights), rel=1e-9)
    terms = weights / weights.sum() * (values - np.average(values, weights=weights))
    assert error == pytest.approx(scale * np.sqrt(np.sum(terms**2)), rel=1e-9)
    assert compute_mean_and_error(np.zeros(3), np.ones(3)) == (0.0, 0.0)


# Intervals


@pytest.mark.parametrize("n_rows", [7, 40, 301])
@pytest.mark.parametrize("n_folds", [1, 3, 5])
def test_bounds_are_order_statistics_of_all_sums(n_rows: int, n_folds: int) -> None:
    """A naive twin: all sums of predictions and residuals, sorted."""
    fold = RANDOM.integers(0, n_folds, n_rows)
    residuals = np.abs(RANDOM.normal(size=n_rows)).round(1 if n_rows == 40 else 12)
    predictions = RANDOM.normal(size=(n_folds, 20))
    by_fold = [np.sort(residuals[fold == k]) for k in range(n_folds)]
    for coverage, rank in ((0.3, 0.3), (0.5, 0.5), (0.8, 0.8), (0.9, 0.9), (0.95, 0.95)):
        k = math.ceil(round((n_rows + 1) * rank, 9))
        bounds = compute_plus_bounds(predictions, by_fold, coverage)
        if k > n_rows:
            assert (bounds == [-np.inf, np.inf]).all()
            continue
        lower = np.sort(predictions[fold] - residuals[:, None], axis=0)[n_rows - k]
        upper = np.sort(predictions[fold] + residuals[:, None], axis=0)[k - 1]
        np.testing.assert_allclose(bounds[:, 0], np.minimum(lower, upper), atol=1e-12)
        np.testing.assert_allclose(bounds[:, 1], np.maximum(lower, upper), atol=1e-12)


def test_bounds_of_ties_are_not_lost_to_rounding() -> None:
    """(1 + 0.2) - 1 is less than 0.2."""
    bounds = compute_plus_bounds(np.ones((2, 1)), [np.array([0.2]), np.array([0.2])], 0.6)
    assert bounds.tolist() == [[0.8, 1.2]]
    residuals = [np.sort(RANDOM.integers(0, 5, 30) / 10) for _ in range(4)]
    predictions = RANDOM.integers(0, 4, (4, 50)) / 10 + 1.0
    bounds = compute_plus_bounds(predictions, residuals, 0.8)
    folds = np.repeat(np.arange(4), 30)
    sums = np.sort(predictions[folds] + np.concatenate(residuals)[:, None], axis=0)
    np.testing.assert_array_equal(bounds[:, 1], sums[math.ceil(121 * 0.8) - 1])


def test_intervals_cover_new_rows() -> None:
    random = np.random.default_rng(5)
    table = random.normal(size=(4000, 3))
    y = table[:, 0] + np.abs(table[:, 1]) * random.standard_t(4, 4000)
    model = BoostingRegressor(**QUICK).fit(table[:1500], y[:1500])
    for coverage in (0.5, 0.8, 0.95):
        bounds = model.predict_interval(table[1500:], coverage)
        share = np.mean((bounds[:, 0] <= y[1500:]) & (y[1500:] <= bounds[:, 1]))
        # Two standard errors of 2,500 new and 1,500 held-out rows: 0.04 at most.
        assert abs(share - coverage) < 0.04


def test_intervals_of_several_targets() -> None:
    targets = np.column_stack([SCORE, 100.0 * np.nan_to_num(X[:, 3])])
    model = BoostingRegressor(**QUICK).fit(X, targets)
    assert model.predict_interval(X).shape == (400, 2, 2)
    assert model.cv_predictions_.shape == (400, 2)
    widths = np.diff(model.predict_interval(X), axis=2).mean(axis=(0, 2))
    assert widths[1] > 3.0 * widths[0]


@pytest.mark.parametrize("coverage", [0.0, 1.0, True, "0.9", math.nan])
def test_the_coverage_is_checked(coverage: Any) -> None:
    model = BoostingRegressor(**QUICK).fit(X, SCORE)
    with pytest.raises(ValueError, match="coverage must be strictly between 0 and 1"):
        model.predict_interval(X, coverage)


def test_quantiles_have_no_interval() -> None:
    model = BoostingRegressor(loss="quantile", quantile=[0.1, 0.9], **QUICK).fit(X, SCORE)
    with pytest.raises(ValueError, match="use them as bounds"):
        model.predict_interval(X)
    assert model.cv_predictions_.shape == (400, 2)


# What is chosen


def choices_of(model: Any) -> dict[str, Any]:
    return {choice.name: choice.value for choice in model.report_.choices}


def test_linear_leaves_are_chosen_for_planes() -> None:
    random = np.random.default_rng(3)
    table = random.normal(size=(300, 3))
    y = table @ [3.0, -2.0, 1.0] + 0.3 * random.normal(size=300)
    fixed: dict[str, Any] = {"min_samples_leaf": 20, "max_leaf_nodes": 8}
    model = BoostingRegressor(random_state=0, **fixed).fit(table, y)
    assert choices_of(model)["linear_leaves=True"] is True
    assert model.ensemble_.has_linear_leaves
    constant = BoostingRegressor(random_state=0, linear_leaves=False, **fixed).fit(table, y)
    assert not constant.ensemble_.has_linear_leaves
    assert model.report_.cv_loss < 0.7 * constant.report_.cv_loss
    assert "linear_leaves=True" not in choices_of(constant)


def test_a_change_is_kept_only_beyond_its_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automatic, "_STANDARD_ERRORS", 1e9)
    kept = BoostingRegressor(random_state=0).fit(X, SCORE)
    changes = [value for name, value in choices_of(kept).items() if "=" in name]
    assert changes
    assert not any(changes)
    effort = automatic.EffortLevel(automatic.MEMBERS, {}, ())
    monkeypatch.setitem(automatic.EFFORTS, "normal", effort)  # type: ignore[misc]
    plain = BoostingRegressor(random_state=0).fit(X, SCORE)
    assert pickle.dumps(plain.ensemble_) == pickle.dumps(kept.ensemble_)


def test_changes_that_are_kept_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automatic, "_STANDARD_ERRORS", -1e9)  # every change is kept
    monkeypatch.setattr(automatic, "_FIRST_COMPARED_ROUND", 10**6)  # and fitted to the end
    searched = BoostingRegressor(random_state=0).fit(X, SCORE)
    assert all(value for name, value in choices_of(searched).items() if "=" in name)
    given: dict[str, Any] = {"linear_leaves": True, "min_samples_leaf": 5, "max_leaf_nodes": 16}
    extra_trees = choices_of(searched)["extra_trees"]
    monkeypatch.setattr(
        automatic, "VARIANTS", ({},) if extra_trees is False else automatic.VARIANTS
    )
    fixed = BoostingRegressor(random_state=0, **given).fit(X, SCORE)
    assert choices_of(fixed).get("extra_trees", False) == extra_trees
    np.testing.assert_array_equal(fixed.predict(X), searched.predict(X))


def test_a_change_that_is_behind_is_given_up() -> None:
    losses = np.concatenate([np.linspace(1.0, 0.0, 101), np.full(20, 0.5)])  # best after 100 rounds
    change = automatic.Change({"max_leaf_nodes": 16}, lambda *_: True, pace=0.5)

    def behind(n_rounds: int, loss: float) -> automatic.Race:
        race = automatic.Race(losses, change)
        assert race(BoostingRound(n_rounds, 5000, None, loss, -loss)) is bool(race.given_up)
        return race

    assert not behind(15, 9.0).given_up  # too early
    # It is compared with the loss after 30 rounds, 0.7, plus 0.2 % of 1 for the share that is left.
    assert not behind(60, 0.7 + 0.002 * 0.7 - 1e-9).given_up
    given_up = behind(60, 0.7 + 0.002 * 0.7 + 1e-9).given_up
    assert given_up is not None
    assert given_up.difference == pytest.approx(0.0014, abs=1e-6)
    assert given_up.error is None
    assert given_up.reason.startswith("given up after 60 rounds with a held-out loss of 0.7014;")
    assert not behind(240, 0.0).given_up  # as good as the best
    assert behind(240, 1e-9).given_up


def test_changes_are_given_up_only_with_normal_effort() -> None:
    options: dict[str, Any] = {"learning_rate": 0.3, "random_state": 0}
    normal = BoostingRegressor(**options).fit(X[:200], SCORE[:200]).report_
    assert any(choice.error is None for choice in normal.tried)
    assert len(normal.plot().get_yticklabels()) == len(normal.tried)
    high = BoostingRegressor("high", **options).fit(X[:200], SCORE[:200]).report_
    assert all(choice.error is not None for choice in high.tried)


def test_given_values_are_kept() -> None:
    model = BoostingClassifier(random_state=0, max_leaf_nodes=4, min_samples_leaf=30)
    model.fit(X, SCORE > 0)
    assert max(tree.n_leaves for tree in model.ensemble_.trees) <= 4
    names = choices_of(model)
    assert not any("max_leaf_nodes" in name or "min_samples_leaf" in name for name in names)
    assert model.max_leaf_nodes == 4
    assert model.learning_rate == "auto"


@pytest.mark.parametrize("effort", ["quick", "normal", "high"])
def test_more_effort_fits_more(effort: Any) -> None:
    model = BoostingRegressor(effort, random_state=0).fit(X[:150], SCORE[:150])
    folds = folds_of(model, SCORE[:150], classes=False)
    assert model.report_.n_members == len(folds) * (2 if effort == "high" else 1)
    assert len(model.members_) == len(folds)
    assert model.fold_sizes_.tolist() == [len(held_out) for _, held_out in folds]
    assert np.isfinite(model.cv_predictions_).all()
    assert model.score(X[150:], SCORE[150:]) > 0.3
    n_changes = sum("=" in name for name in choices_of(model))
    assert (n_changes == 0) == (effort == "quick")


def test_it_is_better_than_the_plain_class() -> None:
    random = np.random.default_rng(1)
    table = random.uniform(size=(1500, 10))
    y = 10 * np.sin(np.pi * table[:, 0] * table[:, 1]) + 20 * (table[:, 2] - 0.5) ** 2
    y += 10 * table[:, 3] + 5 * table[:, 4] + random.normal(size=1500)
    errors = [
        mean_squared_error(y[500:], model.fit(table[:500], y[:500]).predict(table[500:]))
        for model in (
            HistGradientBoostingRegressor(),
            BoostingRegressor("quick", random_state=0),
            BoostingRegressor(random_state=0),
        )
    ]
    assert errors[1] < 0.9 * errors[0]
    assert errors[2] < errors[1]


# Time, threads, files, input


def test_a_time_budget_ends_the_search() -> None:
    start = time.monotonic()
    model = BoostingRegressor("high", time_budget=1e-3, random_state=0).fit(X, SCORE)
    assert time.monotonic() - start < 5.0
    assert model.report_.n_members == 1
    assert {choice.reason for choice in model.report_.choices if "=" in choice.name} == {
        "not tried to the end: time_budget"
    }
    assert model.fold_sizes_.tolist() == [80]
    assert np.isnan(model.cv_predictions_).sum() == 320
    assert np.isfinite(model.predict_interval(X)).all()


@pytest.mark.parametrize("calls", range(4, 90, 7))
def test_no_incomplete_member_is_kept(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever the budget ends, all members are complete, but for a single one.

    The clock is that of the calls: every round and every check takes one second.
    """
    seconds = iter(range(10_000))
    monkeypatch.setattr(automatic.time, "monotonic", lambda: float(next(seconds)))
    options: dict[str, Any] = {"random_state": 0, "learning_rate": 0.5, "n_iter_no_change": 3}
    complete = BoostingRegressor(**options).fit(X, SCORE)
    model = BoostingRegressor(time_budget=float(calls), **options).fit(X, SCORE)
    rounds = [member.n_rounds for member in model.members_]
    assert len(rounds) == 1 or min(rounds) > 1
    assert model.report_.n_members == len(rounds) <= 5
    if not any(choice.value for choice in model.report_.tried):
        same = [m.n_rounds for m in complete.members_]
        assert (
            len(rounds) == 1
            or rounds == same[: len(rounds)]
            or any(choice.value for choice in complete.report_.tried)
        )


def test_a_generous_time_budget_changes_nothing() -> None:
    free = BoostingRegressor(random_state=0).fit(X[:100], SCORE[:100])
    within = BoostingRegressor(random_state=0, time_budget=1e6).fit(X[:100], SCORE[:100])
    assert pickle.dumps(free.ensemble_) == pickle.dumps(within.ensemble_)


@pytest.mark.parametrize("kind", [BoostingClassifier, BoostingRegressor])
def test_threads_and_files_change_no_byte(kind: Any, tmp_path: Path) -> None:
    y = CLASSES if kind is BoostingClassifier else SCORE
    one = kind(random_state=0, n_jobs=1).fit(X, y)
    three = kind(random_state=0, n_jobs=3).fit(X, y)
    assert pickle.dumps(one.ensemble_) == pickle.dumps(three.ensemble_)
    np.testing.assert_array_equal(one.cv_predictions_, three.cv_predictions_)
    assert one.report_ == three.report_
    one.save(tmp_path / "model.arboleda")
    again = arboleda.load(tmp_path / "model.arboleda")
    assert type(again) is kind
    np.testing.assert_array_equal(again.predict(X), one.predict(X))
    assert again.report_ == one.report_
    assert again.get_params() == one.get_params()
    assert not hasattr(again, "cv_predictions_")
    if kind is BoostingRegressor:
        np.testing.assert_array_equal(again.predict_interval(X), one.predict_interval(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fold_sizes_": np.array([1, 2, 3])}, "sizes of the folds"),
        ({"fold_sizes_": np.array([400])}, "one fold for each member"),
        ({"cv_residuals_": np.full((400, 1), -1.0)}, "negative or not finite"),
        ({"cv_residuals_": np.full((400, 1), np.inf)}, "negative or not finite"),
        ({"cv_residuals_": np.linspace(1.0, 0.0, 400)[:, None]}, "not sorted"),
        ({"fold_sizes_": np.array([2**62, 2**62, 400])}, "impossible size"),
        ({"members_": []}, "one fold for each member"),
    ],
)
def test_damaged_held_out_rows_are_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    model = BoostingRegressor(**QUICK).fit(X, SCORE)
    vars(model).update(change)
    model.save(tmp_path / "model.arboleda")
    with pytest.raises(arboleda.ModelFormatError, match=message):
        arboleda.load(tmp_path / "model.arboleda")


def test_the_report_is_text_and_a_frame() -> None:
    model = BoostingRegressor(random_state=0).fit(X, SCORE)
    text = str(model.report_)
    assert text.startswith(f"{model.report_.n_members} members, {model.n_iter_} rounds in all")
    assert "squared_error on held-out rows: " in text
    assert "by rule: learning_rate=0.05, " in text
    assert "linear_leaves=True" in text
    assert max(map(len, text.splitlines())) < 120
    frame = model.report_.to_frame()
    assert list(frame.columns) == ["name", "value", "reason", "difference", "error"]
    assert len(frame) == len(model.report_.choices)
    kept = frame[frame["difference"] < -frame["error"]]["name"].tolist()
    assert kept == [choice.name for choice in model.report_.tried if choice.value]
    assert len(model.report_.plot().get_yticklabels()) == len(model.report_.tried)


def test_frames_with_categories_and_sparse_tables() -> None:
    kinds = np.array(["a", "b", "c"])[RANDOM.integers(0, 3, 400)]
    frame = pd.DataFrame(X, columns=list("pqrs")).assign(kind=pd.Categorical(kinds))
    y = SCORE + 3.0 * (kinds == "b")
    model = BoostingRegressor(**QUICK).fit(frame, y)
    assert model.score(frame, y) > 0.7
    assert model.feature_importances_[4] > 0.2
    thin = sparse.csr_matrix(np.nan_to_num(X))
    assert BoostingRegressor(random_state=0).fit(thin, SCORE).score(thin, SCORE) > 0.5
    # A second fit forgets the names of the first.
    model.fit(X, SCORE)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.filterwarnings("ignore:early stopping kept no tree")
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_few_rows_are_fitted(n: int) -> None:
    model = BoostingRegressor(random_state=0).fit(X[:n], SCORE[:n])
    assert np.isfinite(model.predict(X)).all()
    assert model.predict_interval(X, coverage=0.99).tolist() == [[-np.inf, np.inf]] * 400
    classifier = BoostingClassifier(random_state=0).fit(X[:n], np.arange(n) % 2)
    assert classifier.cv_predictions_.shape == (n, min(n, 2))
    assert np.isnan(model.cv_predictions_).all() == (n < 5)  # nothing can be held out
    constant = BoostingClassifier(random_state=0).fit(X[:n], ["only"] * n)
    assert set(constant.predict(X)) == {"only"}
    assert constant.cv_predictions_.tolist() == [[1.0]] * n


def test_a_warning_about_no_tree_names_a_remedy_of_this_class() -> None:
    noise = np.random.default_rng(0).normal(size=30)
    with pytest.warns(UserWarning, match="kept no tree") as caught:
        BoostingRegressor(random_state=0).fit(np.zeros((30, 1)), noise)
    assert "max_iter" not in str(caught[0].message)
    assert caught[0].filename == __file__


def test_custom_and_other_losses() -> None:
    def squared(y: Any, raw: Any) -> tuple[Any, Any]:
        return raw - y, np.ones_like(raw)

    model = BoostingRegressor(loss=squared, scoring="r2", **QUICK).fit(X, SCORE)
    assert math.isnan(model.report_.cv_loss)
    assert model.score(X, SCORE) > 0.5
    with pytest.raises(ValueError, match="custom loss"):
        BoostingRegressor(loss=squared).fit(X, SCORE)
    huber = BoostingRegressor(loss="huber", random_state=0).fit(X[:200], SCORE[:200])
    reasons = {each.reason for each in huber.report_.choices if "=" in each.name}
    assert reasons == {"not tried: the loss has no value for a single row"}
    with pytest.raises(ValueError, match="non-negative y"):
        BoostingRegressor(loss="poisson").fit(X, SCORE)


def test_other_parts_of_the_library_accept_it() -> None:
    cancer, y = load_breast_cancer(return_X_y=True)
    model = BoostingClassifier(**QUICK).fit(cancer, y)
    values = explain.shap_values(model, cancer[:3])
    assert "shap" in type(values).__name__.lower()
    assert "double" in arboleda.to_c(model)
    assert pickle.loads(pickle.dumps(model)).report_ == model.report_
    assert clone(model).get_params() == model.get_params()
    assert "max_iter" not in model.get_params()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effort": "most"}, "effort"),
        ({"time_budget": 0.0}, "time_budget"),
        ({"learning_rate": "fast"}, "learning_rate"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"linear_leaves": True, "monotonic_cst": [1, 0, 0, 0]}, "monotonic_cst"),
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BoostingRegressor(**options).fit(X, SCORE)


def test_an_error_leaves_the_fitted_model_as_it_was() -> None:
    model = BoostingRegressor(**QUICK).fit(X, SCORE)
    before = model.predict(X)
    with pytest.raises(ValueError, match="y"):
        model.fit(X, np.full(400, np.nan))
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("scale", [1e-80, 1e80])
def test_targets_of_any_size(scale: float, tmp_path: Path) -> None:
    model = BoostingRegressor(random_state=0).fit(X[:150], scale * SCORE[:150])
    usual = BoostingRegressor(random_state=0).fit(X[:150], SCORE[:150])
    assert [each.value for each in model.report_.tried] == [
        each.value for each in usual.report_.tried
    ]
    model.save(tmp_path / "model.arboleda")
    assert arboleda.load(tmp_path / "model.arboleda").report_ == model.report_


def test_values_for_shared_trees_need_shared_trees() -> None:
    separate = BoostingClassifier(multi_strategy="one_output_per_tree", **QUICK).fit(X, CLASSES)
    shared = BoostingClassifier(**QUICK).fit(X, CLASSES)
    assert choices_of(separate)["max_leaf_nodes"] == 31
    assert choices_of(shared)["max_leaf_nodes"] == 63


@pytest.mark.parametrize(
    ("n_columns", "n_classes", "strategy"),
    [
        (100, 3, "multi_output_tree"),
        (101, 3, "one_output_per_tree"),
        (101, 9, "one_output_per_tree"),
        (101, 10, "multi_output_tree"),
        (101, 2, "one_output_per_tree"),
    ],
)
def test_wide_tables_share_the_trees_of_many_classes(
    n_columns: int, n_classes: int, strategy: str
) -> None:
    table = np.random.default_rng(4).normal(size=(300, n_columns))
    classes = np.arange(len(table)) % n_classes
    table[:, 0] += 2.0 * classes
    model = BoostingClassifier(**QUICK).fit(table, classes)
    assert choices_of(model)["multi_strategy"] == strategy


def test_constraints_hold() -> None:
    model = BoostingRegressor(random_state=0, monotonic_cst=[1, 0, 0, 0]).fit(X, SCORE)
    grid = np.repeat(np.nan_to_num(X[:1]), 50, axis=0)
    grid[:, 0] = np.linspace(-3, 3, 50)
    assert (np.diff(model.predict(grid)) >= 0.0).all()
    assert not model.ensemble_.has_linear_leaves
