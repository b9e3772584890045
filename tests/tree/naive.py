"""The naive twin of the engine's split search: every column, every threshold, by the textbook."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Candidate:
    """One split and by how much it lowers the node's impurity."""

    decrease: float
    feature: int
    threshold: float
    missing_left: bool


def class_impurity(weights: Array, criterion: str) -> Array:
    """Impurity of nodes (the first axes) from the weights of their classes (the last axis)."""
    share = weights / weights.sum(axis=-1, keepdims=True)
    if criterion == "gini":
        return 1.0 - (share**2).sum(axis=-1)
    if criterion == "misclassification":
        return 1.0 - share.max(axis=-1)
    assert criterion == "entropy"
    bits = np.log2(share, where=share > 0, out=np.zeros_like(share))
    return -(share * bits).sum(axis=-1)


def weighted_median(y: Array, weight: Array) -> float:
    """Where half the weight lies below; midway between two targets if exactly half does."""
    order = np.argsort(y, kind="stable")
    y, below = y[order], np.cumsum(weight[order])
    half = below[-1] / 2
    at = int(np.flatnonzero(below >= half * (1 - 1e-14))[0])
    if below[at] > half * (1 + 1e-14):
        return float(y[at])
    return float(y[at] + y[at + 1]) / 2


def centre(y: Array, criterion: str, weight: Array) -> float:
    """Return what a leaf with these targets predicts."""
    if criterion == "absolute_error":
        return weighted_median(y, weight)
    return float(np.average(y, weights=weight))


def impurity(y: Array, criterion: str, weight: Array | None = None) -> float:
    """Impurity of one node with these targets; of several outputs their average."""
    weight = np.ones(len(y)) if weight is None else weight
    if y.ndim == 2:
        return float(np.mean([impurity(output, criterion, weight) for output in y.T]))
    if criterion == "absolute_error":
        return float(np.average(np.abs(y - weighted_median(y, weight)), weights=weight))
    if criterion == "poisson":
        mean = np.average(y, weights=weight)
        if mean == 0.0:
            return np.inf  # not allowed
        ratio = np.divide(y, mean, where=y > 0, out=np.ones(len(y)))
        return float(np.average(y * np.log(ratio) - y + mean, weights=weight))
    if criterion == "squared_error":
        mean = np.average(y, weights=weight)
        return float(np.average((y - mean) ** 2, weights=weight))
    labels = np.unique(y, return_inverse=True)[1]
    return float(class_impurity(np.bincount(labels, weights=weight), criterion))


def _decreases(statistic: Array, left: Array, criterion: str) -> Array:
    """Decrease of impurity when the rows sum to `left` on one side, for many left sides at once."""
    total = statistic.sum(axis=0)
    right = total - left
    if criterion == "squared_error":  # statistic: weight, weight * (y - mean)
        gain = left[:, 1] ** 2 / left[:, 0] + right[:, 1] ** 2 / right[:, 0]
        return gain / total[0]
    lost = left.sum(axis=1) * class_impurity(left, criterion)
    lost += right.sum(axis=1) * class_impurity(right, criterion)
    return class_impurity(total, criterion) - lost / total.sum()


def _statistic(y: Array, criterion: str, weight: Array) -> Array:
    if criterion == "squared_error":
        return np.column_stack([weight, weight * (y - np.average(y, weights=weight))])
    labels, codes = np.unique(y, return_inverse=True)
    return (codes[:, None] == np.arange(len(labels))) * weight[:, None]


def _of_column_by_definition(
    x: Array, y: Array, criterion: str, weight: Array, min_leaf: int
) -> Iterator[tuple[Array, Array, bool]]:
    """Like `_of_column`, for criteria that have no short cut: both sides of every split anew."""

    def decrease(left: Array) -> float:
        sides = [(y[rows], weight[rows]) for rows in (left, ~left)]
        lost = sum(impurity(y, criterion, weight) * weight.sum() for y, weight in sides)
        return impurity(y, criterion, weight) - lost / weight.sum()

    missing = np.isnan(x)
    values = np.unique(x[~missing])
    splits = [
        (x <= low if not missing_left else ~(x > low), low / 2 + high / 2, missing_left)
        for missing_left in ((False, True) if missing.any() else (False,))
        for low, high in itertools.pairwise(values)
    ]
    splits.append((~missing, np.inf, False))
    for left, threshold, missing_left in splits:
        if min(left.sum(), (~left).sum()) >= max(1, min_leaf):
            yield np.array([decrease(left)]), np.array([threshold]), missing_left


