"""Fitted trees built by hand, for cases that are hard to grow."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from tests.persist.twin import TreeTwin, section

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor, _native
from arboleda._engine.columns import Schema
from arboleda._engine.tree import Tree


@dataclass
class Node:
    """An inner node if it has children: ``listed`` categories or a threshold decide."""

    feature: int = -1
    threshold: float = 0.0
    listed: tuple[int, ...] = ()
    missing_left: bool = False
    left: "Node | None" = None
    right: "Node | None" = None
    value: tuple[float, ...] = (1.0,)
    n: int = 0  # 0: the sum of the children, or 1

    @cached_property
    def rows(self) -> int:
        """Number of training rows."""
        if self.left is None or self.right is None:
            return self.n or 1
        return self.n or self.left.rows + self.right.rows

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """Values; those of an inner node are the mean of its children's."""
        if self.left is None or self.right is None:
            return self.value
        parts = zip(self.left.shares, self.right.shares, strict=True)
        return tuple((self.left.rows * a + self.right.rows * b) / self.rows for a, b in parts)


def tree_of(root: Node, n_features: int) -> Tree:
    """Lay the nodes out in preorder and let the engine check them."""
    nodes: list[Node] = []
    right: list[int] = []

    def lay(node: Node) -> None:
        at = len(nodes)
        nodes.append(node)
        right.append(-1)
        if node.left is not None and node.right is not None:
            lay(node.left)
            right[at] = len(nodes)
            lay(node.right)

    lay(root)
    listed = [node.listed if node.left else () for node in nodes]
    pairs = [(node, node.left is not None) for node in nodes]
    category = [number for numbers in listed for number in numbers]
    arrays = {
        "feature": [n.feature if i else -1 for n, i in pairs],
        "threshold": [n.threshold if i else 0.0 for n, i in pairs],
        "right": right,
        "missing_left": [n.missing_left and i for n, i in pairs],
        "impurity": [max(0.0, 1.0 - max(n.shares)) for n in nodes],
        "n_node_samples": [n.rows for n in nodes],
        "weight": [float(n.rows) for n in nodes],
        "value": [share for n in nodes for share in n.shares],
        "category_start": np.cumsum([0, *map(len, listed)]) if category else [],
        "category": category,
    }
    native = _native.Tree.__new__(_native.Tree)
    twin = TreeTwin(n_features, len(root.shares), 0, arrays)
    native.__setstate__(section(b"TREE", twin.write()))
    return Tree(native)


def classifier(root: Node, n_features: int, classes: Any, levels: Any = None) -> Any:
    """Return a classifier with this tree, whose table missed no values."""
    return _fitted(DecisionTreeClassifier(), root, n_features, levels, classes_=np.array(classes))


def regressor(root: Node, n_features: int, levels: Any = None) -> Any:
    """Return a regressor with this tree, whose table missed no values."""
    return _fitted(DecisionTreeRegressor(), root, n_features, levels)


def _fitted(model: Any, root: Node, n_features: int, levels: Any, **attributes: Any) -> Any:
    model.tree_, model.n_outputs_, model.n_features_in_ = tree_of(root, n_features), 1, n_features
    model.missing_columns_ = np.array([], dtype=np.int64)
    if levels is not None:
        model.schema_ = Schema(None, tuple(levels))
    for name, value in attributes.items():
        setattr(model, name, value)
    return model
