"""Samples around a row, and their agreement with it column by column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.explain._rows import TableRows
from arboleda.tree import Condition

__all__ = ["ColumnView", "Sample", "Sampler", "view_columns"]

Floats = npt.NDArray[np.float64]

_MISSING = -1.0  # bin of missing values
_QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
class ColumnView:
    """Representation of a column: by bins, by categories, or in standard deviations.

    Attributes
    ----------
    place : int
        Index of the column.
    name : str
    edges : ndarray of float
        Upper ends of all bins but the last; a bin contains its upper end.
    labels : tuple
        Categories by code; empty for a number.
    scale : float
        Standard deviation in the training rows; 0 for a column of bins or categories.
    """

    place: int
    name: str
    edges: Floats
    labels: tuple[Any, ...] = ()
    scale: float = 0.0

    def bins(self, values: Floats) -> Floats:
        """Return the bins or categories of values."""
        if self.labels:
            return np.where(np.isnan(values), _MISSING, values)
        found = np.searchsorted(self.edges, values).astype(np.float64)
        return np.where(np.isnan(values), _MISSING, found)

    def condition(self, value: float, label: Any) -> str:
        """Describe the condition that a sample shares with a row of this value."""
        if self.scale > 0.0 and not np.isnan(value):
            return f"{self.name} higher by {self.scale:.4g}"
        condition = Condition(self.place, self.name, missing=False)
        if np.isnan(value):
            return str(replace(condition, low=0.0, high=0.0, missing=True))
        if self.labels:
            return str(replace(condition, levels=(str(label),)))
        ends = np.concatenate([[-np.inf], self.edges, [np.inf]])
        place = int(np.searchsorted(self.edges, value))
        return str(replace(condition, low=float(ends[place]), high=float(ends[place + 1])))


def view_columns(rows: TableRows, *, quartiles: bool) -> list[ColumnView]:
    """Choose the representation of each column of the training rows.

    Quartiles are observed values of the column (the inverse of its distribution function), so that
    integers stay integers; duplicates are merged.
    """
    views = []
    for place, name in enumerate(rows.names):
        if rows.categorical[place]:
            views.append(ColumnView(place, name, np.empty(0), labels=rows.levels(place) or ("",)))
            continue
        values = rows.values(place)
        present = values[~np.isnan(values)]
        if not present.size:
            views.append(ColumnView(place, name, np.empty(0)))
        elif quartiles:
            edges = np.unique(np.quantile(present, _QUARTILES, method="inverted_cdf"))
            views.append(ColumnView(place, name, edges[edges < present.max()]))
        else:
            views.append(ColumnView(place, name, np.empty(0), scale=_compute_deviation(present)))
    return views


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows sampled around a row.

    Attributes
    ----------
    table : table
        The rows, in the type of the training table.
    columns : ndarray of shape (n_rows, n_features)
        Features of the surrogate: 1 where a row has the bin or category of the explained row and 0
        elsewhere; or the difference of a number in standard deviations.
    squared_distance : ndarray of shape (n_rows,)
        Number of bins and categories that differ plus the squared deviations of numbers.
    """

    table: Any
    columns: Floats
    squared_distance: Floats


class Sampler:
    """Sampler of rows around one row.

    Parameters
    ----------
    rows : TableRows
        The training rows.
    views : list of ColumnView
    values : ndarray of shape (n_features,)
        Values of the row: numbers, or category codes of the training rows; NaN where missing, and a
        new code for a category that the training rows lack.
    """

    def __init__(self, rows: TableRows, views: list[ColumnView], values: Floats) -> None:
        self._rows = rows
        self._views = views
        self._values = values
        self._is_number = [
            view.scale > 0.0 and not np.isnan(value)
            for view, value in zip(views, values, strict=True)
        ]

    def draw(self, n_samples: int, random: np.random.Generator) -> Sample:
        """Draw rows with mutually independent columns.

        A column of bins or categories takes values of training rows; a number is normally
        distributed around the row's value, with the standard deviation of the training rows.
        """
        drawn = self._rows.take(random.integers(self._rows.n_rows, size=n_samples))
        columns = np.zeros((n_samples, self._rows.n_columns))
        distance = np.zeros(n_samples)
        numbers: dict[int, Floats] = {}
        shuffled: dict[int, npt.NDArray[np.intp]] = {}
        for view, value, is_number in zip(self._views, self._values, self._is_number, strict=True):
            j = view.place
            if is_number:
                columns[:, j] = random.normal(size=n_samples)
                numbers[j] = _shift(value, view.scale, columns[:, j])
                distance += columns[:, j] ** 2
                continue
            shuffled[j] = random.permutation(n_samples)
            own = view.bins(np.array([value]))
            columns[:, j] = view.bins(drawn.values(j)[shuffled[j]]) == own
            distance += 1.0 - columns[:, j]
        if numbers:
            numbers |= {j: drawn.values(j)[places] for j, places in shuffled.items()}
            return Sample(drawn.put(numbers), columns, distance)
        return Sample(drawn.gather(shuffled), columns, distance)


def _compute_deviation(values: Floats) -> float:
    """Return the standard deviation without overflow for large values."""
    size = float(np.abs(values).max())
    return float(np.std(values / size)) * size if size > 0.0 else 0.0


def _shift(value: float, scale: float, steps: Floats) -> Floats:
    """Return ``value + scale * steps``, clipped to the range of float64."""
    limit = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        return np.asarray(np.clip(value + scale * steps, -limit, limit))
