"""Horizontal bar charts with error bars: importances and weights."""

from collections.abc import Sequence

from markupsafe import Markup
from matplotlib.patches import Rectangle

from arboleda._numbers import clip, text_units
from arboleda.report._plotting import add_plot_axes, set_numeric_ticks
from arboleda.report._svg import (
    ACCENT,
    INK,
    MUTED,
    make_inline_svg,
    make_mark,
    open_canvas,
    style_axes,
)

__all__ = ["draw_bar_plot"]


def draw_bar_plot(
    bars: Sequence[tuple[str, float, float | None]],
    axis: str,
    *,
    name: str,
    title: str,
    narrow: bool,
) -> Markup:
    """Draw a bar from zero to each value, with one standard error on either side.

    Parameters
    ----------
    bars : sequence of (name, value, standard error or None)
        The bars, from top to bottom.
    axis : str
        Label of the value axis.
    name, title : str
        Identifier and text alternative of the figure.
    narrow : bool
        Draw for a phone, with names above the bars instead of to their left.
    """
    names = [clip(label, 42 if narrow else 40) for label, _, _ in bars]
    width, row = (352.0, 40.0) if narrow else (760.0, 26.0)
    left = 8.0 if narrow else 20.0 + 7.5 * max(map(text_units, names))
    right, bottom, top = 12.0, 44.0, 2.0
    ends = [(value - (error or 0), value + (error or 0)) for _, value, error in bars]
    low, high = min(0.0, *(a for a, _ in ends)), max(0.0, *(b for _, b in ends))
    pad = 0.03 * (high - low) or 1.0
    with open_canvas(width, top + bottom + row * len(bars)) as figure:
        axes = add_plot_axes(figure, left, right, top, bottom)
        style_axes(axes, "x")
        axes.set_xlim(low - (pad if low < 0 else 0), high + pad)
        axes.set_ylim(len(bars) - 0.5, -0.5)
        axes.set_yticks([])
        set_numeric_ticks(axes, x=True, most=4 if narrow else 7)
        axes.set_xlabel(make_mark(len(bars)))
        axes.axvline(0, color=MUTED, linewidth=1)
        for place, (_, value, error) in enumerate(bars):
            y = place + (0.22 if narrow else 0.0)
            half = 0.16 if narrow else 0.28
            axes.add_patch(
                Rectangle((0, y - half), value, 2 * half, facecolor=ACCENT, alpha=0.8, linewidth=0)
            )
            if error:
                axes.plot([value - error, value + error], [y, y], color=INK, linewidth=1.25)
            at = (0.0, place - 0.2) if narrow else (-(left - 2) / (width - left - right), y)
            transform = axes.get_yaxis_transform()
            axes.text(*at, make_mark(place), color=INK, va="center", transform=transform)
        return make_inline_svg(figure, name, title, [*names, axis])
