"""Metrics by the names that people type: their values, intervals, influences and mistakes."""

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

from arboleda.reports.metric_names import (
    METRIC_NAMES,
    resolve_metric_key,
)
from arboleda.reports.wording import get_metric
from arboleda.scoring.choice import (
    check_metric,
    choose_metric,
    find_metric,
    is_metric_of,
    parse_metric,
)
from arboleda.scoring.intervals import bootstrap_interval, compute_influence
from arboleda.scoring.measures import MEASURES, ScoredOutputs
from arboleda.study import StudyError
from arboleda.study.config.options import make_settings
from arboleda.tables.target import StudyTarget

# The names that the issue trackers and documentation of other libraries use.
TYPED = {
    "auc": "roc_auc", "AUC": "roc_auc", "roc_auc": "roc_auc", "roc_auc_ovr": "roc_auc",
    "f1": "f1", "mae": "mae", "rmse": "rmse", "mse": "mse", "r2": "r2", "R²": "r2",
    "pr_auc": "average_precision", "average_precision": "average_precision", "brier": "brier",
    "logloss": "log_loss", "log_loss": "log_loss", "log-loss": "log_loss",
    "neg_log_loss": "log_loss", "neg_mean_squared_error": "mse", "top_k": "top_k:2",
    "top_3": "top_k:3", "top-5": "top_k:5", "top_k:4": "top_k:4", "mape": "mape",
    "poisson": "poisson", "pinball": "pinball:0.5", "pinball:0.90": "pinball:0.9",
    "quantile:0.1": "pinball:0.1", "balanced_accuracy": "balanced_accuracy", "mcc": "mcc",
    "matthews_corrcoef": "mcc", "kappa": "kappa", "f1_micro": "accuracy",
}  # fmt: skip


@pytest.mark.parametrize(("typed", "key"), TYPED.items())
def test_metrics_have_the_names_that_people_type(typed: str, key: str) -> None:
    assert parse_metric(typed) == key == resolve_metric_key(key)
    assert make_settings(metric=typed).metric == key


def test_no_name_means_two_metrics() -> None:
    names = [name for key, entry in METRIC_NAMES.items() for name in (key, *entry.aliases)]
    assert len(set(names)) == len(names)


# Those of times and rankings get their measures from the training rows, or with their queries.
BOUND = ("integrated_brier", "concordance", "dynamic_auc", "ndcg", "map", "mrr")


def test_each_metric_is_computed_and_named() -> None:
    keys = {key for key, name in METRIC_NAMES.items() if name.task is not None}
    assert keys == MEASURES.keys() | {"cost", "top_k", "pinball", *BOUND}
    for key in keys:
        metric = find_metric(resolve_metric_key(key))
        assert (metric.label, get_metric(metric.key).meaning) != ("", "")
        assert metric.greater_is_better == get_metric(metric.key).greater_is_better
        pickle.dumps(metric)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("acuracy", "There is no metric 'acuracy'; did you mean 'accuracy'?"),
        ("roc_auk", "did you mean 'roc_auc'?"),
        ("log_los", "did you mean 'log_loss'?"),
        ("xyz", "or a Python function as module:function."),
        ("ece", "There is no metric 'ece'"),
        ("pinball:2", "between 0 and 1, as in pinball:0.9, got 'pinball:2'"),
        ("top_k:0", "an integer of at least 1"),
        ("mae:2", "The metric mae has no parameter"),
        ("nowhere:f", "There is no module nowhere for the metric nowhere:f; put the file"),
        ("json:f", "The module json has no function f; it has "),
        ("json:dumps", "must take two arguments"),
        ("operator:eq", "does not declare its direction; write eq.greater_is_better = True"),
    ],
)
def test_a_wrong_name_gets_a_sentence(typed: str, message: str) -> None:
    with pytest.raises(StudyError) as error:
        make_settings(metric=typed)
    assert message in str(error.value)


