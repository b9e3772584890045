"""The points at which a dependence is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats.mstats import mquantiles

from arboleda._engine.labels import to_plain_label
from arboleda._engine.numbers import convert_objects_to_numbers
from arboleda.explain._rows import Rows

__all__ = ["check_resolution", "edges_of", "given_points", "points_of", "shown"]

Floats = npt.NDArray[np.float64]


def points_of(
    rows: Rows, column: int, grid_resolution: int, percentiles: tuple[float, float]
) -> Floats:
    """Return the points of a partial dependence, as `Rows.values` has them.

    All values of a column that has fewer than ``grid_resolution``, and all categories; else as many
    numbers at equal distances between two percentiles, or over the whole range where these are
    equal. A column with missing values has one point more: the missing one, last.
    """
    values = rows.values(column)
    known = values[~np.isnan(values)]
    points = np.unique(known)
    if rows.categorical[column]:
        points = np.arange(len(rows.levels(column)), dtype=np.float64)
    elif len(points) >= grid_resolution:
        low, high = np.asarray(mquantiles(known, prob=percentiles), dtype=np.float64)
        if low == high:
            low, high = points[0], points[-1]
        # Half of each: the distance of the ends may be beyond float64.
        points = 2.0 * np.linspace(low / 2.0, high / 2.0, grid_resolution)
    return points if len(known) == len(values) else np.append(points, np.nan)


def edges_of(values: Floats, weight: Floats, n_intervals: int) -> Floats:
    """Ends of intervals that hold about the same weight of the values each; ascending.

    Quantiles that are values themselves, as Apley and Zhu (2020) take them.
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    wanted = np.arange(n_intervals + 1) * reached[-1] / n_intervals
    places = np.searchsorted(reached, wanted, side="left")
    return np.unique(values[order][np.minimum(places, len(values) - 1)])


def given_points(rows: Rows, column: int, given: Any) -> Floats:
    """Return points that a user gave, as `Rows.values` has them.

    Raises
    ------
    ValueError
        If there is none, one is infinite or no number, or a label is in no row of the column.
    """
    name = rows.names[column]
    array = np.asarray(given, dtype=object)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"custom_values of {name!r} must be a list of values; got {given!r}")
    if not rows.categorical[column]:
        points = convert_objects_to_numbers(array, f"custom_values of {name!r}", "give numbers")
        if np.isinf(points).any():
            raise ValueError(f"custom_values of {name!r} hold infinity: give finite numbers")
        return points
    levels = rows.levels(column)
    places = {label: float(code) for code, label in enumerate(levels)}
    points = np.empty(len(array))
    for i, value in enumerate(array.tolist()):
        label = to_plain_label(value)
        if label is not None and label not in places:
            held = ", ".join(map(repr, levels[:20]))
            raise ValueError(
                f"custom_values of {name!r} hold {label!r}, which no row of X has; it has {held}"
                f"{', ...' if len(levels) > 20 else ''}"
            )
        points[i] = np.nan if label is None else places[label]
    return points


def shown(rows: Rows, column: int, points: Floats) -> npt.NDArray[Any]:
    """Return points as a user reads them: numbers, or labels, None for a missing one."""
    if not rows.categorical[column]:
        return points
    levels = rows.levels(column)
    labels = np.empty(len(points), dtype=object)
    labels[:] = [None if np.isnan(code) else levels[int(code)] for code in points]
    return labels


def check_resolution(grid_resolution: Any, percentiles: Any) -> None:
    """Refuse a number of points and percentiles that make no grid."""
    whole = isinstance(grid_resolution, int | np.integer) and not isinstance(grid_resolution, bool)
    if not whole or grid_resolution < 2:
        raise ValueError(
            f"grid_resolution must be a whole number, 2 or more; got {grid_resolution!r}"
        )
    two = isinstance(percentiles, Sequence | np.ndarray) and len(percentiles) == 2
    if not two or not 0.0 <= percentiles[0] < percentiles[1] <= 1.0:
        raise ValueError(
            "percentiles must be two shares between 0 and 1, the first below the second; got "
            f"{percentiles!r}"
        )
