"""The exploration's figures, each a function of numbers in the facts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from arboleda.report._plotting import dot_patch, left_label, numeric_ticks, padded, plot_axes
from arboleda.report._svg import ACCENT, INK, MUTED, PAPER, canvas, frame, inline_svg, palette

__all__ = ["curve_by_k", "map_plot", "variance_plot"]

_WIDTH, _HEIGHT = 336, 280
_LAYERS = 5  # of half-transparent points, so that no group covers another


def variance_plot(explained: Sequence[float], n_kept: int) -> Markup:
    """Draw the variance that components explain, each and all up to it; those kept are marked."""
    k = np.arange(1, len(explained) + 1)
    with canvas(400, _HEIGHT) as figure:
        axes = plot_axes(figure, 58, 14, 10, 46)
        frame(axes, "y")
        axes.set_xlim(0.4, len(explained) + 0.6)
        axes.set_ylim(0, 103)
        axes.bar(k, 100 * np.asarray(explained), width=0.7, color=ACCENT, alpha=0.75, linewidth=0)
        axes.plot(k, 100 * np.cumsum(explained), color=INK, linewidth=1.5)
        axes.axvline(n_kept, color=MUTED, linewidth=1, linestyle=(0, (3, 3)))
        numeric_ticks(axes, x=True, most=8, whole=True)
        numeric_ticks(axes, x=False, most=5)
        axes.set_xlabel("Component")
        left_label(figure, axes, "Variance, %")
        return inline_svg(figure, "variance", "Variance explained by each component and in sum")


def curve_by_k(
    ks: Sequence[int],
    curves: Sequence[Sequence[float | None]],
    label: str,
    name: str,
    best: tuple[int, int] | None = None,
) -> Markup:
    """Draw values by the number of groups; ``best`` marks the place of a curve and a value."""
    with canvas(_WIDTH, _HEIGHT) as figure:
        axes = plot_axes(figure, 58, 14, 10, 46)
        frame(axes)
        known = [v for curve in curves for v in curve if v is not None]
        axes.set_xlim(ks[0] - 0.4, ks[-1] + 0.4)
        axes.set_ylim(*padded(min(known), max(known)))
        for index, curve in enumerate(curves):
            points = [(k, v) for k, v in zip(ks, curve, strict=True) if v is not None]
            colour = ACCENT if index == 0 else palette(1)
            axes.plot(*zip(*points, strict=True), color=colour, linewidth=1.75)
            axes.add_artist(dot_patch(np.array(points, float), 6, 1.0, colour, 4))
        if best is not None:
            at = np.array([[ks[best[1]], curves[best[0]][best[1]]]], float)
            axes.add_artist(dot_patch(at, 13, 1.0, INK, 2))
            axes.add_artist(dot_patch(at, 11, 1.0, PAPER, 3))
        numeric_ticks(axes, x=True, most=10, whole=True)
        numeric_ticks(axes, x=False, most=5)
        axes.set_xlabel("Groups")
        left_label(figure, axes, label)
        return inline_svg(figure, name, f"{label} by the number of groups")


def map_plot(
    place: Mapping[str, Any], groups: Sequence[tuple[str, np.ndarray]], name: str, title: str
) -> Markup:
    """Draw points of a map; ``groups`` gives the colour of some points each, as a mask."""
    points = np.column_stack([place["x"], place["y"]]).astype(float)
    low, high = points.min(axis=0), points.max(axis=0)
    # A square around the middle: one unit is as long across as it is up.
    half = 0.53 * (float((high - low).max()) or 1.0)
    middle = (low + high) / 2
    with canvas(360, 360) as figure:
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        frame(axes, "none")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_xlim(middle[0] - half, middle[0] + half)
        axes.set_ylim(middle[1] - half, middle[1] + half)
        for layer in range(_LAYERS):
            for colour, mask in groups:
                _dots(axes, points[np.flatnonzero(mask)[layer::_LAYERS]], colour)
        return inline_svg(figure, name, title)


def _dots(axes: Axes, points: np.ndarray, colour: str) -> None:
    if len(points):
        axes.add_artist(dot_patch(points, 4, 0.6, colour, 3))
