"""Horizontal bars with errors, one for each name: importances and weights."""

from collections.abc import Sequence

from markupsafe import Markup
from matplotlib.patches import Rectangle

from arboleda._numbers import clip, text_units
from arboleda.report._plotting import numeric_ticks, plot_axes
from arboleda.report._svg import ACCENT, INK, MUTED, canvas, frame, inline_svg, mark

__all__ = ["bar_plot"]


def bar_plot(
    bars: Sequence[tuple[str, float, float | None]],
    axis: str,
    *,
    name: str,
    title: str,
    narrow: bool,
) -> Markup:
    """Draw a bar from zero to each value, with one standard error to both sides.

    Parameters
    ----------
    bars : sequence of (name, value, standard error or None)
        In the order to draw them, from the top.
    axis : str
        Name of the values.
    name, title : str
        Identifier and spoken description of the figure.
    narrow : bool
        For a phone: the name stands above its bar, not left of it.
    """
    names = [clip(label, 42 if narrow else 40) for label, _, _ in bars]
    width, row = (352.0, 40.0) if narrow else (760.0, 26.0)
    left = 8.0 if narrow else 20.0 + 7.5 * max(map(text_units, names))
    right, bottom, top = 12.0, 44.0, 2.0
    ends = [(value - (error or 0), value + (error or 0)) for _, value, error in bars]
    low, high = min(0.0, *(a for a, _ in ends)), max(0.0, *(b for _, b in ends))
    pad = 0.03 * (high - low) or 1.0
    with canvas(width, top + bottom + row * len(bars)) as figure:
        axes = plot_axes(figure, left, right, top, bottom)
        frame(axes, "x")
        axes.set_xlim(low - (pad if low < 0 else 0), high + pad)
        axes.set_ylim(len(bars) - 0.5, -0.5)
        axes.set_yticks([])
        numeric_ticks(axes, x=True, most=4 if narrow else 7)
        axes.set_xlabel(mark(len(bars)))
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
            axes.text(*at, mark(place), color=INK, va="center", transform=transform)
        return inline_svg(figure, name, title, [*names, axis])
