"""Evaluation of a fitted model on rows: metrics, tables, curves, reliability, and its tree."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve
from sklearn.pipeline import Pipeline

from arboleda.catalogue.preparation import name_prepared_columns
from arboleda.metrics import (
    ReliabilityTable,
    calibration_error,
    classification_table,
    reliability_table,
)
from arboleda.scoring.choice import StudyMetric
from arboleda.scoring.intervals import DRAWS, LEVEL, bootstrap_interval
from arboleda.scoring.measures import ScoredOutputs
from arboleda.scoring.scores import all_scores, are_probabilities, cost_score, extra_score
from arboleda.tables.describe import compute_histogram
from arboleda.tables.features import Features
from arboleda.tables.target import StudyTarget

__all__ = [
    "BINS",
    "describe_reliability",
    "describe_tree",
    "evaluate_test",
    "evaluate_variants",
    "sum_bins",
]

CURVE_POINTS = 200
# Bins of equal width of probabilities.
BINS = 10
# Draws of labels from the probabilities, which give the distribution of the error by chance.
CALIBRATION_DRAWS = 200
RESIDUAL_ROWS = 1000
RESIDUAL_BINS = 30
# What the seed is mixed with, so that two uses of it draw different numbers.
_PURPOSE = 2
# What not every task or model has.
_PARTS = ("per_class", "averages", "confusion", "roc", "pr", "calibration", "residuals")

# Depth to which a tree is reported, and scikit-learn's mark of a leaf.
MAX_DEPTH, NO_CHILD = 5, -1

Floats = npt.NDArray[np.float64]


def evaluate_test(
    y: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
    score: Floats | None,
    target: StudyTarget,
    metric: StudyMetric,
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
    units = "queries" if target.task == "ranking" else "groups"
    drawn = "the test rows" if groups is None else f"the {units} of the test rows"
    facts: dict[str, Any] = {
        "metrics": {},
        "interval": {
            "metric": metric.key,
            "low": low,
            "high": high,
            "level": LEVEL,
            "method": f"bootstrap of {drawn}, {DRAWS} draws",
        },
        **dict.fromkeys(_PARTS),
    }
    if not target.labels:
        facts["metrics"] = all_scores(y, predicted, score, 0, metric=metric)
        if target.task == "regression":
            facts["residuals"] = _residuals(y, predicted, seed)
        return facts
    table = classification_table(y, predicted, score, labels=range(len(target.labels)))
    known = table.metrics | cost_score(y, predicted, score, costs)
    outputs = ScoredOutputs(y, predicted, score, len(target.labels))
    facts["metrics"] = known | extra_score(metric, known, outputs)
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
        facts["calibration"] = describe_reliability(y, score, target, seed)
    return facts


def _with_count(row: dict[str, float]) -> dict[str, Any]:
    return {**row, "support": int(row["support"])}


def _curves(
    y: npt.NDArray[Any], score: Floats, target: StudyTarget
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
        "histogram": compute_histogram(residual, RESIDUAL_BINS),
    }


def evaluate_variants(
    found: Mapping[str, Floats | None],
    y: npt.NDArray[Any],
    target: StudyTarget,
    seed: int,
    *,
    is_test: bool,
    costs: Floats | None = None,
    metric: StudyMetric | None = None,
) -> dict[str, Any]:
    """Return the facts on each method's probabilities, if it has any."""
    return {
        method: {
            "metrics": all_scores(y, p.argmax(axis=1), p, len(target.labels), costs, metric),
            "bins": sum_bins(y, p, target),
            "reliability": describe_reliability(y, p, target, seed) if is_test else None,
        }
        for method, p in found.items()
        if p is not None and np.all(np.isfinite(p))
    }


def compute_reliability(
    y: npt.NDArray[Any], probabilities: Floats, target: StudyTarget
) -> ReliabilityTable:
    """Compute the reliability of the positive class, or of the most probable of many classes."""
    return reliability_table(
        y,
        probabilities,
        labels=range(len(target.labels)),
        pos_label=1 if target.task == "binary" else None,
        n_bins=BINS,
    )