def _of_column(
    x: Array, statistic: Array, criterion: str, min_leaf: int
) -> Iterator[tuple[Array, Array, bool]]:
    """Decreases and thresholds of all splits on one column, for each side of missing values."""
    missing = np.isnan(x)
    order = np.argsort(x[~missing], kind="stable")
    values = x[~missing][order]
    below = np.cumsum(statistic[~missing][order], axis=0)
    cut = np.flatnonzero(values[1:] > values[:-1])
    for missing_left in (False, True) if missing.any() else (False,):
        extra = missing.sum() if missing_left else 0
        kept = cut[(cut + 1 + extra >= min_leaf) & (len(x) - cut - 1 - extra >= min_leaf)]
        left = below[kept] + (statistic[missing].sum(axis=0) if missing_left else 0.0)
        thresholds = values[kept] / 2 + values[kept + 1] / 2
        yield _decreases(statistic, left, criterion), thresholds, missing_left
    if min(missing.sum(), (~missing).sum()) >= max(1, min_leaf):
        yield _decreases(statistic, below[-1:], criterion), np.array([np.inf]), False


def best_splits(
    X: Array, y: Array, criterion: str, weight: Array | None = None, min_leaf: int = 1
) -> list[Candidate]:
    """Return all splits within 1e-9 (relative) of the best, in order of column and threshold.

    Empty when the rows cannot be split. Rows of weight 0 take no part.
    """
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
    scale = impurity(y, criterion, weight)
    if y.ndim == 2 or criterion in {"absolute_error", "poisson"}:
        columns = [_of_column_by_definition(x, y, criterion, weight, min_leaf) for x in X.T]
    else:
        statistic = _statistic(y, criterion, weight)
        columns = [_of_column(x, statistic, criterion, min_leaf) for x in X.T]
    groups = [(feature, *group) for feature, groups in enumerate(columns) for group in groups]
    best = max((gains.max() for _, gains, _, _ in groups if gains.size), default=-np.inf)
    if best == -np.inf:
        return []
    least = best - 1e-9 * abs(best) - 1e-12 * scale
    return [
        Candidate(float(gains[k]), feature, float(thresholds[k]), missing_left)
        for feature, gains, thresholds, missing_left in groups
        for k in np.flatnonzero(gains >= least)
    ]


def rows_of_nodes(model: Any, X: Array) -> list[Array]:
    """Indices of the rows that pass each node."""
    path = model.decision_path(X).tocsc()
    return [path.indices[path.indptr[k] : path.indptr[k + 1]] for k in range(path.shape[1])]


def assert_greedy(
    model: Any,
    X: Array,
    y: Array,
    criterion: str,
    weight: Array | None = None,
    nodes: Array | None = None,
    min_leaf: int = 1,
) -> int:
    """Assert that every node is the textbook's and return how many splits had no rival.

    For each node (or the given ones) impurity, counts, weight and value are recounted from the
    rows that reach it; the split must lower the impurity as much as the best of all splits, and
    where the best is unique it must be that one.
    """
    tree = model.tree_
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    rows = rows_of_nodes(model, X)
    n_unique = 0
    for node in range(tree.node_count) if nodes is None else nodes:
        here = rows[node][weight[rows[node]] > 0]
        _assert_statistics(model, node, y[here], criterion, weight[here])
        if tree.children_left[node] < 0:
            continue
        candidates = best_splits(X[here], y[here], criterion, weight[here], min_leaf)
        chosen = [
            c
            for c in candidates
            if c.feature == tree.feature[node] and c.threshold == tree.threshold[node]
        ]
        assert chosen, (node, tree.feature[node], tree.threshold[node], candidates[:5])
        if np.isnan(X[here, tree.feature[node]]).any():
            assert any(c.missing_left == tree.missing_go_to_left[node] for c in chosen), node
        _assert_decrease(tree, node, candidates)
        n_unique += len(candidates) == 1
    return n_unique


def _assert_statistics(model: Any, node: int, y: Array, criterion: str, weight: Array) -> None:
    tree = model.tree_
    expected = impurity(y, criterion, weight)
    np.testing.assert_allclose(tree.impurity[node], expected, rtol=1e-9, atol=1e-13, err_msg=node)
    assert tree.n_node_samples[node] == len(y)
    np.testing.assert_allclose(tree.weighted_n_node_samples[node], weight.sum(), rtol=1e-9)
    outputs = y.T if y.ndim == 2 else [y]
    for k, output in enumerate(outputs):
        if hasattr(model, "classes_"):
            classes = model.classes_[k] if y.ndim == 2 else model.classes_
            value = np.array([weight[output == c].sum() for c in classes]) / weight.sum()
        else:
            value = np.array([centre(output, criterion, weight)])
        rest = tree.value.shape[2] - len(value)
        value = np.concatenate([value, np.zeros(rest)])
        np.testing.assert_allclose(tree.value[node, k], value, rtol=1e-9, atol=1e-14)


def _assert_decrease(tree: Any, node: int, candidates: list[Candidate]) -> None:
    children = [tree.children_left[node], tree.children_right[node]]
    w = tree.weighted_n_node_samples
    lost = sum(w[c] * tree.impurity[c] for c in children) / w[node]
    best = max(c.decrease for c in candidates)
    np.testing.assert_allclose(
        tree.impurity[node] - lost, best, rtol=1e-9, atol=1e-12 * tree.impurity[node]
    )
