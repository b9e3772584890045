"""Layout of texts: names wrapped and sized by their measured extents, axes kept on the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from arboleda._utils.frames import new_figure
from arboleda._utils.text import visible_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

__all__ = [
    "count_fitting_rows",
    "fill_with_text",
    "fit_texts",
    "make_axes",
    "name_columns",
    "name_rows",
    "place_legend_above",
    "place_legend_beside",
    "shrink_for_legend",
    "widen_for_texts",
    "wrap_text",
    "write_labels",
]

_MEASURED = 10.0  # font size in points at which texts are measured
_LARGEST, _SMALLEST, _STEP = 9.5, 3.0, 0.25  # font sizes of row names, in points
_LINE = 1.35  # line height relative to the font size
_LEAST_ROW = 5.5  # smallest legible height of a row, in points
_NAMES = 0.45  # largest share of the page width for row names
_SLACK = 1.1  # the same text may be a tenth wider at other resolutions
_UPRIGHT = 0.3  # largest share of the page height for names under the axes
_LEGEND = 0.24  # largest share of the page height for a legend above the axes
_BESIDE_NAME = 3.0  # width of a legend marker with its gaps, relative to the font size
_GAP = 4.0  # margin around axes, in points
# A line may break at a space, after a character that joins words, and after a dot before a letter;
# numbers are not broken.
_PIECES = re.compile(
    r" +|[^ ]+?(?:(?<=[_/;|])(?=\w)|(?<=[^\W\d]-)(?=\w)|(?<=\.)(?=[^\W\d])|(?= )|$)"
)


def make_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    return new_figure(figsize=(width, height), layout="constrained").add_subplot()


def count_fitting_rows(ax: Axes, wanted: int) -> int:
    """Count how many rows are legible on the axes at their current size, at most ``wanted``."""
    points = ax.get_window_extent().height * 72 / ax.figure.dpi
    return max(1, min(wanted, int(points / _LEAST_ROW)))


def wrap_text(ax: Axes, text: str, width: float, size: float) -> str:
    """Wrap a text into lines of at most ``width`` pixels, between words if possible."""
    return _wrap(_make_measure(ax), text, width * _MEASURED / size)


def name_rows(ax: Axes, places: Sequence[float], names: Sequence[str], size: float) -> float:
    """Write row names beside the vertical axis, whose limits are set; return their font size.

    The font size is the largest that fits, at most ``size`` plus half a point, with as many lines
    as fit into a row.
    """
    extent = ax.get_window_extent()
    low, high = ax.get_ylim()
    gaps = np.abs(np.diff(np.sort(np.asarray(places, dtype=float))))
    row = extent.height / abs(high - low) * (float(gaps.min()) if gaps.size else abs(high - low))
    width = _NAMES * (extent.x1 - _compute_free_box(ax).x0)
    largest = min(_LARGEST, size + 0.5)
    chosen, texts = _fit_size(_make_measure(ax), names, width, row, ax.figure.dpi, largest)
    ax.set_yticks(
        list(places), texts, fontsize=chosen, parse_math=False, linespacing=1.0, va="center"
    )
    ax.tick_params("y", length=0)
    return chosen


def name_columns(ax: Axes, names: Sequence[str], size: float) -> None:
    """Write names at 0, 1, ... under the horizontal axis, horizontally or else vertically."""
    extent = ax.get_window_extent()
    low, high = ax.get_xlim()
    room = extent.width / abs(high - low)
    measure, dpi = _make_measure(ax), ax.figure.dpi
    words = max((measure(word) for name in names for word in name.split()), default=0.0)
    level = [wrap_text(ax, name, 0.94 * room, size) for name in names]
    upright = words * size / _MEASURED > 0.94 * room or any(t.count("\n") > 2 for t in level)
    if upright:
        high_enough = _UPRIGHT * ax.figure.bbox.height
        size, level = _fit_size(measure, names, high_enough, room, dpi, size)
    ax.set_xticks(
        range(len(names)),
        level,
        fontsize=size,
        parse_math=False,
        rotation=90 if upright else 0,
        linespacing=1.0,
    )
    ax.tick_params("x", length=0)


def write_labels(ax: Axes, size: float, *, x: str = "", y: str = "", title: str = "") -> None:
    """Write the axis labels and the title, wrapped to the size of the axes."""
    extent = ax.get_window_extent()
    if x:
        ax.set_xlabel(wrap_text(ax, x, extent.width, size), fontsize=size, parse_math=False)
    if y:
        ax.set_ylabel(wrap_text(ax, y, extent.height, size), fontsize=size, parse_math=False)
    if title:
        text = wrap_text(ax, title, extent.width, size)
        ax.set_title(text, fontsize=size, parse_math=False)


def place_legend_above(ax: Axes, size: float, handles: Sequence[Any]) -> None:
    """Place a legend above the axes, in as many columns as fit on the page."""
    extent, page = ax.get_window_extent(), ax.figure.bbox
    across = max(extent.width, 0.95 * (extent.x1 - _compute_free_box(ax).x0))
    names = [str(handle.get_label()) for handle in handles]
    measure, dot = _make_measure(ax), ax.figure.dpi / 72
    while True:
        texts = [_wrap(measure, name, 0.8 * across * _MEASURED / size) for name in names]
        lines = max(text.count("\n") + 1 for text in texts)
        widest = max(measure(line) for text in texts for line in text.split("\n"))
        column = widest * size / _MEASURED + _BESIDE_NAME * size * dot
        columns = max(1, min(len(names), int(across / column)))
        height = -(-len(names) // columns) * lines * size * _LINE * dot
        if height <= _LEGEND * page.height or size <= _SMALLEST:
            break
        size -= _STEP
    ax.legend(
        handles,
        texts,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=columns,
        fontsize=size,
        frameon=False,
        borderaxespad=0.2,
        columnspacing=1.0,
        handletextpad=0.4,
        handlelength=1.6,
        labelspacing=0.35,
    )


def place_legend_beside(ax: Axes, size: float, handles: Sequence[Any]) -> None:
    """Place a legend to the right of the axes, in a font size that fits their height."""
    extent = ax.get_window_extent()
    width = max(0.5 * extent.width, 0.2 * ax.figure.bbox.width)
    names = [str(handle.get_label()) for handle in handles]
    while True:
        legend = ax.legend(
            handles,
            [wrap_text(ax, name, width, size) for name in names],
            loc="upper left",
            bbox_to_anchor=(1.02, 1.0),
            fontsize=size,
            frameon=False,
            borderaxespad=0.0,
            handletextpad=0.3,
            handlelength=1.2,
            labelspacing=0.3,
        )
        if legend.get_window_extent().height <= extent.height or size <= _SMALLEST:
            return
        size -= _STEP


def shrink_for_legend(panels: Sequence[Axes], handles: Sequence[Any], size: float) -> None:
    """Shrink adjacent panels equally to make room for the legend beside the last one."""
    last = panels[-1]
    if not handles or len(panels) < 2 or last.figure.get_layout_engine() is not None:
        return
    place_legend_beside(last, size, handles)
    page = last.figure.bbox.width
    over = (_compute_tight_box(last).x1 - _compute_free_box(last).x1) / page
    start = min(panel.get_position().x0 for panel in panels)
    end = last.get_position().x1
    if over <= 0.0:
        return
    share = max(0.3, (end - over - start) / (end - start))
    for panel in panels:
        place = panel.get_position()
        left, width = start + share * (place.x0 - start), share * place.width
        panel.set_position((left, place.y0, width, place.height))
        panel.set_in_layout(True)


def fill_with_text(ax: Axes, lines: Sequence[str]) -> None:
    """Write lines into the axes, in the largest font size at which all of them fit."""
    extent, measure = ax.get_window_extent(), _make_measure(ax)
    size = _LARGEST
    while True:
        texts = [_wrap(measure, line, extent.width * _MEASURED / size) for line in lines]
        height = sum(text.count("\n") + 1 for text in texts) * size * _LINE
        if height * ax.figure.dpi / 72 <= extent.height or size <= _SMALLEST:
            break
        size -= _STEP
    ax.set_axis_off()
    ax.text(
        0.0,
        1.0,
        "\n".join(texts),
        transform=ax.transAxes,
        va="top",
        fontsize=size,
        linespacing=1.15,
        parse_math=False,
    )


def widen_for_texts(ax: Axes, texts: Sequence[Any]) -> None:
    """Widen the horizontal limits until the texts beside the bars are within the axes."""
    for _ in range(12):
        extent = ax.get_window_extent()
        low, high = ax.get_xlim()
        unit = (high - low) / extent.width
        boxes = [text.get_window_extent() for text in texts]
        more = (_SLACK - 1.0) * max((box.width for box in boxes), default=0.0)
        over_left = max((extent.x0 + more - box.x0 for box in boxes), default=0.0)
        over_right = max((box.x1 + more - extent.x1 for box in boxes), default=0.0)
        if over_left <= 0.5 and over_right <= 0.5:
            return
        ax.set_xlim(low - max(0.0, over_left) * unit, high + max(0.0, over_right) * unit)


def fit_texts(ax: Axes, write: Callable[[], None]) -> None:
    """Write the texts of axes, and again after the layout has changed the size of the axes.

    ``write`` may be called several times. Axes without a layout engine are shrunk until their texts
    are on the page and do not overlap other axes and their texts.
    """
    for _ in range(4):
        write()
        _thin_ticks(ax)
        if ax.figure.get_layout_engine() is not None:
            before = ax.get_window_extent().bounds
            page: Any = ax.figure.figure
            page.draw_without_rendering()
            if np.allclose(before, ax.get_window_extent().bounds, atol=1.0):
                return
        elif not _shrink_into_page(ax):
            return


def _thin_ticks(ax: Axes) -> None:
    """Reduce the number of horizontal ticks until their labels do not touch."""
    from matplotlib.ticker import MaxNLocator

    axis = ax.xaxis
    locator = axis.get_major_locator()
    if not isinstance(locator, MaxNLocator):
        return
    for bins in (6, 5, 4, 3, 2):
        low, high = sorted(axis.get_view_interval())
        ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        axis.get_ticklabels()  # updates the labels
        boxes = sorted((tick.label1.get_window_extent() for tick in ticks), key=lambda b: b.x0)
        if all(
            _SLACK * one.width / 2 + _SLACK * other.width / 2 + _GAP
            <= (other.x0 + other.x1 - one.x0 - one.x1) / 2
            for one, other in pairwise(boxes)
        ):
            return
        locator.set_params(nbins=bins)


def _shrink_into_page(ax: Axes) -> bool:
    """Move the sides of the axes until their texts fit the free box; return whether any moved."""
    for turn in range(6):
        taken, slot, frame = _compute_tight_box(ax), _compute_free_box(ax), ax.get_position()
        page = ax.figure.bbox
        left = max(0.0, slot.x0 - taken.x0) / page.width
        right = max(0.0, taken.x1 - slot.x1) / page.width
        bottom = max(0.0, slot.y0 - taken.y0) / page.height
        top = max(0.0, taken.y1 - slot.y1) / page.height
        if max(left, right, bottom, top) < 1e-4:
            return turn > 0
        width = max(0.05, frame.width - left - right)
        height = max(0.05, frame.height - bottom - top)
        ax.set_position((frame.x0 + left, frame.y0 + bottom, width, height))
        ax.set_in_layout(True)  # let a later layout move the axes again
    return True


def _make_measure(ax: Axes) -> Callable[[str], float]:
    """Make a function that measures the width of a text in pixels at the reference font size."""
    from matplotlib.text import Text

    sample = Text(fontsize=_MEASURED, parse_math=False)
    sample.set_figure(ax.figure)
    known: dict[str, float] = {}

    def width(text: str) -> float:
        if text not in known:
            sample.set_text(text)
            known[text] = _SLACK * float(sample.get_window_extent().width)
        return known[text]

    return width


def _fit_size(
    measure: Callable[[str], float],
    names: Sequence[str],
    width: float,
    row: float,
    dpi: float,
    largest: float,
) -> tuple[float, list[str]]:
    """Find the largest font size at which every name fits a row of a width and height in pixels."""
    size = largest
    while True:
        texts = [_wrap(measure, name, width * _MEASURED / size) for name in names]
        lines = max((text.count("\n") + 1 for text in texts), default=1)
        if lines * size * _LINE * dpi / 72 <= row or size <= _SMALLEST:
            return size, texts
        size -= _STEP


def _wrap(measure: Callable[[str], float], text: str, width: float) -> str:
    lines: list[str] = []
    for paragraph in visible_lines(text).split("\n"):
        line = ""
        for piece in _PIECES.findall(paragraph):
            if measure((line + piece).rstrip()) <= width:
                line += piece
                continue
            if line.strip():
                lines.append(line.rstrip())
            line = piece.lstrip()
            while len(line) > 1 and measure(line) > width:  # a word longer than a line
                cut = _find_longest_fit(measure, line, width)
                lines.append(line[:cut])
                line = line[cut:]
        lines.append(line.rstrip())
    return "\n".join(lines)


def _find_longest_fit(measure: Callable[[str], float], word: str, width: float) -> int:
    low, high = 1, len(word) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(word[:middle]) <= width else (low, middle - 1)
    return low


def _compute_tight_box(ax: Axes) -> Bbox:
    """Compute the box of the axes with their texts, as wide as at other resolutions."""
    from matplotlib.transforms import Bbox

    here = ax.get_window_extent()
    taken = ax.get_tightbbox() or here
    left, right = _SLACK * (here.x0 - taken.x0), _SLACK * (taken.x1 - here.x1)
    return Bbox.from_extents(here.x0 - left, taken.y0, here.x1 + right, taken.y1)


def _compute_free_box(ax: Axes) -> Bbox:
    """Compute the part of the page that is free for axes and their texts, up to other axes."""
    from matplotlib.transforms import Bbox

    figure, here = ax.figure, ax.get_window_extent()
    gap = _GAP * figure.dpi / 72
    page = figure.bbox
    x0, y0, x1, y1 = page.x0 + gap, page.y0 + gap, page.x1 - gap, page.y1 - gap
    for other in figure.axes:
        if other is ax or not other.get_visible():
            continue
        there, taken = other.get_window_extent(), _compute_tight_box(other)
        beside = there.y0 < here.y1 and here.y0 < there.y1
        if beside and there.x1 <= here.x0:
            x0 = max(x0, min(taken.x1 + gap, here.x0))
        elif beside and there.x0 >= here.x1:
            x1 = min(x1, max(taken.x0 - gap, here.x1))
        elif there.x0 < here.x1 and here.x0 < there.x1 and there.y1 <= here.y0:
            y0 = max(y0, min(taken.y1 + gap, here.y0))
        elif there.x0 < here.x1 and here.x0 < there.x1 and there.y0 >= here.y1:
            y1 = min(y1, max(taken.y0 - gap, here.y1))
    return Bbox.from_extents(x0, y0, x1, y1)
