"""Forests that the engine grew on a table of every kind of column, and walks by hand."""

from typing import Any

import numpy as np
from tests.boosting.ensembles import CATEGORY, mixed_table, naive_leaf, target_of

from arboleda import DecisionTreeRegressor
from arboleda._engine.columns import DenseTable
from arboleda._engine.fit import (
    ForestOptions,
    fit_classification_forest,
    fit_regression_forest,
)
from arboleda._engine.forest import Forest
from arboleda._engine.table import check_table

CLASSES = ("gini", "entropy", "misclassification")
TARGETS = ("squared_error", "absolute_error", "poisson")
CRITERIA = (*CLASSES, *TARGETS)


def mixed_forest(
    criterion: str = "gini", n_targets: int = 1, n_rows: int = 300, **options: Any
) -> tuple[Forest, Any]:
    """Return a forest, and a fitted tree that reads tables as the forest needs them."""
    rows = mixed_table(n_rows)
    numbers = [target_of(rows, seed) for seed in range(n_targets)]
    reader = DecisionTreeRegressor(max_depth=2, categorical_features=[CATEGORY])
    table = check_table(reader.fit(rows, numbers[0]), rows, reset=False)
    chosen = ForestOptions(**{"n_trees": 7, "max_features": 2} | options)
    weight = np.linspace(0.5, 2.0, n_rows)
    common = {"n_threads": 2, "seed": 5}
    if criterion in CLASSES:
        labels = np.column_stack([np.digitize(y, [-1.0, 1.0]) for y in numbers])
        target = labels[:, 0] if n_targets == 1 else labels
        coded = table.code(1)
        return fit_classification_forest(
            coded, target, (3,) * n_targets, weight, criterion, chosen, **common
        ), reader
    values = np.exp(np.column_stack(numbers) / 3)
    target = values[:, 0] if n_targets == 1 else values
    return fit_regression_forest(table.code(1), target, weight, criterion, chosen, **common), reader


def read(reader: Any, rows: Any) -> Any:
    """The table as the engine needs it."""
    return check_table(reader, rows, reset=False)


def numbers_of(table: DenseTable) -> Any:
    """Rows as the engine sees them: level numbers where there are categories."""
    return np.column_stack([column.astype(float) for column in table.columns])


def naive_votes(forest: Forest, rows: Any, voting: str = "soft") -> Any:
    """Mean votes by the definition, added tree by tree in Python's own numbers."""
    sums = np.zeros((len(rows), forest.n_outputs))
    for number in range(forest.n_trees):
        tree = forest.tree(number)
        for i, row in enumerate(rows):
            leaf = naive_leaf(tree, row)
            weight = tree.weighted_n_node_samples[leaf]
            parts = np.split(tree.value_rows[leaf], np.cumsum(forest.widths)[:-1])
            if voting == "hard":
                parts = [np.eye(part.size)[np.argmax(part)] for part in parts]
            elif voting == "laplace":
                parts = [(weight * part + 1.0) / (weight + part.size) for part in parts]
            sums[i] += np.concatenate(parts)
    return sums / forest.n_trees
