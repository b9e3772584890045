"""Trees that nobody grew, walked in Python by their own arrays: the engine gives the same bits.

Their thresholds are difficult. A column has as many of them as a byte has codes for, one more, one
fewer, or many more; the rows hold the thresholds themselves and their neighbours.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.forest import Forest
from arboleda._engine.tree import Tree
from arboleda._engine.tree_nodes import TreeNodes

HARD = [
    0.0, -0.0, 5e-324, -5e-324, 2e-310, 1e-45, 1.4e-45, -1e-39, 1e308, -1e308, 3.4028235e38,
    3.41e38, -3.5e38, 16777217.0, 2.0**53 + 2, 0.1, np.inf, -np.inf,
]  # fmt: skip
CATEGORIES = 3  # the column of categories
NO_CATEGORY = 65535


class Grower:
    """Random trees of a set number of leaves, whose thresholds are drawn from lists."""

    def __init__(self, cuts: list[Any], n_levels: int, seed: int) -> None:
        self.cuts, self.n_levels = cuts, n_levels
        self.draw = np.random.default_rng(seed)
        self.n_features = len(cuts) + (n_levels > 0)
        self._next = [0] * len(cuts)

    def _prune_by_rows(self, column: int) -> float:
        """Each threshold of a column in turn, so that all are used."""
        at = self._next[column]
        self._next[column] = (at + 1) % len(self.cuts[column])
        return float(self.cuts[column][at])

    def tree(self, n_leaves: int, value: Any = None, leaning: bool = False) -> Tree:
        feature, threshold, right, missing_left, sizes = [], [], [], [], []
        categories: dict[int, Any] = {}
        todo = [(n_leaves, -1)]  # leaves below, and whose right child it is
        while todo:
            size, parent = todo.pop()
            node = len(feature)
            if parent >= 0:
                right[parent] = node
            sizes.append(size)
            right.append(-1)
            if size == 1:
                feature.append(-1)
                threshold.append(0.0)
                missing_left.append(False)
                continue
            column = int(self.draw.integers(self.n_features))
            feature.append(column)
            missing_left.append(bool(self.draw.integers(2)))
            if column == CATEGORIES and self.n_levels:
                threshold.append(0.0)
                some = self.draw.choice(self.n_levels, self.draw.integers(1, 9), replace=False)
                categories[node] = np.sort(some)
            else:
                threshold.append(self._prune_by_rows(column))
            left = 1 if leaning else int(self.draw.integers(1, size))
            todo += [(size - left, node), (left, -1)]
        n = len(feature)
        rows = np.array(sizes)
        given = self.draw.normal(size=(n, 1)) * 10.0 ** self.draw.integers(-9, 9, (n, 1))
        values = given if value is None else value(self.draw, n)
        return Tree.from_nodes(
            TreeNodes(
                self.n_features, np.array(feature), np.array(threshold), np.array(right),
                np.array(missing_left), np.zeros(n), rows.astype(float), rows, values, categories,
            )
        )  # fmt: skip


def leaves_of(tree: Tree, X: Any) -> Any:
    """Where rows are after a step, and another, as the arrays of a tree are described."""
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    threshold, missing_left = tree.threshold, tree.missing_go_to_left.astype(bool)
    listed = {node: tree.categories(node) for node in range(len(left) if X.shape[1] > 3 else 0)}
    node = np.zeros(len(X), dtype=np.intp)
    while (inner := left[node] >= 0).any():
        for_missing = missing_left[node]
        x = X[np.arange(len(X)), np.maximum(feature[node], 0)]  # -2 in leaves
        goes_left = np.where(np.isnan(x), for_missing, x <= threshold[node])
        for i in np.flatnonzero(inner & (feature[node] == CATEGORIES)):
            categories = listed[int(node[i])] if listed else ()
            if len(categories):
                goes_left[i] = (x[i] in categories) != for_missing[i]
        node = np.where(inner, np.where(goes_left, left[node], right[node]), node)
    return node


def spread(n: int, seed: int) -> Any:
    """So many thresholds, the hard ones among them."""
    draw = np.random.default_rng(seed)
    found = np.unique([*HARD, *(draw.normal(size=n) * 10.0 ** draw.integers(-3, 4, n))])
    kept = np.setdiff1d(found, HARD)[: n - np.unique(HARD).size]
    return draw.permutation(np.concatenate([np.unique(HARD), kept]))


def rows_for(grower: Grower, n: int, seed: int = 0) -> Any:
    """Thresholds, the numbers next to them, hard numbers, and nothing; levels, known or not."""
    draw = np.random.default_rng(seed)
    X = np.empty((n, grower.n_features))
    for j, cuts in enumerate(grower.cuts):
        x = draw.choice(cuts, n)
        step = draw.integers(5, size=n)
        with np.errstate(over="ignore", under="ignore"):
            x = np.choose(step, [x, np.nextafter(x, np.inf), np.nextafter(x, -np.inf), x * 1.01, x])
        x[step == 4] = draw.choice(HARD, (step == 4).sum())
        X[:, j] = x
    if grower.n_levels:
        X[:, CATEGORIES] = draw.integers(0, grower.n_levels + 2, n)
        X[X[:, CATEGORIES] >= grower.n_levels, CATEGORIES] = NO_CATEGORY
    numeric = [j for j in range(grower.n_features) if j != CATEGORIES or not grower.n_levels]
    gaps = draw.random((n, len(numeric))) < 0.1
    X[:, numeric] = np.where(gaps, np.nan, X[:, numeric])
    return X


def tables_for(grower: Grower, X: Any) -> Iterator[tuple[Any, Any]]:
    """The rows as the engine takes them, of every type of numbers, and as they then are."""
    levels = tuple(grower.n_levels if j == CATEGORIES else 0 for j in range(grower.n_features))
    missing = np.isnan(X)
    for kind in ("f8", "f4", "i8", "i2", "u1"):
        if kind.startswith("f"):
            with np.errstate(over="ignore", under="ignore"):
                numbers = X.astype(kind)
        else:
            limits = np.iinfo(kind)
            known = np.where(missing, 7.0, np.clip(X, -1e9, 1e9))
            numbers = np.clip(known, limits.min, limits.max).astype(kind)
        columns: list[Any] = [np.asfortranarray(numbers)[:, j] for j in range(X.shape[1])]
        values = numbers.astype(float)
        if grower.n_levels:
            columns[CATEGORIES] = X[:, CATEGORIES].astype(np.uint16)
            values[:, CATEGORIES] = X[:, CATEGORIES]
        yield DenseTable(columns, len(X), levels), values
    if not grower.n_levels:
        thin = np.where(np.random.default_rng(0).random(X.shape) < 0.4, 0.0, X)
        yield SparseTable(sparse.csr_array(thin)), thin


def parts(table: Any, n: int) -> Iterator[Any]:
    yield from (table.take(np.arange(i, min(i + n, table.n_rows))) for i in range(0, 300, n))


def same(found: Any, expected: Any) -> None:
    """Zeros of either sign are one number, yet sums of the same numbers have one sign."""
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


def check_ensemble(trees: list[Tree], n_outputs: int, grower: Grower, n_rows: int) -> None:
    start = np.linspace(-0.1, 0.3, n_outputs)
    ensemble = Ensemble.from_trees(start, trees)
    for table, X in tables_for(grower, rows_for(grower, n_rows)):
        expected = np.tile(start, (n_rows, 1))
        leaves = np.column_stack([leaves_of(tree, X) for tree in trees])
        for t, tree in enumerate(trees):
            expected[:, t % n_outputs] += tree.value_rows[leaves[:, t], 0]
        for n_threads in (1, 2, 3, 7):
            same(ensemble.scores(table, n_threads), expected)
        same(ensemble.apply(table), leaves)
        for size in (1, 100):
            same(np.concatenate([ensemble.scores(p) for p in parts(table, size)]), expected[:300])


def check_forest(forest: Forest, grower: Grower, n_rows: int) -> None:
    trees = [forest.tree(t) for t in range(forest.n_trees)]
    for table, X in tables_for(grower, rows_for(grower, n_rows)):
        leaves = np.column_stack([leaves_of(tree, X) for tree in trees])
        sums = np.zeros((n_rows, forest.n_outputs))
        for t, tree in enumerate(trees):
            sums += tree.value_rows[leaves[:, t]]
        expected = sums / len(trees)
        for n_threads in (1, 2, 3, 7):
            same(forest.votes(table, "soft", n_threads), expected)
        same(forest.apply(table), leaves)
        for size in (1, 100):
            same(np.concatenate([forest.votes(p) for p in parts(table, size)]), expected[:300])


@pytest.mark.parametrize(
    ("n_cuts", "n_levels"), [(254, 0), (255, 0), (256, 0), (511, 0), (40, 254), (40, 256)]
)
def test_sums_of_small_trees_match_a_naive_walk(n_cuts: int, n_levels: int) -> None:
    """By codes of a byte where categories allow it, in one line a column or several."""
    cuts = [spread(n_cuts, seed) for seed in range(3)]
    grower = Grower(cuts, n_levels, seed=n_cuts)
    trees = [grower.tree(n) for n in [31] * (n_cuts // 8) + [1, 2, 256, 8, 9]]
    trees = trees[: len(trees) // 3 * 3]
    check_ensemble(trees, 3, grower, 530)


def test_sums_of_large_trees_match_a_naive_walk() -> None:
    grower = Grower([spread(400, seed) for seed in range(4)], 0, seed=1)
    check_ensemble([grower.tree(n) for n in (257, 600, 3)], 1, grower, 530)


def test_as_many_thresholds_as_numbers_are_supported() -> None:
    """66,000 of one column: more than the codes of two bytes could distinguish."""
    grower = Grower([spread(66_000, 0)], 0, seed=2)
    trees = [grower.tree(256) for _ in range(259)]
    assert np.unique(np.concatenate([tree.threshold for tree in trees])).size > 66_000
    ensemble = Ensemble.from_trees([0.5], trees)
    X = rows_for(grower, 400)
    table = DenseTable([X[:, 0]], len(X), (0,))
    leaves = np.column_stack([leaves_of(tree, X[:60]) for tree in trees])
    expected = np.full((60, 1), 0.5)
    for t, tree in enumerate(trees):
        expected[:, 0] += tree.value_rows[leaves[:, t], 0]
    for n_threads in (1, 2, 7):
        same(ensemble.scores(table, n_threads)[:60], expected)
    same(ensemble.scores(table.take(np.arange(60))), expected)
    same(ensemble.apply(table)[:60], leaves)


def shares(draw: np.random.Generator, n: int) -> Any:
    found = draw.random((n, 3)) * (draw.random((n, 3)) < 0.6) + [0.0, 0.0, 1e-3]
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("n_leaves", "n_levels", "leaning"),
    [(256, 0, False), (257, 0, False), (1500, 0, False), (300, 0, True), (30, 30, False),
     (400, 300, False)],
)  # fmt: skip
def test_votes_match_a_naive_walk(n_leaves: int, n_levels: int, leaning: bool) -> None:
    """By codes, by narrow nodes of either width, by wide nodes."""
    grower = Grower([spread(300, seed) for seed in range(3)], n_levels, seed=n_leaves)
    trees = [grower.tree(n_leaves, shares, leaning) for _ in range(3)]
    check_forest(Forest.from_trees(trees, "gini", (3,)), grower, 1000)
