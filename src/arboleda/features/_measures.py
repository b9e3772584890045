"""Estimators of the mutual information of columns and target, by counts or by neighbors."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.schema import get_missing_code
from arboleda.features._counting import LevelColumns, Levels
from arboleda.features._neighbors import MixedVariable, compute_mixed_information

__all__ = ["Continuous", "Measure", "make_measure"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Continuous = Literal["bins", "neighbors"]


class Measure(Protocol):
    """Estimator of mutual information in nats. Estimates for independent variables are around 0."""

    def with_target(self) -> Floats:
        """Compute I(x_j; y) for every column j."""

    def with_column(self, one: int, others: Indices) -> Floats:
        """Compute I(x_j; x_one) for the columns j of ``others``."""

    def pairs_with_target(self, one: int, others: Indices) -> Floats:
        """Compute the joint information I(x_j, x_one; y) for the columns j of ``others``."""


def make_measure(
    table: Table | SparseTable,
    target: npt.NDArray[Any],
    task: str,
    *,
    continuous: Continuous,
    n_bins: int,
    n_neighbors: int,
    random_state: np.random.RandomState,
    n_threads: int,
) -> Measure:
    """Create the estimator for a table and its target."""
    if continuous == "bins":
        classes = task == "classification"
        levels = Levels.of_codes(target) if classes else Levels.of_bins(target, n_bins)
        return CountingMeasure(LevelColumns(table, n_bins, n_threads), levels)
    if isinstance(table, Table):
        return NeighborMeasure(table, target, task, n_bins, n_neighbors, random_state)
    raise ValueError(
        "continuous='neighbors' does not support sparse X: set continuous='bins', or use a dense "
        "table."
    )


class CountingMeasure:
    """Information by counting levels, with binned numbers."""

    def __init__(self, columns: LevelColumns, target: Levels) -> None:
        self._columns = columns
        self._target = target
        self._with_target = columns.compute_information(target)

    def with_target(self) -> Floats:
        return self._with_target

    def with_column(self, one: int, others: Indices) -> Floats:
        return self._columns.compute_information(self._columns.column(one), others)

    def pairs_with_target(self, one: int, others: Indices) -> Floats:
        # I(x_j, x_s; y) = I(x_s; y) + I(x_j; y | x_s), which is I(x_j; x_s, y) - I(x_j; x_s).
        column = self._columns.column(one)
        joint = self._columns.compute_information(column.paired_with(self._target), others)
        pairs: Floats = joint - self._columns.compute_information(column, others)
        pairs += self._with_target[one]
        return pairs


class NeighborMeasure:
    """Information by nearest neighbors; categories and numbers with few values are counted."""

    def __init__(
        self,
        table: Table,
        target: npt.NDArray[Any],
        task: str,
        max_levels: int,
        n_neighbors: int,
        random_state: np.random.RandomState,
    ) -> None:
        self._table = table
        self._max_levels = max_levels
        self._n_neighbors = n_neighbors
        self._seed = int(random_state.randint(np.iinfo(np.int32).max))
        if task == "classification":
            self._target = MixedVariable(Levels.of_codes(target), None)
        else:
            noise = self._make_generator(table.n_columns)
            self._target = MixedVariable.of_numbers(target, max_levels, noise)

    def with_target(self) -> Floats:
        return self._compute_each(range(self._table.n_columns), [], self._target)

    def with_column(self, one: int, others: Indices) -> Floats:
        return self._compute_each(others, [], self._make_column(one))

    def pairs_with_target(self, one: int, others: Indices) -> Floats:
        return self._compute_each(others, [self._make_column(one)], self._target)

    def _compute_each(
        self, columns: Any, conditions: list[MixedVariable], other: MixedVariable
    ) -> Floats:
        return np.array(
            [
                compute_mixed_information(
                    [self._make_column(int(j)), *conditions], other, self._n_neighbors
                )
                for j in columns
            ]
        )

    def _make_column(self, j: int) -> MixedVariable:
        """Create a column, always with the same noise."""
        values, n_levels = self._table.columns[j], self._table.n_levels[j]
        if n_levels == 0:
            return MixedVariable.of_numbers(values, self._max_levels, self._make_generator(j))
        codes = np.where(values == get_missing_code(n_levels), n_levels, values.astype(np.intp))
        return MixedVariable(Levels(codes, n_levels + 1), None)

    def _make_generator(self, stream: int) -> np.random.Generator:
        return np.random.default_rng((self._seed, stream))
