"""Accumulated local effects of one column, or of two together.

Apley and Zhu (2020), "Visualizing the effects of predictor variables in black box supervised
learning models", Journal of the Royal Statistical Society B 82: how much the answer changes when a
column goes from one end of a short interval to the other, in the rows whose value lies there, added
up over the intervals. Where columns are correlated no row is asked for that is unlike all others,
which is what partial dependence does.
"""

from __future__ import annotations

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
        If a column holds no value in any row of weight, one of two columns holds categories, or
        effects are beyond float64.
    """
    if len(columns) == 2:
        named = next((j for j in columns if rows.categorical[j]), None)
        if named is not None:
            raise ValueError(
                f"the effects of two columns are for numbers; {rows.names[named]!r} holds "
                "categories: give it alone, or use kind='average'"
            )
    points = [_points(rows, j, weight, n_intervals, custom_values.get(j)) for j in columns]
    kept = weight > 0.0
    for j, ends in zip(columns, points, strict=True):
        kept &= _within(rows.values(j), ends, rows.categorical[j])
    if not kept.any():
        raise ValueError("no row of X has a value in the intervals: give custom_values within X")
    if not kept.all():
        rows, weight = rows.take(np.flatnonzero(kept)), weight[kept]
    weight = weight / weight.sum()
    # Answers near the ends of float64 may differ by more than it holds: that is told below.
    with np.errstate(over="ignore", invalid="ignore"):
        if len(columns) == 2:
            effects = _of_two(read, rows, columns, points, weight)
        elif rows.categorical[columns[0]]:
            effects = _of_categories(read, rows, columns[0], points[0], weight)
        else:
            effects = _of_numbers(read, rows, columns[0], points[0], weight)
    if not np.isfinite(effects).all():
        raise ValueError(
            "the model's answers differ by more than float64 holds: explain a model of a target in "
            "another unit"
        )
    return Effects(points, effects)


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


def _of_numbers(
    read: OutputReader, rows: Rows, column: int, ends: Floats, weight: Floats
) -> Floats:
    """Mean differences over the intervals, added up and centred by the intervals' middles."""
    if len(ends) == 1:
        return np.zeros((read(rows.native).values.shape[1], 1))
    interval = _intervals(rows.values(column), ends)
    low = answers_with(read, rows, {column: ends[interval]})
    high = answers_with(read, rows, {column: ends[interval + 1]})
    n_intervals = len(ends) - 1
    weights = _sums(interval, weight, n_intervals)
    effects = _accumulated(_means(high - low, interval, weight, n_intervals))
    middles = effects[:, :-1] / 2.0 + effects[:, 1:] / 2.0
    return effects - _mean(middles, weights)


def _of_categories(
    read: OutputReader, rows: Rows, column: int, order: Floats, weight: Floats
) -> Floats:
    """The same from each category to the next in the order: the rows of both are asked for both."""
    rank = np.empty(int(order.max()) + 1, dtype=np.intp)
    rank[order.astype(np.intp)] = np.arange(len(order))
    place = rank[rows.values(column).astype(np.intp)]
    said = read(rows.native).values
    steps = np.zeros((2, len(order) - 1, said.shape[1]))
    totals = np.zeros(len(order) - 1)
    for turn, step in enumerate((1, -1)):
        has_next = (place + step >= 0) & (place + step < len(order))
        asked = np.flatnonzero(has_next)
        if not asked.size:
            continue
        next_code = order[place[asked] + step]
        other = answers_with(read, rows.take(asked), {column: next_code})
        gap = np.minimum(place[asked], place[asked] + step)
        difference = step * (other - said[asked])
        totals += _sums(gap, weight[asked], len(totals))
        for k in range(said.shape[1]):
            steps[turn, :, k] = _sums(gap, weight[asked] * difference[:, k], len(totals))
    effects = _accumulated((steps.sum(axis=0) / np.where(totals > 0.0, totals, 1.0)[:, None]).T)
    return effects - _mean(effects, _sums(place, weight, len(order)))


