"""Plots of explanations: curves along a column, the spread of targets, contributions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from arboleda._utils.numbers import clip, plain, text_units
from arboleda.facts.explanation import ColumnShap
from arboleda.facts.model import HistogramFacts
from arboleda.reports.figures.canvas import (
    ACCENT,
    INK,
    MUTED,
    NEUTRAL,
    PAPER,
    SHADES,
    add_plot_axes,
    get_palette_colour,
    get_shade,
    make_dot_patch,
    make_inline_svg,
    make_mark,
    open_canvas,
    pad_range,
    set_left_label,
    set_numeric_ticks,
    style_axes,
)
from arboleda.reports.figures.hints import Hint, describe_bins, pair_values, thin
from arboleda.reports.translation import gettext as _

__all__ = ["draw_curve_along", "draw_spread_plot", "draw_swarm_plot"]

_HINTS = 20  # values shown of a curve
_DENSITY = 0.16  # share of the height for the histogram of the rows


def draw_curve_along(
    x: Sequence[float],
    curves: Sequence[tuple[Sequence[float], int]],
    histogram: HistogramFacts | None,
    labels: tuple[str, str],
    *,
    share: bool,
    name: str,
    title: str,
    own: int | None = None,
) -> Markup:
    """Draw predictions along a column above a histogram of the training rows.

    Parameters
    ----------
    x : sequence of float
        Values of the column, in ascending order.
    curves : sequence of (values, colour)
        The colour is an index of the palette, or -1 for the accent.
    histogram : HistogramFacts or None
        Histogram of the training rows.
    labels : (str, str)
        Labels of the axes: the column (long names are clipped) and the output.
    share : bool
        Draw the values as percentages of probability.
    name, title : str
        Identifier and text alternative of the figure.
    own : int, optional
        Index of the explained row, which is marked.
    """
    unit = 100.0 if share else 1.0
    ys = [unit * np.asarray(values, float) for values, _ in curves]
    with open_canvas(336, 264) as figure:
        axes = add_plot_axes(figure, 58, 14, 10, 46)
        style_axes(axes)
        axes.set_xlim(*pad_range(min(x), max(x)))
        _set_height(axes, ys, share)
        if histogram is not None:
            _draw_density(axes, histogram)
        for values, (_, colour) in zip(ys, curves, strict=True):
            ink = ACCENT if colour < 0 else get_palette_colour(colour)
            axes.plot(x, values, color=ink, linewidth=1.75, solid_joinstyle="round")
        if own is not None:
            _draw_marker(axes, x[own], ys[0][own])
        set_numeric_ticks(axes, x=True, most=5)
        set_numeric_ticks(axes, x=False, most=5)
        axes.set_xlabel(make_mark(0))
        set_left_label(figure, axes, labels[1] + (", %" if share else ""))
        hints = [
            Hint(pair_values(labels, at, value), at, value)
            for values in ys
            for at, value in thin(list(zip(x, values.tolist(), strict=True)), _HINTS)
        ]
        return make_inline_svg(figure, name, title, [clip(labels[0], 36)], hints)


def _set_height(axes: Axes, values: Sequence[np.ndarray], share: bool) -> None:
    low = min(float(v.min()) for v in values)
    high = max(float(v.max()) for v in values)
    if share and high - low < 10:
        # Show a nearly constant curve as flat.
        middle = (low + high) / 2
        low, high = max(0.0, middle - 5), min(100.0, middle + 5)
    low, high = pad_range(low, high)
    axes.set_ylim(low - _DENSITY * (high - low), high)


def _draw_density(axes: Axes, histogram: HistogramFacts) -> None:
    edges, counts = np.asarray(histogram.edges, float), np.asarray(histogram.counts, float)
    low, high = axes.get_ylim()
    tall = 0.8 * _DENSITY / (1 + _DENSITY) * (high - low) * counts / (counts.max() or 1.0)
    axes.bar(edges[:-1], tall, np.diff(edges), bottom=low, align="edge", color=NEUTRAL, alpha=0.45,
             linewidth=0)  # fmt: skip


def _draw_marker(axes: Axes, x: float, y: float) -> None:
    axes.axvline(x, color=INK, linewidth=1, linestyle=(0, (3, 3)))
    at = np.array([[x, y]])
    for size, colour, z in ((11, INK, 6), (7, PAPER, 7)):
        axes.add_artist(make_dot_patch(at, size, 1.0, colour, z))


def draw_spread_plot(
    histogram: HistogramFacts,
    label: str,
    predicted: float,
    interval: tuple[float, float] | None,
    truth: float | None,
    name: str,
) -> Markup:
    """Draw a prediction and its interval on the histogram of the training targets."""
    edges, counts = np.asarray(histogram.edges, float), np.asarray(histogram.counts)
    ends = [edges[0], edges[-1], predicted, *(interval or ()), *([] if truth is None else [truth])]
    with open_canvas(400, 250) as figure:
        axes = add_plot_axes(figure, 58, 14, 10, 46)
        style_axes(axes, "y")
        axes.set_xlim(*pad_range(min(ends), max(ends)))
        axes.set_ylim(0, 1.15 * max(1, counts.max()))
        axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=NEUTRAL, alpha=0.5,
                 linewidth=0)  # fmt: skip
        if interval is not None:
            axes.axvspan(*interval, color=ACCENT, alpha=0.16, linewidth=0)
        axes.axvline(predicted, color=ACCENT, linewidth=2)
        if truth is not None:
            axes.axvline(truth, color=INK, linewidth=1, linestyle=(0, (3, 3)))
        set_numeric_ticks(axes, x=True, most=5)
        set_numeric_ticks(axes, x=False, most=5, whole=True)
        axes.set_xlabel(make_mark(0))
        set_left_label(figure, axes, _("Training rows"))
        title = _("The prediction among the targets of the training rows")
        top = axes.get_ylim()[1]
        text = _("prediction {value}", value=plain(predicted))
        hints = [
            *describe_bins(edges, counts, top),
            Hint(text, predicted, 0.0, (predicted, top)),
        ]
        return make_inline_svg(figure, name, title, [clip(label, 40)], hints)


def draw_swarm_plot(columns: Sequence[ColumnShap], axis: str, unit: float, narrow: bool) -> Markup:
    """Draw the contributions of each column to each row, shaded by the value of the column.

    Parameters
    ----------
    columns : sequence of ColumnShap
        Their ``points`` are pairs of a contribution and the quantile (0 to 1) of the value of the
        row, None for unordered values.
    axis : str
        Label of the axis.
    unit : float
        Factor of the contributions.
    narrow : bool
        Draw for a phone, with names above the dots instead of to their left.
    """
    names = [clip(column.name, 40 if narrow else 30) for column in columns]
    width, row = (352.0, 50.0) if narrow else (1112.0, 36.0)
    left = 8.0 if narrow else 34.0 + 7.5 * max(map(text_units, names))
    with open_canvas(width, 48.0 + row * len(columns)) as figure:
        axes = add_plot_axes(figure, left, 12.0, 4.0, 44.0)
        style_axes(axes, "x")
        contributions = [
            unit * contribution for column in columns for contribution, _ in column.points
        ]
        axes.set_xlim(*pad_range(min(contributions), max(contributions)))
        axes.set_ylim(len(columns) - 0.5, -0.5)
        axes.set_yticks([])
        axes.axvline(0, color=MUTED, linewidth=1)
        for rank, column in enumerate(columns):
            y = rank + (0.18 if narrow else 0.0)
            _draw_swarm(axes, figure, column.points, unit, y, 0.26 if narrow else 0.38)
            at = (0.0, rank - 0.3) if narrow else (-(left - 2) / (width - left - 12.0), y)
            axes.text(*at, make_mark(rank), color=INK, va="center",
                      transform=axes.get_yaxis_transform())  # fmt: skip
        set_numeric_ticks(axes, x=True, most=5 if narrow else 9)
        axes.set_xlabel(axis)
        hints = [_describe_swarm(column, unit, rank) for rank, column in enumerate(columns)]
        name = "swarm-narrow" if narrow else "swarm-wide"
        title = _("Contributions of each column to each row")
        return make_inline_svg(figure, name, title, names, hints)


def _describe_swarm(column: ColumnShap, unit: float, rank: int) -> Hint:
    """Return a hint over the dots of a column: its smallest and largest contribution."""
    values = [unit * contribution for contribution, _place in column.points]
    low, high = min(values), max(values)
    text = _("{low} to {high}", low=plain(low), high=plain(high))
    return Hint(f"{column.name}: {text}", low, rank - 0.4, (high, rank + 0.4))


def _draw_swarm(
    axes: Axes, figure: Figure, points: Sequence[Any], unit: float, y: float, half: float
) -> None:
    """Draw the dots of one column, spreading similar contributions within the row."""
    contributions = unit * np.array([contribution for contribution, _ in points], float)
    low, high = axes.get_xlim()
    n_bins = max(8, int(figure.get_size_inches()[0] * 72 / 6))
    at = np.minimum(((contributions - low) / (high - low) * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(at, minlength=n_bins)
    step = min(0.09, 2 * half / max(1, counts.max()))
    order = np.argsort(at, kind="stable")
    nth = np.empty(len(at))
    nth[order] = np.arange(len(at)) - (np.cumsum(counts) - counts)[at[order]]
    # 0, 1, -1, 2, -2 ...: dots fill the row from its middle line.
    side = np.where(nth % 2 == 1, 1, -1) * np.ceil(nth / 2)
    where = np.column_stack([contributions, y + step * side])
    places = np.array([-1.0 if place is None else place for _, place in points])
    shades = np.where(places < 0, -1, np.minimum((places * SHADES).astype(int), SHADES - 1))
    for index in range(-1, SHADES):
        some = where[shades == index]
        if len(some):
            colour = MUTED if index < 0 else get_shade(index)
            axes.add_artist(make_dot_patch(some, 4.5, 0.75, colour, 4))
