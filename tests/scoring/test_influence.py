"""The influence of rows on metrics: against the definition, and against McNemar and DeLong."""

import numpy as np
import pytest

from arboleda.scoring.choice import find_metric
from arboleda.scoring.intervals import compute_influence, compute_score

CLASS_METRICS = ("accuracy", "balanced_accuracy", "f1_macro", "mcc", "roc_auc", "log_loss")


def classes(n_classes: int, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(n_classes)
    y = draw.integers(n_classes, size=n)
    score = draw.dirichlet(np.ones(n_classes), size=n)
    score[np.arange(n), y] += 0.4
    score = np.round(score / score.sum(axis=1, keepdims=True), 2)  # ties
    return y, score.argmax(axis=1), score


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("metric", CLASS_METRICS)
def test_influence_is_the_derivative_by_the_row_weight(metric: str, n_classes: int) -> None:
    y, predicted, score = classes(n_classes)
    found = compute_influence(find_metric(metric), y, predicted, score, n_classes)
    assert found is not None
    value, influence = found
    assert value == compute_score(find_metric(metric), y, predicted, score, n_classes)
    assert influence.sum() == pytest.approx(0, abs=1e-9)
    times = 400
    for i in (0, 7, 31):
        # The rows many times over, and row i once more: e = 1 / (n times + 1).
        rows = np.append(np.tile(np.arange(len(y)), times), i)
        moved = compute_score(find_metric(metric), y[rows], predicted[rows], score[rows], n_classes)
        assert moved is not None
        assert (moved - value) * len(rows) == pytest.approx(influence[i], rel=0.01, abs=0.01)


@pytest.mark.parametrize("metric", ["rmse", "mae", "r2"])
def test_influence_of_regressions_is_the_derivative_by_the_row_weight(metric: str) -> None:
    draw = np.random.default_rng(5)
    y = draw.normal(size=50)
    predicted = y + draw.normal(size=50)
    found = compute_influence(find_metric(metric), y, predicted, None, 0)
    assert found is not None
    value, influence = found
    for i in (3, 20):
        rows = np.append(np.tile(np.arange(50), 400), i)
        moved = compute_score(find_metric(metric), y[rows], predicted[rows], None, 0)
        assert moved is not None
        assert (moved - value) * len(rows) == pytest.approx(influence[i], rel=0.01, abs=0.01)


def test_influence_on_accuracy_gives_mcnemars_variance() -> None:
    draw = np.random.default_rng(1)
    y = draw.integers(2, size=80)
    first = np.where(draw.random(80) < 0.8, y, 1 - y)
    second = np.where(draw.random(80) < 0.7, y, 1 - y)
    one = compute_influence(find_metric("accuracy"), y, first, None, 2)
    two = compute_influence(find_metric("accuracy"), y, second, None, 2)
    assert one is not None
    assert two is not None
    b = np.sum((first == y) & (second != y))
    c = np.sum((first != y) & (second == y))
    assert np.sum((one[1] - two[1]) ** 2) == pytest.approx(b + c - (b - c) ** 2 / 80)


def test_influence_on_areas_gives_delongs_variance() -> None:
    y, _, score = classes(2)
    found = compute_influence(find_metric("roc_auc"), y, score.argmax(axis=1), score, 2)
    assert found is not None
    high, low = score[y == 1, 1], score[y == 0, 1]
    kernel = (high[:, None] > low) + 0.5 * (high[:, None] == low)
    # With n in place of n - 1 in both variances.
    expected = kernel.mean(axis=1).var() / len(high) + kernel.mean(axis=0).var() / len(low)
    assert np.sum(found[1] ** 2) / len(y) ** 2 == pytest.approx(expected)


def test_an_undefined_metric_has_no_influence() -> None:
    y = np.zeros(4, dtype=int)
    assert compute_influence(find_metric("roc_auc"), y, y, np.full((4, 2), 0.5), 2) is None
    assert compute_influence(find_metric("log_loss"), y, y, None, 2) is None
    assert compute_influence(find_metric("r2"), np.ones(4), np.ones(4), None, 0) is None


def test_a_perfect_fit_has_zero_influence() -> None:
    found = compute_influence(find_metric("rmse"), np.arange(4.0), np.arange(4.0), None, 0)
    assert found is not None
    assert found[0] == 0
    assert not found[1].any()
