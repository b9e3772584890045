"""Figures of explanations, each a function of numbers in the facts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from arboleda._numbers import clip, text_units
from arboleda.report._plotting import dot_patch, left_label, numeric_ticks, padded, plot_axes
from arboleda.report._svg import (
    ACCENT,
    INK,
    MUTED,
    NEUTRAL,
    PAPER,
    SHADES,
    canvas,
    frame,
    inline_svg,
    mark,
    palette,
    shade,
)

__all__ = ["curve_along", "spread_plot", "swarm_plot"]

_DENSITY = 0.16  # of the height, for the bars that tell where the rows are


def curve_along(
    x: Sequence[float],
    curves: Sequence[tuple[Sequence[float], int]],
    histogram: Mapping[str, Any] | None,
    labels: tuple[str, str],
    *,
    share: bool,
    name: str,
    title: str,
    own: int | None = None,
) -> Markup:
    """Draw what the model says along a column, over bars that tell where the training rows are.

    Parameters
    ----------
    x : sequence of float
        Values of the column, rising.
    curves : sequence of (values, colour)
        The colour is an index of the palette, -1 for the accent.
    histogram : mapping or None
        Of the training rows.
    labels : (str, str)
        The column, which is cut where it is long, and what is drawn.
    share : bool
        Whether values are probabilities, drawn as per cent.
    name, title : str
        Identifier and spoken description of the figure.
    own : int, optional
        The place of the row that is explained, which is marked.
    """
    unit = 100.0 if share else 1.0
    ys = [unit * np.asarray(values, float) for values, _ in curves]
    with canvas(336, 264) as figure:
        axes = plot_axes(figure, 58, 14, 10, 46)
        frame(axes)
        axes.set_xlim(*padded(min(x), max(x)))
        _set_height(axes, ys, share)
        if histogram is not None:
            _density(axes, histogram)
        for values, (_, colour) in zip(ys, curves, strict=True):
            ink = ACCENT if colour < 0 else palette(colour)
            axes.plot(x, values, color=ink, linewidth=1.75, solid_joinstyle="round")
        if own is not None:
            _marked(axes, x[own], ys[0][own])
        numeric_ticks(axes, x=True, most=5)
        numeric_ticks(axes, x=False, most=5)
        axes.set_xlabel(mark(0))
        left_label(figure, axes, labels[1] + (", %" if share else ""))
        return inline_svg(figure, name, title, [clip(labels[0], 36)])


def _set_height(axes: Axes, values: Sequence[np.ndarray], share: bool) -> None:
    low = min(float(v.min()) for v in values)
    high = max(float(v.max()) for v in values)
    if share and high - low < 10:
        # A flat line should look flat.
        middle = (low + high) / 2
        low, high = max(0.0, middle - 5), min(100.0, middle + 5)
    low, high = padded(low, high)
    axes.set_ylim(low - _DENSITY * (high - low), high)


def _density(axes: Axes, histogram: Mapping[str, Any]) -> None:
    edges, counts = np.asarray(histogram["edges"], float), np.asarray(histogram["counts"], float)
    low, high = axes.get_ylim()
    tall = 0.8 * _DENSITY / (1 + _DENSITY) * (high - low) * counts / (counts.max() or 1.0)
    axes.bar(edges[:-1], tall, np.diff(edges), bottom=low, align="edge", color=NEUTRAL, alpha=0.45,
             linewidth=0)  # fmt: skip


def _marked(axes: Axes, x: float, y: float) -> None:
    axes.axvline(x, color=INK, linewidth=1, linestyle=(0, (3, 3)))
    at = np.array([[x, y]])
    for size, colour, z in ((11, INK, 6), (7, PAPER, 7)):
        axes.add_artist(dot_patch(at, size, 1.0, colour, z))


def spread_plot(
    histogram: Mapping[str, Any],
    label: str,
    said: float,
    interval: tuple[float, float] | None,
    truth: float | None,
    name: str,
) -> Markup:
    """Draw where a prediction and its interval lie among the targets of the training rows."""
    edges, counts = np.asarray(histogram["edges"], float), np.asarray(histogram["counts"])
    ends = [edges[0], edges[-1], said, *(interval or ()), *([] if truth is None else [truth])]
    with canvas(400, 250) as figure:
        axes = plot_axes(figure, 58, 14, 10, 46)
        frame(axes, "y")
        axes.set_xlim(*padded(min(ends), max(ends)))
        axes.set_ylim(0, 1.15 * max(1, counts.max()))
        axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=NEUTRAL, alpha=0.5,
                 linewidth=0)  # fmt: skip
        if interval is not None:
            axes.axvspan(*interval, color=ACCENT, alpha=0.16, linewidth=0)
        axes.axvline(said, color=ACCENT, linewidth=2)
        if truth is not None:
            axes.axvline(truth, color=INK, linewidth=1, linestyle=(0, (3, 3)))
        numeric_ticks(axes, x=True, most=5)
        numeric_ticks(axes, x=False, most=5, whole=True)
        axes.set_xlabel(mark(0))
        left_label(figure, axes, "Training rows")
        title = "The prediction among the targets of the training rows"
        return inline_svg(figure, name, title, [clip(label, 40)])


def swarm_plot(
    columns: Sequence[Mapping[str, Any]], axis: str, unit: float, narrow: bool
) -> Markup:
    """Draw how far each row is pushed by each column; the shade tells the column's value.

    Parameters
    ----------
    columns : sequence of mapping
        ``name`` and ``points``: pairs of a push and the place (0 to 1) of the row's value among
        the others, None where it has no order.
    axis : str
        What a push is.
    unit : float
        What pushes are multiplied by.
    narrow : bool
        For a phone: the name stands above its dots, not left of them.
    """
    names = [clip(column["name"], 40 if narrow else 30) for column in columns]
    width, row = (352.0, 50.0) if narrow else (1112.0, 36.0)
    left = 8.0 if narrow else 34.0 + 7.5 * max(map(text_units, names))
    with canvas(width, 48.0 + row * len(columns)) as figure:
        axes = plot_axes(figure, left, 12.0, 4.0, 44.0)
        frame(axes, "x")
        pushes = [unit * push for column in columns for push, _ in column["points"]]
        axes.set_xlim(*padded(min(pushes), max(pushes)))
        axes.set_ylim(len(columns) - 0.5, -0.5)
        axes.set_yticks([])
        axes.axvline(0, color=MUTED, linewidth=1)
        for rank, column in enumerate(columns):
            y = rank + (0.18 if narrow else 0.0)
            _swarm(axes, figure, column["points"], unit, y, 0.26 if narrow else 0.38)
            at = (0.0, rank - 0.3) if narrow else (-(left - 2) / (width - left - 12.0), y)
            axes.text(*at, mark(rank), color=INK, va="center",
                      transform=axes.get_yaxis_transform())  # fmt: skip
        numeric_ticks(axes, x=True, most=5 if narrow else 9)
        axes.set_xlabel(axis)
        name = "swarm-narrow" if narrow else "swarm-wide"
        return inline_svg(figure, name, "How far each column pushes each row", names)


def _swarm(
    axes: Axes, figure: Figure, points: Sequence[Any], unit: float, y: float, half: float
) -> None:
    """Dots of about equal pushes lie beside each other, as far as there is room."""
    pushes = unit * np.array([push for push, _ in points], float)
    low, high = axes.get_xlim()
    n_bins = max(8, int(figure.get_size_inches()[0] * 72 / 6))
    at = np.minimum(((pushes - low) / (high - low) * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(at, minlength=n_bins)
    step = min(0.09, 2 * half / max(1, counts.max()))
    order = np.argsort(at, kind="stable")
    nth = np.empty(len(at))
    nth[order] = np.arange(len(at)) - (np.cumsum(counts) - counts)[at[order]]
    # 0, 1, -1, 2, -2 ...: dots fill up from the middle line.
    side = np.where(nth % 2 == 1, 1, -1) * np.ceil(nth / 2)
    where = np.column_stack([pushes, y + step * side])
    places = np.array([-1.0 if place is None else place for _, place in points])
    shades = np.where(places < 0, -1, np.minimum((places * SHADES).astype(int), SHADES - 1))
    for index in range(-1, SHADES):
        some = where[shades == index]
        if len(some):
            colour = MUTED if index < 0 else shade(index)
            axes.add_artist(dot_patch(some, 4.5, 0.75, colour, 4))
