"""Samples around a row, and what they have in common with it, column by column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.explain._rows import Rows
from arboleda.tree import Condition

__all__ = ["ColumnView", "Sample", "Sampler", "view_columns"]

Floats = npt.NDArray[np.float64]

_MISSING = -1.0  # bin of missing values
_QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
class ColumnView:
    """How a column is seen: as bins, as categories, or as a number in units of its deviation.

    Attributes
    ----------
    place : int
        Number of the column.
    name : str
    edges : ndarray of float
        Upper ends of all bins but the last; a bin holds its upper end.
    labels : tuple
        Categories by their codes; empty for a number.
    scale : float
        Standard deviation in the training rows; 0 for a column that is seen as bins or categories.
    """

    place: int
    name: str
    edges: Floats
    labels: tuple[Any, ...] = ()
    scale: float = 0.0

    def bins(self, values: Floats) -> Floats:
        """Return the bins, or the categories, that values lie in."""
        if self.labels:
            return np.where(np.isnan(values), _MISSING, values)
        found = np.searchsorted(self.edges, values).astype(np.float64)
        return np.where(np.isnan(values), _MISSING, found)

    def condition(self, value: float, label: Any) -> str:
        """Say in words what a sample has in common with a row of this value."""
        if self.scale > 0.0 and not np.isnan(value):
            return f"{self.name} higher by {self.scale:.4g}"
        asked = Condition(self.place, self.name, missing=False)
        if np.isnan(value):
            return str(replace(asked, low=0.0, high=0.0, missing=True))
        if self.labels:
            return str(replace(asked, levels=(str(label),)))
        ends = np.concatenate([[-np.inf], self.edges, [np.inf]])
        place = int(np.searchsorted(self.edges, value))
        return str(replace(asked, low=float(ends[place]), high=float(ends[place + 1])))


def view_columns(rows: Rows, *, quartiles: bool) -> list[ColumnView]:
    """Decide how the columns of the training rows are seen.

    Quartiles are values of the column themselves (the inverse of its distribution function), so
    that whole numbers stay whole; equal ones are one.
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
            views.append(ColumnView(place, name, np.empty(0), scale=_deviation(present)))
    return views


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows drawn around a row.

    Attributes
    ----------
    table : table
        The rows, in the container of the training rows.
    columns : ndarray of shape (n_rows, n_features)
        What the surrogate reads: 1 where a row lies in the same bin or category as the row that is
        explained and 0 elsewhere; or how many standard deviations a number is higher.
    squared_distance : ndarray of shape (n_rows,)
        Number of bins and categories that differ, and the squares of the deviations.
    """

    table: Any
    columns: Floats
    squared_distance: Floats


class Sampler:
    """Draws samples around one row.

    Parameters
    ----------
    rows : Rows
        The training rows.
    views : list of ColumnView
    values : ndarray of shape (n_features,)
        Of the row: numbers, or codes of categories as in the training rows; NaN where missing, and
        a code of its own for a category that the training rows lack.
    """

    def __init__(self, rows: Rows, views: list[ColumnView], values: Floats) -> None:
        self._rows = rows
        self._views = views
        self._values = values
        self._is_number = [
            view.scale > 0.0 and not np.isnan(value)
            for view, value in zip(views, values, strict=True)
        ]

    def draw(self, n_samples: int, random: np.random.Generator) -> Sample:
        """Draw rows whose columns are independent of each other.

        A column seen as bins or categories holds values of training rows; a number is normal about
        the row's, with the deviation of the training rows.
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
                numbers[j] = _moved(value, view.scale, columns[:, j])
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


def _deviation(values: Floats) -> float:
    """Return the standard deviation, of values up to the largest that float64 holds."""
    size = float(np.abs(values).max())
    return float(np.std(values / size)) * size if size > 0.0 else 0.0


def _moved(value: float, scale: float, steps: Floats) -> Floats:
    """Return ``value + scale x steps``, kept within float64."""
    limit = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        return np.asarray(np.clip(value + scale * steps, -limit, limit))