def test_a_metric_must_suit_the_target() -> None:
    y = np.arange(30) % 3
    three = StudyTarget("kind", "multiclass", y, ("a", "b", "c"), "")
    counts = StudyTarget("n", "regression", np.arange(30.0) - 1, (), "")
    for key, message in {
        "f1": "has 3 classes; choose f1_macro or f1_weighted.",
        "top_k:3": "is always 1, as the target 'kind' has 3 classes",
    }.items():
        with pytest.raises(StudyError, match=message):
            check_metric(find_metric(key), three)
    for key in ("mape", "poisson", "gamma"):
        with pytest.raises(StudyError, match="has values down to -1; choose mae or rmse"):
            check_metric(find_metric(key), counts)
    with pytest.raises(StudyError, match="no metric 'rmse' for classification; choose one of acc"):
        choose_metric("rmse", "binary")


def test_a_key_in_facts_is_canonical() -> None:
    assert is_metric_of("pinball:0.9", "regression")
    assert is_metric_of("shop:profit", "binary")
    for key in ("auc", "pinball:0.90", "pinball", "top_k:x", "rmse", "nothing", "a b:c"):
        assert not is_metric_of(key, "binary"), key


RNG = np.random.default_rng(5)


def draw_classes(n_classes: int) -> ScoredOutputs:
    y = RNG.integers(n_classes, size=70)
    score = RNG.dirichlet(np.ones(n_classes), size=70)
    score[np.arange(70), y] += 0.3
    score = np.maximum(score.round(1), 0.1)
    score /= score.sum(axis=1, keepdims=True)
    return ScoredOutputs(y, score.argmax(axis=1), score, n_classes)


CLASS_TWINS: dict[str, Any] = {
    "accuracy": lambda y, p, s: sk.accuracy_score(y, p),
    "balanced_accuracy": lambda y, p, s: sk.balanced_accuracy_score(y, p),
    "error": lambda y, p, s: sk.zero_one_loss(y, p),
    "f1_macro": lambda y, p, s: sk.f1_score(y, p, average="macro"),
    "f1_weighted": lambda y, p, s: sk.f1_score(y, p, average="weighted"),
    "precision_macro": lambda y, p, s: sk.precision_score(y, p, average="macro", zero_division=0),
    "precision_weighted": lambda y, p, s: sk.precision_score(
        y, p, average="weighted", zero_division=0
    ),
    "recall_macro": lambda y, p, s: sk.recall_score(y, p, average="macro"),
    "recall_weighted": lambda y, p, s: sk.recall_score(y, p, average="weighted"),
    "mcc": lambda y, p, s: sk.matthews_corrcoef(y, p),
    "kappa": lambda y, p, s: sk.cohen_kappa_score(y, p),
    "log_loss": lambda y, p, s: sk.log_loss(y, s),
}
TWO_TWINS: dict[str, Any] = {
    "f1": lambda y, p, s: sk.f1_score(y, p),
    "precision": lambda y, p, s: sk.precision_score(y, p),
    "recall": lambda y, p, s: sk.recall_score(y, p),
    "specificity": lambda y, p, s: sk.recall_score(y, p, pos_label=0),
    "roc_auc": lambda y, p, s: sk.roc_auc_score(y, s[:, 1]),
    "average_precision": lambda y, p, s: sk.average_precision_score(y, s[:, 1]),
    "brier": lambda y, p, s: sk.brier_score_loss(y, s[:, 1]),
}
MANY_TWINS: dict[str, Any] = {
    "roc_auc": lambda y, p, s: sk.roc_auc_score(y, s, multi_class="ovr"),
    "average_precision": lambda y, p, s: sk.average_precision_score(np.eye(4)[y], s),
    "brier": lambda y, p, s: np.mean(np.sum((s - np.eye(4)[y]) ** 2, axis=1)),
    "top_k:2": lambda y, p, s: sk.top_k_accuracy_score(y, s, k=2),
    "specificity_macro": lambda y, p, s: np.mean(
        [sk.recall_score(y == k, p == k, pos_label=False) for k in range(4)]
    ),
}
VALUE_TWINS: dict[str, Any] = {
    "rmse": sk.root_mean_squared_error,
    "mae": sk.mean_absolute_error,
    "r2": sk.r2_score,
    "mse": sk.mean_squared_error,
    "nmse": lambda y, p: 1 - sk.r2_score(y, p),
    "mape": sk.mean_absolute_percentage_error,
    "msle": sk.mean_squared_log_error,
    "rmsle": sk.root_mean_squared_log_error,
    "poisson": sk.mean_poisson_deviance,
    "gamma": sk.mean_gamma_deviance,
    "pinball:0.9": lambda y, p: sk.mean_pinball_loss(y, p, alpha=0.9),
}
CASES = [
    *((key, 2, twin) for key, twin in {**CLASS_TWINS, **TWO_TWINS}.items()),
    *((key, 4, twin) for key, twin in {**CLASS_TWINS, **MANY_TWINS}.items()),
    *((key, 0, twin) for key, twin in VALUE_TWINS.items()),
]


