"""Models that answer row by row: few rows take a way of their own, without what many rows need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from arboleda import _native
from arboleda._engine.columns import Table

Floats = npt.NDArray[np.float64]

# Up to so many rows it is no use to lay out trees or to wake a thread.
FEW_ROWS = 16


def are_few(table: Any) -> TypeGuard[Table]:
    """Whether rows are answered one by one: the bits are the same, only time differs."""
    return isinstance(table, Table) and table.n_rows <= FEW_ROWS


class RowPredictor:
    """A model made ready to answer rows one by one, with the bits of its answers for a table."""

    def __init__(self, native: _native.OneRow) -> None:
        self._native = native

    @classmethod
    def of_tree(cls, tree: _native.Tree) -> RowPredictor:
        """Values of the leaf."""
        return cls(_native.OneRow.of_tree(tree))

    @classmethod
    def of_sums(cls, ensemble: _native.TreeEnsemble, n_columns: int) -> RowPredictor:
        """Start values and the leaves of all trees, added up."""
        return cls(_native.OneRow.of_sums(ensemble, n_columns))

    @classmethod
    def of_votes(
        cls, forest: _native.Forest, voting: str, n_classes: Sequence[int]
    ) -> RowPredictor:
        """Mean vote of the trees."""
        return cls(_native.OneRow.of_votes(forest, voting, list(n_classes)))

    @classmethod
    def of_weighted_votes(cls, members: _native.WeightedForest) -> RowPredictor:
        """Sums of the members' weighted votes."""
        return cls(_native.OneRow.of_weighted_votes(members))

    @classmethod
    def of_medians(cls, forest: _native.Forest, weights: Floats) -> RowPredictor:
        """Weighted median of the trees' values."""
        return cls(_native.OneRow.of_medians(forest, weights.tolist()))

    @property
    def n_columns(self) -> int:
        """Numbers of a row."""
        return self._native.n_columns

    def of_row(self, row: Any) -> Floats | None:
        """Answer for a row, of shape (1, n_outputs).

        None where the row is no list, tuple or array of ``n_columns`` numbers, none infinite.
        """
        return self._native.of_row(row)

    def of_table(self, table: Table) -> Floats:
        """Answers for rows, of shape (n_rows, n_outputs)."""
        if table.matrix is not None:
            return self._native.of_rows(table.matrix)
        return self._native.of_columns(table.columns, table.n_rows)
