"""How answers depend on one column or two, above the data's density."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._numbers import percent
from arboleda.plot._columns import as_numbers, value_text
from arboleda.plot._fit import drawn_axes, legend_above, name_rows, settle, write_axis
from arboleda.plot._heat_map import heat_map
from arboleda.plot._outputs import mirrored, output_place, texts_of
from arboleda.plot._style import (
    BAR,
    EDGE,
    INK,
    LINES,
    MARKERS,
    PALE,
    letters,
    output_colours,
    quiet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["dependence"]

Floats = npt.NDArray[np.float64]

_STRIP = 0.12  # share of the height that the data's histogram takes
_MOST_LINES = 100  # of single rows
_BINS = 40


def dependence(dependence: Any, ax: Axes | None = None, *, output: Any = None) -> Axes:
    """Draw partial dependence, individual curves or accumulated local effects.

    A number has a curve, with the rows' histogram at its foot, and a ring at the right for missing
    values; categories have bars from the mean
    over the rows, with each one's share of the rows; two columns have a heat map, without missing
    numbers. Curves of single rows are pale.

    Parameters
    ----------
    dependence : Dependence
        From `arboleda.explain.partial_dependence`.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: on axes of a new figure.
    output : str or int, default=None
        The output of several to draw, by its name or number. None: all of them, told apart by
        line and marker; in a heat map, and of two that mirror one another as the probabilities of
        two classes do, the last.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Notes
    -----
    Of more than 100 single rows, 100 are drawn, at even steps of the order given.

    Raises
    ------
    ValueError
        If there is no such output.
    """
    average = np.asarray(dependence.average, dtype=np.float64)
    outputs = texts_of(dependence.output_names, len(average))
    two = len(dependence.feature_names) == 2
    shown = list(range(len(outputs)))
    if output is not None:
        shown = [output_place(output, outputs)]
    elif two or mirrored(average, 0):
        shown = shown[-1:]
    if two:
        named = outputs[shown[0]] if len(outputs) > 1 else ""
        return heat_map(dependence, average[shown[0]], named, ax)
    labels = as_numbers(np.asarray(dependence.grid[0])) is None
    n_rows = len(dependence.grid[0])
    ax = drawn_axes(ax, 5.6, 1.4 + 0.3 * n_rows if labels else 4.0)
    draw = _categories if labels else _curves
    draw(ax, dependence, average, shown, outputs)
    return ax


def _curves(
    ax: Axes, found: Any, average: Floats, shown: Sequence[int], outputs: Sequence[str]
) -> None:
    size = letters(ax)
    grid = np.asarray(found.grid[0], dtype=np.float64)
    known = ~np.isnan(grid)
    missing = np.flatnonzero(~known)
    grid, beyond = grid[known], _beyond(grid[known])
    handles = []
    colours = [INK] if len(shown) == 1 else output_colours(len(shown))
    for turn, k in enumerate(shown):
        if found.individual is not None:
            for line in _some(np.asarray(found.individual)[k]):
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
    if found.kind == "ale":
        ax.axhline(0.0, color=EDGE, lw=0.6, zorder=0)
    _histogram(ax, found, grid)
    quiet(ax, size)

    def write() -> None:
        write_axis(ax, size, x=str(found.feature_names[0]), y=_meaning(found, shown, outputs))
        if len(handles) > 1:
            legend_above(ax, size, handles if len(shown) > 1 else handles[1:])

    settle(ax, write)


def _beyond(grid: Floats) -> float:
    """Where a missing value stands: to the right of all others."""
    if not len(grid):
        return 0.0
    return float(grid[-1] + 0.07 * (np.ptp(grid) or 1.0))


def _some(lines: Floats) -> Floats:
    if len(lines) <= _MOST_LINES:
        return lines
    some: Floats = lines[np.linspace(0, len(lines) - 1, _MOST_LINES).round().astype(int)]
    return some


def _histogram(ax: Axes, found: Any, grid: Floats) -> None:
    """Draw how many rows there are along the axis, at the foot of the axes."""
    if found.density is None:
        return
    values = np.asarray(found.density[0], dtype=np.float64)
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


def _categories(
    ax: Axes, found: Any, average: Floats, shown: Sequence[int], outputs: Sequence[str]
) -> None:
    size = letters(ax)
    names = [value_text(value) for value in found.grid[0]]
    counts = None
    if found.density is not None:
        counts = np.asarray(found.density[0], dtype=np.float64)
        total = counts.sum()
        if total > 0:
            names = [
                f"{name} ({percent(c / total)})" for name, c in zip(names, counts, strict=True)
            ]
    places = np.arange(len(names))
    ax.set_ylim(len(names) - 0.4, -0.6)
    handles: list[Any] = []
    if len(shown) == 1:
        _bars(ax, found, average[shown[0]], shown[0], counts)
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
        if found.kind == "ale":
            ax.axvline(0.0, color=EDGE, lw=0.6, zorder=0)
    quiet(ax, size)
    ax.spines["left"].set_visible(False)

    def write() -> None:
        name_rows(ax, places.tolist(), names, size)
        x, y = _meaning(found, shown, outputs), str(found.feature_names[0])
        write_axis(ax, size, x=x, title=y)
        if handles:
            ax.set_title("")
            legend_above(ax, size, handles)
            write_axis(ax, size, x=f"{x}, by {y}")

    settle(ax, write)


def _bars(ax: Axes, found: Any, average: Floats, k: int, counts: Floats | None) -> None:
    """Draw one output's bars from the mean over the rows; single rows as pale points."""
    start = 0.0
    if found.kind != "ale":
        known = counts is not None and counts.sum() > 0
        start = float(np.average(average, weights=counts if known else None))
    ax.axvline(start, color=EDGE, lw=0.7)
    places = np.arange(len(average))
    ax.barh(places, average - start, left=start, height=0.6, color=BAR, ec=EDGE, lw=0.6)
    if found.individual is not None:
        rows = _some(np.asarray(found.individual)[k])
        for place in places:
            ax.plot(rows[:, place], np.full(len(rows), place), "|", color=INK, alpha=0.25, ms=5.0)
    if not np.ptp(np.append(average, start)) and found.individual is None:
        ax.set_xlim(start - 1.0, start + 1.0)


def _meaning(found: Any, shown: Sequence[int], outputs: Sequence[str]) -> str:
    one = f" for {outputs[shown[0]]}" if len(shown) == 1 and len(outputs) > 1 else ""
    if found.kind == "ale":
        return f"accumulated local effect{one}"
    return f"mean answer{one}" if found.individual is None else f"answer{one} and its mean"
