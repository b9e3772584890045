"""Plots of the dependence of predictions on one or two columns, with the density of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.numbers import percent
from arboleda.plot._fit import (
    fit_texts,
    make_axes,
    name_columns,
    name_rows,
    place_legend_above,
    wrap_text,
    write_labels,
)
from arboleda.plot._style import (
    BAR,
    EDGE,
    INK,
    LINES,
    MARKERS,
    PALE,
    as_numbers,
    choose_font_size,
    find_output,
    format_value,
    is_mirrored,
    make_colormap,
    name_outputs,
    output_colours,
    style_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["add_colorbar", "compute_edges", "dependence", "draw_heat_map"]

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


_STRIP = 0.12  # height of the histogram as a share of the axes
_MAX_LINES = 100  # curves of single rows
_BINS = 40


def dependence(dependence: Any, ax: Axes | None = None, *, output: Any = None) -> Axes:
    """Plot partial dependence, individual curves or accumulated local effects.

    A numeric column is a curve above a histogram of the rows, with a ring at the right for missing
    values. A categorical column has bars from the mean over the rows, labelled with the share of
    rows. Two columns are a heat map, without missing numbers. Curves of single rows are pale.

    Parameters
    ----------
    dependence : Dependence
        Result of `arboleda.explain.partial_dependence`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None: those of a new figure.
    output : str or int, default=None
        Name or index of the output to draw. None: all outputs, distinguished by line style and
        marker; only the last one in a heat map, or if two outputs mirror each other like the
        probabilities of two classes.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Notes
    -----
    At most 100 single rows are drawn, evenly spaced in the given order.

    Raises
    ------
    ValueError
        If there is no such output.
    """
    average = np.asarray(dependence.average, dtype=np.float64)
    outputs = name_outputs(dependence.output_names, len(average))
    two = len(dependence.feature_names) == 2
    shown = list(range(len(outputs)))
    if output is not None:
        shown = [find_output(output, outputs)]
    elif two or is_mirrored(average, 0):
        shown = shown[-1:]
    if two:
        named = outputs[shown[0]] if len(outputs) > 1 else ""
        return draw_heat_map(dependence, average[shown[0]], named, ax)
    labels = as_numbers(np.asarray(dependence.grid[0])) is None
    n_rows = len(dependence.grid[0])
    ax = make_axes(ax, 5.6, 1.4 + 0.3 * n_rows if labels else 4.0)
    draw = _draw_categories if labels else _draw_curves
    draw(ax, dependence, average, shown, outputs)
    return ax


def _draw_curves(
    ax: Axes, dependence: Any, average: Floats, shown: Sequence[int], outputs: Sequence[str]
) -> None:
    size = choose_font_size(ax)
    grid = np.asarray(dependence.grid[0], dtype=np.float64)
    known = ~np.isnan(grid)
    missing = np.flatnonzero(~known)
    grid, beyond = grid[known], _find_missing_position(grid[known])
    handles = []
    colours = [INK] if len(shown) == 1 else output_colours(len(shown))
    for turn, k in enumerate(shown):
        if dependence.individual is not None:
            for line in _sample_lines(np.asarray(dependence.individual)[k]):
                ax.plot(grid, line[known], color=PALE, lw=0.5, zorder=1)
        few = len(grid) <= 25 or len(shown) > 1
        handles += ax.plot(
            grid,
            average[k][known],
            color=colours[turn],
            ls=LINES[turn % len(LINES)],
            lw=1.6,
            marker=MARKERS[turn % len(MARKERS)] if few else None,
            markevery=max(1, len(grid) // 10) if len(grid) > 25 else None,
            ms=3.5,
            mec="white",
            mew=0.4,
            label=outputs[k],
            zorder=3,
        )
        for point in missing:
            ring: dict[str, Any] = {
                "mec": colours[turn],
                "mfc": "white",
                "marker": "o",
                "ms": 5.0,
                "ls": "",
            }
            gap = ax.plot(beyond, average[k][point], label="missing", **ring)
            handles += gap if k == shown[-1] else []
    if dependence.kind == "ale":
        ax.axhline(0.0, color=EDGE, lw=0.6, zorder=0)
    _draw_histogram(ax, dependence, grid)
    style_axes(ax, size)

    def write() -> None:
        write_labels(
            ax, size, x=str(dependence.feature_names[0]), y=_describe(dependence, shown, outputs)
        )
        if len(handles) > 1:
            place_legend_above(ax, size, handles if len(shown) > 1 else handles[1:])

    fit_texts(ax, write)


def _find_missing_position(grid: Floats) -> float:
    """Return the position of missing values: to the right of all others."""
    if not len(grid):
        return 0.0
    return float(grid[-1] + 0.07 * (np.ptp(grid) or 1.0))


def _sample_lines(lines: Floats) -> Floats:
    if len(lines) <= _MAX_LINES:
        return lines
    some: Floats = lines[np.linspace(0, len(lines) - 1, _MAX_LINES).round().astype(int)]
    return some


def _draw_histogram(ax: Axes, dependence: Any, grid: Floats) -> None:
    """Draw a histogram of the rows at the bottom of the axes."""
    if dependence.density is None:
        return
    values = np.asarray(dependence.density[0], dtype=np.float64)
    if not len(grid):
        return
    low, high = float(grid.min()), float(grid.max())
    values = values[(values >= low) & (values <= high)]
    if not len(values) or low == high:
        return
    bottom, top = ax.get_ylim()
    ax.set_ylim(top - (top - bottom) / (1.0 - _STRIP) * 1.02, top)
    counts, edges = np.histogram(values, bins=_BINS, range=(low, high))
    ax.stairs(
        counts / counts.max() * _STRIP * 0.9,
        edges,
        fill=True,
        color="0.72",
        lw=0,
        transform=ax.get_xaxis_transform(),
        zorder=0,
    )


def _draw_categories(
    ax: Axes, dependence: Any, average: Floats, shown: Sequence[int], outputs: Sequence[str]
) -> None:
    size = choose_font_size(ax)
    names = [format_value(value) for value in dependence.grid[0]]
    counts = None
    if dependence.density is not None:
        counts = np.asarray(dependence.density[0], dtype=np.float64)
        total = counts.sum()
        if total > 0:
            names = [
                f"{name} ({percent(c / total)})" for name, c in zip(names, counts, strict=True)
            ]
    places = np.arange(len(names))
    ax.set_ylim(len(names) - 0.4, -0.6)
    handles: list[Any] = []
    if len(shown) == 1:
        _draw_bars(ax, dependence, average[shown[0]], shown[0], counts)
    else:
        colours = output_colours(len(shown))
        for turn, k in enumerate(shown):
            handles += ax.plot(
                average[k],
                places,
                ls="",
                marker=MARKERS[turn % len(MARKERS)],
                ms=5.0,
                mec=EDGE,
                mew=0.5,
                color=colours[turn],
                label=outputs[k],
                zorder=3,
            )
        ax.hlines(places, average[shown].min(axis=0), average[shown].max(axis=0), color=PALE, lw=1)
        if dependence.kind == "ale":
            ax.axvline(0.0, color=EDGE, lw=0.6, zorder=0)
    style_axes(ax, size)
    ax.spines["left"].set_visible(False)

    def write() -> None:
        name_rows(ax, places.tolist(), names, size)
        x, y = _describe(dependence, shown, outputs), str(dependence.feature_names[0])
        write_labels(ax, size, x=x, title=y)
        if handles:
            ax.set_title("")
            place_legend_above(ax, size, handles)
            write_labels(ax, size, x=f"{x}, by {y}")

    fit_texts(ax, write)


def _draw_bars(ax: Axes, dependence: Any, average: Floats, k: int, counts: Floats | None) -> None:
    """Draw the bars of one output from the mean over the rows, and single rows as pale marks."""
    start = 0.0
    if dependence.kind != "ale":
        known = counts is not None and counts.sum() > 0
        start = float(np.average(average, weights=counts if known else None))
    ax.axvline(start, color=EDGE, lw=0.7)
    places = np.arange(len(average))
    ax.barh(places, average - start, left=start, height=0.6, color=BAR, ec=EDGE, lw=0.6)
    if dependence.individual is not None:
        rows = _sample_lines(np.asarray(dependence.individual)[k])
        for place in places:
            ax.plot(rows[:, place], np.full(len(rows), place), "|", color=INK, alpha=0.25, ms=5.0)
    if not np.ptp(np.append(average, start)) and dependence.individual is None:
        ax.set_xlim(start - 1.0, start + 1.0)


def _describe(dependence: Any, shown: Sequence[int], outputs: Sequence[str]) -> str:
    one = f" for {outputs[shown[0]]}" if len(shown) == 1 and len(outputs) > 1 else ""
    if dependence.kind == "ale":
        return f"accumulated local effect{one}"
    if dependence.individual is None:
        return f"mean prediction{one}"
    return f"prediction{one} and its mean"
