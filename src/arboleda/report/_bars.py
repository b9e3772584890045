"""Thumbnails of a column's distribution, small enough to stand in a table's row."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

__all__ = ["column_bars"]

_WIDTH, _HEIGHT = 96, 22


def column_bars(column: Mapping[str, Any]) -> Markup:
    """Draw the bars of a column: its histogram, else the counts of its most frequent values.

    Parameters
    ----------
    column : mapping
        One of ``data.columns`` of the facts.

    Returns
    -------
    Markup
        An SVG element, empty if the facts hold no counts for the column.
    """
    if column["histogram"] is not None:
        counts, kind, gap = column["histogram"]["counts"], "numbers", 0.0
    elif column["top"]:
        counts, kind, gap = [count for _, count in column["top"]], "values", 2.0
    else:
        return Markup("")
    path = _bars(counts, gap)
    if not path:
        return Markup("")
    return Markup(
        '<svg class="bars {}" viewBox="0 0 {w} {h}" width="{w}" height="{h}" aria-hidden="true">'
        '<path d="{}"/></svg>'
    ).format(kind, path, w=_WIDTH, h=_HEIGHT)


def _bars(counts: Sequence[int], gap: float) -> str:
    highest = max(counts, default=0)
    if highest == 0:
        return ""
    # A column of two values would else be two broad slabs.
    step = _WIDTH / max(len(counts), 10)
    pieces = []
    for index, count in enumerate(counts):
        if count:
            height = max(1.0, round(_HEIGHT * count / highest, 1))
            width = round(step - gap, 2)
            pieces.append(f"M{index * step:.1f} {_HEIGHT}v-{height:g}h{width:g}v{height:g}z")
    return "".join(pieces)
