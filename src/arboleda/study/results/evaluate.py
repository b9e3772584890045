"""Evaluation of a model on the test rows: metrics, an interval, tables and curves."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

from arboleda.metrics import classification_table, regression_table
from arboleda.study.data.describe import histogram
from arboleda.study.data.target import Target
from arboleda.study.results.bootstrap import DRAWS, LEVEL, bootstrap_interval
from arboleda.study.results.calibration import reliability_of
from arboleda.study.results.scoring import cost_score

__all__ = ["evaluate_test"]

CURVE_POINTS = 200
RESIDUAL_ROWS = 1000
RESIDUAL_BINS = 30
# What the seed is mixed with, so that two uses of it draw different numbers.
_PURPOSE = 2

Floats = npt.NDArray[np.float64]


def evaluate_test(
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: Floats | None,
    target: Target,
    metric: str,
    seed: int,
    groups: npt.NDArray[np.int64] | None = None,
    costs: Floats | None = None,
) -> dict[str, Any]:
    """Return the ``test`` part of a model's facts; rows of a group are resampled together.

    Metric "cost" needs ``costs`` by true and predicted class.
    """
    low, high = bootstrap_interval(
        metric,
        y,
        predicted,
        score,
        n_classes=len(target.labels),
        seed=seed,
        groups=groups,
        costs=costs,
    )
    drawn = "the test rows" if groups is None else "the groups of the test rows"
    facts: dict[str, Any] = {
        "metrics": {},
        "interval": {
            "metric": metric,
            "low": low,
            "high": high,
            "level": LEVEL,
            "method": f"bootstrap of {drawn}, {DRAWS} draws",
        },
        "per_class": None,
        "averages": None,
        "confusion": None,
        "roc": None,
        "pr": None,
        "calibration": None,
        "residuals": None,
    }
    if target.task == "regression":
        facts["metrics"] = regression_table(y, predicted).metrics
        facts["residuals"] = _residuals(y, predicted, seed)
        return facts
    table = classification_table(y, predicted, score, labels=range(len(target.labels)))
    facts["metrics"] = table.metrics | cost_score(y, predicted, score, costs)
    facts["per_class"] = [
        {"label": label, **_with_count(row)}
        for label, row in zip(target.labels, table.per_class, strict=True)
    ]
    facts["averages"] = {
        "macro": _with_count(table.macro),
        "weighted": _with_count(table.weighted),
    }
    facts["confusion"] = {"labels": list(target.labels), "counts": table.confusion.tolist()}
    if score is not None and np.all(np.isfinite(score)):
        facts["roc"], facts["pr"] = _curves(y, score, target)
        facts["calibration"] = reliability_of(y, score, target, seed)
    return facts


def _with_count(row: dict[str, float]) -> dict[str, Any]:
    return {**row, "support": int(row["support"])}


def _curves(
    y: npt.NDArray[Any], score: Floats, target: Target
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Compute ROC and precision-recall curves of the positive class, or one-vs-rest."""
    shown = [1] if target.task == "binary" else range(len(target.labels))
    roc, pr = [], []
    for k in shown:
        hit = (y == k).astype(np.int64)
        if hit.min() == hit.max():
            continue
        fpr, tpr, _ = roc_curve(hit, score[:, k])
        some = _spread(fpr, tpr)
        label = target.labels[k]
        roc.append(
            {
                "label": label,
                "fpr": fpr[some].tolist(),
                "tpr": tpr[some].tolist(),
                "auc": float(auc(fpr, tpr)),
            }
        )
        precision, recall, _ = precision_recall_curve(hit, score[:, k])
        some = _spread(recall, precision)
        pr.append(
            {
                "label": label,
                "recall": recall[some].tolist(),
                "precision": precision[some].tolist(),
                "average_precision": float(average_precision_score(hit, score[:, k])),
            }
        )
    return roc, pr


def _spread(x: Floats, y: Floats) -> npt.NDArray[np.int64]:
    """Select at most 200 points, evenly along the length of a curve, including both ends."""
    if len(x) <= CURVE_POINTS:
        return np.arange(len(x))
    length = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    wanted = np.linspace(0.0, length[-1], CURVE_POINTS - 1)
    at = np.searchsorted(length, wanted).clip(max=len(x) - 1)
    return np.unique(np.append(at, len(x) - 1))


def _residuals(y: Floats, predicted: Floats, seed: int) -> dict[str, Any]:
    residual = y - predicted
    rows = np.arange(len(y))
    if len(y) > RESIDUAL_ROWS:
        draw = np.random.default_rng([seed, _PURPOSE])
        rows = np.sort(draw.choice(len(y), RESIDUAL_ROWS, replace=False))
    return {
        "predicted": predicted[rows].tolist(),
        "true": y[rows].tolist(),
        "residual": residual[rows].tolist(),
        "histogram": histogram(residual, RESIDUAL_BINS),
    }
