"""Plots of measures of decisions by the threshold of a probability."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from arboleda._utils.numbers import plain
from arboleda.reports.figures.canvas import (
    ACCENT,
    INK,
    add_plot_axes,
    get_palette_colour,
    make_inline_svg,
    make_mark,
    open_canvas,
    pad_range,
    set_left_label,
    set_numeric_ticks,
    style_axes,
)
from arboleda.reports.figures.hints import Hint, pair_values, thin
from arboleda.reports.translation import gettext as _

__all__ = ["ThresholdLine", "draw_threshold_plot"]

_HINTS = 20


class ThresholdLine(NamedTuple):
    """A measure at each threshold, with None where it is not defined."""

    label: str
    values: Sequence[float | None]
    colour: int
    is_dashed: bool = False


def draw_threshold_plot(
    thresholds: Sequence[float],
    lines: Sequence[ThresholdLine],
    axis: str,
    *,
    chosen: float,
    name: str,
    title: str,
) -> Markup:
    """Draw measures by threshold, with the chosen threshold marked.

    Parameters
    ----------
    thresholds : sequence of float
        In ascending order.
    lines : sequence of ThresholdLine
        The colour is an index of the palette, or -1 for the accent.
    axis : str
        Label of the vertical axis.
    chosen : float
        The chosen threshold.
    name, title : str
        Identifier and text alternative of the figure.
    """
    known = [value for line in lines for value in line.values if value is not None]
    x_label = _("Threshold")
    with open_canvas(336, 260) as figure:
        axes = add_plot_axes(figure, 58, 14, 10, 46)
        style_axes(axes)
        axes.set_xlim(0, 1)
        axes.set_ylim(*pad_range(min(known, default=0.0), max(known, default=1.0)))
        hints = []
        for line in lines:
            points = [(x, y) for x, y in zip(thresholds, line.values, strict=True) if y is not None]
            ink = ACCENT if line.colour < 0 else get_palette_colour(line.colour)
            axes.plot(
                [x for x, _y in points],
                [y for _x, y in points],
                color=ink,
                linewidth=1.0 if line.is_dashed else 1.75,
                linestyle=(0, (3, 2)) if line.is_dashed else "-",
                solid_joinstyle="round",
            )
            hints += [
                Hint(pair_values((x_label, line.label), x, y), x, y)
                for x, y in thin(points, _HINTS)
            ]
        axes.axvline(chosen, color=INK, linewidth=1)
        low, high = axes.get_ylim()
        text = _("chosen threshold {threshold}", threshold=plain(chosen))
        hints.insert(0, Hint(text, chosen, low, (chosen, high)))
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], [plain(t) for t in (0, 0.25, 0.5, 0.75, 1)])
        set_numeric_ticks(axes, x=False, most=5)
        axes.set_xlabel(make_mark(0))
        set_left_label(figure, axes, make_mark(1))
        return make_inline_svg(figure, name, title, [x_label, axis], hints)
