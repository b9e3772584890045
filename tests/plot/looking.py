"""Defects of a figure: texts that are clipped by the page or overlap."""

from itertools import combinations
from typing import Any

from matplotlib.axes import Axes
from matplotlib.text import Text


def name_outputs(figure: Any) -> list[tuple[str, Any]]:
    """Texts that are drawn, with their extents in pixels."""
    figure.draw_without_rendering()
    hidden = {id(text) for ax in figure.findobj(Axes) for text in _hidden(ax)}
    return [
        (text.get_text(), text.get_window_extent())
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    ]


def cut(figure: Any, slack: float = 0.5) -> list[str]:
    """Return the texts that reach beyond the page."""
    page = figure.bbox
    return [
        text
        for text, box in name_outputs(figure)
        if box.x0 < page.x0 - slack
        or box.y0 < page.y0 - slack
        or box.x1 > page.x1 + slack
        or box.y1 > page.y1 + slack
    ]


def overlapping(figure: Any, slack: float = 1.0) -> list[tuple[str, str]]:
    """Return the pairs of texts that overlap."""
    return [
        (one, other)
        for (one, a), (other, b) in combinations(name_outputs(figure), 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > slack and min(a.y1, b.y1) - max(a.y0, b.y0) > slack
    ]


def _hidden(ax: Any) -> list[Text]:
    """Texts of axes that are switched off, and of ticks beyond the limits."""
    found = []
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        margin = 1e-9 * (high - low)
        for tick in [*axis.majorTicks, *axis.minorTicks]:
            if not (ax.axison and low - margin <= tick.get_loc() <= high + margin):
                found += [tick.label1, tick.label2]
        found += [] if ax.axison else [axis.label, axis.get_offset_text()]
    return found
