"""Accumulated local effects of one column, or of two together.

Apley and Zhu (2020), "Visualizing the effects of predictor variables in black box supervised
learning models", Journal of the Royal Statistical Society B 82: how much the answer changes when a
column goes from one end of a short interval to the other, in the rows whose value lies there, added
up over the intervals. Where columns are correlated no row is asked for that is unlike all others,
which is what partial dependence does.

A column of m points has m - 1 gaps. A row crosses some of them and belongs to points,
with shares that add up to 1:

    numbers      points are ends of intervals; a row crosses the one that it lies in, and belongs by
                 halves to both its ends
    categories   points are categories in an order; a row crosses the gaps to the one before and the
                 one after its own, to which it belongs
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from arboleda.explain._curves import answers_with
from arboleda.explain._grids import edges_of, given_points
from arboleda.explain._level_order import level_order
from arboleda.explain._outputs import OutputReader
from arboleda.explain._rows import Rows

__all__ = ["Effects", "accumulated_effects"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


class Effects(NamedTuple):
    """Points of each column, as `Rows.values` has them, and effects there."""

    points: list[Floats]
    effects: Floats  # (n_outputs, points of the first column[, points of the second])


class _Crossing(NamedTuple):
    """Rows that cross a gap each."""

    rows: Places
    gaps: Places


class _Axis(NamedTuple):
    """A column's points, what gaps the rows cross and to what points they belong."""

    column: int
    points: Floats
    crossings: list[_Crossing]
    shares: list[tuple[Places, float]]  # the point of each row, and how much it belongs there
    heights: Floats  # of the points, from 0 to 1: what is near in a surface

    @property
    def n_gaps(self) -> int:
        """Number of gaps."""
        return len(self.points) - 1


def accumulated_effects(
    read: OutputReader,
    rows: Rows,
    columns: list[int],
    weight: Floats,
    n_intervals: int,
    custom_values: dict[int, Any],
) -> Effects:
    """Effects of one column, centred; or of two, without what each of them does alone.

    Parameters
    ----------
    read : OutputReader
    rows : Rows
    columns : list of one or two int
    weight : ndarray of shape (n_rows,)
        Rows of weight 0 are not asked for.
    n_intervals : int
        At most so many of about equal weight.
    custom_values : dict of int to array-like
        Ends of the intervals, or the order of the categories; rows beyond them are left out.

    Raises
    ------
    ValueError
        If a column holds no value in any row of weight, or effects are beyond float64.
    """
    points = [_points(rows, j, weight, n_intervals, custom_values.get(j)) for j in columns]
    kept = weight > 0.0
    for j, of_column in zip(columns, points, strict=True):
        kept &= _within(rows.values(j), of_column, rows.categorical[j])
    if not kept.any():
        raise ValueError("no row of X has a value in the intervals: give custom_values within X")
    if not kept.all():
        rows, weight = rows.take(np.flatnonzero(kept)), weight[kept]
    weight = weight / weight.sum()
    axes = [_axis(rows, j, of_column) for j, of_column in zip(columns, points, strict=True)]
    # Answers near the ends of float64 may differ by more than it holds: that is told below.
    with np.errstate(over="ignore", invalid="ignore"):
        found = (_of_one if len(axes) == 1 else _of_two)(read, rows, axes, weight)
    if not np.isfinite(found).all():
        raise ValueError(
            "the model's answers differ by more than float64 holds: explain a model of a target in "
            "another unit"
        )
    return Effects(points, found)


def _points(rows: Rows, column: int, weight: Floats, n_intervals: int, given: Any) -> Floats:
    if given is not None:
        points = given_points(rows, column, given)
        name = rows.names[column]
        if np.isnan(points).any() or len(np.unique(points)) != len(points):
            raise ValueError(f"custom_values of {name!r} must not repeat, and none be missing")
        if not rows.categorical[column] and (np.diff(points) < 0.0).any():
            raise ValueError(f"custom_values of {name!r} are ends of intervals: let them ascend")
        return points
    values = rows.values(column)
    kept = ~np.isnan(values) & (weight > 0.0)
    if not kept.any():
        raise ValueError(
            f"column {rows.names[column]!r} has no value in any row of positive weight: there is "
            "nothing to accumulate; leave it out"
        )
    if rows.categorical[column]:
        return level_order(rows, column, weight).astype(np.float64)
    return edges_of(values[kept], weight[kept], n_intervals)


def _within(values: Floats, points: Floats, categorical: bool) -> npt.NDArray[np.bool_]:
    inside: npt.NDArray[np.bool_] = np.isin(values, points)
    if not categorical:
        inside = (values >= points[0]) & (values <= points[-1])
    return inside


def _axis(rows: Rows, column: int, points: Floats) -> _Axis:
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
    # (end, next end], the first one with both its ends.
    gap = np.clip(np.searchsorted(points, values, side="left") - 1, 0, n_gaps - 1)
    halves = points / 2.0  # the range itself may be beyond float64
    heights = (halves - halves[0]) / (halves[-1] - halves[0])
    crossings = [_Crossing(everyone, gap)]
    return _Axis(column, points, crossings, [(gap, 0.5), (gap + 1, 0.5)], heights)


