"""Imputation and outliers by proximity: Breiman and Cutler, "Random forests" (manual).

Breiman and Cutler, "Random forests" (manual), section "Missing value replacement for the training
set".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse
from sklearn.base import clone

from arboleda._engine.columns import DenseTable, Schema, get_missing_code
from arboleda._engine.labels import Label
from arboleda._engine.neighborhood import Proximity
from arboleda._engine.parallel import resolve_n_jobs
from arboleda._engine.table import check_table, with_columns

Floats = npt.NDArray[np.float64]


def impute_by_proximity(forest: Any, X: Any, y: Any, n_rounds: Any) -> Any:
    """Return a copy of X with missing values filled; see `NeighborhoodMixin.impute`."""
    if issparse(X):
        raise ValueError("impute does not support sparse matrices: convert X with X.toarray()")
    if isinstance(n_rounds, bool) or not isinstance(n_rounds, int | np.integer) or n_rounds < 0:
        raise ValueError(f"n_rounds must be an integer >= 0, got {n_rounds!r}")
    reader = clone(forest)
    table = check_table(reader, X, reset=True, categorical_features=forest.categorical_features)
    if not isinstance(table, DenseTable):
        raise TypeError("impute does not support sparse tables")
    gaps = _find_gaps(table, reader.schema_)
    filled = with_columns(X, {gap.column: gap.column_values() for gap in gaps})
    if not gaps:
        return filled
    rows = np.flatnonzero(np.any([gap.missing for gap in gaps], axis=0))
    for _ in range(n_rounds):
        fitted = clone(forest).fit(filled, y)
        reached = fitted._check_input(filled)
        near = Proximity(fitted.forest_, reached, resolve_n_jobs(forest.n_jobs))
        for places, block in near.blocks(reached.take(rows)):
            for gap in gaps:
                gap.fill(rows[places], block)
        filled = with_columns(X, {gap.column: gap.column_values() for gap in gaps})
    return filled


class _Gap:
    """A column with missing values and their current fills."""

    def __init__(self, column: int, values: npt.NDArray[Any], missing: npt.NDArray[np.bool_]):
        self.column = column
        self.missing = missing
        self.values = values

    def column_values(self) -> npt.NDArray[Any] | list[Label]:
        """Return the values of the column, with its gaps filled."""
        return self.values

    def fill(self, rows: npt.NDArray[np.intp], near: csr_matrix) -> None:
        """Fill the gaps in some rows, given their proximities to all rows."""
        raise NotImplementedError


class _NumericGap(_Gap):
    """Gaps of a numeric column, initialised with the median."""

    def __init__(self, column: int, values: npt.NDArray[Any]) -> None:
        numbers = np.array(values, dtype=np.float64)
        super().__init__(column, numbers, np.isnan(numbers))
        numbers[self.missing] = np.median(numbers[~self.missing])

    def fill(self, rows: npt.NDArray[np.intp], near: csr_matrix) -> None:
        present = (~self.missing).astype(np.float64)
        weight = near @ present
        total = near @ (self.values * present)
        known = self.missing[rows] & (weight > 0.0)
        self.values[rows[known]] = total[known] / weight[known]


class _CategoryGap(_Gap):
    """Gaps of a categorical column, initialised with the most frequent category."""

    def __init__(self, column: int, codes: npt.NDArray[Any], levels: tuple[Label, ...]) -> None:
        super().__init__(column, codes.astype(np.intp), codes == get_missing_code(len(levels)))
        self._levels = levels
        present = np.flatnonzero(~self.missing)
        codes = self.values[present]
        self._present = csr_matrix(
            (np.ones(present.size), (present, codes)), shape=(len(self.values), len(levels))
        )
        self.values[self.missing] = np.bincount(codes).argmax()

    def column_values(self) -> list[Label]:
        return [self._levels[code] for code in self.values]

    def fill(self, rows: npt.NDArray[np.intp], near: csr_matrix) -> None:
        weight = (near @ self._present).toarray()
        known = self.missing[rows] & (weight.max(axis=1) > 0.0)
        self.values[rows[known]] = weight[known].argmax(axis=1)


def _find_gaps(table: DenseTable, schema: Schema) -> list[_Gap]:
    gaps: list[_Gap] = []
    for j, (values, levels) in enumerate(zip(table.columns, schema.levels, strict=True)):
        missing = np.isnan(values) if levels is None and values.dtype.kind == "f" else None
        if levels is not None:
            missing = values == get_missing_code(len(levels))
        if missing is None or not missing.any():
            continue
        if missing.all():
            raise ValueError(f"column {schema.describe(j)} of X has only missing values: drop it")
        gaps.append(_NumericGap(j, values) if levels is None else _CategoryGap(j, values, levels))
    return gaps


def compute_outlier_scores(squares: Floats, groups: npt.NDArray[np.intp]) -> Floats:
    """Compute the outlier score of each row within its group.

    Parameters
    ----------
    squares : ndarray of shape (n_rows,)
        Sum of the squared proximities of each row to the rows of its group. Never 0, as the
        proximity of a row to itself is 1.
    groups : ndarray of shape (n_rows,)
        Group number of each row, starting at 0.
    """
    scores: Floats = len(squares) / squares
    for group in range(int(groups.max()) + 1):
        members = groups == group
        deviation = scores[members] - np.median(scores[members])
        scores[members] = deviation / (np.median(np.abs(deviation)) or 1.0)
    return scores
