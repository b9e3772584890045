"""The report's figures, each a function of numbers in the facts: fold scores, curves, residuals."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from arboleda._numbers import clip, plain, text_units
from arboleda.report._plotting import dot_patch, left_label, numeric_ticks, padded, plot_axes
from arboleda.report._svg import (
    ACCENT,
    INK,
    MUTED,
    PAPER,
    canvas,
    frame,
    inline_svg,
    mark,
    palette,
)
from arboleda.report._texts import text

__all__ = [
    "box_plot",
    "curve_plot",
    "histogram_plot",
    "reliability_plot",
    "scatter_plot",
    "shown_range",
]

_LAYERS = 5  # of half-transparent points, so that crowds look darker than single points


def shown_range(scores: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Choose the part of the score axis to show: as many models, best first, as stay readable.

    A baseline far from all others would squeeze them into a sliver. The better half of the models
    sets the measure; each further one is included while the axis grows to at most four times it.

    Examples
    --------
    >>> shown_range([[0.97, 0.95], [0.96, 0.94], [0.93, 0.91], [0.2, 0.2]])
    (0.91, 0.97)
    """
    core = scores[: max(2, (len(scores) + 1) // 2)]
    low, high = min(map(min, core)), max(map(max, core))
    limit = 4 * (high - low)
    for fold_scores in scores[len(core) :]:
        wider = min(low, *fold_scores), max(high, *fold_scores)
        if wider[1] - wider[0] <= limit:
            low, high = wider
    return low, high


def box_plot(models: Sequence[tuple[str, Sequence[float]]], axis: str, narrow: bool) -> Markup:
    """Draw the fold scores of the models: every score, their quartiles and the median.

    Parameters
    ----------
    models : sequence of (name, fold scores)
        In the order to draw them, from the top.
    axis : str
        Name of the score.
    narrow : bool
        For a phone: the name stands above its box, not left of it.
    """
    low, high = shown_range([scores for _, scores in models])
    pad = 0.06 * (high - low) or 0.01 * abs(high) or 0.01
    names = [clip(name, 52) for name, _ in models]
    width, row = (352.0, 46.0) if narrow else (1112.0, 32.0)
    left = 8.0 if narrow else 34.0 + 6.8 * max(map(text_units, names))
    right, bottom, top = 8.0, 44.0, 4.0
    with canvas(width, top + bottom + row * len(models)) as figure:
        axes = plot_axes(figure, left, right, top, bottom)
        frame(axes, "x")
        axes.set_xlim(low - pad, high + pad)
        axes.set_ylim(len(models) - 0.5, -0.5)
        axes.set_yticks([])
        numeric_ticks(axes, x=True, most=4 if narrow else 8)
        axes.set_xlabel(mark(len(models)))
        for rank, (_, scores) in enumerate(models):
            y = rank + (0.2 if narrow else 0.0)
            _box(axes, y, np.asarray(scores, float), 0.17, ACCENT if rank == 0 else MUTED)
            at = (0.0, rank - 0.24) if narrow else (-(left - 2) / (width - left - right), y)
            axes.text(
                *at,
                mark(rank),
                color=INK,
                fontweight="bold" if rank == 0 else "normal",
                va="center",
                transform=axes.get_yaxis_transform(),
            )
        figure_name = "box-narrow" if narrow else "box-wide"
        return inline_svg(figure, figure_name, text("figure.box", metric=axis), [*names, axis])


def curve_plot(
    curves: Sequence[tuple[Sequence[float], Sequence[float], int | None]],
    labels: tuple[str, str],
    *,
    chance: tuple[Sequence[float], Sequence[float]] | None,
    name: str,
    title: str,
) -> Markup:
    """Draw curves in the unit square: ROC or precision-recall.

    Parameters
    ----------
    curves : sequence of (x, y, colour)
        The colour is an index of the palette, -1 for the accent, None for a thin grey line.
    labels : (str, str)
        Names of the two axes.
    chance : (x, y) or None
        What guessing would give, drawn dashed.
    name, title : str
        Identifier and spoken description of the figure.
    """
    with canvas(400, 372) as figure:
        axes = _unit_square(figure, labels)
        if chance is not None:
            axes.plot(*chance, color=MUTED, linewidth=1, linestyle=(0, (3, 3)))
        for x, y, colour in sorted(curves, key=lambda curve: curve[2] is not None):
            stroke = MUTED if colour is None else ACCENT if colour < 0 else palette(colour)
            width, alpha = (0.75, 0.45) if colour is None else (1.75, 1.0)
            axes.plot(x, y, color=stroke, linewidth=width, alpha=alpha, solid_joinstyle="round")
        return inline_svg(figure, name, title)


def reliability_plot(
    curves: Sequence[tuple[Sequence[Mapping[str, Any]], int | None]],
    labels: tuple[str, str],
    *,
    name: str,
    title: str,
) -> Markup:
    """Draw how often what was said came true: one dot for each bin, larger where more rows are.

    Parameters
    ----------
    curves : sequence of (bins, colour)
        Bins of the facts, with ``count``, ``said`` and ``happened``; the colour is -1 for the
        accent, None for grey.
    labels : (str, str)
        Names of the two axes.
    name, title : str
        Identifier and spoken description of the figure.
    """
    with canvas(400, 372) as figure:
        axes = _unit_square(figure, labels)
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=(0, (3, 3)))
        for bins, colour in curves:
            stroke = MUTED if colour is None else ACCENT
            said, happened = ([b[key] for b in bins] for key in ("said", "happened"))
            axes.plot(said, happened, color=stroke, linewidth=1.25, alpha=0.6)
            most = max(b["count"] for b in bins)
            for b in bins:
                size = 4 + 8 * (b["count"] / most) ** 0.5
                point = np.array([[b["said"], b["happened"]]])
                dot = axes.add_artist(dot_patch(point, size, 0.75, stroke, 5))
                dot.set_clip_on(False)
        return inline_svg(figure, name, title)


def _unit_square(figure: Figure, labels: tuple[str, str]) -> Axes:
    axes = plot_axes(figure, 58, 10, 8, 46)
    frame(axes)
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set_xticks(ticks, [plain(tick) for tick in ticks])
    axes.set_yticks(ticks, [plain(tick) for tick in ticks])
    axes.set_xlabel(labels[0])
    left_label(figure, axes, labels[1])
    return axes


def scatter_plot(
    x: Sequence[float],
    y: Sequence[float],
    labels: tuple[str, str],
    *,
    diagonal: bool,
    name: str,
    title: str,
) -> Markup:
    """Draw points with the line they would lie on if the model made no error.

    Parameters
    ----------
    x, y : sequence of float
        The points.
    labels : (str, str)
        Names of the two axes.
    diagonal : bool
        Whether the line is ``y = x`` (predicted against true), else ``y = 0`` (residuals).
    name, title : str
        Identifier and spoken description of the figure.
    """
    with canvas(336, 320) as figure:
        axes = plot_axes(figure, 58, 14, 8, 46)
        frame(axes)
        points = np.column_stack([x, y]).astype(float)
        if diagonal:
            ends = padded(points.min(), points.max())
            axes.set_xlim(*ends)
            axes.set_ylim(*ends)
            axes.plot(ends, ends, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        else:
            axes.set_xlim(*padded(points[:, 0].min(), points[:, 0].max()))
            axes.set_ylim(*padded(points[:, 1].min(), points[:, 1].max()))
            axes.axhline(0, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        for layer in range(_LAYERS):
            _dots(axes, points[layer::_LAYERS])
        numeric_ticks(axes, x=True, most=5)
        numeric_ticks(axes, x=False, most=6)
        axes.set_xlabel(labels[0])
        left_label(figure, axes, labels[1])
        return inline_svg(figure, name, title)


def histogram_plot(histogram: Mapping[str, Any], label: str, name: str, title: str) -> Markup:
    """Draw the counts of a histogram in the facts, with zero marked.

    Parameters
    ----------
    histogram : mapping
        ``edges`` (one more than counts) and ``counts``.
    label : str
        Name of the horizontal axis.
    name, title : str
        Identifier and spoken description of the figure.
    """
    edges, counts = np.asarray(histogram["edges"], float), np.asarray(histogram["counts"])
    with canvas(336, 320) as figure:
        axes = plot_axes(figure, 58, 14, 8, 46)
        frame(axes, "y")
        axes.set_xlim(*padded(edges[0], edges[-1]))
        axes.set_ylim(0, 1.05 * max(1, counts.max()))
        corners = [np.repeat(edges, 2), np.concatenate([[0], np.repeat(counts, 2), [0]])]
        axes.fill(*corners, color=ACCENT, alpha=0.75, linewidth=0)
        if edges[0] < 0 < edges[-1]:
            axes.axvline(0, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        numeric_ticks(axes, x=True, most=5)
        numeric_ticks(axes, x=False, most=5, whole=True)
        axes.set_xlabel(label)
        left_label(figure, axes, text("figure.rows"))
        return inline_svg(figure, name, title)


def _box(axes: Axes, y: float, scores: np.ndarray, half: float, colour: str) -> None:
    low, high = axes.get_xlim()
    mean = float(scores.mean())
    if not low <= mean <= high:
        left = mean < low
        arrow = "\N{LEFTWARDS ARROW}" if left else "\N{RIGHTWARDS ARROW}"
        said = f"{arrow} {plain(mean)}" if left else f"{plain(mean)} {arrow}"
        axes.text(0.004 if left else 0.996, y, said, color=MUTED, va="center",
                  ha="left" if left else "right", transform=axes.get_yaxis_transform())  # fmt: skip
        return
    q1, median, q3 = np.percentile(scores, [25, 50, 75])
    axes.plot([scores.min(), scores.max()], [y, y], color=colour, linewidth=1)
    axes.add_patch(
        Rectangle((q1, y - half), q3 - q1, 2 * half, facecolor=PAPER, edgecolor=colour, linewidth=1)
    )
    axes.plot([median, median], [y - half, y + half], color=colour, linewidth=2)
    points = np.column_stack([scores, np.full(len(scores), y)])
    axes.add_artist(dot_patch(points, 4.5, 0.75, colour, 5))


def _dots(axes: Axes, points: np.ndarray) -> None:
    if len(points):
        axes.add_artist(dot_patch(points, 3.5, 0.4, ACCENT, 3))
