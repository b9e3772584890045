"""States of the columns of a table: categories, and bins of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Column, Table
from arboleda._engine.schema import Schema
from arboleda.learners._bayesian_network_tables import MISSING, Floats, States
from arboleda.learners._class_rows import ClassRows, as_floats
from arboleda.learners._discretisation import Bins, find_cuts

__all__ = ["Bin", "Categories", "ColumnStates", "learn_states", "table_states"]


@dataclass(frozen=True)
class Bin:
    """A bin of a numeric column.

    Parameters
    ----------
    low, high : float
        Smallest and largest training value.
    """

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.4g}" if self.low == self.high else f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class Categories:
    """States of a categorical column: the categories of rows with positive weight.

    Parameters
    ----------
    values : tuple
        Labels of the categories.
    state_of_code : ndarray
        State of each level of the schema, `MISSING` for a level without rows; the last entry is
        for missing and unseen values.
    """

    values: tuple[Any, ...]
    state_of_code: States

    def states(self, column: Column) -> States:
        """Return the states of a column of codes."""
        found: States = self.state_of_code[np.minimum(column, self.state_of_code.size - 1)]
        return found

    def draw(self, states: npt.NDArray[np.intp], random: np.random.RandomState) -> Any:
        """Return the label of each state."""
        del random
        labels = np.empty(max(len(self.values), 1), dtype=object)  # None where there is none
        labels[: len(self.values)] = self.values
        return labels[states]


@dataclass(frozen=True)
class Numbers:
    """States of a numeric column: its bins.

    Parameters
    ----------
    values : tuple of Bin
    cuts : ndarray
        Upper limit of each bin but the last.
    """

    values: tuple[Bin, ...]
    cuts: Floats

    def states(self, column: Column) -> States:
        """Return the states of a column of numbers."""
        numbers = as_floats(column)
        found = np.searchsorted(self.cuts, numbers, side="left").astype(np.int32)
        found[np.isnan(numbers)] = MISSING
        return found

    def draw(self, states: npt.NDArray[np.intp], random: np.random.RandomState) -> Floats:
        """Draw a number from each bin, uniformly between its ends."""
        if not self.values:
            return np.full(len(states), np.nan)
        ends = np.array([(part.low, part.high) for part in self.values])[states]
        share = random.random_sample(len(states))
        drawn: Floats = (1.0 - share) * ends[:, 0] + share * ends[:, 1]
        return drawn


ColumnStates = Categories | Numbers


def learn_states(rows: ClassRows, schema: Schema, n_bins: Bins) -> list[ColumnStates]:
    """Return the states of each column, from rows of positive weight."""
    return [
        _numbers(as_floats(column), rows, n_bins) if levels is None else _categories(column, levels)
        for column, levels in zip(rows.table.columns, schema.levels, strict=True)
    ]


def table_states(columns: list[ColumnStates], table: Table) -> States:
    """Return the states of a table, with a last column of missing values for the class.

    Columns with at most one state are never missing, since their values carry no information.
    """
    found = np.full((table.n_rows, len(columns) + 1), MISSING, dtype=np.int32, order="F")
    for j, (states, column) in enumerate(zip(columns, table.columns, strict=True)):
        found[:, j] = states.states(column) if len(states.values) > 1 else 0
    return found


def _numbers(values: Floats, rows: ClassRows, n_bins: Bins) -> Numbers:
    present = ~np.isnan(values)
    if not present.any():
        return Numbers((), np.empty(0))
    values = values[present]
    cuts = find_cuts(values, rows.labels[present], rows.weight[present], rows.classes.size, n_bins)
    ordered = np.sort(values)
    starts = np.searchsorted(ordered, cuts, side="right")
    low, high = ordered[np.append(0, starts)], ordered[np.append(starts, ordered.size) - 1]
    return Numbers(tuple(map(Bin, low.tolist(), high.tolist())), cuts)


def _categories(column: Column, levels: tuple[Any, ...]) -> Categories:
    used = np.zeros(len(levels) + 1, dtype=bool)
    used[np.minimum(column, len(levels))] = True
    used[-1] = False
    state_of_code = np.where(used, np.cumsum(used) - 1, MISSING).astype(np.int32)
    return Categories(
        tuple(level for level, use in zip(levels, used, strict=False) if use), state_of_code
    )
