"""Nodes in any order become a tree in preorder, or are refused."""

from typing import Any

import numpy as np
import pytest

from arboleda._engine.columns import DenseTable
from arboleda.importers._trees import NodeTable, to_tree


def table(**changes: Any) -> NodeTable:
    """Two splits, three leaves, nodes in no order; node 3 is unreachable.

    0 splits on column 0 and has the leaf 4 and the node 1, which splits on column 1: leaves 5, 2.
    """
    parts: dict[str, Any] = {
        "left": np.array([4, 5, -1, -1, -1, -1]),
        "right": np.array([1, 2, -1, -1, -1, -1]),
        "feature": np.array([0, 1, 9, 9, 9, 9]),
        "threshold": np.array([0.5, 1.5, 7.0, 7.0, 7.0, 7.0]),
        "missing_left": np.array([True, False, True, True, True, True]),
        "impurity": np.array([3.0, 1.0, -1.0, 0.0, 0.0, 0.0]),
        "weight": np.array([8.0, 4.0, 1.0, 5.0, 4.0, 3.0]),
        "n_rows": np.array([8, 4, 1, 5, 4, 3]),
        "value": np.array([[0.0], [0.0], [10.0], [99.0], [20.0], [30.0]]),
    }
    return NodeTable(**(parts | changes))


def test_unordered_nodes_are_sorted() -> None:
    tree = to_tree(table(), 2, mean_values=True)
    assert tree.feature.tolist() == [0, -2, 1, -2, -2]
    assert tree.threshold.tolist() == [0.5, -2.0, 1.5, -2.0, -2.0]
    assert tree.children_right.tolist() == [2, -1, 4, -1, -1]
    assert tree.missing_go_to_left.tolist() == [1, 0, 0, 0, 0]
    assert tree.impurity.tolist() == [3.0, 0.0, 1.0, 0.0, 0.0]
    assert tree.weighted_n_node_samples.tolist() == [8.0, 4.0, 4.0, 3.0, 1.0]
    assert tree.n_node_samples.tolist() == [8, 4, 4, 3, 1]
    # (3 * 30 + 1 * 10) / 4 = 25 and (4 * 20 + 4 * 25) / 8 = 22.5
    assert tree.value_rows[:, 0].tolist() == [22.5, 20.0, 25.0, 30.0, 10.0]


def test_leaves_without_weight_get_a_small_one() -> None:
    weight = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    tree = to_tree(table(weight=weight, n_rows=np.zeros(6, dtype=int)), 2, mean_values=True)
    assert (tree.weighted_n_node_samples > 0.0).all()
    assert (tree.n_node_samples == 1).all()
    assert tree.value_rows[:, 0].tolist() == [20.0, 20.0, 20.0, 30.0, 10.0]


def test_a_split_that_no_row_can_separate_is_dropped() -> None:
    """A list of no categories: all rows go where missing values go, from node 0 left."""
    none = np.empty(0, dtype=np.int64)
    only_leaf = to_tree(table(categories={0: none}), 2)
    assert only_leaf.node_count == 1
    assert only_leaf.value_rows.tolist() == [[20.0]]
    without_one = to_tree(table(categories={1: none}), 2)
    assert without_one.node_count == 3
    assert without_one.value_rows[1:].tolist() == [[20.0], [10.0]]


def test_categories_follow_their_node() -> None:
    tree = to_tree(table(categories={1: np.array([0, 2])}), 2)
    assert tree.categories(2).tolist() == [0, 2]
    assert tree.threshold.tolist() == [0.5, -2.0, 0.0, -2.0, -2.0]
    columns = [np.full(4, 1.0), np.array([0, 1, 2, 65535], dtype=np.uint16)]
    found = tree.predict(DenseTable(columns, 4, (0, 3)))
    # The node sends missing values right, and these categories the other way.
    assert found[:, 0].tolist() == [30.0, 10.0, 30.0, 10.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"left": np.array([4, 5, -1, -1, 0, -1])}, "child"),
        ({"left": np.array([0, 5, -1, -1, -1, -1])}, "the child of two nodes, or of itself"),
        ({"right": np.array([1, 4, -1, -1, -1, -1])}, "the child of two nodes, or of itself"),
        ({"right": np.array([1, 5, -1, -1, -1, -1])}, "the child of two nodes, or of itself"),
        ({"right": np.array([6, 2, -1, -1, -1, -1])}, "has the child 6, which is none of the 6"),
        ({"right": np.array([-1, 2, -1, -1, -1, -1])}, "has the child -1"),
        ({"feature": np.array([2, 1, 0, 0, 0, 0])}, "none of the 2"),
        ({"feature": np.array([0, -1, 0, 0, 0, 0])}, "none of the 2"),
        ({"threshold": np.array([np.nan, 1, 0, 0, 0, 0])}, "a threshold of the tree is not"),
        ({"value": np.full((6, 1), np.inf)}, "a value of the tree is not"),
        ({"impurity": np.full(6, np.nan)}, "an impurity of the tree is not"),
        ({"weight": np.full(6, np.inf)}, "a weight of the tree is not"),
    ],
)
def test_invalid_trees_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_tree(table(**changes), 2)


def test_unreachable_nodes_in_a_cycle_are_refused() -> None:
    none = np.empty(0, dtype=np.int64)
    circle = table(left=np.array([1, 0, -1, -1, -1, -1]), missing_left=np.ones(6, dtype=bool))
    with pytest.raises(ValueError, match="child of two nodes, or of itself"):
        to_tree(NodeTable(**{**vars(circle), "categories": {0: none, 1: none}}), 2)


def test_a_long_chain_takes_linear_time() -> None:
    n = 20_001
    inner = np.arange(0, n - 1, 2)
    left, right = np.full(n, -1), np.full(n, -1)
    left[inner], right[inner] = inner + 1, inner + 2
    zeros = np.zeros(n)
    chain = NodeTable(
        left, right, np.zeros(n, dtype=int), zeros, zeros > 0, zeros, zeros + 1.0,
        np.ones(n, dtype=int), zeros[:, np.newaxis],
    )  # fmt: skip
    assert to_tree(chain, 1).max_depth == n // 2
