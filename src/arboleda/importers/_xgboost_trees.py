"""The trees of a model of XGBoost."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._errors import ModelFormatError
from arboleda.importers._columns import Columns
from arboleda.importers._fields import Floats, Integers, entry, floats, integers, whole
from arboleda.importers._float32 import rounded_below
from arboleda.importers._nodes import NodeTable


def read_nodes(stored: Any, tree_weight: float, columns: Columns) -> NodeTable:
    """Read the nodes of a tree, whose leaves count ``tree_weight`` times.

    Raises
    ------
    ValueError
        If they cannot be read, or leaves hold several values.
    """
    width = entry(entry(stored, "tree_param", dict), "size_leaf_vector", object)
    if whole(width, "size_leaf_vector") > 1:
        raise ModelFormatError(
            "its leaves hold several values (multi_strategy='multi_output_tree'), and our boosting "
            "adds up trees of one"
        )
    left = integers(stored, "left_children")
    n_nodes = left.size
    if not n_nodes:
        raise ModelFormatError("it has no node")
    condition = _singles(stored, "split_conditions", n_nodes)
    cover = _singles(stored, "sum_hessian", n_nodes)
    if not np.isfinite(cover).all():
        raise ModelFormatError("sum_hessian is not finite")
    feature = integers(stored, "split_indices", n_nodes)
    missing_left = integers(stored, "default_left", n_nodes) != 0
    gain = _singles(stored, "loss_changes", n_nodes)
    value = np.where(left < 0, tree_weight * condition, 0.0)
    return NodeTable(
        left=left,
        right=integers(stored, "right_children", n_nodes),
        feature=feature,
        threshold=rounded_below(condition),
        missing_left=missing_left,
        impurity=np.where(left < 0, 0.0, gain),
        weight=cover,
        n_rows=np.rint(np.clip(cover, 1.0, 2.0**53)).astype(np.int64),
        value=value[:, np.newaxis],
        categories=_categories(stored, feature, missing_left, columns),
    )


def _singles(stored: Any, name: str, n_nodes: int) -> Floats:
    """Numbers of single precision: the text of a JSON file is only as long as tells them apart."""
    with np.errstate(over="ignore", under="ignore"):
        return floats(stored, name, n_nodes).astype(np.float32).astype(np.float64)


def _categories(
    stored: Any, feature: Integers, missing_left: Any, columns: Columns
) -> dict[int, Integers]:
    """Categories that go the other way than missing values, of each node that asks for some.

    XGBoost lists those that go right.
    """
    kinds = integers(stored, "split_type", feature.size) if "split_type" in stored else None
    asked = set() if kinds is None else set(np.flatnonzero(kinds == 1).tolist())
    if not asked:
        return {}
    nodes = integers(stored, "categories_nodes").tolist()
    begins = integers(stored, "categories_segments", len(nodes)).tolist()
    sizes = integers(stored, "categories_sizes", len(nodes)).tolist()
    listed = integers(stored, "categories")
    if set(nodes) != asked or len(set(nodes)) != len(nodes):
        raise ModelFormatError("categories_nodes are not the nodes that ask for categories")
    if sum(sizes) > listed.size:
        raise ModelFormatError("categories_segments overlap")
    found = {}
    for node, begin, size in zip(nodes, begins, sizes, strict=True):
        if not 0 <= begin <= begin + size <= listed.size or size < 0:
            raise ModelFormatError("categories_segments are not within the categories")
        column = int(feature[node])
        going_right = columns.recoded(column, listed[begin : begin + size].tolist())
        found[node] = going_right if missing_left[node] else columns.others(column, going_right)
    return found
