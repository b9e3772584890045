"""Thumbnails of a column's distribution, small enough for a row of a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

__all__ = ["draw_column_bars"]

_WIDTH, _HEIGHT = 96, 22


def draw_column_bars(column: Mapping[str, Any]) -> Markup:
    """Draw the histogram of a column, or bars of its most frequent values.

    Parameters
    ----------
    column : mapping
        One of ``data.columns`` of the facts.

    Returns
    -------
    Markup
        An SVG element; empty if the facts hold no counts for the column.
    """
    if column["histogram"] is not None:
        counts, kind, gap = column["histogram"]["counts"], "numbers", 0.0
    elif column["top"]:
        counts, kind, gap = [count for _, count in column["top"]], "values", 2.0
    else:
        return Markup("")
    path = _make_path(counts, gap)
    if not path:
        return Markup("")
    return Markup(
        '<svg class="bars {}" viewBox="0 0 {w} {h}" width="{w}" height="{h}" aria-hidden="true">'
        '<path d="{}"/></svg>'
    ).format(kind, path, w=_WIDTH, h=_HEIGHT)


def _make_path(counts: Sequence[int], gap: float) -> str:
    highest = max(counts, default=0)
    if highest == 0:
        return ""
    # At least ten steps: the bars of a column with two values stay narrow.
    step = _WIDTH / max(len(counts), 10)
    pieces = []
    for index, count in enumerate(counts):
        if count:
            height = max(1.0, round(_HEIGHT * count / highest, 1))
            width = round(step - gap, 2)
            pieces.append(f"M{index * step:.1f} {_HEIGHT}v-{height:g}h{width:g}v{height:g}z")
    return "".join(pieces)
