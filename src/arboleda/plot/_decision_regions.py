"""What models answer at each place of a plane, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._figures import new_figure
from arboleda.plot._columns import as_numbers, value_text
from arboleda.plot._fit import (
    drawn_axes,
    legend_beside,
    name_columns,
    name_rows,
    settle,
    spare_right,
    write_axis,
)
from arboleda.plot._heat_map import edges_of, scale_beside
from arboleda.plot._style import EDGE, MARKERS, letters, output_colours, paler, quiet, ramp

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["decision_regions"]

_MOST_ACROSS = 4  # panels of a new figure
_MOST_POINTS = 600
_POINTS: dict[str, Any] = {"s": 12.0, "edgecolor": EDGE, "lw": 0.4, "zorder": 3}


def decision_regions(regions: Any, ax: Any = None) -> Any:
    """Draw the regions of each class, or the answers in a regression, one model beside another.

    Lines part the regions; rows are markers, one for each class, dark as their class's region is,
    or filled by their value in a regression.

    Parameters
    ----------
    regions : DecisionRegions
        From `arboleda.explain.decision_regions`.
    ax : Axes or array of Axes, default=None
        Where to draw, as many axes as there are models; None: on axes of a new figure.

    Returns
    -------
    ax : Axes or ndarray of Axes
        One Axes for one model, else an array of as many as models.

    Notes
    -----
    Of more than 600 rows, as many are drawn, evenly from first to last.

    Raises
    ------
    ValueError
        If the number of axes is not that of the models.
    """
    n_models = len(regions.names)
    panels = _panels(ax, n_models)
    spare_right(panels, _key(regions), letters(panels[-1]))
    for number, panel in enumerate(panels):
        _panel(panel, regions, number, last=number == n_models - 1)
    if n_models == 1:
        return panels[0]
    found = np.empty(n_models, dtype=object)
    found[:] = panels
    return found


def _panels(ax: Any, n_models: int) -> list[Axes]:
    if ax is not None:
        given = list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
        if len(given) != n_models:
            raise ValueError(f"{n_models} models need as many axes, not {len(given)}")
        return given
    if n_models == 1:
        return [drawn_axes(None, 5.6, 4.2)]
    across = min(_MOST_ACROSS, n_models)
    down = -(-n_models // across)
    figure = new_figure(figsize=(2.7 * across + 1.2, 2.7 * down), layout="constrained")
    panels = [figure.add_subplot(down, across, k + 1) for k in range(n_models)]
    figure.draw_without_rendering()  # the axes have their sizes, by which letters are chosen
    return panels


def _panel(ax: Axes, regions: Any, number: int, last: bool) -> None:
    size = letters(ax)
    grids = [np.asarray(grid) for grid in regions.grid]
    numbers = [as_numbers(grid) for grid in grids]
    edges = [edges_of(v, len(grid)) for v, grid in zip(numbers, grids, strict=True)]
    values = np.asarray(regions.values[number]).T
    handles: list[Any] = []
    bar = None
    if regions.class_names is None:
        limits: dict[str, Any] = {
            "vmin": float(np.min(regions.values)),
            "vmax": float(np.max(regions.values)),
        }
        shades = ramp(pale=True)
        mesh = ax.pcolormesh(*edges, values, cmap=shades, lw=0, rasterized=True, **limits)
        rows, target = _some_rows(regions)
        x, y = rows.T
        ax.scatter(x, y, c=target, cmap=shades, **limits, **_POINTS)
        bar = scale_beside(ax, mesh, size) if last else None
    else:
        _classes(ax, regions, values, edges)
        handles = _key(regions)
    ax.set_xlim(edges[0][0], edges[0][-1])
    ax.set_ylim(edges[1][0], edges[1][-1])
    quiet(ax, size, frame=True)
    place = ax.get_subplotspec()
    leftmost = number == 0 or (place is not None and place.is_first_col())
    first, second = (str(name) for name in regions.feature_names)

    def write() -> None:
        _ticks(ax, numbers, grids, size, leftmost)
        y = second if leftmost else ""
        write_axis(ax, size, x=first, y=y, title=str(regions.names[number]))
        if bar is not None:
            bar.set_label("answer", fontsize=size)
        if handles and last:
            legend_beside(ax, size, handles)

    settle(ax, write)


def _ticks(
    ax: Axes, numbers: Sequence[Any], grids: Sequence[Any], size: float, named: bool
) -> None:
    if numbers[0] is None:
        name_columns(ax, [value_text(v) for v in grids[0]], size)
    else:
        ax.locator_params("x", nbins=max(2, int(ax.get_window_extent().width / 45)))
    if numbers[1] is None and not named:
        ax.set_yticks([])
    elif numbers[1] is None:
        name_rows(ax, range(len(grids[1])), [value_text(v) for v in grids[1]], size)


def _classes(ax: Axes, regions: Any, values: npt.NDArray[Any], edges: Sequence[Any]) -> None:
    """Fill the regions, part them by lines and draw the rows."""
    from matplotlib.colors import ListedColormap

    n_classes = len(regions.class_names)
    colours = output_colours(n_classes)
    pale = ListedColormap([paler(colour) for colour in colours])
    ax.pcolormesh(*edges, values, cmap=pale, vmin=-0.5, vmax=n_classes - 0.5, lw=0, rasterized=True)
    _borders(ax, values, edges)
    rows, target = _some_rows(regions)
    for k, style in enumerate(_styles(n_classes)):
        x, y = rows[target == k].T
        ax.scatter(x, y, **_POINTS, **style)


def _styles(n_classes: int) -> list[dict[str, Any]]:
    colours = output_colours(n_classes)
    return [{"marker": MARKERS[k % len(MARKERS)], "color": c} for k, c in enumerate(colours)]


def _key(regions: Any) -> list[Any]:
    """Make a legend's handles: a marker for each class."""
    from matplotlib.lines import Line2D

    names = [] if regions.class_names is None else [str(name) for name in regions.class_names]
    styles = _styles(len(names))
    rim: dict[str, Any] = {"ls": "", "ms": 5.0, "mec": EDGE, "mew": 0.4}
    return [Line2D([], [], label=n, **rim, **s) for n, s in zip(names, styles, strict=True)]


def _borders(ax: Axes, values: npt.NDArray[Any], edges: Sequence[Any]) -> None:
    """Draw the cells' sides between two classes."""
    from matplotlib.collections import LineCollection

    x, y = edges
    up, right = np.nonzero(values[:, 1:] != values[:, :-1])
    lines = [[(x[j + 1], y[i]), (x[j + 1], y[i + 1])] for i, j in zip(up, right, strict=True)]
    up, right = np.nonzero(values[1:] != values[:-1])
    lines += [[(x[j], y[i + 1]), (x[j + 1], y[i + 1])] for i, j in zip(up, right, strict=True)]
    ax.add_collection(LineCollection(lines, colors=EDGE, linewidths=0.7, zorder=2))


def _some_rows(regions: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """Places and targets of the rows to draw; none where the regions were asked without y."""
    if regions.rows is None or regions.target is None:
        return np.empty((0, 2)), np.empty(0)
    rows, target = np.asarray(regions.rows, dtype=np.float64), np.asarray(regions.target)
    if len(rows) > _MOST_POINTS:
        kept = np.linspace(0, len(rows) - 1, _MOST_POINTS).round().astype(int)
        rows, target = rows[kept], target[kept]
    return rows, target
