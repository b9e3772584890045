"""What a greedy selection asks of a table and its target: information, counted or by neighbours."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.schema import missing_code
from arboleda.features._counting import LevelColumns, Levels
from arboleda.features._neighbors import MixedVariable, compute_mixed_information

__all__ = ["Continuous", "Measure", "make_measure"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Continuous = Literal["bins", "neighbors"]


class Measure(Protocol):
    """Estimates of mutual information in nats. They scatter around 0 where there is none."""

    def with_target(self) -> Floats:
        """I(x_j; y) of every column j."""

    def with_column(self, one: int, others: Indices) -> Floats:
        """I(x_j; x_one) of some other columns j."""

    def pairs_with_target(self, one: int, others: Indices) -> Floats:
        """I(x_j, x_one; y), of two columns together, of some other columns j."""


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
    """Return the measure of a table and its target that the parameters speak of."""
    if continuous == "bins":
        classes = task == "classification"
        levels = Levels.of_codes(target) if classes else Levels.of_bins(target, n_bins)
        return CountingMeasure(LevelColumns(table, n_bins, n_threads), levels)
    if isinstance(table, Table):
        return NeighborMeasure(table, target, task, n_bins, n_neighbors, random_state)
    raise ValueError(
        "X is sparse, whose many zeros have no neighbours: set continuous='bins', or give a dense "
        "table"
    )


class CountingMeasure:
    """Information by counting levels; numbers are in bins."""

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
        together = self._columns.compute_information(column.paired_with(self._target), others)
        pairs: Floats = together - self._columns.compute_information(column, others)
        pairs += self._with_target[one]
        return pairs


class NeighborMeasure:
    """Information by nearest neighbours; categories, and numbers of few values, are counted."""

    def __init__(
        self,
        table: Table,
        target: npt.NDArray[Any],
        task: str,
        most_levels: int,
        n_neighbors: int,
        random_state: np.random.RandomState,
    ) -> None:
        self._table = table
        self._most_levels = most_levels
        self._n_neighbors = n_neighbors
        self._seed = int(random_state.randint(np.iinfo(np.int32).max))
        if task == "classification":
            self._target = MixedVariable(Levels.of_codes(target), None)
        else:
            noise = self._make_generator(table.n_columns)
            self._target = MixedVariable.of_numbers(target, most_levels, noise)

    def with_target(self) -> Floats:
        return self._compute_each(range(self._table.n_columns), [], self._target)

    def with_column(self, one: int, others: Indices) -> Floats:
        return self._compute_each(others, [], self._make_column(one))

    def pairs_with_target(self, one: int, others: Indices) -> Floats:
        return self._compute_each(others, [self._make_column(one)], self._target)

    def _compute_each(
        self, columns: Any, totals: list[MixedVariable], other: MixedVariable
    ) -> Floats:
        return np.array(
            [
                compute_mixed_information(
                    [self._make_column(int(j)), *totals], other, self._n_neighbors
                )
                for j in columns
            ]
        )

    def _make_column(self, j: int) -> MixedVariable:
        """One column, with the same noise whenever it is asked for."""
        values, n_levels = self._table.columns[j], self._table.n_levels[j]
        if n_levels == 0:
            return MixedVariable.of_numbers(values, self._most_levels, self._make_generator(j))
        codes = np.where(values == missing_code(n_levels), n_levels, values.astype(np.intp))
        return MixedVariable(Levels(codes, n_levels + 1), None)

    def _make_generator(self, stream: int) -> np.random.Generator:
        return np.random.default_rng((self._seed, stream))
