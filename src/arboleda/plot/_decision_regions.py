"""Plots of the decision regions of models, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.frames import new_figure
from arboleda.plot._dependence import add_colorbar, compute_edges
from arboleda.plot._fit import (
    fit_texts,
    make_axes,
    name_columns,
    name_rows,
    place_legend_beside,
    shrink_for_legend,
    write_labels,
)
from arboleda.plot._style import (
    EDGE,
    MARKERS,
    as_numbers,
    choose_font_size,
    format_value,
    lighten,
    make_colormap,
    output_colours,
    style_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["decision_regions"]

_MAX_ACROSS = 4  # panels of a new figure
_MAX_POINTS = 600
_POINTS: dict[str, Any] = {"s": 12.0, "edgecolor": EDGE, "lw": 0.4, "zorder": 3}


def decision_regions(regions: Any, ax: Any = None) -> Any:
    """Plot the regions of each class, or the predictions of regressors, one panel per model.

    Lines separate the regions. Rows are drawn as markers, which have the colour of their class, or
    of their value in a regression.

    Parameters
    ----------
    regions : DecisionRegions
        Result of `arboleda.explain.decision_regions`.
    ax : Axes or array of Axes, default=None
        Axes to draw on, one per model; None: those of a new figure.

    Returns
    -------
    ax : Axes or ndarray of Axes
        A single Axes for one model, else an array with one per model.

    Notes
    -----
    At most 600 rows are drawn, evenly spaced from first to last.

    Raises
    ------
    ValueError
        If the number of axes is not the number of models.
    """
    n_models = len(regions.names)
    panels = _make_panels(ax, n_models)
    shrink_for_legend(panels, _make_legend_handles(regions), choose_font_size(panels[-1]))
    for number, panel in enumerate(panels):
        _draw_panel(panel, regions, number, last=number == n_models - 1)
    if n_models == 1:
        return panels[0]
    found = np.empty(n_models, dtype=object)
    found[:] = panels
    return found


def _make_panels(ax: Any, n_models: int) -> list[Axes]:
    if ax is not None:
        given = list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
        if len(given) != n_models:
            raise ValueError(
                f"ax must have one Axes for each of {n_models} models, got {len(given)}"
            )
        return given
    if n_models == 1:
        return [make_axes(None, 5.6, 4.2)]
    across = min(_MAX_ACROSS, n_models)
    down = -(-n_models // across)
    figure = new_figure(figsize=(2.7 * across + 1.2, 2.7 * down), layout="constrained")
    panels = [figure.add_subplot(down, across, k + 1) for k in range(n_models)]
    figure.draw_without_rendering()  # fixes the sizes of the axes, which determine the font size
    return panels


def _draw_panel(ax: Axes, regions: Any, number: int, last: bool) -> None:
    size = choose_font_size(ax)
    grids = [np.asarray(grid) for grid in regions.grid]
    numbers = [as_numbers(grid) for grid in grids]
    edges = [compute_edges(v, len(grid)) for v, grid in zip(numbers, grids, strict=True)]
    values = np.asarray(regions.values[number]).T
    handles: list[Any] = []
    bar = None
    if regions.class_names is None:
        limits: dict[str, Any] = {
            "vmin": float(np.min(regions.values)),
            "vmax": float(np.max(regions.values)),
        }
        shades = make_colormap(pale=True)
        mesh = ax.pcolormesh(*edges, values, cmap=shades, lw=0, rasterized=True, **limits)
        rows, target = _sample_rows(regions)
        x, y = rows.T
        ax.scatter(x, y, c=target, cmap=shades, **limits, **_POINTS)
        bar = add_colorbar(ax, mesh, size) if last else None
    else:
        _classes(ax, regions, values, edges)
        handles = _make_legend_handles(regions)
    ax.set_xlim(edges[0][0], edges[0][-1])
    ax.set_ylim(edges[1][0], edges[1][-1])
    style_axes(ax, size, frame=True)
    place = ax.get_subplotspec()
    leftmost = number == 0 or (place is not None and place.is_first_col())
    first, second = (str(name) for name in regions.feature_names)

    def write() -> None:
        _draw_ticks(ax, numbers, grids, size, leftmost)
        y = second if leftmost else ""
        write_labels(ax, size, x=first, y=y, title=str(regions.names[number]))
        if bar is not None:
            bar.set_label("prediction", fontsize=size)
        if handles and last:
            place_legend_beside(ax, size, handles)

    fit_texts(ax, write)


def _draw_ticks(
    ax: Axes, numbers: Sequence[Any], grids: Sequence[Any], size: float, named: bool
) -> None:
    if numbers[0] is None:
        name_columns(ax, [format_value(v) for v in grids[0]], size)
    else:
        ax.locator_params("x", nbins=max(2, int(ax.get_window_extent().width / 45)))
    if numbers[1] is None and not named:
        ax.set_yticks([])
    elif numbers[1] is None:
        name_rows(ax, range(len(grids[1])), [format_value(v) for v in grids[1]], size)


def _classes(ax: Axes, regions: Any, values: npt.NDArray[Any], edges: Sequence[Any]) -> None:
    """Fill the regions, draw their borders and the rows."""
    from matplotlib.colors import ListedColormap

    n_classes = len(regions.class_names)
    colours = output_colours(n_classes)
    pale = ListedColormap([lighten(colour) for colour in colours])
    ax.pcolormesh(*edges, values, cmap=pale, vmin=-0.5, vmax=n_classes - 0.5, lw=0, rasterized=True)
    _draw_borders(ax, values, edges)
    rows, target = _sample_rows(regions)
    for k, style in enumerate(_make_styles(n_classes)):
        x, y = rows[target == k].T
        ax.scatter(x, y, **_POINTS, **style)


def _make_styles(n_classes: int) -> list[dict[str, Any]]:
    colours = output_colours(n_classes)
    return [{"marker": MARKERS[k % len(MARKERS)], "color": c} for k, c in enumerate(colours)]


def _make_legend_handles(regions: Any) -> list[Any]:
    """Make the legend handles: a marker for each class."""
    from matplotlib.lines import Line2D

    names = [] if regions.class_names is None else [str(name) for name in regions.class_names]
    styles = _make_styles(len(names))
    rim: dict[str, Any] = {"ls": "", "ms": 5.0, "mec": EDGE, "mew": 0.4}
    return [Line2D([], [], label=n, **rim, **s) for n, s in zip(names, styles, strict=True)]


def _draw_borders(ax: Axes, values: npt.NDArray[Any], edges: Sequence[Any]) -> None:
    """Draw the edges of cells between two classes."""
    from matplotlib.collections import LineCollection

    x, y = edges
    up, right = np.nonzero(values[:, 1:] != values[:, :-1])
    lines = [[(x[j + 1], y[i]), (x[j + 1], y[i + 1])] for i, j in zip(up, right, strict=True)]
    up, right = np.nonzero(values[1:] != values[:-1])
    lines += [[(x[j], y[i + 1]), (x[j + 1], y[i + 1])] for i, j in zip(up, right, strict=True)]
    ax.add_collection(LineCollection(lines, colors=EDGE, linewidths=0.7, zorder=2))


def _sample_rows(regions: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """Select coordinates and targets of the rows to draw; none if the regions have no y."""
    if regions.rows is None or regions.target is None:
        return np.empty((0, 2)), np.empty(0)
    rows, target = np.asarray(regions.rows, dtype=np.float64), np.asarray(regions.target)
    if len(rows) > _MAX_POINTS:
        kept = np.linspace(0, len(rows) - 1, _MAX_POINTS).round().astype(int)
        rows, target = rows[kept], target[kept]
    return rows, target
