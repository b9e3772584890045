"""The trees of a model of LightGBM.

Inner nodes have the numbers 0, 1, .. and leaves 0, 1, ..; a child of -1 - i is leaf i. The kind of
a question stands in the bits of ``decision_type``:

    bit 0      categories, not a threshold
    bit 1      missing values go left
    bits 2, 3  what is missing: 0 nothing (NaN counts 0), 1 zeros (and NaN, which counts 0), 2 NaN

A node of categories holds the place of a bit set; those in it go left, all others, NaN and numbers
below 0 go right.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from arboleda._errors import ModelFormatError
from arboleda.importers._columns import Columns
from arboleda.importers._fields import whole
from arboleda.importers._lightgbm_text import (
    Block,
    float_entries,
    integer_entries,
    text_entry,
)
from arboleda.importers._nodes import NodeTable

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_Kind = TypeVar("_Kind", bound=np.generic)

_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_NOTHING, _ZERO, _NAN = 0, 1, 2  # what is missing
_ABOUT_ZERO = float(np.float32(1e-35))  # values no further from 0 count as zeros


def read_nodes(tree: Block, columns: Columns) -> NodeTable:
    """Read the nodes of a tree, the leaves behind the inner ones.

    Raises
    ------
    ValueError
        If they cannot be read, leaves are linear, or zeros count as missing where that matters.
    """
    n_leaves = _n_leaves(tree)
    n_inner = n_leaves - 1
    if text_entry(tree, "is_linear").strip() not in {"", "0"}:
        raise ModelFormatError(
            "its leaves are linear (linear_tree=True), in another form than ours: fit it without, "
            "or fit HistGradientBoostingRegressor(linear_leaves=True)"
        )
    feature = integer_entries(tree, "split_feature", n_inner)
    kind = integer_entries(tree, "decision_type", n_inner)
    threshold = float_entries(tree, "threshold", n_inner)
    sets = _category_sets(tree, kind, threshold)
    value = float_entries(tree, "leaf_value", n_leaves)
    gain = float_entries(tree, "split_gain", n_inner)
    counts = [
        integer_entries(tree, "internal_count", n_inner),
        integer_entries(tree, "leaf_count", n_leaves),
    ]
    n_rows = np.maximum(np.concatenate(counts), 1)
    return NodeTable(
        left=_with_leaves(integer_entries(tree, "left_child", n_inner), n_leaves),
        right=_with_leaves(integer_entries(tree, "right_child", n_inner), n_leaves),
        feature=_padded(feature, n_leaves),
        threshold=_padded(threshold, n_leaves),
        missing_left=_padded(_missing_left(kind, threshold), n_leaves),
        impurity=_padded(np.nan_to_num(gain, posinf=0.0, neginf=0.0), n_leaves),
        weight=n_rows.astype(np.float64),
        n_rows=n_rows,
        value=np.concatenate([np.zeros(n_inner), value])[:, np.newaxis],
        categories={
            node: columns.recoded(int(feature[node]), codes.tolist())
            for node, codes in sets.items()
        },
    )


def asked_categories(tree: Block) -> dict[int, Integers]:
    """Categories that the nodes of a tree list, for each column of categories."""
    n_inner = _n_leaves(tree) - 1
    if not whole(text_entry(tree, "num_cat"), "num_cat"):
        return {}
    feature = integer_entries(tree, "split_feature", n_inner)
    kind = integer_entries(tree, "decision_type", n_inner)
    sets = _category_sets(tree, kind, float_entries(tree, "threshold", n_inner))
    found: dict[int, list[Integers]] = {}
    for node, codes in sets.items():
        found.setdefault(int(feature[node]), []).append(codes)
    return {
        column: np.flatnonzero(np.bincount(np.concatenate(parts)))
        for column, parts in found.items()
    }


def misses_values(tree: Block) -> Integers:
    """Columns of which a node says that values missed in training."""
    n_inner = _n_leaves(tree) - 1
    kind = integer_entries(tree, "decision_type", n_inner)
    feature = integer_entries(tree, "split_feature", n_inner)
    missing: Integers = feature[_missing(kind) == _NAN]
    return missing


def _n_leaves(tree: Block) -> int:
    return whole(text_entry(tree, "num_leaves"), "num_leaves", 1)


def _missing(kind: Integers) -> Integers:
    return (kind >> 2) & 3


def _missing_left(kind: Integers, threshold: Floats) -> npt.NDArray[np.bool_]:
    """Where NaN goes left.

    Raises
    ------
    ModelFormatError
        If zeros go another way than their neighbours.
    """
    has_threshold = kind & _CATEGORICAL == 0
    missing = _missing(kind)
    if (missing > _NAN).any():
        raise ModelFormatError("decision_type holds a kind of missing values that there is not")
    told_left = kind & _DEFAULT_LEFT != 0
    zero_left = threshold >= 0.0
    # With what counts as zero all on one side, a threshold says where zeros go.
    same = np.where(told_left, threshold >= _ABOUT_ZERO, threshold < -_ABOUT_ZERO)
    if (has_threshold & (missing == _ZERO) & ~same).any():
        raise ModelFormatError(
            "zeros count as missing in it and go another way than numbers about them "
            "(zero_as_missing=True), which our trees cannot say: fit it on data with NaN for them"
        )
    left: npt.NDArray[np.bool_] = np.where(missing == _NOTHING, zero_left, told_left)
    found: npt.NDArray[np.bool_] = has_threshold & left
    return found


def _category_sets(tree: Block, kind: Integers, threshold: Floats) -> dict[int, Integers]:
    """Categories of each node that asks for some."""
    nodes = np.flatnonzero(kind & _CATEGORICAL)
    if not nodes.size:
        return {}
    begins = integer_entries(tree, "cat_boundaries")
    words = integer_entries(tree, "cat_threshold")
    if (words < 0).any() or (words >= 2**32).any():
        raise ModelFormatError("cat_threshold holds a number beyond 32 bits")
    if begins.size < 1 or (np.diff(begins) < 0).any() or begins[0] < 0 or begins[-1] > words.size:
        raise ModelFormatError("cat_boundaries are not within cat_threshold")
    if np.unique(threshold[nodes]).size < nodes.size:
        raise ModelFormatError("two nodes ask for one set of categories")
    found = {}
    for node in nodes.tolist():
        number = threshold[node]
        if not 0 <= number < begins.size - 1 or number != int(number):
            raise ModelFormatError(f"node {node} asks for a set of categories that is not there")
        part = words[begins[int(number)] : begins[int(number) + 1]].astype("<u4")
        found[node] = np.flatnonzero(np.unpackbits(part.view("u1"), bitorder="little"))
    return found


def _with_leaves(child: Integers, n_leaves: int) -> Integers:
    """Children of all nodes; leaf i has the number of the last inner node plus 1 + i.

    Raises
    ------
    ModelFormatError
        If a child is none of the tree.
    """
    n_inner = n_leaves - 1
    if child.size and not -n_leaves <= child.min() <= child.max() < n_inner:
        raise ModelFormatError("a child is out of range")
    return np.concatenate([np.where(child < 0, n_inner - 1 - child, child), np.full(n_leaves, -1)])


def _padded(array: npt.NDArray[_Kind], n_leaves: int) -> npt.NDArray[_Kind]:
    """Append zeros for the leaves."""
    return np.concatenate([array, np.zeros(n_leaves, dtype=array.dtype)])
