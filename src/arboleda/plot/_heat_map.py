"""Heat map of predictions over two columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda.plot._columns import as_numbers, format_value
from arboleda.plot._fit import (
    fit_texts,
    make_axes,
    name_columns,
    name_rows,
    wrap_text,
    write_labels,
)
from arboleda.plot._style import EDGE, choose_font_size, make_colormap, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["add_colorbar", "compute_edges", "draw_heat_map"]

Floats = npt.NDArray[np.float64]

_STROKES = 150  # largest number of rug marks along an axis
_LENGTH = 0.025  # length of a rug mark, as a share of the axes


def draw_heat_map(dependence: Any, average: Floats, named: str, ax: Axes | None) -> Axes:
    """Draw predictions of shape (n_first, n_second), with the first column on the x axis.

    Rug marks along the axes show the values of the rows.
    """
    grids = [np.asarray(grid) for grid in dependence.grid]
    numbers = [as_numbers(grid) for grid in grids]
    for k, values in enumerate(numbers):
        if values is not None:  # missing numbers have no position on the axis
            kept = np.flatnonzero(~np.isnan(values))
            if not len(kept):
                raise ValueError(
                    f"column {dependence.feature_names[k]!r} has only missing values and cannot be "
                    "an axis: plot the other column alone"
                )
            numbers[k], average = values[kept], np.take(average, kept, axis=k)
    across, up = (len(g) if v is None else 0 for g, v in zip(grids, numbers, strict=True))
    ax = make_axes(ax, 5.6 + 0.3 * across, 4.4 + 0.25 * up)
    size = choose_font_size(ax)
    edges = [compute_edges(values, len(grid)) for values, grid in zip(numbers, grids, strict=True)]
    mesh = ax.pcolormesh(*edges, average.T, cmap=make_colormap(pale=True), lw=0)
    ax.set_xlim(edges[0][0], edges[0][-1])
    ax.set_ylim(edges[1][0], edges[1][-1])
    _draw_strokes(ax, dependence, numbers)
    style_axes(ax, size, frame=True)
    first, second = (str(name) for name in dependence.feature_names)
    meaning = "accumulated local effect" if dependence.kind == "ale" else "mean prediction"
    bar = add_colorbar(ax, mesh, size)

    def write() -> None:
        if numbers[1] is None:
            name_rows(ax, range(len(grids[1])), [format_value(v) for v in grids[1]], size)
        if numbers[0] is None:
            name_columns(ax, [format_value(v) for v in grids[0]], size)
        write_labels(ax, size, x=first, y=second)
        text = f"{meaning} for {named}" if named else meaning
        bar.set_label(wrap_text(ax, text, ax.get_window_extent().height, size), fontsize=size)

    fit_texts(ax, write)
    return ax


def _draw_strokes(ax: Axes, dependence: Any, numbers: list[Floats | None]) -> None:
    """Draw rug marks of the values of numeric columns along the axes."""
    if dependence.density is None:
        return
    from matplotlib.collections import LineCollection

    frames = (ax.get_xaxis_transform(), ax.get_yaxis_transform())
    limits = (ax.get_xlim(), ax.get_ylim())
    for k, (grid, frame, (low, high)) in enumerate(zip(numbers, frames, limits, strict=True)):
        if grid is None:
            continue
        values = np.asarray(dependence.density[k], dtype=np.float64)
        values = np.sort(values[(values >= low) & (values <= high)])
        values = values[np.linspace(0, len(values) - 1, min(len(values), _STROKES)).astype(int)]
        ends = np.empty((len(values), 2, 2))
        ends[:, :, k] = values[:, np.newaxis]
        ends[:, :, 1 - k] = (0.0, _LENGTH)
        ax.add_collection(
            LineCollection(list(ends), colors=EDGE, linewidths=0.4, transform=frame), autolim=False
        )


def compute_edges(values: Floats | None, n_places: int) -> Floats:
    """Compute cell edges halfway between neighbouring values, or around categories."""
    if values is None:
        return np.linspace(-0.5, n_places - 0.5, n_places + 1)
    if len(values) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    middle = values[:-1] / 2 + values[1:] / 2
    edges: Floats = np.concatenate([values[:1], middle, values[-1:]])
    return edges


def add_colorbar(ax: Axes, mesh: Any, size: float) -> Any:
    """Add a colour bar at the right, inside the area of the axes."""
    bar = ax.figure.colorbar(mesh, cax=ax.inset_axes((1.03, 0.0, 0.04, 1.0)))
    bar.outline.set(linewidth=0.5, edgecolor=EDGE)
    bar.ax.tick_params(labelsize=size, length=2.5, width=0.7, color="0.6")
    bar.ax.yaxis.get_offset_text().set_fontsize(size)
    return bar
