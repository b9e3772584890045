"""What a greedy selection asks of a table and its target: information, counted or by neighbours."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.schema import get_missing_code
from arboleda.features._counting import LevelColumns, Levels
from arboleda.features._neighbors import Mixed, information_of_mixed

__all__ = ["Continuous", "Measure", "measure_of"]

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


def measure_of(
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
        return Counted(LevelColumns(table, n_bins, n_threads), levels)
    if isinstance(table, Table):
        return ByNeighbors(table, target, task, n_bins, n_neighbors, random_state)
    raise ValueError(
        "X is sparse, whose many zeros have no neighbours: set continuous='bins', or give a dense "
        "table"
    )


class Counted:
    """Information by counting levels; numbers are in bins."""

    def __init__(self, columns: LevelColumns, target: Levels) -> None:
        self._columns = columns
        self._target = target
        self._with_target = columns.information(target)

    def with_target(self) -> Floats:
        return self._with_target

    def with_column(self, one: int, others: Indices) -> Floats:
        return self._columns.information(self._columns.column(one), others)

    def pairs_with_target(self, one: int, others: Indices) -> Floats:
        # I(x_j, x_s; y) = I(x_s; y) + I(x_j; y | x_s), which is I(x_j; x_s, y) - I(x_j; x_s).
        column = self._columns.column(one)
        together = self._columns.information(column.with_(self._target), others)
        pairs: Floats = together - self._columns.information(column, others)
        pairs += self._with_target[one]
        return pairs


class ByNeighbors:
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
            self._target = Mixed(Levels.of_codes(target), None)
        else:
            noise = self._random(table.n_columns)
            self._target = Mixed.of_numbers(target, most_levels, noise)

    def with_target(self) -> Floats:
        return self._each(range(self._table.n_columns), [], self._target)

    def with_column(self, one: int, others: Indices) -> Floats:
        return self._each(others, [], self._column(one))

    def pairs_with_target(self, one: int, others: Indices) -> Floats:
        return self._each(others, [self._column(one)], self._target)

    def _each(self, columns: Any, beside: list[Mixed], other: Mixed) -> Floats:
        return np.array(
            [
                information_of_mixed([self._column(int(j)), *beside], other, self._n_neighbors)
                for j in columns
            ]
        )

    def _column(self, j: int) -> Mixed:
        """One column, with the same noise whenever it is asked for."""
        values, n_levels = self._table.columns[j], self._table.n_levels[j]
        if n_levels == 0:
            return Mixed.of_numbers(values, self._most_levels, self._random(j))
        codes = np.where(values == get_missing_code(n_levels), n_levels, values.astype(np.intp))
        return Mixed(Levels(codes, n_levels + 1), None)

    def _random(self, stream: int) -> np.random.Generator:
        return np.random.default_rng((self._seed, stream))
