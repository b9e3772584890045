"""Prediction of single rows, without the overhead of the code for many rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.columns import Table

Floats = npt.NDArray[np.float64]

# Maximum number of rows that are predicted one by one.
FEW_ROWS = 16


def has_few_rows(table: Any) -> TypeGuard[Table]:
    """Return whether the rows of a table are predicted one by one, with identical results."""
    return isinstance(table, Table) and table.n_rows <= FEW_ROWS


class RowPredictor:
    """Predictor of single rows, bitwise identical to predictions for tables."""

    def __init__(self, native: _native.OneRow) -> None:
        self._native = native

    @classmethod
    def of_tree(cls, tree: _native.Tree) -> RowPredictor:
        """Create a predictor of the values of the leaf."""
        return cls(_native.OneRow.of_tree(tree))

    @classmethod
    def of_sums(cls, ensemble: _native.TreeEnsemble, n_columns: int) -> RowPredictor:
        """Create a predictor of the sums of the initial scores and the leaves of all trees."""
        return cls(_native.OneRow.of_sums(ensemble, n_columns))

    @classmethod
    def of_votes(
        cls, forest: _native.Forest, voting: str, n_classes: Sequence[int]
    ) -> RowPredictor:
        """Create a predictor of the mean vote of the trees."""
        return cls(_native.OneRow.of_votes(forest, voting, list(n_classes)))

    @classmethod
    def of_weighted_votes(cls, members: _native.WeightedForest) -> RowPredictor:
        """Create a predictor of the sums of the weighted votes."""
        return cls(_native.OneRow.of_weighted_votes(members))

    @classmethod
    def of_medians(cls, forest: _native.Forest, weights: Floats) -> RowPredictor:
        """Create a predictor of the weighted median of the trees' values."""
        return cls(_native.OneRow.of_medians(forest, weights.tolist()))

    @property
    def n_columns(self) -> int:
        """Number of columns of a row."""
        return self._native.n_columns

    def of_row(self, row: Any) -> Floats | None:
        """Predict a row; the result has the shape (1, n_outputs).

        None if the row is not a list, tuple or array of ``n_columns`` non-infinite numbers.
        """
        return self._native.of_row(row)

    def of_table(self, table: Table) -> Floats:
        """Predict the rows of a table; the result has the shape (n_rows, n_outputs)."""
        if table.matrix is not None:
            return self._native.of_rows(table.matrix)
        return self._native.of_columns(table.columns, table.n_rows)
