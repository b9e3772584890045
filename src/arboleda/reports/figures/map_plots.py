"""Plots of the structure of a table: explained variance, numbers of clusters, maps of rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from arboleda._utils.numbers import plain
from arboleda.reports.figures.canvas import (
    ACCENT,
    INK,
    MUTED,
    PAPER,
    add_plot_axes,
    get_palette_colour,
    make_dot_patch,
    make_inline_svg,
    open_canvas,
    pad_range,
    set_left_label,
    set_numeric_ticks,
    style_axes,
)
from arboleda.reports.figures.hints import Hint, pair_values
from arboleda.reports.translation import gettext as _

__all__ = ["draw_curve_by_k", "draw_map_plot", "draw_variance_plot"]

_WIDTH, _HEIGHT = 336, 280
_LAYERS = 5  # of half-transparent points, so no group covers another


def draw_variance_plot(explained: Sequence[float], n_kept: int) -> Markup:
    """Draw the individual and cumulative explained variance, and mark the components kept."""
    k = np.arange(1, len(explained) + 1)
    with open_canvas(400, _HEIGHT) as figure:
        axes = add_plot_axes(figure, 58, 14, 10, 46)
        style_axes(axes, "y")
        axes.set_xlim(0.4, len(explained) + 0.6)
        axes.set_ylim(0, 103)
        axes.bar(k, 100 * np.asarray(explained), width=0.7, color=ACCENT, alpha=0.75, linewidth=0)
        axes.plot(k, 100 * np.cumsum(explained), color=INK, linewidth=1.5)
        axes.axvline(n_kept, color=MUTED, linewidth=1, linestyle=(0, (3, 3)))
        set_numeric_ticks(axes, x=True, most=8, whole=True)
        set_numeric_ticks(axes, x=False, most=5)
        axes.set_xlabel(_("Component"))
        set_left_label(figure, axes, _("Variance, %"))
        total = 100 * np.cumsum(explained)
        hints = [
            Hint(
                _(
                    "component {k}: {own} %, {total} % in sum",
                    k=int(place),
                    own=plain(100 * own, 3),
                    total=plain(sum_, 3),
                ),
                place - 0.5,
                0.0,
                (place + 0.5, 103.0),
            )
            for place, own, sum_ in zip(k.tolist(), explained, total.tolist(), strict=True)
        ]
        title = _("Variance explained by each component and in sum")
        return make_inline_svg(figure, "variance", title, hints=hints)


def draw_curve_by_k(
    ks: Sequence[int],
    curves: Sequence[Sequence[float | None]],
    label: str,
    name: str,
    best: tuple[int, int] | None = None,
) -> Markup:
    """Draw curves over the number of clusters; ``best`` marks a curve and a position."""
    with open_canvas(_WIDTH, _HEIGHT) as figure:
        axes = add_plot_axes(figure, 58, 14, 10, 46)
        style_axes(axes)
        known = [v for curve in curves for v in curve if v is not None]
        axes.set_xlim(ks[0] - 0.4, ks[-1] + 0.4)
        axes.set_ylim(*pad_range(min(known), max(known)))
        for index, curve in enumerate(curves):
            points = [(k, v) for k, v in zip(ks, curve, strict=True) if v is not None]
            colour = ACCENT if index == 0 else get_palette_colour(1)
            axes.plot(*zip(*points, strict=True), color=colour, linewidth=1.75)
            axes.add_artist(make_dot_patch(np.array(points, float), 6, 1.0, colour, 4))
        if best is not None:
            at = np.array([[ks[best[1]], curves[best[0]][best[1]]]], float)
            axes.add_artist(make_dot_patch(at, 13, 1.0, INK, 2))
            axes.add_artist(make_dot_patch(at, 11, 1.0, PAPER, 3))
        set_numeric_ticks(axes, x=True, most=10, whole=True)
        set_numeric_ticks(axes, x=False, most=5)
        axes.set_xlabel(_("Groups"))
        set_left_label(figure, axes, label)
        hints = [
            Hint(pair_values((_("Groups"), label), k, value), k, value)
            for curve in curves
            for k, value in zip(ks, curve, strict=True)
            if value is not None
        ]
        title = _("{label} by the number of groups", label=label)
        return make_inline_svg(figure, name, title, hints=hints)


def draw_map_plot(
    place: Mapping[str, Any], groups: Sequence[tuple[str, np.ndarray]], name: str, title: str
) -> Markup:
    """Draw the points of a map; ``groups`` holds pairs of a colour and a mask of points."""
    points = np.column_stack([place["x"], place["y"]]).astype(float)
    low, high = points.min(axis=0), points.max(axis=0)
    # A square around the middle: both axes have the same scale.
    half = 0.53 * (float((high - low).max()) or 1.0)
    middle = (low + high) / 2
    with open_canvas(360, 360) as figure:
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        style_axes(axes, "none")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_xlim(middle[0] - half, middle[0] + half)
        axes.set_ylim(middle[1] - half, middle[1] + half)
        for layer in range(_LAYERS):
            for colour, mask in groups:
                _draw_dots(axes, points[np.flatnonzero(mask)[layer::_LAYERS]], colour)
        return make_inline_svg(figure, name, title)


def _draw_dots(axes: Axes, points: np.ndarray, colour: str) -> None:
    if len(points):
        axes.add_artist(make_dot_patch(points, 4, 0.6, colour, 3))
