"""Answers over two columns as shades of a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda.plot._columns import as_numbers, value_text
from arboleda.plot._fit import drawn_axes, name_columns, name_rows, settle, wrapped, write_axis
from arboleda.plot._style import EDGE, letters, quiet, ramp

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["edges_of", "heat_map", "scale_beside"]

Floats = npt.NDArray[np.float64]

_STROKES = 150  # along an axis at most
_LENGTH = 0.025  # of a stroke, of the axes' side


def heat_map(found: Any, average: Floats, named: str, ax: Axes | None) -> Axes:
    """Draw answers, of shape (n_first, n_second), over the first column across, the second up.

    The rows' values are short strokes along the axes.
    """
    grids = [np.asarray(grid) for grid in found.grid]
    numbers = [as_numbers(grid) for grid in grids]
    for k, values in enumerate(numbers):
        if values is not None:  # missing numbers have no place on the axis
            kept = np.flatnonzero(~np.isnan(values))
            if not len(kept):
                raise ValueError(
                    f"{found.feature_names[k]!r} holds missing values alone: there is no axis to "
                    "draw them along; draw the other column"
                )
            numbers[k], average = values[kept], np.take(average, kept, axis=k)
    across, up = (len(g) if v is None else 0 for g, v in zip(grids, numbers, strict=True))
    ax = drawn_axes(ax, 5.6 + 0.3 * across, 4.4 + 0.25 * up)
    size = letters(ax)
    edges = [edges_of(values, len(grid)) for values, grid in zip(numbers, grids, strict=True)]
    mesh = ax.pcolormesh(*edges, average.T, cmap=ramp(pale=True), lw=0)
    ax.set_xlim(edges[0][0], edges[0][-1])
    ax.set_ylim(edges[1][0], edges[1][-1])
    _strokes(ax, found, numbers)
    quiet(ax, size, frame=True)
    first, second = (str(name) for name in found.feature_names)
    meaning = "accumulated local effect" if found.kind == "ale" else "mean answer"
    bar = scale_beside(ax, mesh, size)

    def write() -> None:
        if numbers[1] is None:
            name_rows(ax, range(len(grids[1])), [value_text(v) for v in grids[1]], size)
        if numbers[0] is None:
            name_columns(ax, [value_text(v) for v in grids[0]], size)
        write_axis(ax, size, x=first, y=second)
        text = f"{meaning} for {named}" if named else meaning
        bar.set_label(wrapped(ax, text, ax.get_window_extent().height, size), fontsize=size)

    settle(ax, write)
    return ax


def _strokes(ax: Axes, found: Any, numbers: list[Floats | None]) -> None:
    """Mark the rows' values of columns of numbers by strokes along the axes."""
    if found.density is None:
        return
    from matplotlib.collections import LineCollection

    frames = (ax.get_xaxis_transform(), ax.get_yaxis_transform())
    limits = (ax.get_xlim(), ax.get_ylim())
    for k, (grid, frame, (low, high)) in enumerate(zip(numbers, frames, limits, strict=True)):
        if grid is None:
            continue
        values = np.asarray(found.density[k], dtype=np.float64)
        values = np.sort(values[(values >= low) & (values <= high)])
        values = values[np.linspace(0, len(values) - 1, min(len(values), _STROKES)).astype(int)]
        ends = np.empty((len(values), 2, 2))
        ends[:, :, k] = values[:, np.newaxis]
        ends[:, :, 1 - k] = (0.0, _LENGTH)
        ax.add_collection(
            LineCollection(list(ends), colors=EDGE, linewidths=0.4, transform=frame), autolim=False
        )


def edges_of(values: Floats | None, n_places: int) -> Floats:
    """Edges of cells around values, halfway between neighbours; of categories, half a step."""
    if values is None:
        return np.linspace(-0.5, n_places - 0.5, n_places + 1)
    if len(values) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    middle = values[:-1] / 2 + values[1:] / 2
    edges: Floats = np.concatenate([values[:1], middle, values[-1:]])
    return edges


def scale_beside(ax: Axes, mesh: Any, size: float) -> Any:
    """Draw the scale of shades at the right, within the axes' own place."""
    bar = ax.figure.colorbar(mesh, cax=ax.inset_axes((1.03, 0.0, 0.04, 1.0)))
    bar.outline.set(linewidth=0.5, edgecolor=EDGE)
    bar.ax.tick_params(labelsize=size, length=2.5, width=0.7, color="0.6")
    bar.ax.yaxis.get_offset_text().set_fontsize(size)
    return bar
