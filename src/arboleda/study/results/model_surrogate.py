"""A small tree that imitates the model (a global surrogate)."""

from typing import Any

import numpy as np

from arboleda.explain import surrogate_tree
from arboleda.study.results.estimator_adapter import named_model, named_target
from arboleda.study.results.explained_model import ExplainedModel
from arboleda.tree._view import TreeView, view_tree

__all__ = ["describe_surrogate"]

LEAVES = 12
MOST_ROWS = 30_000
_STREAM = 5


def describe_surrogate(
    subject: ExplainedModel, row_limit: int = MOST_ROWS
) -> dict[str, Any] | None:
    """Return the surrogate tree as facts, with its fidelity and its own error.

    Return None if the model's predictions are constant.
    """
    train = subject.draw(subject.train, row_limit, _STREAM)
    test = subject.draw(subject.test, row_limit, _STREAM)
    found = surrogate_tree(
        named_model(subject),
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
                "cart_error": _known(curve.cart_error[i]),
            }
            for i, size in enumerate(sizes)
        ],
        "tree": _tree(subject, found.model),
    }


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


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
    """The category whose code the tree has for a label."""
    text = subject.text(column, float(label))
    return "(missing)" if text is None else str(text)
