"""The quick metrics of the bootstrap are the metrics, and the interval covers what it should."""

import numpy as np
import pytest

from arboleda.study.bootstrap import bootstrap_interval, quick_score
from arboleda.study.scoring import METRICS, all_scores

DRAW = np.random.default_rng(2)


@pytest.mark.parametrize("metric", [m.key for m in METRICS if m.task == "classification"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_quick_scores_of_classes(metric: str, n_classes: int) -> None:
    y = DRAW.integers(n_classes, size=80)
    score = DRAW.dirichlet(np.ones(n_classes), size=80).round(2)
    score /= score.sum(axis=1, keepdims=True)
    predicted = score.argmax(axis=1)
    expected = all_scores(y, predicted, score, n_classes)[metric]
    assert quick_score(metric, y, predicted, score, n_classes) == pytest.approx(expected)


@pytest.mark.parametrize("metric", [m.key for m in METRICS if m.task == "regression"])
def test_quick_scores_of_quantities(metric: str) -> None:
    y, predicted = DRAW.normal(size=(2, 50))
    expected = all_scores(y, predicted, None, 0)[metric]
    assert quick_score(metric, y, predicted, None, 0) == pytest.approx(expected)


def test_what_is_not_defined_is_none() -> None:
    y = np.zeros(5, dtype=np.int64)
    assert quick_score("roc_auc", y, y, np.full((5, 2), 0.5), 2) is None
    assert quick_score("roc_auc", y, y, None, 2) is None
    assert quick_score("log_loss", y, y, None, 2) is None
    assert quick_score("r2", np.ones(5), np.zeros(5), None, 0) is None
    assert quick_score("mcc", y, y, None, 2) == 0.0
    assert bootstrap_interval("r2", np.ones(5), np.zeros(5), None, n_classes=0, seed=0) == (
        None,
        None,
    )


def test_the_interval_of_an_accuracy_is_that_of_a_proportion() -> None:
    y = np.zeros(400, dtype=np.int64)
    predicted = (np.arange(400) < 80).astype(np.int64)
    low, high = bootstrap_interval("accuracy", y, predicted, None, n_classes=2, seed=0)
    half = 1.96 * np.sqrt(0.8 * 0.2 / 400)
    assert low == pytest.approx(0.8 - half, abs=0.006)
    assert high == pytest.approx(0.8 + half, abs=0.006)


def test_the_seed_decides_the_draws() -> None:
    y, predicted = DRAW.normal(size=(2, 50))
    first, again, other = (
        bootstrap_interval("rmse", y, predicted, None, n_classes=0, seed=s) for s in (0, 0, 1)
    )
    assert first == again != other
