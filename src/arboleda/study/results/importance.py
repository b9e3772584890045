"""The importances of the columns, and a small tree that imitates the model (a global surrogate)."""

from typing import Any

import numpy as np
from sklearn.metrics import make_scorer

from arboleda.explain import importance, surrogate_tree
from arboleda.reports.metric_names import find_metric_name
from arboleda.scoring.choice import COST, StudyMetric, choose_metric
from arboleda.scoring.measures import ScoredOutputs
from arboleda.scoring.ranking import bind_ranking_metric
from arboleda.scoring.scores import compute_row_costs
from arboleda.scoring.survival import find_importance_metric
from arboleda.study.results.explained_model import (
    ExplainedModel,
    make_estimator_adapter,
    named_target,
    numbered_model,
)
from arboleda.tree import TreeView, view_tree

__all__ = ["count_scored_rows", "describe_importance", "describe_surrogate"]

FEWEST_SCORED, MOST_SCORED = 200, 4_000
REPEATS = 10
# Maximum predicted rows (rows times columns times repeats) of all models of an ensemble.
MAX_SCORED_ROWS = 4_000_000
_IMPORTANCE_STREAM = 3
# Scorers of scikit-learn, which `importance` computes fast; the others are made here.
_SCORERS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "f1_macro": "f1_macro",
    "mcc": "matthews_corrcoef",
    "log_loss": "neg_log_loss",
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "mse": "neg_mean_squared_error",
    "r2": "r2",
}
LEAVES = 12
MOST_IMITATED = 30_000
_SURROGATE_STREAM = 5


def describe_importance(
    subject: ExplainedModel,
    max_scored_rows: int = MAX_SCORED_ROWS,
    metric: StudyMetric | None = None,
) -> dict[str, Any] | None:
    """Compute the permutation importance of every column by the study's metric, largest first.

    ``max_scored_rows`` bounds the predicted rows (rows times columns times repeats), summed over
    all fitted models of an ensemble. ``metric`` is that of the study; by default it is found by the
    key in the facts, or is the accuracy or RMSE if the key names a function of the user.

    Return None if the test rows lack a class that the metric needs.
    """
    part = subject.draw(subject.test, _most_rows(subject, max_scored_rows), _IMPORTANCE_STREAM)
    if metric is None:
        key = subject.facts["study"]["metric"]
        task = "classification" if subject.classes else subject.task
        known = None if find_metric_name(key) is None else key
        # Every classifier has an accuracy.
        metric = choose_metric(known, task, class_metric="accuracy")
    if subject.task == "ranking":
        metric = bind_ranking_metric(metric)
    metric = find_importance_metric(metric, subject.task)
    if subject.classes and len(np.unique(part.y)) < len(subject.labels):
        return None
    scoring: Any = _SCORERS.get(metric.key)
    if metric.key == "roc_auc":
        scoring = "roc_auc" if len(subject.labels) == 2 else "roc_auc_ovr"
    elif scoring is None:
        scoring = _cost_scorer(subject) if metric.key == COST else _make_scorer(subject, metric)
    found: Any = importance(  # of one score, and so one
        numbered_model(subject),
        part.x,
        part.y,
        kind="permutation",
        scoring=scoring,
        n_repeats=REPEATS,
        random_state=subject.seed,
    )
    order = np.argsort(-found.value, kind="stable")
    return {
        "metric": metric.key,
        "metric_label": metric.label,
        "n_rows": len(part.x),
        "n_repeats": REPEATS,
        "columns": [
            {
                "name": subject.names[j],
                "value": float(found.value[j]),
                "standard_error": _finite(found.standard_error[j]),
            }
            for j in order
        ],
    }


def count_scored_rows(subject: ExplainedModel, max_scored_rows: int = MAX_SCORED_ROWS) -> int:
    """Return the number of rows that the model predicts for its importances."""
    n_rows = min(len(subject.test.x), _most_rows(subject, max_scored_rows))
    return n_rows * REPEATS * len(subject.names)


