r"""States of columns and probability tables of a Bayesian network.

The states of a node and of its parents, its family, are the axes of its table, in the order of the
node indices. A row of states is an entry of the table; a row with missing values is a set of
entries, one for each combination of the missing values:

    family (a, b, c), table of shape (2, 3, 2), strides (6, 2, 1); the row has a = 1, c = 0
    places = 6 * 1 + 1 * 0   +   2 * [0 1 2]      = [6 8 10]
             \___ base ____/     \ offsets of b /
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Column, DenseTable, Schema
from arboleda.learners._class_rows import ClassRows, as_floats
from arboleda.learners._columns import Bins, find_cuts
from arboleda.learners._directed_graph import DirectedGraph

__all__ = ["Bin", "Categories", "ColumnStates", "learn_states", "table_states"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
States = npt.NDArray[np.int32]

MISSING = -1  # the state of a missing value
# Entries of all tables together, 8 bytes each.
_MOST_ENTRIES = 2**27


@dataclass(frozen=True)
class Network:
    """A network with nodes and states as integers.

    Parameters
    ----------
    graph : DirectedGraph
        Node v of the network is ``graph.nodes[v]``.
    sizes : tuple of int
        Number of states of each node.

    Raises
    ------
    ValueError
        If the tables together would have too many entries. The message names the largest.
    """

    graph: DirectedGraph
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        entries = [math.prod(self.shape(node)) for node in range(self.n_nodes)]
        if sum(entries) <= _MOST_ENTRIES:
            return
        largest = max(range(self.n_nodes), key=entries.__getitem__)
        names = self.graph.nodes
        parents = ", ".join(repr(names[p]) for p in self.graph.parent_places[largest])
        raise ValueError(
            f"the table of {names[largest]!r} given {parents or 'nothing'} would have "
            f"{entries[largest]:,} entries, and all tables together {sum(entries):,}, more than "
            f"{_MOST_ENTRIES:,}: leave out a parent or a column of identifiers, or merge rare "
            "categories"
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.sizes)

    def family(self, node: int) -> tuple[int, ...]:
        """Return a node and its parents, ascending: the axes of its table."""
        return tuple(sorted((node, *self.graph.parent_places[node])))

    def shape(self, node: int) -> tuple[int, ...]:
        """Return the shape of a node's table."""
        return tuple(self.sizes[member] for member in self.family(node))

    def places(self, node: int, states: States, missing: Sequence[int] = ()) -> Integers:
        """Return the indices of rows in the flattened table of a node.

        Parameters
        ----------
        node : int
        states : ndarray of shape (n_rows, n_nodes)
            Observed for all members of the family except the missing ones.
        missing : sequence of int
            Members, ascending, that take all of their states.

        Returns
        -------
        places : ndarray of shape (n_rows, n_combinations)
            The last of the missing members varies fastest. If all members are missing, all rows
            share one row of places.
        """
        family, shape = self.family(node), self.shape(node)
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        offsets = np.zeros(1, dtype=np.intp)
        base = np.zeros(1 if len(missing) == len(family) else len(states), dtype=np.intp)
        for member, size, stride in zip(family, shape, strides, strict=True):
            if member in missing:
                offsets = np.add.outer(offsets, stride * np.arange(size)).ravel()
            else:
                base += stride * states[:, member].astype(np.intp)
        return np.asarray(base[:, np.newaxis] + offsets)


def count(network: Network, states: States, weight: Floats) -> list[Floats]:
    """Return the total weight of each entry of each table, over rows without missing values in it.

    Parameters
    ----------
    network : Network
    states : ndarray of shape (n_rows, n_nodes)
    weight : ndarray of shape (n_rows,)

    Returns
    -------
    counts : list of ndarray
        One array for each node, of the shape of its table.
    """
    known = states != MISSING
    counts = []
    for node in range(network.n_nodes):
        shape = network.shape(node)
        rows = known[:, network.family(node)].all(axis=1)
        all_known = bool(rows.all())
        places = network.places(node, states if all_known else states[rows])[:, 0]
        found = np.bincount(places, weight if all_known else weight[rows], math.prod(shape))
        counts.append(found.astype(np.float64, copy=False).reshape(shape))
    return counts


def estimate(network: Network, counts: Sequence[Floats], alpha: float) -> list[Floats]:
    """Return the most probable tables, given counts and a Dirichlet prior.

    P(x | parents) = (N(x, parents) + alpha) / (N(parents) + alpha r), with r states of the node:
    maximum likelihood with ``alpha=0``, otherwise the mode of the posterior under a symmetric
    Dirichlet prior of parameter alpha + 1. For combinations of parents without rows, all states are
    equally probable, which is also the limit of a small alpha.
    """
    tables = []
    for node, counted in enumerate(counts):
        axis = network.family(node).index(node)
        raised = counted + alpha
        total = raised.sum(axis=axis, keepdims=True)
        raised[np.broadcast_to(total == 0.0, raised.shape)] = 1.0
        tables.append(raised / raised.sum(axis=axis, keepdims=True))
    return tables


def logarithms(tables: Sequence[Floats]) -> list[Floats]:
    """Return the logarithms of probabilities; minus infinity for 0."""
    with np.errstate(divide="ignore"):
        return [np.log(table) for table in tables]


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


def table_states(columns: list[ColumnStates], table: DenseTable) -> States:
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