def _of_one(read: OutputReader, rows: Rows, axes: Sequence[_Axis], weight: Floats) -> Floats:
    """Mean differences across the gaps, added up; the mean over the rows is 0."""
    (axis,) = axes
    means = _Means(axis.n_gaps)
    for asked, gaps in axis.crossings:
        some = rows.take(asked)
        low = answers_with(read, some, {axis.column: axis.points[gaps]})
        high = answers_with(read, some, {axis.column: axis.points[gaps + 1]})
        means.add(gaps, weight[asked], high - low)
    effects = _accumulated(means.found(_n_outputs(read, rows)))
    belonging = _belonging([axis], weight)
    return np.asarray(effects - (effects * belonging).sum(axis=1, keepdims=True))


def _of_two(read: OutputReader, rows: Rows, axes: Sequence[_Axis], weight: Floats) -> Floats:
    """Mean second differences over cells, added up both ways, less what each column does alone."""
    first, second = axes
    n_outputs = _n_outputs(read, rows)
    surface = np.zeros((n_outputs, len(first.points), len(second.points)))
    if not first.n_gaps or not second.n_gaps:  # a constant column does nothing with another
        return surface
    shape = (first.n_gaps, second.n_gaps)
    means = _Means(first.n_gaps * second.n_gaps)
    for one in first.crossings:
        for other in second.crossings:
            asked, i, j = np.intersect1d(one.rows, other.rows, True, True)
            if asked.size:
                gaps = one.gaps[i], other.gaps[j]
                difference = _second_difference(read, rows.take(asked), axes, gaps)
                means.add(gaps[0] * shape[1] + gaps[1], weight[asked], difference)
    steps = means.found(n_outputs).reshape(n_outputs, *shape)
    near = _nearest_cells(means.total.reshape(shape) > 0.0, axes)
    surface[:, 1:, 1:] = steps[:, near[0], near[1]].cumsum(axis=1).cumsum(axis=2)
    alone = _alone(surface, first, second, weight)
    alone_second = _alone(surface.transpose(0, 2, 1), second, first, weight)
    surface = surface - alone[:, :, np.newaxis] - alone_second[:, np.newaxis, :]
    belonging = _belonging(axes, weight)
    return np.asarray(surface - (surface * belonging).sum(axis=(1, 2), keepdims=True))


def _second_difference(
    read: OutputReader, rows: Rows, axes: Sequence[_Axis], gaps: tuple[Places, Places]
) -> Floats:
    """How much more the answer changes across a gap of the first column after one of the second."""
    first, second = axes
    corners = [
        answers_with(
            read,
            rows,
            {first.column: first.points[gaps[0] + i], second.column: second.points[gaps[1] + j]},
        )
        for i, j in ((1, 1), (0, 1), (1, 0), (0, 0))
    ]
    return (corners[0] - corners[1]) - (corners[2] - corners[3])


def _alone(surface: Floats, axis: _Axis, other: _Axis, weight: Floats) -> Floats:
    """What a column does alone in a surface: its mean differences, added up."""
    weights = np.zeros((axis.n_gaps, len(other.points)))
    for asked, gaps in axis.crossings:
        for points, share in other.shares:
            np.add.at(weights, (gaps, points[asked]), share * weight[asked])
    total = weights.sum(axis=1)
    means = (weights * np.diff(surface, axis=1)).sum(axis=2)
    return _accumulated(means / np.where(total > 0.0, total, 1.0))


class _Means:
    """Weighted means of differences at places, put together part by part."""

    def __init__(self, n_places: int) -> None:
        self.total = np.zeros(n_places)
        self._sums: Floats | None = None

    def add(self, places: Places, weight: Floats, values: Floats) -> None:
        """Add rows: their places, their weights, and their values of shape (n_rows, n_outputs)."""
        n_places = len(self.total)
        self.total += np.bincount(places, weight, n_places)
        sums = [np.bincount(places, weight * column, n_places) for column in values.T]
        self._sums = np.array(sums) if self._sums is None else self._sums + np.array(sums)

    def found(self, n_outputs: int) -> Floats:
        """Return the means, of shape (n_outputs, n_places); 0 where no row is."""
        if self._sums is None:
            return np.zeros((n_outputs, len(self.total)))
        return self._sums / np.where(self.total > 0.0, self.total, 1.0)


def _n_outputs(read: OutputReader, rows: Rows) -> int:
    return int(read(rows.take(slice(0, 1)).native).values.shape[1])


def _accumulated(steps: Floats) -> Floats:
    """Sums of the steps so far, from 0 on, along the last axis."""
    return np.concatenate([np.zeros((len(steps), 1)), steps.cumsum(axis=1)], axis=1)


def _belonging(axes: Sequence[_Axis], weight: Floats) -> Floats:
    """Share of the rows' weight at each point of one axis, or at each pair of points of two."""
    found = np.zeros(tuple(len(axis.points) for axis in axes))
    for points, share in axes[0].shares:
        if len(axes) == 1:
            np.add.at(found, points, share * weight)
            continue
        for others, other_share in axes[1].shares:
            np.add.at(found, (points, others), share * other_share * weight)
    return np.asarray(found / found.sum())


def _nearest_cells(has_rows: npt.NDArray[np.bool_], axes: Sequence[_Axis]) -> tuple[Places, Places]:
    """For every cell the nearest one that has rows: by its middle, the ranges being 1 both ways."""
    middles = [(axis.heights[:-1] + axis.heights[1:]) / 2.0 for axis in axes]
    centres = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1)
    full = np.argwhere(has_rows)
    _, nearest = cKDTree(centres[has_rows]).query(centres.reshape(-1, 2))
    chosen = full[nearest].reshape(*has_rows.shape, 2)
    chosen[has_rows] = full
    return chosen[..., 0], chosen[..., 1]