def describe_reliability(
    y: npt.NDArray[Any], score: Floats | None, target: StudyTarget, seed: int
) -> dict[str, Any] | None:
    """Return the ``calibration`` part of a model's test; None if it has no probabilities."""
    if score is None or not are_probabilities(score):
        return None
    error = calibration_error(
        y,
        score,
        labels=range(len(target.labels)),
        of="classes" if target.task == "binary" else "top",
        n_bins=BINS,
        n_resamples=CALIBRATION_DRAWS,
        random_state=seed,
    )
    table = compute_reliability(y, score, target)
    return {
        "error": error.value,
        "largest_by_chance": error.largest_by_chance,
        "level": error.confidence_level,
        "bins": [
            {
                "lower": lower,
                "upper": upper,
                "count": count,
                "mean_probability": mean,
                "frequency": frequency,
            }
            for lower, upper, count, mean, frequency in zip(
                table.lower.tolist(),
                table.upper.tolist(),
                table.counts.tolist(),
                table.mean_probability.tolist(),
                table.frequency.tolist(),
                strict=True,
            )
        ],
    }


def sum_bins(y: npt.NDArray[Any], probabilities: Floats, target: StudyTarget) -> list[list[float]]:
    """Return each bin's number of rows, sum of probabilities, and number of events.

    These sums can be added over folds.
    """
    table = compute_reliability(y, probabilities, target)
    sums = np.zeros((BINS, 3))
    at = np.rint(table.lower * BINS).astype(int)
    shares = np.column_stack([np.ones(len(at)), table.mean_probability, table.frequency])
    sums[at] = table.counts[:, None] * shares
    return [[float(value) for value in row] for row in sums]


def describe_tree(
    key: str, pipeline: Pipeline, features: Features, target: StudyTarget
) -> dict[str, Any] | None:
    """Return the tree of a fitted pipeline to depth 5, or None if its model is not a tree."""
    model = pipeline[-1]
    if not hasattr(model, "tree_") or target.task == "survival":
        return None
    names = name_prepared_columns(pipeline[0], features, target.labels)
    # Numeric columns come first and unchanged; only they can have missing values.
    missing = {features.names[j] for j in features.numeric if np.isnan(features.x[:, j]).any()}
    classes = bool(target.labels)
    return {
        "model": key,
        "n_leaves": int(model.get_n_leaves()),
        "depth": int(model.get_depth()),
        "class_labels": [target.labels[k] for k in model.classes_] if classes else None,
        "value_label": f"share of each class of {target.name}"
        if classes
        else f"mean of {target.name}",
        "nodes": _nodes(model.tree_, names, missing),
    }


def _nodes(tree: Any, names: list[str], missing: set[str]) -> list[dict[str, Any]]:
    """List the nodes depth first, each before its children."""
    nodes: list[dict[str, Any]] = []
    todo: list[tuple[int, int | None, int]] = [(0, None, 0)]
    while todo:
        node, parent, depth = todo.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        leaf = left == NO_CHILD
        feature = None if leaf else names[int(tree.feature[node])]
        shown = not leaf and depth < MAX_DEPTH
        nodes.append(
            {
                "id": node,
                "parent": parent,
                "left": left if shown else None,
                "right": right if shown else None,
                "depth": depth,
                "feature": feature,
                "threshold": None if leaf else float(tree.threshold[node]),
                "missing": _missing_side(tree, node) if feature in missing else None,
                "impurity": float(tree.impurity[node]),
                "n": int(tree.n_node_samples[node]),
                "value": [float(v) for v in tree.value[node].ravel()],
            }
        )
        if shown:
            todo += [(right, node, depth + 1), (left, node, depth + 1)]
    return nodes


def _missing_side(tree: Any, node: int) -> str:
    return "left" if tree.missing_go_to_left[node] else "right"
