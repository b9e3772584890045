"""A fitted tree as facts, for the report to draw."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from arboleda.study.data.features import Features
from arboleda.study.data.preparation import prepared_names
from arboleda.study.data.target import Target

__all__ = ["tree_facts"]

MAX_DEPTH = 5
NO_CHILD = -1


def tree_facts(
    key: str, pipeline: Pipeline, features: Features, target: Target
) -> dict[str, Any] | None:
    """Return the tree of a fitted pipeline to depth 5, or None if its model is not a tree."""
    model = pipeline[-1]
    if not hasattr(model, "tree_"):
        return None
    names = prepared_names(pipeline[0], features, target.labels)
    # Numeric columns come first and unchanged; only they can have missing values.
    missing = {features.names[j] for j in features.numeric if np.isnan(features.x[:, j]).any()}
    classes = target.task != "regression"
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