def _most_rows(subject: ExplainedModel, max_scored_rows: int) -> int:
    at_once = REPEATS * len(subject.names) * subject.n_models
    return int(np.clip(max_scored_rows // at_once, FEWEST_SCORED, MOST_SCORED))


def _make_scorer(subject: ExplainedModel, metric: StudyMetric) -> Any:
    """Return a scorer by a metric of predictions, or of scores with a column for each class."""
    measure, n_classes = metric.measure, len(subject.labels)
    assert measure is not None  # only the cost has none

    def compute(y: Any, outputs: Any) -> float:
        score = None
        if n_classes and outputs.dtype.kind == "f":
            score = np.column_stack([1.0 - outputs, outputs]) if outputs.ndim == 1 else outputs
            outputs = score.argmax(axis=1)
        value = measure.compute(ScoredOutputs(np.asarray(y), outputs, score, n_classes))
        return np.nan if value is None else value

    takes: Any = "predict"
    if metric.needs_scores:
        takes = ("predict_proba", "decision_function", "predict")
    return make_scorer(compute, response_method=takes, greater_is_better=metric.greater_is_better)


def _cost_scorer(subject: ExplainedModel) -> Any:
    """Return a scorer by the mean cost of a model's cheapest decisions."""
    matrix = np.array(subject.facts["costs"]["matrix"], dtype=np.float64)

    def cost(y: Any, outputs: Any) -> float:
        if outputs.dtype.kind == "i":  # classes: the model has no probabilities
            return float(compute_row_costs(y, outputs, None, matrix).mean())
        score = np.column_stack([1.0 - outputs, outputs]) if outputs.ndim == 1 else outputs
        return float(compute_row_costs(y, score.argmax(axis=1), score, matrix).mean())

    return make_scorer(cost, response_method=("predict_proba", "predict"), greater_is_better=False)


def _finite(value: float) -> float | None:
    """Return a finite value, or None if a block of rows lacks what the metric needs."""
    return float(value) if np.isfinite(value) else None


def describe_surrogate(
    subject: ExplainedModel, row_limit: int = MOST_IMITATED
) -> dict[str, Any] | None:
    """Return the surrogate tree as facts, with its fidelity and its own error.

    Return None if the model's predictions are constant.
    """
    train = subject.draw(subject.train, row_limit, _SURROGATE_STREAM)
    test = subject.draw(subject.test, row_limit, _SURROGATE_STREAM)
    found = surrogate_tree(
        make_estimator_adapter(subject),
        train.x,
        named_target(subject, train.y),
        X_test=test.x,
        y_test=named_target(subject, test.y),
        max_leaves=LEAVES,
        categorical_features=list(subject.levels) or None,
        random_state=subject.seed,
    )
    curve = found.curve
    sizes = [int(size) for size in curve.size]
    if sizes[-1] < 2 or not np.isfinite(found.fidelity):
        return None
    return {
        "n_leaves": sizes[-1],
        "n_fit": len(train.x),
        "n_rows": len(test.x),
        "fidelity": float(found.fidelity),
        "error": float(curve.error[-1]),
        "model_error": float(curve.ensemble_error[-1]),
        "curve": [
            {
                "n_leaves": size,
                "fidelity": float(curve.fidelity[i]),
                "error": float(curve.error[i]),
                "cart_error": _finite(curve.cart_error[i]),
            }
            for i, size in enumerate(sizes)
        ],
        "tree": _tree(subject, found.model),
    }


def _tree(subject: ExplainedModel, model: Any) -> dict[str, Any]:
    view = view_tree(model, caller="explain")
    depth = [0] * len(view.left)
    for node, (left, right) in enumerate(zip(view.left, view.right, strict=True)):
        if left >= 0:
            depth[left] = depth[right] = depth[node] + 1
    target = subject.facts["study"]["target"]
    return {
        "model": "surrogate",
        "n_leaves": sum(left < 0 for left in view.left),
        "depth": max(depth),
        "class_labels": [str(label) for label in model.classes_] if subject.classes else None,
        "value_label": f"share of each class of {target} as the model says"
        if subject.classes
        else f"mean of {target} as the model says",
        "nodes": [_node(subject, view, node, depth) for node in range(len(depth))],
    }


def _node(subject: ExplainedModel, view: TreeView, node: int, depth: list[int]) -> dict[str, Any]:
    leaf = view.is_leaf(node)
    listed = [] if leaf else view.tree.categories(node).tolist()
    j = view.feature[node]
    return {
        "id": node,
        "parent": next((p for p in range(node) if node in (view.left[p], view.right[p])), None),
        "left": None if leaf else view.left[node],
        "right": None if leaf else view.right[node],
        "depth": depth[node],
        "feature": None if leaf else subject.names[j],
        "threshold": None if leaf or listed else view.threshold[node],
        "levels": [_level(subject, j, label) for label in view.level_labels(j, listed)]
        if listed
        else None,
        "levels_left": not view.tree.missing_go_to_left[node] if listed else None,
        "missing": view.missing[node],
        "impurity": view.impurity[node],
        "n": view.n[node],
        "value": view.values[0][node].ravel().tolist(),
    }


def _level(subject: ExplainedModel, column: int, label: str) -> str:
    """Return the category whose code the tree has for a label."""
    text = subject.text(column, float(label))
    return "(missing)" if text is None else str(text)
