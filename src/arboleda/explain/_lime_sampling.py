"""Samples around a row, and linear models fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.explain._rows import TableRows
from arboleda.tree import Condition

__all__ = [
    "ColumnView",
    "LinearSurrogate",
    "Moments",
    "Sample",
    "Sampler",
    "choose_columns",
    "fit_columns",
    "floor_power_of_two",
    "view_columns",
]


def floor_power_of_two(size: float) -> float:
    """Return the largest power of two that is at most ``size``; 1 for 0."""
    return float(np.ldexp(1.0, int(np.frexp(size)[1]) - 1)) if size > 0.0 else 1.0


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


Integers = npt.NDArray[np.intp]

# Share of a column's variance not explained by others below which it counts as rounding.
_NOTHING_LEFT = 1e-10
# Share of the target's variance below which a gain counts as rounding.
_NOTHING_GAINED = 1e-12


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted mean and covariance of some columns and, last, a target.

    Attributes
    ----------
    total : float
        Sum of the weights.
    squares : float
        Sum of their squares.
    mean : ndarray of shape (n_columns + 1,)
    covariance : ndarray of shape (n_columns + 1, n_columns + 1)
        Covariance with divisor ``total``.
    """

    total: float
    squares: float
    mean: Floats
    covariance: Floats

    @property
    def n_effective(self) -> float:
        """Effective sample size (Kish 1965)."""
        return self.total**2 / self.squares if self.squares > 0.0 else 0.0

    @classmethod
    def compute(cls, columns: Floats, target: Floats, weight: Floats) -> Moments:
        """Compute the moments of columns (n, n_columns), their target and their weights."""
        joined = np.column_stack([columns, target])
        total = float(weight.sum())
        if total <= 0.0:
            width = joined.shape[1]
            return cls(0.0, 0.0, np.zeros(width), np.zeros((width, width)))
        share = weight / total
        mean = share @ joined
        joined -= mean
        covariance = (joined * share[:, np.newaxis]).T @ joined
        return cls(total, float(weight @ weight), mean, covariance)

    @classmethod
    def combine(cls, parts: Sequence[Moments]) -> Moments:
        """Combine the moments of several samples."""
        total = float(sum(part.total for part in parts))
        squares = float(sum(part.squares for part in parts))
        shares = [part.total / total if total > 0.0 else 0.0 for part in parts]
        mean = np.sum([s * part.mean for s, part in zip(shares, parts, strict=True)], axis=0)
        covariance = np.zeros_like(parts[0].covariance)
        for share, part in zip(shares, parts, strict=True):
            apart = part.mean - mean
            covariance += share * (part.covariance + np.outer(apart, apart))
        return cls(total, squares, mean, covariance)


@dataclass(frozen=True, eq=False)
class LinearSurrogate:
    """A linear model of some columns: ``intercept + sum of weights x columns``."""

    columns: Integers
    weights: Floats
    intercept: float
    fidelity: float  # weighted R2


def choose_columns(moments: Moments, n_columns: int) -> Integers:
    """Select columns one by one, each time the one that increases the weighted R2 most.

    Forward selection by orthogonal least squares: the gain of a column is what it explains after
    the selected columns are projected out of it and of the target. Ties go to the first column.

    Parameters
    ----------
    moments : Moments
    n_columns : int
        Maximum number of columns; fewer are selected if no other column explains anything.

    Returns
    -------
    columns : ndarray of int
        In order of selection.
    """
    left = moments.covariance.copy()
    floor = np.diag(left)[:-1] * _NOTHING_LEFT
    target = float(left[-1, -1])
    chosen: list[int] = []
    while len(chosen) < n_columns and target > 0.0:
        variance = np.diag(left)[:-1]
        usable = (variance > floor) & (variance > 0.0)
        usable[chosen] = False
        gain = np.zeros(len(variance))
        gain[usable] = left[-1, :-1][usable] ** 2 / variance[usable]
        best = int(gain.argmax()) if gain.size else 0
        if not gain.size or gain[best] <= _NOTHING_GAINED * target:
            break
        chosen.append(best)
        left -= np.outer(left[:, best], left[best]) / left[best, best]
    return np.array(chosen, dtype=np.intp)


def fit_columns(moments: Moments, columns: Integers) -> LinearSurrogate:
    """Fit the target by weighted least squares to some columns.

    Linearly dependent columns share their weight (minimum-norm solution).

    Parameters
    ----------
    moments : Moments
    columns : ndarray of int

    Returns
    -------
    LinearSurrogate
        Its fidelity is 1 if the target is constant.
    """
    covariance = moments.covariance
    among = covariance[np.ix_(columns, columns)]
    with_target = covariance[columns, -1]
    size = np.sqrt(np.diag(among))
    size[size == 0.0] = 1.0
    scaled = among / np.outer(size, size)
    weights = np.linalg.lstsq(scaled, with_target / size, rcond=_NOTHING_LEFT)[0] / size
    target = float(covariance[-1, -1])
    unexplained = target - 2.0 * weights @ with_target + weights @ among @ weights
    return LinearSurrogate(
        columns=columns,
        weights=weights,
        intercept=float(moments.mean[-1] - weights @ moments.mean[columns]),
        fidelity=1.0 - max(float(unexplained), 0.0) / target if target > 0.0 else 1.0,
    )
