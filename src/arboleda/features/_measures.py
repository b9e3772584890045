"""Estimators of mutual information, by counts or by nearest neighbors.

A mixed variable has a discrete part (a category, or whether the value is missing) and, on some
levels of it, a number. By the chain rule, the information of two such variables is that of their
discrete parts, from counts, plus that of the numbers within each level, by nearest neighbors:

- numbers with numbers: Kraskov, Stögbauer, Grassberger (2004), "Estimating mutual information",
  Physical Review E 69, eq. (8);
- numbers with classes: Ross (2014), "Mutual information between discrete and continuous data
  sets", PLoS ONE 9, eq. (2).

Both estimators are those of scikit-learn for one number, extended to two numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from scipy.spatial import KDTree
from scipy.special import digamma

from arboleda._engine.columns import DenseTable, SparseTable, get_missing_code
from arboleda.features._counting import LevelColumns, Levels, compute_counted_information

__all__ = ["Continuous", "Measure", "MixedVariable", "compute_mixed_information", "make_measure"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class MixedVariable:
    """Variable with a discrete part and a number.

    Parameters
    ----------
    levels : Levels
        The category, or 1 if the number is missing and 0 otherwise.
    numbers : ndarray of shape (n_rows,) or None
        The number, NaN if missing; None if there is no number.
    """

    levels: Levels
    numbers: Floats | None

    @classmethod
    def of_numbers(
        cls, values: npt.NDArray[np.generic], max_levels: int, random: np.random.Generator
    ) -> MixedVariable:
        """Scale numbers and add little noise, which only breaks ties, as in scikit-learn.

        Kraskov et al. (2004), section II: neighbors are only defined if no distances are equal.
        Columns with at most ``max_levels`` different values become levels instead, because noise
        would separate equal values.
        """
        numbers = values.astype(np.float64)
        unique, codes = np.unique(numbers, return_inverse=True)  # NaN is one value, the last
        missing = np.isnan(numbers)
        if len(unique) - bool(missing.any()) <= max_levels:
            return cls(Levels.of_codes(codes.reshape(-1)), None)
        present = numbers[~missing]
        present = present / np.abs(present).max()
        present = present / present.std()
        size = 1e-10 * max(1.0, float(np.abs(present).mean()))
        numbers[~missing] = present + size * random.standard_normal(present.size)
        return cls(Levels(missing.astype(np.intp), 2), numbers)


def compute_mixed_information(
    parts: list[MixedVariable], other: MixedVariable, n_neighbors: int
) -> float:
    """Compute the joint information of one or two variables about another, in nats."""
    information = _compute_with_levels(parts, other.levels, n_neighbors)
    if other.numbers is None:
        return information
    for rows in _iter_strata(other.levels):
        numbers = other.numbers[rows]
        if not np.isnan(numbers[0]):
            share = len(rows) / len(other.numbers)
            information += share * _compute_with_numbers(
                _take_rows(parts, rows), numbers, n_neighbors
            )
    return information


def _compute_with_levels(parts: list[MixedVariable], other: Levels, n_neighbors: int) -> float:
    """Compute the joint information of variables about a discrete one."""
    joint = _combine_levels(parts)
    information = compute_counted_information(joint, other)
    for share, rows, numbers in _iter_numbers_by_level(parts, joint):
        information += share * _estimate_ross(numbers, other.codes[rows], n_neighbors)
    return information


def _compute_with_numbers(parts: list[MixedVariable], other: Floats, n_neighbors: int) -> float:
    """Compute the joint information of variables about numbers, none missing."""
    joint = _combine_levels(parts)
    information = _estimate_ross(other[:, np.newaxis], joint.codes, n_neighbors)
    for share, rows, numbers in _iter_numbers_by_level(parts, joint):
        information += share * _estimate_ksg(numbers, other[rows], n_neighbors)
    return information


def _combine_levels(parts: list[MixedVariable]) -> Levels:
    return reduce(Levels.paired_with, (part.levels for part in parts))


def _take_rows(parts: list[MixedVariable], rows: Indices) -> list[MixedVariable]:
    return [
        MixedVariable(
            Levels(part.levels.codes[rows], part.levels.n),
            None if part.numbers is None else part.numbers[rows],
        )
        for part in parts
    ]


def _iter_strata(levels: Levels) -> Iterator[Indices]:
    """Yield the rows of each level that occurs."""
    order = np.argsort(levels.codes, kind="stable")
    yield from np.split(order, np.cumsum(levels.counts())[:-1])


def _iter_numbers_by_level(
    parts: list[MixedVariable], levels: Levels
) -> Iterator[tuple[float, Indices, Floats]]:
    """Yield the share and rows of each level, and the numbers present, by column."""
    for rows in _iter_strata(levels):
        columns = [part.numbers[rows] for part in parts if part.numbers is not None]
        columns = [column for column in columns if not np.isnan(column[0])]
        if columns:
            yield len(rows) / len(levels.codes), rows, np.column_stack(columns)


def _estimate_ross(numbers: Floats, labels: npt.NDArray[np.integer], n_neighbors: int) -> float:
    """Compute the information of numbers about classes; classes of a single row are ignored."""
    unique, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    kept = counts[codes] > 1
    n_kept = int(kept.sum())
    if n_kept == 0 or len(unique) == 1:
        return 0.0
    radius = np.zeros(len(labels))
    neighbors = np.minimum(n_neighbors, counts - 1)
    for label in np.flatnonzero(counts > 1):
        rows = np.flatnonzero(codes == label)
        radius[rows] = _compute_distances(numbers[rows], int(neighbors[label]))
    near = _count_within(numbers[kept], radius[kept])
    own = digamma(neighbors[codes[kept]]) - digamma(counts[codes[kept]]) - digamma(near)
    return float(digamma(n_kept) + own.mean())


def _estimate_ksg(numbers: Floats, others: Floats, n_neighbors: int) -> float:
    """Compute the information of numbers about a number; 0 for fewer than two rows."""
    n_rows = len(others)
    if n_rows < 2:
        return 0.0
    k = min(n_neighbors, n_rows - 1)
    column = others[:, np.newaxis]
    radius = _compute_distances(np.hstack([numbers, column]), k)
    near = digamma(_count_within(numbers, radius)) + digamma(_count_within(column, radius))
    return float(digamma(n_rows) + digamma(k) - near.mean())


def _compute_distances(points: Floats, k: int) -> Floats:
    """Compute slightly less than the distance to the k-th neighbor, in the maximum norm."""
    distances, _ = KDTree(points).query(points, k=[k + 1], p=np.inf)
    nearer: Floats = np.nextafter(distances[:, 0], 0.0)
    return nearer


def _count_within(points: Floats, radius: Floats) -> npt.NDArray[np.intp]:
    """Count the points within a radius of each point, including itself."""
    counts: npt.NDArray[np.intp] = KDTree(points).query_ball_point(
        points, radius, p=np.inf, return_length=True
    )
    return counts


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
    table: DenseTable | SparseTable,
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
    if isinstance(table, DenseTable):
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
        table: DenseTable,
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
