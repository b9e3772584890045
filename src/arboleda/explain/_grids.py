"""Grid points at which a dependence is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats.mstats import mquantiles

from arboleda._engine.labels import to_plain_label
from arboleda._engine.numbers import convert_objects_to_numbers
from arboleda.explain._rows import TableRows

__all__ = [
    "as_display_values",
    "check_resolution",
    "compute_edges",
    "make_grid",
    "read_custom_points",
]

Floats = npt.NDArray[np.float64]


def make_grid(
    rows: TableRows, column: int, grid_resolution: int, percentiles: tuple[float, float]
) -> Floats:
    """Compute the points of a partial dependence, encoded like `TableRows.values`.

    A column with fewer distinct values than ``grid_resolution`` has all of them as points, a
    categorical column all its categories. Otherwise the points are equally spaced between two
    percentiles, or over the whole range if these are equal. A column with missing values has one
    more point, last, for a missing value.
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
        # Halves, because the range itself may overflow float64.
        points = 2.0 * np.linspace(low / 2.0, high / 2.0, grid_resolution)
    return points if len(known) == len(values) else np.append(points, np.nan)


def compute_edges(values: Floats, weight: Floats, n_intervals: int) -> Floats:
    """Compute ascending ends of intervals that hold about equal weight.

    The ends are quantiles that are observed values, as in Apley and Zhu (2020).
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    wanted = np.arange(n_intervals + 1) * reached[-1] / n_intervals
    places = np.searchsorted(reached, wanted, side="left")
    return np.unique(values[order][np.minimum(places, len(values) - 1)])


def read_custom_points(rows: TableRows, column: int, given: Any) -> Floats:
    """Read custom points, encoded like `TableRows.values`.

    Raises
    ------
    ValueError
        If there are none, one is infinite or not a number, or no row has a label.
    """
    name = rows.names[column]
    array = np.asarray(given, dtype=object)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"custom_values of {name!r} must be a non-empty list, got {given!r}")
    if not rows.categorical[column]:
        points = convert_objects_to_numbers(array, f"custom_values of {name!r}", "give numbers")
        if np.isinf(points).any():
            raise ValueError(f"custom_values of {name!r} contain infinity: give finite numbers")
        return points
    levels = rows.levels(column)
    places = {label: float(code) for code, label in enumerate(levels)}
    points = np.empty(len(array))
    for i, value in enumerate(array.tolist()):
        label = to_plain_label(value)
        if label is not None and label not in places:
            shown_levels = ", ".join(map(repr, levels[:20]))
            raise ValueError(
                f"custom_values of {name!r} contain {label!r}, which no row of X has; its levels "
                f"are {shown_levels}"
                f"{', ...' if len(levels) > 20 else ''}"
            )
        points[i] = np.nan if label is None else places[label]
    return points


def as_display_values(rows: TableRows, column: int, points: Floats) -> npt.NDArray[Any]:
    """Return points as displayed: numbers, or category labels with None for a missing one."""
    if not rows.categorical[column]:
        return points
    levels = rows.levels(column)
    labels = np.empty(len(points), dtype=object)
    labels[:] = [None if np.isnan(code) else levels[int(code)] for code in points]
    return labels


def check_resolution(grid_resolution: Any, percentiles: Any) -> None:
    """Check that the number of points and the percentiles define a grid."""
    whole = isinstance(grid_resolution, int | np.integer) and not isinstance(grid_resolution, bool)
    if not whole or grid_resolution < 2:
        raise ValueError(
            f"grid_resolution must be an integer of at least 2, got {grid_resolution!r}"
        )
    two = isinstance(percentiles, Sequence | np.ndarray) and len(percentiles) == 2
    if not two or not 0.0 <= percentiles[0] < percentiles[1] <= 1.0:
        raise ValueError(
            f"percentiles must be two ascending numbers between 0 and 1, got {percentiles!r}"
        )
