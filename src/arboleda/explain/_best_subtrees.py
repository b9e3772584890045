"""Find the best pruned trees and rule lists of each size inside a grown tree.

A tree grown best first is good at its own size, but its best subtree of k leaves is seldom the tree
that existed when it had k leaves. All subtrees are compared here, by dynamic programming from the
leaves up: Bohanec and Bratko (1994), "Trading accuracy for simplicity in decision trees", Machine
Learning 15. Rules are nodes of the tree, each with the prediction of its node; the innermost rule
that contains a row applies to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arboleda._engine.tree import Tree
from arboleda.explain._lime_sampling import floor_power_of_two

__all__ = ["NodeLosses", "find_best_rules", "find_best_subtrees", "find_enclosing_nodes"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class NodeLosses:
    """Losses of some rows at each node of a tree.

    Attributes
    ----------
    tree : Tree
    count : ndarray of shape (n_nodes,)
        Rows that reach the node.
    mean : ndarray of shape (n_nodes, n_numbers)
        Mean of their targets: numbers, or classes as rows of one 1.
    spread : ndarray of shape (n_nodes,)
        Sum of the squared distances from it.
    predictions : ndarray of shape (n_nodes, n_numbers)
        Prediction of the node.
    scale : float
        Loss of one row per squared distance: 1, or 1/2 for classes, which makes the loss the number
        of misclassified rows.
    """

    tree: Tree
    count: Floats
    mean: Floats
    spread: Floats
    predictions: Floats
    scale: float

    @classmethod
    def compute(cls, tree: Tree, leaf: Integers, target: Floats, *, classes: bool) -> NodeLosses:
        """Compute losses from the leaf of each row and targets of shape (n, n_numbers).

        Numeric targets are rescaled to about unit size so that their squares do not overflow.
        """
        n = tree.node_count
        predictions = tree.value_rows
        if classes:
            predictions = np.eye(predictions.shape[1])[predictions.argmax(axis=1)]
        else:
            unit = floor_power_of_two(float(np.abs(target).max(initial=0.0)))
            target, predictions = target / unit, predictions / unit
        count = np.bincount(leaf, minlength=n).astype(np.float64)
        total = np.column_stack([np.bincount(leaf, t, n) for t in target.T])
        mean = np.divide(total, count[:, np.newaxis], out=np.zeros_like(total), where=total != 0)
        apart = ((target - mean[leaf]) ** 2).sum(axis=1)
        spread = np.bincount(leaf, apart, n).astype(np.float64)
        left, right = tree.children_left, tree.children_right
        for node in np.flatnonzero(left >= 0)[::-1]:
            a, b = left[node], right[node]
            count[node] = count[a] + count[b]
            if count[node] > 0:
                mean[node] = (count[a] * mean[a] + count[b] * mean[b]) / count[node]
                between = count[a] * count[b] / count[node] * ((mean[a] - mean[b]) ** 2).sum()
                spread[node] = spread[a] + spread[b] + between
        return cls(tree, count, mean, spread, predictions, 0.5 if classes else 1.0)

    def loss(self, node: int, by: int) -> float:
        """Return the loss of the rows at a node under the prediction of another node."""
        apart = float(((self.mean[node] - self.predictions[by]) ** 2).sum())
        return self.scale * (float(self.spread[node]) + float(self.count[node]) * apart)

    def has_same_prediction(self, a: int, b: int) -> bool:
        """Return whether two nodes have the same prediction."""
        return bool((self.predictions[a] == self.predictions[b]).all())


def find_best_subtrees(node_losses: NodeLosses, most: int) -> dict[int, list[int]]:
    """Find the pruned trees of least loss for each number of leaves up to ``most``.

    Returns
    -------
    leaves : dict of int to list of int
        For each size, the nodes that become leaves. Sizes no better than a smaller one are left
        out.
    """
    left, right = node_losses.tree.children_left, node_losses.tree.children_right
    costs: dict[int, Floats] = {}  # of 1, 2, ... leaves
    taken: dict[int, Integers] = {}  # number of these leaves in the left branch
    for node in range(node_losses.tree.node_count - 1, -1, -1):
        alone = np.array([node_losses.loss(node, node)])
        if left[node] < 0:
            costs[node] = alone
            continue
        both, shares = _combine_costs(costs[left[node]], costs[right[node]], most - 2)
        costs[node] = np.concatenate([alone, both])
        taken[node] = np.concatenate([[0], shares + 1])
    found, best = {}, np.inf
    for size, cost in enumerate(costs[0].tolist(), start=1):
        if cost < best:
            best, found[size] = cost, _collect_leaves(0, size, left, right, taken)
    return found


def find_best_rules(node_losses: NodeLosses, most: int) -> dict[int, list[int]]:
    """Find the rule lists of least loss for each number of rules up to ``most``.

    A rule is a node. The innermost rule that contains a row applies to it; the root is in every
    list and is the default for all other rows.

    Returns
    -------
    rules : dict of int to list of int
        For each number of rules, the nodes: the root last, inner nodes before the nodes that
        contain them, and otherwise by descending number of rows. Numbers of rules no better than a
        smaller one are left out.
    """
    left, right = node_losses.tree.children_left, node_losses.tree.children_right
    memory: dict[tuple[int, int], tuple[Floats, Integers, Integers]] = {}

    def inside(node: int, by: int) -> tuple[Floats, Integers]:
        """Return least losses with 0, 1, ... rules below a node; ``by`` applies outside them."""
        if left[node] < 0:
            return np.array([node_losses.loss(node, by)]), np.zeros(1, dtype=np.intp)
        return _combine_costs(solve(left[node], by), solve(right[node], by), most - 1)

    def solve(node: int, by: int) -> Floats:
        """Return least losses with 0, 1, ... rules at a node or below it."""
        if (node, by) not in memory:
            costs, shares = inside(node, by)
            own: Integers = np.full(
                len(costs), -1, dtype=np.intp
            )  # number of rules below a rule at this node; -1: no rule at this node
            if not node_losses.has_same_prediction(node, by) and most > 1:
                with_rule, below = inside(node, node)
                n = min(len(with_rule) + 1, most)
                costs = np.append(costs, np.full(max(0, n - len(costs)), np.inf))
                shares = np.append(shares, np.zeros(len(costs) - len(shares), dtype=np.intp))
                own = np.append(own, np.full(len(costs) - len(own), -1, dtype=np.intp))
                better = np.flatnonzero(with_rule[: n - 1] < costs[1:n]) + 1
                costs[better], own[better] = with_rule[better - 1], better - 1
                shares[better] = below[better - 1]
            memory[node, by] = costs, shares, own
        return memory[node, by][0]

    def listed(node: int, by: int, count: int) -> list[int]:
        solve(node, by)
        _, shares, own = memory[node, by]
        rules: list[int] = []
        if own[count] >= 0:
            rules, by = [node], node
        if left[node] >= 0:
            remaining = count - len(rules)
            in_left = int(shares[count])
            rules += listed(left[node], by, in_left)
            rules += listed(right[node], by, remaining - in_left)
        return rules

    found, best = {}, np.inf
    for count, cost in enumerate(solve(0, 0).tolist()):
        if cost < best:
            best = cost
            found[count + 1] = [*_order_innermost_first(listed(0, 0, count), node_losses), 0]
    return found


def find_enclosing_nodes(tree: Tree, nodes: list[int]) -> Integers:
    """Return for each tree node the innermost of ``nodes`` that contains it; -1 if none does."""
    left, right = tree.children_left, tree.children_right
    chosen = set(nodes)
    found = np.full(tree.node_count, -1, dtype=np.intp)
    for node in range(tree.node_count):  # parents come before their children
        if node in chosen:
            found[node] = node
        if left[node] >= 0:
            found[left[node]] = found[right[node]] = found[node]
    return found


def _combine_costs(a: Floats, b: Floats, most: int) -> tuple[Floats, Integers]:
    """Compute least sums of two lists by total index up to ``most``, and the index in the first.

    Ties keep the smallest index in the first list.
    """
    width = max(0, min(len(a) + len(b) - 1, most + 1))
    sums = np.full(width, np.inf)
    places = np.zeros(width, dtype=np.intp)
    for i in range(min(len(a), width)):
        these = a[i] + b[: width - i]
        span = slice(i, i + len(these))
        better = these < sums[span]
        sums[span][better] = these[better]
        places[span][better] = i
    return sums, places


def _collect_leaves(
    node: int, size: int, left: Integers, right: Integers, taken: dict[int, Integers]
) -> list[int]:
    if size == 1:
        return [node]
    in_left = int(taken[node][size - 1])
    return [
        *_collect_leaves(left[node], in_left, left, right, taken),
        *_collect_leaves(right[node], size - in_left, left, right, taken),
    ]


def _order_innermost_first(nodes: list[int], node_losses: NodeLosses) -> list[int]:
    """Order nodes: inner nodes before outer ones, otherwise by descending number of rows."""
    outer = find_enclosing_nodes(node_losses.tree, nodes)
    left, right = node_losses.tree.children_left, node_losses.tree.children_right
    above = {}
    for node in nodes:  # the next enclosing node: the one that contains its parent
        parent = np.flatnonzero((left == node) | (right == node))
        above[node] = int(outer[parent[0]]) if parent.size else -1
    waiting = {node: sum(above[other] == node for other in nodes) for node in nodes}
    ordered: list[int] = []
    while waiting:
        free = [node for node, inner in waiting.items() if inner == 0]
        node = max(free, key=lambda one: (node_losses.count[one], -one))
        ordered.append(node)
        del waiting[node]
        if above[node] in waiting:
            waiting[above[node]] -= 1
    return ordered