def make_case(n_classes: int) -> ScoredOutputs:
    if n_classes:
        return draw_classes(n_classes)
    y = RNG.gamma(2.0, size=70)
    return ScoredOutputs(y, y * RNG.gamma(5.0, 0.2, size=70), None, 0)


@pytest.mark.parametrize(("key", "n_classes", "twin"), CASES)
def test_values_are_scikit_learns(key: str, n_classes: int, twin: Any) -> None:
    rows = make_case(n_classes)
    arguments = (rows.y, rows.predicted, rows.score) if n_classes else (rows.y, rows.predicted)
    measure = find_metric(key).measure
    assert measure is not None
    assert measure.compute(rows) == pytest.approx(twin(*arguments))


@pytest.mark.parametrize(("key", "n_classes", "twin"), CASES)
def test_influences_predict_the_value_with_a_row_more(key: str, n_classes: int, twin: Any) -> None:
    rows = make_case(n_classes)
    metric = find_metric(key)
    assert metric.measure is not None
    found = compute_influence(metric, rows.y, rows.predicted, rows.score, n_classes)
    assert found is not None
    value, influence = found
    assert influence.sum() == pytest.approx(0, abs=1e-8)
    of_times = metric.measure.prepare(rows)
    for row in (0, 13, 69):
        times = np.ones(70)
        times[row] += 1e-5
        moved = of_times(times)
        assert moved is not None
        assert (moved - value) * 70 / 1e-5 == pytest.approx(influence[row], rel=1e-3, abs=1e-3)


@pytest.mark.parametrize(("key", "n_classes", "twin"), CASES)
def test_intervals_hold_the_value(key: str, n_classes: int, twin: Any) -> None:
    rows = make_case(n_classes)
    metric = find_metric(key)
    assert metric.measure is not None
    low, high = bootstrap_interval(
        metric, rows.y, rows.predicted, rows.score, n_classes=n_classes, seed=0
    )
    value = metric.measure.compute(rows)
    assert None not in (low, value, high)
    assert metric.range[0] <= low < value < high <= metric.range[1]  # type: ignore[operator]


def test_an_error_rate_of_0_leaves_errors_possible() -> None:
    y = np.arange(40) % 2
    assert bootstrap_interval(find_metric("error"), y, y, None, n_classes=2, seed=0) == (
        0.0,
        pytest.approx(1 - 0.025 ** (1 / 40)),
    )


def test_the_guide_lists_the_metrics() -> None:
    text = (Path(__file__).parents[2] / "docs" / "guide" / "metrics.md").read_text("utf-8")
    rows = []
    for key, name in METRIC_NAMES.items():
        if name.task is None:
            continue
        shown = key if name.parameter is None else f"{key}:{name.parameter[0].upper()}"
        meaning = f"{name.meaning[0].lower()}{name.meaning[1:].rstrip('.')}"
        better = "greater" if name.greater_is_better else "smaller"
        also = ", ".join(f"`{alias}`" for alias in name.aliases)
        rows.append(f"| `{shown}` | {name.full_label}: {meaning} | {better} | {also} |")
    assert [
        line for line in text.splitlines() if re.match(r"\| `\w.*(greater|smaller) ", line)
    ] == rows
