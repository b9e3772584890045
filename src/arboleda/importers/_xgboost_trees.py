"""Trees of an XGBoost model."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboleda._errors import ModelFormatError
from arboleda.importers._columns import Columns
from arboleda.importers._fields import (
    Floats,
    Integers,
    read_entry,
    read_floats,
    read_integer,
    read_integers,
)
from arboleda.importers._float32 import rounded_below
from arboleda.importers._nodes import NodeTable


def read_nodes(stored: Any, tree_weight: float, columns: Columns) -> NodeTable:
    """Read the nodes of a tree, with leaf values multiplied by ``tree_weight``.

    Raises
    ------
    ValueError
        If they cannot be read, or leaves have several values.
    """
    width = read_entry(read_entry(stored, "tree_param", dict), "size_leaf_vector", object)
    if read_integer(width, "size_leaf_vector") > 1:
        raise ModelFormatError(
            "its leaves have several values (multi_strategy='multi_output_tree'), which is not "
            "supported: fit it with multi_strategy='one_output_per_tree'"
        )
    left = read_integers(stored, "left_children")
    n_nodes = left.size
    if not n_nodes:
        raise ModelFormatError("it has no node")
    condition = _read_float32s(stored, "split_conditions", n_nodes)
    cover = _read_float32s(stored, "sum_hessian", n_nodes)
    if not np.isfinite(cover).all():
        raise ModelFormatError("sum_hessian is not finite")
    feature = read_integers(stored, "split_indices", n_nodes)
    missing_left = read_integers(stored, "default_left", n_nodes) != 0
    gain = _read_float32s(stored, "loss_changes", n_nodes)
    value = np.where(left < 0, tree_weight * condition, 0.0)
    return NodeTable(
        left=left,
        right=read_integers(stored, "right_children", n_nodes),
        feature=feature,
        threshold=rounded_below(condition),
        missing_left=missing_left,
        impurity=np.where(left < 0, 0.0, gain),
        weight=cover,
        n_rows=np.rint(np.clip(cover, 1.0, 2.0**53)).astype(np.int64),
        value=value[:, np.newaxis],
        categories=_read_categories(stored, feature, missing_left, columns),
    )


def _read_float32s(stored: Any, name: str, n_nodes: int) -> Floats:
    """Read single-precision numbers, which JSON files store with just enough digits for float32."""
    with np.errstate(over="ignore", under="ignore"):
        return read_floats(stored, name, n_nodes).astype(np.float32).astype(np.float64)


def _read_categories(
    stored: Any, feature: Integers, missing_left: Any, columns: Columns
) -> dict[int, Integers]:
    """Return the categories that do not go the way of missing values, for each categorical node.

    XGBoost lists the categories that go right.
    """
    kinds = read_integers(stored, "split_type", feature.size) if "split_type" in stored else None
    categorical = set() if kinds is None else set(np.flatnonzero(kinds == 1).tolist())
    if not categorical:
        return {}
    nodes = read_integers(stored, "categories_nodes").tolist()
    begins = read_integers(stored, "categories_segments", len(nodes)).tolist()
    sizes = read_integers(stored, "categories_sizes", len(nodes)).tolist()
    listed = read_integers(stored, "categories")
    if set(nodes) != categorical or len(set(nodes)) != len(nodes):
        raise ModelFormatError("categories_nodes are not the categorical nodes")
    if sum(sizes) > listed.size:
        raise ModelFormatError("categories_segments overlap")
    categories = {}
    for node, begin, size in zip(nodes, begins, sizes, strict=True):
        if not 0 <= begin <= begin + size <= listed.size or size < 0:
            raise ModelFormatError("categories_segments are not within the categories")
        column = int(feature[node])
        going_right = columns.encode_categories(column, listed[begin : begin + size].tolist())
        categories[node] = (
            going_right if missing_left[node] else columns.other_categories(column, going_right)
        )
    return categories
