"""Helpers of all figures: axes with margins in pixels, round ticks, compact points."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from arboleda._locale import Locale, localize_number, use_locale
from arboleda._numbers import fixed, plain, text_units
from arboleda.report._svg import MUTED

__all__ = ["add_plot_axes", "make_dot_patch", "pad_range", "set_left_label", "set_numeric_ticks"]


def add_plot_axes(figure: Figure, left: float, right: float, top: float, bottom: float) -> Axes:
    """Add axes with these margins in pixels."""
    width, height = figure.get_size_inches() * 72
    box = (
        left / width,
        bottom / height,
        (width - left - right) / width,
        (height - top - bottom) / height,
    )
    return figure.add_axes(box)


def set_left_label(figure: Figure, axes: Axes, text: str) -> None:
    """Label the vertical axis at the edge of the figure and make room for its tick labels."""
    width = figure.get_size_inches()[0] * 72
    ticks = max((text_units(label.get_text()) for label in axes.get_yticklabels()), default=0.0)
    left = (34 + 7.5 * ticks) / width
    box = axes.get_position()
    axes.set_position((left, box.y0, box.x1 - left, box.height))
    middle = box.y0 + box.height / 2
    figure.text(12 / width, middle, text, color=MUTED, rotation=90, ha="center", va="center")


def make_dot_patch(
    points: np.ndarray, size: float, alpha: float, colour: str, z: float
) -> PathPatch:
    """Draw all points as one path of zero-length strokes with round caps.

    A marker takes a hundred bytes of SVG per point, a stroke twenty.
    """
    codes = np.tile([Path.MOVETO, Path.LINETO], len(points)).astype(Path.code_type)
    path = Path(np.repeat(points, 2, axis=0), codes)
    path.should_simplify = False
    return PathPatch(path, fill=False, edgecolor=colour, linewidth=size, capstyle="round",
                     alpha=alpha, zorder=z)  # fmt: skip


def pad_range(low: float, high: float) -> tuple[float, float]:
    """Widen a range slightly, to keep points off the frame."""
    pad = 0.03 * (high - low) or 0.01 * abs(high) or 1.0
    return float(low - pad), float(high + pad)


def set_numeric_ticks(axes: Axes, x: bool, most: int, whole: bool = False) -> None:
    """Set round ticks within the limits, with equal decimals and room for both end labels."""
    low, high = axes.get_xlim() if x else axes.get_ylim()
    locator = MaxNLocator(most, integer=whole, steps=[1, 2, 2.5, 5, 10])
    # Remove floating-point noise: 0.30000000000000004 becomes 0.3.
    result = [
        float(f"{tick:.6g}") for tick in locator.tick_values(low, high) if low <= tick <= high
    ]
    ticks = [0.0 if abs(tick) < 1e-9 * (high - low) else tick for tick in result]
    with use_locale(Locale()):
        texts = [plain(tick, 6) for tick in ticks]
    if any("e" in text for text in texts):
        texts = [localize_number(text) for text in texts]
    else:
        decimals = max((len(text.partition(".")[2]) for text in texts), default=0)
        texts = [fixed(tick, decimals) for tick in ticks]
    axis = axes.xaxis if x else axes.yaxis
    axis.set_ticks(ticks, labels=texts)
    if x and ticks:
        _make_room_left(axes, texts[0], (ticks[0] - low) / (high - low))
        _make_room(axes, texts[-1], (high - ticks[-1]) / (high - low))


def _make_room_left(axes: Axes, first: str, after_start: float) -> None:
    """Move the left end inwards if the first tick label would be cut off."""
    width = axes.figure.bbox.width / axes.figure.dpi * 72
    box = axes.get_position()
    half = (7.5 * text_units(first) / 2 + 3) / width
    if box.x0 + after_start * box.width < half:
        start = (half - after_start * box.x1) / (1 - after_start)
        axes.set_position((start, box.y0, box.x1 - start, box.height))


def _make_room(axes: Axes, last: str, before_end: float) -> None:
    """Move the right end inwards if the last tick label would be cut off."""
    width = axes.figure.bbox.width / axes.figure.dpi * 72
    box = axes.get_position()
    half = 7.5 * text_units(last) / 2 / width
    beyond = box.x1 - before_end * box.width + half - 1
    if beyond > 0:
        axes.set_position((box.x0, box.y0, box.width - beyond, box.height))
