"""Trees as constant tables, and the function that finds the leaf of a row.

Nodes are in preorder: the left child of node i is i + 1. `feature` is -1 in a leaf, whose number is
in `right`. The threshold of a categorical split is the number of its list of categories.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.tree import Tree
from arboleda._utils.float32 import at_most_float32
from arboleda.c_export._source import NumberType, define_integers, define_numbers

Floats = npt.NDArray[np.float64]

_MISSING_LEFT, _CATEGORIES = 1, 2


class TreeTables:
    """Tables of the trees of one model, whose leaves have ``width`` values."""

    def __init__(self, prefix: str, width: int, dtype: NumberType) -> None:
        self.prefix = prefix
        self.width = width
        self._dtype: NumberType = dtype
        self._roots: list[int] = []
        self._n_nodes = self._n_leaves = 0
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}
        self._categories: list[npt.NDArray[np.int64]] = []

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self._roots)

    @property
    def has_categories(self) -> bool:
        """Whether there are categorical splits."""
        return bool(self._categories)

    def add(self, tree: Tree, leaf_values: Floats) -> None:
        """Add a tree; ``leaf_values`` (n_leaves, width), in the order of the leaves."""
        is_leaf = tree.children_left < 0
        n_leaves = int(is_leaf.sum())
        right = tree.children_right + self._n_nodes
        right[is_leaf] = self._n_leaves + np.arange(n_leaves)
        threshold = np.where(is_leaf, 0.0, tree.threshold)
        ways = np.where(is_leaf, 0, _MISSING_LEFT * tree.missing_go_to_left.astype(np.int64))
        for node in np.flatnonzero(~is_leaf).tolist():
            listed = tree.categories(node)
            if listed.size:
                threshold[node] = len(self._categories)
                ways[node] += _CATEGORIES
                self._categories.append(listed.astype(np.int64))
        if self._dtype == "float32":
            threshold = np.where(ways < _CATEGORIES, at_most_float32(threshold), threshold)
        self._keep("threshold", threshold)
        self._keep("feature", np.where(is_leaf, -1, tree.feature))
        self._keep("right", right)
        self._keep("ways", ways)
        self._keep("value", leaf_values.ravel())
        self._roots.append(self._n_nodes)
        self._n_nodes += tree.node_count
        self._n_leaves += n_leaves

    def iter_definitions(self) -> Iterable[str]:
        """Yield the tables, and the function that finds the leaf of a row in a tree."""
        if not self._roots:
            return
        p = self.prefix
        joined = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        for name in ("threshold", "value"):
            yield define_numbers(f"{p}_{name}", joined[name].tolist(), self._dtype)
        for name in ("feature", "right", "ways"):
            yield define_integers(f"{p}_{name}", joined[name].astype(np.int64))
        yield define_integers(f"{p}_root", np.array(self._roots))
        if self._categories:
            sizes = [0, *(listed.size for listed in self._categories)]
            yield define_integers(f"{p}_list", np.cumsum(sizes))
            yield define_integers(f"{p}_category", np.concatenate(self._categories))
            yield _LISTED.replace("PREFIX", p)
        yield (
            _LEAF.replace("PREFIX", p)
            .replace("LEFT", _BY_EITHER.replace("PREFIX", p) if self._categories else _BY_NUMBER)
            .replace("PREFIX", p)
        )

    def _keep(self, name: str, array: npt.NDArray[Any]) -> None:
        self._parts.setdefault(name, []).append(array)


_LISTED = """\
/* Whether a list of categories contains a category. */
static int PREFIX_lists(int list, number category) {
  int i;
  for (i = PREFIX_list[list]; i < PREFIX_list[list + 1]; ++i) {
    if ((number)PREFIX_category[i] == category) return 1;
  }
  return 0;
}"""

_LEAF = """\
/* The leaf of a row. */
static int PREFIX_leaf(int tree, const number *x) {
  int node = PREFIX_root[tree];
  while (PREFIX_feature[node] >= 0) {
    const number value = x[PREFIX_feature[node]];
    const int missing_left = PREFIX_ways[node] & 1;
    LEFT
    node = left ? node + 1 : PREFIX_right[node];
  }
  return PREFIX_right[node];
}"""

_BY_NUMBER = """const int left = value == value ? value <= PREFIX_threshold[node] : missing_left;"""

_BY_EITHER = """int left = value == value ? value <= PREFIX_threshold[node] : missing_left;
    if (PREFIX_ways[node] & 2) {
      left = PREFIX_lists((int)PREFIX_threshold[node], value) != missing_left;
    }"""