def _of_two(
    read: OutputReader, rows: Rows, columns: list[int], ends: list[Floats], weight: Floats
) -> Floats:
    """Mean second differences over cells, added up both ways, less what each column does alone."""
    shape = tuple(len(points) - 1 for points in ends)
    if 0 in shape:  # a constant column interacts with none
        n_outputs = read(rows.native).values.shape[1]
        return np.zeros((n_outputs, *(len(points) for points in ends)))
    first, second = (
        _intervals(rows.values(j), points) for j, points in zip(columns, ends, strict=True)
    )
    corners = [
        answers_with(read, rows, {columns[0]: ends[0][first + i], columns[1]: ends[1][second + j]})
        for i, j in ((1, 1), (0, 1), (1, 0), (0, 0))
    ]
    difference = (corners[0] - corners[1]) - (corners[2] - corners[3])
    cell = first * shape[1] + second
    n_cells = shape[0] * shape[1]
    weights = _sums(cell, weight, n_cells).reshape(shape)
    means = _means(difference, cell, weight, n_cells)
    nearest = _nearest_cells(weights > 0.0, ends)
    means = means.reshape(-1, *shape)[:, nearest[0], nearest[1]]
    surface = np.zeros((len(means), shape[0] + 1, shape[1] + 1))
    surface[:, 1:, 1:] = means.cumsum(axis=1).cumsum(axis=2)
    along_first = _single_effect(surface, weights)
    along_second = _single_effect(surface.transpose(0, 2, 1), weights.T)
    surface = surface - along_first[:, :, None] - along_second[:, None, :]
    corners_mean = (
        surface[:, :-1, :-1] + surface[:, 1:, :-1] + surface[:, :-1, 1:] + surface[:, 1:, 1:]
    ) / 4.0
    flat = _mean(corners_mean.reshape(len(surface), -1), weights.ravel())
    return surface - flat[:, :, None]


def _single_effect(surface: Floats, weights: Floats) -> Floats:
    """What the first column does alone in a surface: its mean differences, added up."""
    difference = np.diff(surface, axis=1)
    middles = (difference[:, :, :-1] + difference[:, :, 1:]) / 2.0
    total = weights.sum(axis=1)
    return _accumulated((weights * middles).sum(axis=2) / np.where(total > 0.0, total, 1.0))


def _intervals(values: Floats, ends: Floats) -> Places:
    """Number of the interval of each value: (end, next end], the first one with both its ends."""
    return np.clip(np.searchsorted(ends, values, side="left") - 1, 0, len(ends) - 2)


def _sums(places: Places, weight: Floats, n_places: int) -> Floats:
    """Sum of the weights at each place."""
    return np.asarray(np.bincount(places, weight, n_places), dtype=np.float64)


def _means(values: Floats, places: Places, weight: Floats, n_places: int) -> Floats:
    """Weighted mean of the rows of each place, of shape (n_outputs, n_places); 0 where none is."""
    total = _sums(places, weight, n_places)
    sums = np.array([_sums(places, weight * column, n_places) for column in values.T])
    return sums / np.where(total > 0.0, total, 1.0)


def _accumulated(steps: Floats) -> Floats:
    """Sums of the steps so far, from 0 on, along the last axis."""
    return np.concatenate([np.zeros((len(steps), 1)), steps.cumsum(axis=1)], axis=1)


def _mean(values: Floats, weights: Floats) -> Floats:
    """Weighted mean along the last axis, which stays."""
    return np.asarray((values * (weights / weights.sum())).sum(axis=1, keepdims=True))


def _nearest_cells(
    has_rows: npt.NDArray[np.bool_], ends: list[Floats]
) -> tuple[npt.NDArray[np.intp], ...]:
    """For every cell the nearest one that has rows: by its middle, the ranges being 1 both ways."""
    middles = []
    for points in ends:
        halves = points / 2.0  # the range may be beyond float64
        middle = halves[:-1] / 2.0 + halves[1:] / 2.0
        middles.append((middle - halves[0]) / (halves[-1] - halves[0]))
    centres = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1)
    full = np.argwhere(has_rows)
    _, nearest = cKDTree(centres[has_rows]).query(centres.reshape(-1, 2))
    chosen = full[nearest].reshape(*has_rows.shape, 2)
    chosen[has_rows] = full
    return chosen[..., 0], chosen[..., 1]
