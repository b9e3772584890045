"""Accumulated local effects of one column, or of two together.

Apley and Zhu (2020), "Visualizing the effects of predictor variables in black box supervised
learning models", Journal of the Royal Statistical Society B 82: the distance of two categories is
the sum over the other columns of the distance of their distributions in the rows of each category -
the Kolmogorov-Smirnov distance for numbers, half the sum of absolute differences of shares for
categories. The order is that of the first coordinate of classical multidimensional scaling.

Apley and Zhu (2020), "Visualizing the effects of predictor variables in black box supervised
learning models", Journal of the Royal Statistical Society B 82: how much the prediction changes
when a column moves from one end of a short interval to the other, averaged over the rows whose
value lies in that interval and accumulated over the intervals. Unlike partial dependence, the model
never predicts on unrealistic rows when columns are correlated.

A column of m points has m - 1 gaps. Each row crosses some of the gaps and belongs to some of the
points, with shares that sum to 1:

    numbers      points are interval ends; a row crosses the interval that contains its value, and
                 belongs half to each end
    categories   points are ordered categories; a row crosses the gaps to the previous and the next
                 category, and belongs to its own
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from scipy.spatial import cKDTree

from arboleda.explain._curves import compute_edges, predict_with, read_custom_points
from arboleda.explain._outputs import OutputReader
from arboleda.explain._rows import TableRows

__all__ = ["Effects", "compute_accumulated_effects", "order_levels"]

Floats = npt.NDArray[np.float64]

# Number of values at which the distributions of numbers are compared.
_N_QUANTILES = 100
# Coordinates that agree to this many decimals are ties, ordered by code.
_DECIMALS = 9


def order_levels(rows: TableRows, column: int, weight: Floats) -> npt.NDArray[np.intp]:
    """Return the codes of the levels of a column that have positive weight, in order.

    Parameters
    ----------
    rows : TableRows
    column : int
        A categorical column.
    weight : ndarray of shape (n_rows,)

    Returns
    -------
    codes : ndarray of shape (n_levels,)
        In the direction that begins with the lower code.
    """
    found = rows.values(column)
    kept = ~np.isnan(found) & (weight > 0.0)
    present, codes = np.unique(found[kept].astype(np.intp), return_inverse=True)
    if len(present) < 3:
        return present
    weight = weight[kept]
    distance = np.zeros((len(present), len(present)))
    for other in range(rows.n_columns):
        if other != column:
            values = rows.values(other)[kept]
            distance += _compute_distances(values, codes, weight, rows.categorical[other])
    order = np.argsort(_compute_first_coordinate(distance), kind="stable")
    return present[order[::-1] if order[0] > order[-1] else order]


def _compute_distances(
    values: Floats, codes: npt.NDArray[np.intp], weight: Floats, categorical: bool
) -> Floats:
    """Compute the distances of the distributions of a column in the rows of any two levels."""
    known = ~np.isnan(values)
    values, codes_of_known, weight = values[known], codes[known], weight[known]
    n_levels = int(codes.max()) + 1
    distinct, places = np.unique(values, return_inverse=True)
    if not categorical and len(distinct) > _N_QUANTILES:
        distinct = np.unique(
            np.quantile(values, np.linspace(0.0, 1.0, _N_QUANTILES), method="inverted_cdf")
        )
        places = np.searchsorted(distinct, values)
    shares = np.zeros((n_levels, max(1, len(distinct))))
    np.add.at(shares, (codes_of_known, places), weight)
    # A level without values of this column has the overall distribution.
    shares[shares.sum(axis=1) == 0.0] = shares.sum(axis=0)
    total = shares.sum(axis=1, keepdims=True)
    shares /= np.where(total > 0.0, total, 1.0)
    compared = shares if categorical else np.cumsum(shares, axis=1)
    found = np.empty((n_levels, n_levels))
    for level in range(n_levels):
        difference = np.abs(compared - compared[level])
        found[level] = difference.sum(axis=1) / 2.0 if categorical else difference.max(axis=1)
    return found


def _compute_first_coordinate(distance: Floats) -> Floats:
    """Compute the first coordinate of classical multidimensional scaling, of length 1."""
    squares = distance**2
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    last = len(squares) - 1
    _, vectors = eigh(-squares / 2.0, subset_by_index=[last, last])
    coordinate: Floats = np.round(vectors[:, 0], _DECIMALS)
    return coordinate


Places = npt.NDArray[np.intp]


class Effects(NamedTuple):
    """Points of each column, encoded like `TableRows.values`, and the effects at these points."""

    points: list[Floats]
    effects: Floats  # (n_outputs, points of the first column[, points of the second])


class _Crossing(NamedTuple):
    """Rows, and the gap that each of them crosses."""

    rows: Places
    gaps: Places


class _Axis(NamedTuple):
    """Points of a column, the gaps that the rows cross, and the points that they belong to."""

    column: int
    points: Floats
    crossings: list[_Crossing]
    shares: list[tuple[Places, float]]  # the point of each row, and its share in that point
    heights: Floats  # positions of the points scaled to [0, 1], for distances in a surface

    @property
    def n_gaps(self) -> int:
        """Number of gaps."""
        return len(self.points) - 1


def compute_accumulated_effects(
    read: OutputReader,
    rows: TableRows,
    columns: list[int],
    weight: Floats,
    n_intervals: int,
    custom_values: dict[int, Any],
) -> Effects:
    """Compute the centred effect of one column, or the second-order effect of two columns.

    Parameters
    ----------
    read : OutputReader
    rows : TableRows
    columns : list of one or two int
    weight : ndarray of shape (n_rows,)
        Rows of weight 0 are ignored.
    n_intervals : int
        Maximum number of intervals, of about equal weight.
    custom_values : dict of int to array-like
        Interval ends, or the order of the categories; rows outside them are left out.

    Raises
    ------
    ValueError
        If a column has no value in any row of positive weight, or effects overflow float64.
    """
    points = [_make_points(rows, j, weight, n_intervals, custom_values.get(j)) for j in columns]
    kept = weight > 0.0
    for j, of_column in zip(columns, points, strict=True):
        kept &= _find_rows_within(rows.values(j), of_column, rows.categorical[j])
    if not kept.any():
        raise ValueError("no row of X lies in the intervals: give custom_values in the range of X")
    if not kept.all():
        rows, weight = rows.take(np.flatnonzero(kept)), weight[kept]
    weight = weight / weight.sum()
    axes = [_make_axis(rows, j, of_column) for j, of_column in zip(columns, points, strict=True)]
    # Differences of predictions near the limits of float64 may overflow: checked below.
    with np.errstate(over="ignore", invalid="ignore"):
        found = (_compute_one_column if len(axes) == 1 else _compute_two_columns)(
            read, rows, axes, weight
        )
    if not np.isfinite(found).all():
        raise ValueError(
            "differences of the model's predictions overflow float64: fit the model on a target in "
            "another unit"
        )
    return Effects(points, found)


def _make_points(
    rows: TableRows, column: int, weight: Floats, n_intervals: int, given: Any
) -> Floats:
    if given is not None:
        points = read_custom_points(rows, column, given)
        name = rows.names[column]
        if np.isnan(points).any() or len(np.unique(points)) != len(points):
            raise ValueError(f"custom_values of {name!r} must be distinct and not missing")
        if not rows.categorical[column] and (np.diff(points) < 0.0).any():
            raise ValueError(
                f"custom_values of {name!r} are interval ends: give them in ascending order"
            )
        return points
    values = rows.values(column)
    kept = ~np.isnan(values) & (weight > 0.0)
    if not kept.any():
        raise ValueError(
            f"column {rows.names[column]!r} has no value in any row of positive weight, so its "
            "effect is undefined: leave it out"
        )
    if rows.categorical[column]:
        return order_levels(rows, column, weight).astype(np.float64)
    return compute_edges(values[kept], weight[kept], n_intervals)


def _find_rows_within(values: Floats, points: Floats, categorical: bool) -> npt.NDArray[np.bool_]:
    inside: npt.NDArray[np.bool_] = np.isin(values, points)
    if not categorical:
        inside = (values >= points[0]) & (values <= points[-1])
    return inside


def _make_axis(rows: TableRows, column: int, points: Floats) -> _Axis:
    values = rows.values(column)
    n_gaps = len(points) - 1
    if rows.categorical[column]:
        heights = np.arange(n_gaps + 1) / max(1, n_gaps)
        rank = np.empty(int(points.max()) + 1, dtype=np.intp)
        rank[points.astype(np.intp)] = np.arange(n_gaps + 1)
        place = rank[values.astype(np.intp)]
        up, down = np.flatnonzero(place < n_gaps), np.flatnonzero(place > 0)
        crossings = [_Crossing(up, place[up]), _Crossing(down, place[down] - 1)]
        return _Axis(column, points, crossings, [(place, 1.0)], heights)
    everyone = np.arange(len(values))
    if n_gaps == 0:
        return _Axis(column, points, [], [(np.zeros_like(everyone), 1.0)], np.zeros(1))
    # Intervals are (end, next end]; the first one also contains its lower end.
    gap = np.clip(np.searchsorted(points, values, side="left") - 1, 0, n_gaps - 1)
    halves = points / 2.0  # the range itself may overflow float64
    heights = (halves - halves[0]) / (halves[-1] - halves[0])
    crossings = [_Crossing(everyone, gap)]
    return _Axis(column, points, crossings, [(gap, 0.5), (gap + 1, 0.5)], heights)


def _compute_one_column(
    read: OutputReader, rows: TableRows, axes: Sequence[_Axis], weight: Floats
) -> Floats:
    """Accumulate mean differences across the gaps; the mean effect over the rows is 0."""
    (axis,) = axes
    means = _Means(axis.n_gaps)
    for row_indices, gaps in axis.crossings:
        some = rows.take(row_indices)
        low = predict_with(read, some, {axis.column: axis.points[gaps]})
        high = predict_with(read, some, {axis.column: axis.points[gaps + 1]})
        means.add(gaps, weight[row_indices], high - low)
    effects = _accumulate(means.compute(_count_outputs(read, rows)))
    belonging = _compute_point_weights([axis], weight)
    return np.asarray(effects - (effects * belonging).sum(axis=1, keepdims=True))


def _compute_two_columns(
    read: OutputReader, rows: TableRows, axes: Sequence[_Axis], weight: Floats
) -> Floats:
    """Accumulate mean second differences over cells and subtract the main effects."""
    first, second = axes
    n_outputs = _count_outputs(read, rows)
    surface = np.zeros((n_outputs, len(first.points), len(second.points)))
    if not first.n_gaps or not second.n_gaps:  # a constant column has no interaction
        return surface
    shape = (first.n_gaps, second.n_gaps)
    means = _Means(first.n_gaps * second.n_gaps)
    for one in first.crossings:
        for other in second.crossings:
            row_indices, i, j = np.intersect1d(one.rows, other.rows, True, True)
            if row_indices.size:
                gaps = one.gaps[i], other.gaps[j]
                difference = _compute_second_difference(read, rows.take(row_indices), axes, gaps)
                means.add(gaps[0] * shape[1] + gaps[1], weight[row_indices], difference)
    steps = means.compute(n_outputs).reshape(n_outputs, *shape)
    near = _find_nearest_cells(means.total.reshape(shape) > 0.0, axes)
    surface[:, 1:, 1:] = steps[:, near[0], near[1]].cumsum(axis=1).cumsum(axis=2)
    alone = _compute_main_effect(surface, first, second, weight)
    alone_second = _compute_main_effect(surface.transpose(0, 2, 1), second, first, weight)
    surface = surface - alone[:, :, np.newaxis] - alone_second[:, np.newaxis, :]
    belonging = _compute_point_weights(axes, weight)
    return np.asarray(surface - (surface * belonging).sum(axis=(1, 2), keepdims=True))


def _compute_second_difference(
    read: OutputReader, rows: TableRows, axes: Sequence[_Axis], gaps: tuple[Places, Places]
) -> Floats:
    """Compute how the change across a gap of the first column depends on a gap of the second."""
    first, second = axes
    corners = [
        predict_with(
            read,
            rows,
            {first.column: first.points[gaps[0] + i], second.column: second.points[gaps[1] + j]},
        )
        for i, j in ((1, 1), (0, 1), (1, 0), (0, 0))
    ]
    return (corners[0] - corners[1]) - (corners[2] - corners[3])


def _compute_main_effect(surface: Floats, axis: _Axis, other: _Axis, weight: Floats) -> Floats:
    """Compute the main effect of a column in a surface: its accumulated mean differences."""
    weights = np.zeros((axis.n_gaps, len(other.points)))
    for row_indices, gaps in axis.crossings:
        for points, share in other.shares:
            np.add.at(weights, (gaps, points[row_indices]), share * weight[row_indices])
    total = weights.sum(axis=1)
    means = (weights * np.diff(surface, axis=1)).sum(axis=2)
    return _accumulate(means / np.where(total > 0.0, total, 1.0))


class _Means:
    """Weighted means of differences at places, accumulated batch by batch."""

    def __init__(self, n_places: int) -> None:
        self.total = np.zeros(n_places)
        self._sums: Floats | None = None

    def add(self, places: Places, weight: Floats, values: Floats) -> None:
        """Add rows: their places, their weights, and their values of shape (n_rows, n_outputs)."""
        n_places = len(self.total)
        self.total += np.bincount(places, weight, n_places)
        sums = [np.bincount(places, weight * column, n_places) for column in values.T]
        self._sums = np.array(sums) if self._sums is None else self._sums + np.array(sums)

    def compute(self, n_outputs: int) -> Floats:
        """Return the means, of shape (n_outputs, n_places); 0 where there are no rows."""
        if self._sums is None:
            return np.zeros((n_outputs, len(self.total)))
        return self._sums / np.where(self.total > 0.0, self.total, 1.0)


def _count_outputs(read: OutputReader, rows: TableRows) -> int:
    return int(read(rows.take(slice(0, 1)).native).values.shape[1])


def _accumulate(steps: Floats) -> Floats:
    """Compute cumulative sums along the last axis, starting from 0."""
    return np.concatenate([np.zeros((len(steps), 1)), steps.cumsum(axis=1)], axis=1)


def _compute_point_weights(axes: Sequence[_Axis], weight: Floats) -> Floats:
    """Compute the share of row weight at each point of one axis, or each pair of points of two."""
    found = np.zeros(tuple(len(axis.points) for axis in axes))
    for points, share in axes[0].shares:
        if len(axes) == 1:
            np.add.at(found, points, share * weight)
            continue
        for others, other_share in axes[1].shares:
            np.add.at(found, (points, others), share * other_share * weight)
    return np.asarray(found / found.sum())


def _find_nearest_cells(
    has_rows: npt.NDArray[np.bool_], axes: Sequence[_Axis]
) -> tuple[Places, Places]:
    """Find for every cell the nearest one with rows, by the scaled distance of their centres."""
    middles = [(axis.heights[:-1] + axis.heights[1:]) / 2.0 for axis in axes]
    centres = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1)
    full = np.argwhere(has_rows)
    _, nearest = cKDTree(centres[has_rows]).query(centres.reshape(-1, 2))
    chosen = full[nearest].reshape(*has_rows.shape, 2)
    chosen[has_rows] = full
    return chosen[..., 0], chosen[..., 1]
