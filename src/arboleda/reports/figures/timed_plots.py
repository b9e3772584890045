"""Plots of times to an event and of rankings: steps with bands, lines, and calibration."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from arboleda._utils.numbers import fixed, plain
from arboleda.reports.figures.canvas import (
    ACCENT,
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

__all__ = [
    "PlottedLine",
    "StepCurve",
    "draw_count_plot",
    "draw_interval_plot",
    "draw_line_plot",
    "draw_step_plot",
]

_HINTS = 20  # values shown of a curve
_SIZE = (336, 316)


class StepCurve(NamedTuple):
    """A curve that is constant from each x on, with a band, and its name."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def draw_step_plot(
    curves: Sequence[StepCurve], labels: tuple[str, str], *, name: str, title: str
) -> Markup:
    """Draw survival curves as steps from 1 downwards, in the colours of the palette.

    Parameters
    ----------
    curves : sequence of StepCurve
    labels : (str, str)
        Labels of the two axes.
    name, title : str
        Identifier and text alternative of the figure.
    """
    hints = [
        Hint(pair_values(labels, x, y, curve.name), x, y)
        for curve in curves
        for x, y in thin(list(zip(curve.x, curve.y, strict=True)), _HINTS)
    ]
    with open_canvas(560, 360) as figure:
        axes = add_plot_axes(figure, 58, 14, 8, 46)
        style_axes(axes)
        last = max(curve.x[-1] for curve in curves)
        axes.set_xlim(0.0, 1.01 * last)
        _set_unit_range(axes)
        for place, curve in enumerate(curves):
            colour = get_palette_colour(place)
            axes.fill_between(
                curve.x, curve.low, curve.high, step="post", color=colour, alpha=0.14, linewidth=0
            )
            axes.step(curve.x, curve.y, where="post", color=colour, linewidth=1.75)
        set_numeric_ticks(axes, x=True, most=7)
        axes.set_xlabel(labels[0])
        set_left_label(figure, axes, labels[1])
        return make_inline_svg(figure, name, title, hints=hints)


def _set_unit_range(axes: Axes) -> None:
    axes.set_ylim(-0.01, 1.01)
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set_yticks(ticks, labels=[fixed(tick, 2) for tick in ticks])


class PlottedLine(NamedTuple):
    """A line; dashed ones are thin and muted. Gaps in y are None."""

    x: Sequence[float]
    y: Sequence[float | None]
    is_dashed: bool = False


def draw_line_plot(
    lines: Sequence[PlottedLine],
    labels: tuple[str, str],
    *,
    name: str,
    title: str,
    whole: bool = False,
) -> Markup:
    """Draw lines, such as a score over time, the solid ones in the accent colour.

    Parameters
    ----------
    lines : sequence of PlottedLine
    labels : (str, str)
        Labels of the two axes.
    name, title : str
        Identifier and text alternative of the figure.
    whole : bool, default=False
        Whether x has whole numbers only.
    """
    known = [(x, y) for line in lines for x, y in zip(line.x, line.y, strict=True) if y is not None]
    hints = [
        Hint(pair_values(labels, x, y), x, y)
        for line in lines
        if not line.is_dashed
        for x, y in thin(list(zip(line.x, line.y, strict=True)), _HINTS)
        if y is not None
    ]
    with open_canvas(*_SIZE) as figure:
        axes = add_plot_axes(figure, 58, 14, 8, 46)
        style_axes(axes)
        xs, ys = (np.array(values) for values in zip(*known, strict=True))
        axes.set_xlim(*pad_range(xs.min(), xs.max()))
        axes.set_ylim(*pad_range(ys.min(), ys.max()))
        for line in lines:
            y = np.array([np.nan if value is None else value for value in line.y])
            if line.is_dashed:
                axes.plot(line.x, y, color=MUTED, linewidth=1, linestyle=(0, (3, 3)))
            else:
                axes.plot(line.x, y, color=ACCENT, linewidth=1.75, solid_joinstyle="round")
        set_numeric_ticks(axes, x=True, most=5, whole=whole)
        set_numeric_ticks(axes, x=False, most=6)
        axes.set_xlabel(labels[0])
        set_left_label(figure, axes, labels[1])
        return make_inline_svg(figure, name, title, hints=hints)


def draw_interval_plot(
    groups: Sequence[Mapping[str, Any]], labels: tuple[str, str], *, name: str, title: str
) -> Markup:
    """Draw observed against predicted probabilities with their intervals.

    Parameters
    ----------
    groups : sequence of mapping
        Each with ``n``, ``predicted``, ``observed``, ``low`` and ``high``.
    labels : (str, str)
        Labels of the two axes.
    name, title : str
        Identifier and text alternative of the figure.
    """
    hints = [
        Hint(
            pair_values(labels, g["predicted"], g["observed"], count_rows(g["n"])),
            g["predicted"],
            g["observed"],
        )
        for g in groups
    ]
    with open_canvas(*_SIZE) as figure:
        axes = add_plot_axes(figure, 58, 10, 8, 46)
        style_axes(axes)
        axes.set_xlim(-0.01, 1.01)
        _set_unit_range(axes)
        ticks = [0, 0.25, 0.5, 0.75, 1]
        axes.set_xticks(ticks, labels=[plain(tick) for tick in ticks])
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=(0, (3, 3)))
        for g in groups:
            ends = [g["low"], g["high"]]
            axes.plot([g["predicted"]] * 2, ends, color=ACCENT, linewidth=1.25, alpha=0.6)
            point = np.array([[g["predicted"], g["observed"]]])
            axes.add_artist(make_dot_patch(point, 8, 0.85, ACCENT, 5)).set_clip_on(False)
        axes.set_xlabel(labels[0])
        set_left_label(figure, axes, labels[1])
        return make_inline_svg(figure, name, title, hints=hints)


def draw_count_plot(
    histogram: Mapping[str, Any], labels: tuple[str, str], *, name: str, title: str
) -> Markup:
    """Draw a histogram of counted things other than rows.

    Parameters
    ----------
    histogram : mapping
        ``edges`` (one more than counts) and ``counts``.
    labels : (str, str)
        Labels of the two axes.
    name, title : str
        Identifier and text alternative of the figure.
    """
    edges, counts = np.asarray(histogram["edges"], float), np.asarray(histogram["counts"])
    with open_canvas(*_SIZE) as figure:
        axes = add_plot_axes(figure, 58, 14, 8, 46)
        style_axes(axes, "y")
        axes.set_xlim(*pad_range(edges[0], edges[-1]))
        axes.set_ylim(0, 1.05 * max(1, counts.max()))
        corners = [np.repeat(edges, 2), np.concatenate([[0], np.repeat(counts, 2), [0]])]
        axes.fill(*corners, color=ACCENT, alpha=0.75, linewidth=0)
        set_numeric_ticks(axes, x=True, most=5)
        set_numeric_ticks(axes, x=False, most=5, whole=True)
        axes.set_xlabel(labels[0])
        set_left_label(figure, axes, labels[1])
        hints = describe_bins(edges, counts, axes.get_ylim()[1])
        return make_inline_svg(figure, name, title, hints=hints)
