"""The best trees and lists of rules of each size that stand inside a grown tree.

A tree grown best first is good at its own size, but its best part of k leaves is seldom the tree
that was there when it had k. All parts are compared here, by dynamic programming from the leaves
up: Bohanec and Bratko (1994), "Trading accuracy for simplicity in decision trees", Machine Learning
15. Rules are nodes of the tree, each saying what its node says, and a row obeys the innermost one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arboleda._engine.tree import Tree
from arboleda.explain._units import power_of_two

__all__ = ["Judgement", "best_rules", "best_subtrees", "node_of_leaf"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Judgement:
    """What rows say against each node of a tree.

    Attributes
    ----------
    tree : Tree
    count : ndarray of shape (n_nodes,)
        Rows that reach the node.
    mean : ndarray of shape (n_nodes, n_numbers)
        Mean of their targets: numbers, or classes as rows of one 1.
    spread : ndarray of shape (n_nodes,)
        Sum of the squared distances from it.
    says : ndarray of shape (n_nodes, n_numbers)
        What the node says.
    scale : float
        Loss of one row per squared distance: 1, or 1/2 where targets are classes, so that the loss
        is the number of rows whose class it is not.
    """

    tree: Tree
    count: Floats
    mean: Floats
    spread: Floats
    says: Floats
    scale: float

    @classmethod
    def of(cls, tree: Tree, leaf: Integers, target: Floats, *, classes: bool) -> Judgement:
        """Let rows judge, by the leaves that they reach and targets of shape (n, n_numbers).

        Numbers are taken in a unit of about their size, so that their squares are numbers.
        """
        n = tree.node_count
        says = tree.value_rows
        if classes:
            says = np.eye(says.shape[1])[says.argmax(axis=1)]
        else:
            unit = power_of_two(float(np.abs(target).max(initial=0.0)))
            target, says = target / unit, says / unit
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
        return cls(tree, count, mean, spread, says, 0.5 if classes else 1.0)

    def loss(self, node: int, by: int) -> float:
        """Return the loss of the rows at a node if all of them were told what another says."""
        apart = float(((self.mean[node] - self.says[by]) ** 2).sum())
        return self.scale * (float(self.spread[node]) + float(self.count[node]) * apart)

    def same(self, a: int, b: int) -> bool:
        """Tell whether two nodes say the same."""
        return bool((self.says[a] == self.says[b]).all())


def best_subtrees(judge: Judgement, most: int) -> dict[int, list[int]]:
    """Find the pruned trees of the least loss, for each number of leaves up to ``most``.

    Returns
    -------
    leaves : dict of int to list of int
        For each size the nodes that are leaves. Sizes that are no better than a smaller one are
        left out.
    """
    left, right = judge.tree.children_left, judge.tree.children_right
    costs: dict[int, Floats] = {}  # of 1, 2, ... leaves
    taken: dict[int, Integers] = {}  # how many of them stand in the left branch
    for node in range(judge.tree.node_count - 1, -1, -1):
        alone = np.array([judge.loss(node, node)])
        if left[node] < 0:
            costs[node] = alone
            continue
        both, shares = _together(costs[left[node]], costs[right[node]], most - 2)
        costs[node] = np.concatenate([alone, both])
        taken[node] = np.concatenate([[0], shares + 1])
    found, best = {}, np.inf
    for size, cost in enumerate(costs[0].tolist(), start=1):
        if cost < best:
            best, found[size] = cost, _leaves(0, size, left, right, taken)
    return found


def best_rules(judge: Judgement, most: int) -> dict[int, list[int]]:
    """Find the lists of rules of the least loss, for each number of rules up to ``most``.

    A rule is a node. Rows obey the innermost of them that they reach; the root is in every list and
    is what is said to all others.

    Returns
    -------
    rules : dict of int to list of int
        For each number of rules the nodes, the root last and none before a node inside it; of those
        free to stand next, that of the most rows. Numbers that are no better than a smaller one are
        left out.
    """
    left, right = judge.tree.children_left, judge.tree.children_right
    memory: dict[tuple[int, int], tuple[Floats, Integers, Integers]] = {}

    def inside(node: int, by: int) -> tuple[Floats, Integers]:
        """Least losses with 0, 1, ... rules below a node, obeying another outside of them."""
        if left[node] < 0:
            return np.array([judge.loss(node, by)]), np.zeros(1, dtype=np.intp)
        return _together(solve(left[node], by), solve(right[node], by), most - 1)

    def solve(node: int, by: int) -> Floats:
        """Least losses with 0, 1, ... rules at a node or below it."""
        if (node, by) not in memory:
            costs, shares = inside(node, by)
            own: Integers = np.full(
                len(costs), -1, dtype=np.intp
            )  # rules below a rule here; -1: none here
            if not judge.same(node, by) and most > 1:
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
            found[count + 1] = [*_innermost_first(listed(0, 0, count), judge), 0]
    return found


def node_of_leaf(tree: Tree, nodes: list[int]) -> Integers:
    """Return for each node of a tree the innermost of some nodes that holds it; -1 where none."""
    left, right = tree.children_left, tree.children_right
    chosen = set(nodes)
    found = np.full(tree.node_count, -1, dtype=np.intp)
    for node in range(tree.node_count):  # parents come before their children
        if node in chosen:
            found[node] = node
        if left[node] >= 0:
            found[left[node]] = found[right[node]] = found[node]
    return found


def _together(a: Floats, b: Floats, most: int) -> tuple[Floats, Integers]:
    """Least sums of two lists by the sum of their places, up to ``most``; the place in the first.

    Of equal sums the one with the fewest in the first is kept.
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


def _leaves(
    node: int, size: int, left: Integers, right: Integers, taken: dict[int, Integers]
) -> list[int]:
    if size == 1:
        return [node]
    in_left = int(taken[node][size - 1])
    return [
        *_leaves(left[node], in_left, left, right, taken),
        *_leaves(right[node], size - in_left, left, right, taken),
    ]


def _innermost_first(nodes: list[int], judge: Judgement) -> list[int]:
    """Order nodes: those inside another before it, else those of the most rows first."""
    outer = node_of_leaf(judge.tree, nodes)
    left, right = judge.tree.children_left, judge.tree.children_right
    above = {}
    for node in nodes:  # the next node outwards: what its parent is in
        parent = np.flatnonzero((left == node) | (right == node))
        above[node] = int(outer[parent[0]]) if parent.size else -1
    waiting = {node: sum(above[other] == node for other in nodes) for node in nodes}
    ordered: list[int] = []
    while waiting:
        free = [node for node, inner in waiting.items() if inner == 0]
        node = max(free, key=lambda one: (judge.count[one], -one))
        ordered.append(node)
        del waiting[node]
        if above[node] in waiting:
            waiting[above[node]] -= 1
    return ordered
