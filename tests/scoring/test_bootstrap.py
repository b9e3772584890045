"""The quick metrics of the bootstrap are the metrics, and the interval covers what it should."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from arboleda.scoring import intervals
from arboleda.scoring.choice import find_metric
from arboleda.scoring.intervals import (
    bootstrap_interval,
    compute_possible_counts,
    compute_score,
)
from arboleda.scoring.measures import ScoredOutputs, make_measure
from arboleda.scoring.scores import all_scores

CLASS_METRICS = [
    "accuracy", "balanced_accuracy", "f1_macro", "mcc", "roc_auc", "log_loss", "cost",
    "error", "average_precision", "brier",
]  # fmt: skip
VALUE_METRICS = ["rmse", "mae", "r2", "mse", "nmse", "mape"]
DRAW = np.random.default_rng(2)


@pytest.mark.parametrize("metric", CLASS_METRICS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_fast_scores_of_classes_match_scikit_learn(metric: str, n_classes: int) -> None:
    y = DRAW.integers(n_classes, size=80)
    score = DRAW.dirichlet(np.ones(n_classes), size=80).round(2)
    score /= score.sum(axis=1, keepdims=True)
    predicted = score.argmax(axis=1)
    costs = DRAW.uniform(0, 3, (n_classes, n_classes)) if metric == "cost" else None
    expected = all_scores(y, predicted, score, n_classes, costs)[metric]
    assert compute_score(
        find_metric(metric), y, predicted, score, n_classes, costs
    ) == pytest.approx(expected)


@pytest.mark.parametrize("metric", VALUE_METRICS)
def test_fast_scores_of_regressions_match_scikit_learn(metric: str) -> None:
    y, predicted = DRAW.normal(size=(2, 50))
    expected = all_scores(y, predicted, None, 0)[metric]
    assert compute_score(find_metric(metric), y, predicted, None, 0) == pytest.approx(expected)


def test_undefined_scores_are_missing() -> None:
    y = np.zeros(5, dtype=np.int64)
    assert compute_score(find_metric("roc_auc"), y, y, np.full((5, 2), 0.5), 2) is None
    assert compute_score(find_metric("roc_auc"), y, y, None, 2) is None
    assert compute_score(find_metric("log_loss"), y, y, None, 2) is None
    assert compute_score(find_metric("r2"), np.ones(5), np.zeros(5), None, 0) is None
    assert compute_score(find_metric("roc_auc"), y, y, np.full((5, 2), np.nan), 2) is None
    assert compute_score(find_metric("mcc"), y, y, None, 2) == 0.0
    assert bootstrap_interval(
        find_metric("r2"), np.ones(5), np.zeros(5), None, n_classes=0, seed=0
    ) == (
        None,
        None,
    )


def test_the_interval_of_an_accuracy_matches_that_of_a_proportion() -> None:
    y = np.zeros(400, dtype=np.int64)
    predicted = (np.arange(400) < 80).astype(np.int64)
    low, high = bootstrap_interval(find_metric("accuracy"), y, predicted, None, n_classes=2, seed=0)
    half = 1.96 * np.sqrt(0.8 * 0.2 / 400)
    assert low == pytest.approx(0.8 - half, abs=0.006)
    assert high == pytest.approx(0.8 + half, abs=0.006)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_areas_of_repeated_rows_match(n_classes: int) -> None:
    y = DRAW.integers(n_classes, size=80)
    score = DRAW.dirichlet(np.ones(n_classes), size=80).round(1)  # ties
    score /= score.sum(axis=1, keepdims=True)
    times = DRAW.integers(0, 4, size=80).astype(float)
    shown = [1] if n_classes == 2 else range(n_classes)
    by_hand = [roc_auc_score(y == k, score[:, k], sample_weight=times) for k in shown]
    measure = make_measure("roc_auc", None).prepare(ScoredOutputs(y, y, score, n_classes))
    assert measure(times) == pytest.approx(np.mean(by_hand))
    assert measure((y == 1).astype(float)) is None


@pytest.mark.parametrize("metric", ["rmse", "r2"])
def test_rows_of_a_group_are_drawn_together(metric: str) -> None:
    y, predicted = DRAW.normal(size=(2, 60))
    groups = np.repeat(np.arange(60) * 7, 5)
    copies = y.repeat(5), predicted.repeat(5)
    alone = bootstrap_interval(find_metric(metric), y, predicted, None, n_classes=0, seed=0)
    together = bootstrap_interval(
        find_metric(metric), *copies, None, n_classes=0, seed=0, groups=groups
    )
    # Five copies of each row carry no more information than one.
    assert together == pytest.approx(alone)
    apart = bootstrap_interval(find_metric(metric), *copies, None, n_classes=0, seed=0)
    assert apart[1] - apart[0] < 0.6 * (alone[1] - alone[0])


def test_groups_of_one_row_count_as_rows() -> None:
    y = DRAW.integers(2, size=300)
    predicted = np.where(DRAW.random(300) < 0.7, y, 1 - y)
    alone, grouped = (
        bootstrap_interval(
            find_metric("mcc"), y, predicted, None, n_classes=2, seed=0, groups=groups
        )
        for groups in (None, np.arange(300))
    )
    assert grouped == pytest.approx(alone, abs=0.02)


def test_one_group_gives_no_interval() -> None:
    y = np.arange(20.0)
    options = {"n_classes": 0, "seed": 0, "groups": np.full(20, 3)}
    assert bootstrap_interval(find_metric("rmse"), y, y + 1, None, **options) == (None, None)


def test_the_seed_determines_the_draws() -> None:
    y, predicted = DRAW.normal(size=(2, 50))
    first, again, other = (
        bootstrap_interval(find_metric("rmse"), y, predicted, None, n_classes=0, seed=s)
        for s in (0, 0, 1)
    )
    assert first == again != other


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "f1_macro", "mcc"])
@pytest.mark.parametrize("n_rows", [3, 30, 400])
def test_perfect_predictions_leave_errors_possible(metric: str, n_rows: int) -> None:
    y = np.arange(n_rows) % 3
    low, high = bootstrap_interval(find_metric(metric), y, y, None, n_classes=3, seed=0)
    exact = binomtest(n_rows, n_rows).proportion_ci(0.95, method="exact").low
    # Of classes of equal size with equal errors, MCC is (3 r - 1) / 2 for a share r of right ones.
    assert low == pytest.approx((3 * exact - 1) / 2 if metric == "mcc" else exact)
    assert high == 1.0


def test_errors_are_spread_over_other_classes_by_frequency() -> None:
    y = np.repeat([0, 1, 2], [10, 20, 30])
    table = compute_possible_counts(y, 3, np.arange(60), 0.025)
    wrong = 1 - 0.025 ** (1 / 60)
    assert table.sum(axis=1) == pytest.approx([10, 20, 30])
    assert table[0] == pytest.approx([10 * (1 - wrong), 10 * wrong * 0.4, 10 * wrong * 0.6])
    alone = compute_possible_counts(np.zeros(5, dtype=np.int64), 3, np.arange(5), 0.025)
    assert alone[0] == pytest.approx(5 * np.array([0.025**0.2, *[(1 - 0.025**0.2) / 2] * 2]))
    assert not alone[1:].any()


def test_the_area_of_a_perfect_order_counts_independent_pairs() -> None:
    y = np.repeat([0, 1], [40, 8])
    score = np.column_stack([1 - y, y]).astype(float)
    low, high = bootstrap_interval(find_metric("roc_auc"), y, y, score, n_classes=2, seed=0)
    assert (low, high) == (pytest.approx(0.025 ** (1 / 8)), 1.0)
    groups = np.concatenate([np.arange(40), np.full(8, 40)])
    low, high = bootstrap_interval(
        find_metric("roc_auc"), y, y, score, n_classes=2, seed=0, groups=groups
    )
    assert (low, high) == (pytest.approx(0.025), 1.0)


def test_groups_without_errors_count_as_one_observation() -> None:
    y = np.tile([0, 1], 30)
    groups = np.repeat(np.arange(6), 10)
    low, _ = bootstrap_interval(
        find_metric("accuracy"), y, y, None, n_classes=2, seed=0, groups=groups
    )
    assert low == pytest.approx(0.025 ** (1 / 6))


def test_draws_for_the_same_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    y, predicted = draw.normal(size=(2, 150))
    options: Any = {"n_classes": 0, "seed": 3}
    intervals._cache_row_counts.cache_clear()
    kept = [bootstrap_interval(find_metric("rmse"), y, predicted, None, **options)]
    with monkeypatch.context() as without:
        without.setattr(intervals, "_draw_row_counts", None)
        kept.append(bootstrap_interval(find_metric("rmse"), y, predicted, None, **options))
    monkeypatch.setattr(intervals, "MAX_CACHED_ROWS", 0)
    drawn = bootstrap_interval(find_metric("rmse"), y, predicted, None, **options)
    assert kept == [drawn, drawn]
