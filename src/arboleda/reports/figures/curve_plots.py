"""Plots of test rows: curves, reliability diagrams, scatter plots and histograms."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from arboleda._utils.numbers import plain
from arboleda.reports.figures.canvas import (
    ACCENT,
    INK,
    MUTED,
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
from arboleda.reports.figures.hints import Hint, count_rows, describe_bins, pair_values, thin
from arboleda.reports.translation import gettext as _

__all__ = ["draw_curve_plot", "draw_histogram_plot", "draw_reliability_plot", "draw_scatter_plot"]

_HINTS = 20  # values shown of a curve
_POINTS = 120  # values shown of a scatter plot
_LAYERS = 5  # of half-transparent points: dense regions look darker than single points


def draw_curve_plot(
    curves: Sequence[tuple[Sequence[float], Sequence[float], int | None]],
    labels: tuple[str, str],
    *,
    chance: tuple[Sequence[float], Sequence[float]] | None,
    name: str,
    title: str,
    classes: Sequence[str] = (),
) -> Markup:
    """Draw ROC or precision-recall curves in the unit square.

    Parameters
    ----------
    curves : sequence of (x, y, colour)
        The colour is an index of the palette, -1 for the accent, None for a thin grey line.
    labels : (str, str)
        Labels of the two axes.
    chance : (x, y) or None
        The curve of random guessing, drawn dashed.
    name, title : str
        Identifier and text alternative of the figure.
    classes : sequence of str
        The class of each curve, if there are several.
    """
    hints = [
        Hint(pair_values(labels, x, y, classes[place] if classes else ""), x, y)
        for place, (xs, ys, colour) in enumerate(curves)
        if colour is not None
        for x, y in thin(list(zip(xs, ys, strict=True)), _HINTS)
    ]
    with open_canvas(336, 316) as figure:
        axes = _add_unit_square(figure, labels)
        if chance is not None:
            axes.plot(*chance, color=MUTED, linewidth=1, linestyle=(0, (3, 3)))
        for x, y, colour in sorted(curves, key=lambda curve: curve[2] is not None):
            stroke = (
                MUTED if colour is None else ACCENT if colour < 0 else get_palette_colour(colour)
            )
            width, alpha = (0.75, 0.45) if colour is None else (1.75, 1.0)
            axes.plot(x, y, color=stroke, linewidth=width, alpha=alpha, solid_joinstyle="round")
        return make_inline_svg(figure, name, title, hints=hints)


def draw_reliability_plot(
    curves: Sequence[tuple[Sequence[Mapping[str, Any]], int | None]],
    labels: tuple[str, str],
    *,
    name: str,
    title: str,
) -> Markup:
    """Draw observed against predicted frequencies: one dot per bin, larger with more rows.

    Parameters
    ----------
    curves : sequence of (bins, colour)
        Bins of the facts, with ``count``, ``mean_probability`` and ``frequency``; the colour is -1
        for the accent, None for grey.
    labels : (str, str)
        Labels of the two axes.
    name, title : str
        Identifier and text alternative of the figure.
    """
    hints = [
        Hint(
            pair_values(labels, b["mean_probability"], b["frequency"], count_rows(b["count"])),
            b["mean_probability"],
            b["frequency"],
        )
        for bins, _colour in curves
        for b in bins
    ]
    with open_canvas(336, 316) as figure:
        axes = _add_unit_square(figure, labels)
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=(0, (3, 3)))
        for bins, colour in curves:
            stroke = MUTED if colour is None else ACCENT
            predicted = [b["mean_probability"] for b in bins]
            observed = [b["frequency"] for b in bins]
            axes.plot(predicted, observed, color=stroke, linewidth=1.25, alpha=0.6)
            most = max(b["count"] for b in bins)
            for b in bins:
                size = 4 + 8 * (b["count"] / most) ** 0.5
                point = np.array([[b["mean_probability"], b["frequency"]]])
                dot = axes.add_artist(make_dot_patch(point, size, 0.75, stroke, 5))
                dot.set_clip_on(False)
        return make_inline_svg(figure, name, title, hints=hints)


def _add_unit_square(figure: Figure, labels: tuple[str, str]) -> Axes:
    axes = add_plot_axes(figure, 58, 10, 8, 46)
    style_axes(axes)
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set_xticks(ticks, [plain(tick) for tick in ticks])
    axes.set_yticks(ticks, [plain(tick) for tick in ticks])
    axes.set_xlabel(labels[0])
    set_left_label(figure, axes, labels[1])
    return axes


def draw_scatter_plot(
    x: Sequence[float],
    y: Sequence[float],
    labels: tuple[str, str],
    *,
    diagonal: bool,
    name: str,
    title: str,
) -> Markup:
    """Draw points and the line on which they would lie if the model made no error.

    Parameters
    ----------
    x, y : sequence of float
        The points.
    labels : (str, str)
        Labels of the two axes.
    diagonal : bool
        Draw the line ``y = x`` (predicted against true) instead of ``y = 0`` (residuals).
    name, title : str
        Identifier and text alternative of the figure.
    """
    with open_canvas(336, 320) as figure:
        axes = add_plot_axes(figure, 58, 14, 8, 46)
        style_axes(axes)
        points = np.column_stack([x, y]).astype(float)
        if diagonal:
            ends = pad_range(points.min(), points.max())
            axes.set_xlim(*ends)
            axes.set_ylim(*ends)
            axes.plot(ends, ends, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        else:
            axes.set_xlim(*pad_range(points[:, 0].min(), points[:, 0].max()))
            axes.set_ylim(*pad_range(points[:, 1].min(), points[:, 1].max()))
            axes.axhline(0, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        for layer in range(_LAYERS):
            _draw_dots(axes, points[layer::_LAYERS])
        set_numeric_ticks(axes, x=True, most=5)
        set_numeric_ticks(axes, x=False, most=6)
        axes.set_xlabel(labels[0])
        set_left_label(figure, axes, labels[1])
        error = np.abs(np.subtract(x, y) if diagonal else np.asarray(y))
        largest = np.argsort(-error, kind="stable")[:_POINTS]
        hints = [Hint(pair_values(labels, x[at], y[at]), x[at], y[at]) for at in largest]
        return make_inline_svg(figure, name, title, hints=hints)


def draw_histogram_plot(histogram: Mapping[str, Any], label: str, name: str, title: str) -> Markup:
    """Draw a histogram of the facts, with zero marked.

    Parameters
    ----------
    histogram : mapping
        ``edges`` (one more than counts) and ``counts``.
    label : str
        Label of the horizontal axis.
    name, title : str
        Identifier and text alternative of the figure.
    """
    edges, counts = np.asarray(histogram["edges"], float), np.asarray(histogram["counts"])
    with open_canvas(336, 320) as figure:
        axes = add_plot_axes(figure, 58, 14, 8, 46)
        style_axes(axes, "y")
        axes.set_xlim(*pad_range(edges[0], edges[-1]))
        axes.set_ylim(0, 1.05 * max(1, counts.max()))
        corners = [np.repeat(edges, 2), np.concatenate([[0], np.repeat(counts, 2), [0]])]
        axes.fill(*corners, color=ACCENT, alpha=0.75, linewidth=0)
        if edges[0] < 0 < edges[-1]:
            axes.axvline(0, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        set_numeric_ticks(axes, x=True, most=5)
        set_numeric_ticks(axes, x=False, most=5, whole=True)
        axes.set_xlabel(label)
        set_left_label(figure, axes, _("Rows"))
        hints = describe_bins(edges, counts, axes.get_ylim()[1])
        return make_inline_svg(figure, name, title, hints=hints)


def _draw_dots(axes: Axes, points: np.ndarray) -> None:
    if len(points):
        axes.add_artist(make_dot_patch(points, 3.5, 0.4, ACCENT, 3))
