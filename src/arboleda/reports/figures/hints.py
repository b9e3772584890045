"""Values of a figure: as tooltips where the pointer is, and as a description for screen readers.

A tooltip is the ``<title>`` of a transparent shape over the drawing, so it needs no script.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from markupsafe import Markup
from matplotlib.axes import Axes

from arboleda._utils.numbers import clip, plain
from arboleda.reports.translation import gettext as _
from arboleda.reports.translation import ngettext

__all__ = ["Hint", "count_rows", "describe_bins", "draw_hints", "pair_values", "thin"]

Value = TypeVar("Value")

_RADIUS = 7.0
_THINNEST = 12.0  # pixels of a box across its shorter side
_LONGEST = 120  # characters of a text, in widths of a digit
_DESCRIBED = 24  # number of values that a screen reader reads out


class Hint(NamedTuple):
    """A text at the point (x, y), or over the box from there to ``end``, in data coordinates."""

    text: str
    x: float
    y: float
    end: tuple[float, float] | None = None


def draw_hints(axes: Axes, hints: Sequence[Hint], name: str) -> tuple[Markup, Markup]:
    """Draw the hints over a figure whose layout is final.

    Parameters
    ----------
    axes : Axes
        The axes whose coordinates the hints have.
    hints : sequence of Hint
        In the order in which they are read out; the last one lies on top.
    name : str
        Prefix of the identifier of the description.

    Returns
    -------
    description, shapes : Markup
        To be put at the start and at the end of the SVG element.
    """
    described = [clip(hint.text, _LONGEST) for hint in hints[:_DESCRIBED]]
    if len(hints) > _DESCRIBED:
        described.append("…")
    description = Markup('<desc id="{}-values">{}</desc>').format(name, "; ".join(described))
    shapes = Markup("").join(_draw_shape(axes, hint) for hint in hints)
    return description, Markup('<g class="hints" fill="transparent">{}</g>').format(shapes)


def _draw_shape(axes: Axes, hint: Hint) -> Markup:
    text = clip(hint.text, _LONGEST)
    x, y = _locate(axes, hint.x, hint.y)
    if hint.end is None:
        return Markup('<circle cx="{}" cy="{}" r="{:g}"><title>{}</title></circle>').format(
            f"{x:.0f}", f"{y:.0f}", _RADIUS, text
        )
    right, bottom = _locate(axes, *hint.end)
    left, width = _widen(x, right)
    top, height = _widen(y, bottom)
    return Markup(
        '<rect x="{:.0f}" y="{:.0f}" width="{:.0f}" height="{:.0f}"><title>{}</title></rect>'
    ).format(left, top, width, height, text)


def _locate(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """Return the position in the pixels of the SVG, which count from the top."""
    figure = axes.figure
    across, up = axes.transData.transform((x, y)) / figure.dpi * 72
    return float(across), float(figure.bbox.height / figure.dpi * 72 - up)


def _widen(first: float, second: float) -> tuple[float, float]:
    """Return start and length of a side, long enough for a pointer."""
    start, length = min(first, second), abs(second - first)
    more = max(0.0, _THINNEST - length)
    return start - more / 2, length + more


def pair_values(labels: tuple[str, str], x: float, y: float, head: str = "") -> str:
    """Format a point by the labels of the axes.

    Examples
    --------
    >>> pair_values(("Recall", "Precision"), 0.5, 0.75)
    'Recall 0.5, Precision 0.75'
    >>> pair_values(("Recall", "Precision"), 0.5, 0.75, "class a")
    'class a: Recall 0.5, Precision 0.75'
    """
    text = f"{labels[0]} {plain(x)}, {labels[1]} {plain(y)}"
    return f"{head}: {text}" if head else text


def count_rows(count: int) -> str:
    """Format a number of rows."""
    return ngettext("{count} row", "{count} rows", count, count=plain(count))


def describe_bins(
    edges: npt.ArrayLike, counts: npt.ArrayLike, top: float, bottom: float = 0.0
) -> list[Hint]:
    """Return a hint over each bin of a histogram, from ``bottom`` to ``top``."""
    ends = np.asarray(edges)
    return [
        Hint(
            _("{low} to {high}", low=plain(low), high=plain(high)) + f": {count_rows(int(count))}",
            float(low),
            bottom,
            (float(high), top),
        )
        for low, high, count in zip(ends[:-1], ends[1:], np.asarray(counts), strict=True)
    ]


def thin(values: Sequence[Value], most: int) -> Sequence[Value]:
    """Return at most this many values, evenly spaced, including both ends.

    Examples
    --------
    >>> thin(range(10), 4)
    [0, 3, 6, 9]
    """
    if len(values) <= most:
        return values
    step = (len(values) - 1) / (most - 1)
    return [values[round(place * step)] for place in range(most)]
