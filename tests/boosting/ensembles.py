"""Ensembles without boosting: regression trees fitted one after another by hand."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from arboleda import DecisionTreeRegressor
from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.table import check_table
from arboleda._engine.tree import Tree

Array = npt.NDArray[Any]

CATEGORY = 3  # the column of `mixed_table` that holds categories


def mixed_table(n_rows: int = 400, seed: int = 0) -> Array:
    """Five columns of objects: numbers, some of them missing, and one of categories."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 5)).round(2)
    X[:, 4] = random.integers(0, 4, n_rows)
    X[random.random(X.shape) < 0.15] = np.nan
    table = X.astype(object)
    table[:, CATEGORY] = np.array(["a", "b", "c", "d", None])[random.integers(0, 5, n_rows)]
    return table


def target_of(table: Array, seed: int = 0) -> Array:
    """Depends on numbers, on what is missing and on the category."""
    random = np.random.default_rng(seed)
    number = np.array(table[:, [0, 1, 2]], dtype=float)
    y = np.nan_to_num(number[:, 0]) * 2 + np.isnan(number[:, 1]) + random.normal(size=len(table))
    return np.asarray(y + 2 * (table[:, CATEGORY] == "b") * np.nan_to_num(number[:, 2]))


def mixed_ensemble(
    table: Array, n_outputs: int = 1, n_rounds: int = 5, seed: int = 0
) -> tuple[Ensemble, Any]:
    """Return an ensemble, and a fitted tree that reads tables as the ensemble needs them."""
    models = [
        DecisionTreeRegressor(
            max_leaf_nodes=20, splitter="best" if i % 2 else "random", random_state=i,
            categorical_features=[CATEGORY],
        ).fit(table, target_of(table, seed + i))
        for i in range(n_outputs * n_rounds)
    ]  # fmt: skip
    start = np.linspace(-0.3, 0.7, n_outputs)
    return Ensemble.from_trees(start, [model.tree_ for model in models]), models[0]


def sparse_ensemble(n_rows: int = 300) -> tuple[Ensemble, SparseTable, DenseTable]:
    """Return an ensemble and one table in both forms."""
    random = np.random.default_rng(4)
    X = sparse.random(n_rows, 30, 0.1, format="csr", random_state=4, dtype=np.float32)
    X.data[::9] = np.nan
    y = np.nan_to_num(X.toarray())[:, :5].sum(axis=1) + random.normal(size=n_rows)
    models = [
        DecisionTreeRegressor(max_depth=6, random_state=i, max_features=9).fit(X, y)
        for i in range(6)
    ]
    ensemble = Ensemble.from_trees([0.25], [model.tree_ for model in models])
    stored = check_table(models[0], X, reset=False)
    dense = check_table(models[0], X.toarray(), reset=False)
    assert isinstance(stored, SparseTable)
    assert isinstance(dense, DenseTable)
    return ensemble, stored, dense


def naive_leaf(tree: Tree, row: Array) -> int:
    """Walk one row, whose categories are level numbers, from the root to its leaf."""
    node = 0
    while tree.children_left[node] >= 0:
        x = row[tree.feature[node]]
        listed = tree.categories(node)
        missing_left = bool(tree.missing_go_to_left[node])
        if listed.size:
            left = (x in listed) != missing_left
        else:
            left = missing_left if np.isnan(x) else x <= tree.threshold[node]
        node = int((tree.children_left if left else tree.children_right)[node])
    return node


def naive_scores(ensemble: Ensemble, rows: Array) -> Array:
    """Scores by the definition, added in order in Python's own numbers."""
    found = []
    for row in rows:
        score = ensemble.start.tolist()
        for number, tree in enumerate(ensemble.trees):
            score[number % len(score)] += float(tree.value_rows[naive_leaf(tree, row), 0])
        found.append(score)
    return np.array(found).reshape(len(rows), ensemble.n_outputs)
