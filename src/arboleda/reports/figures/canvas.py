"""The canvas of all figures: axes, ticks and compact SVG that follows the theme of the page.

Two things are added after drawing. Colours: a figure is drawn in placeholder colours that are
replaced by CSS variables of the page, so one drawing serves the light and the dark theme. Text of
users: a figure is drawn with numbered marks that are replaced by the escaped text, so ``$`` starts
no formula, a missing glyph raises no warning, and ``<`` opens no element.
"""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any

import numpy as np
from markupsafe import Markup, escape
from matplotlib import rc_context, rcParamsDefault
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from arboleda._utils.numbers import fixed, plain, text_units
from arboleda.reports.figures.hints import Hint, draw_hints

__all__ = [
    "ACCENT",
    "GRID",
    "INK",
    "MUTED",
    "NEUTRAL",
    "PAPER",
    "SHADES",
    "add_plot_axes",
    "get_palette_colour",
    "get_shade",
    "make_dot_patch",
    "make_inline_svg",
    "make_mark",
    "open_canvas",
    "pad_range",
    "set_left_label",
    "set_numeric_ticks",
]

INK, MUTED, GRID, ACCENT, PAPER = "#0a0a01", "#0a0a02", "#0a0a03", "#0a0a04", "#0a0a05"
NEUTRAL = "#0a0a06"
SHADES = 5
_PALETTE = tuple(f"#0a0b{i:02d}" for i in range(8))
_SHADES = tuple(f"#0a0c{i:02d}" for i in range(SHADES))
_VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--line",
    ACCENT: "--accent",
    PAPER: "--paper",
    NEUTRAL: "--neutral",
    **{colour: f"--c{i}" for i, colour in enumerate(_PALETTE)},
    **{colour: f"--s{i}" for i, colour in enumerate(_SHADES)},
}
_RC = {
    "svg.fonttype": "none",
    "svg.hashsalt": "arboleda",
    "font.size": 12.0,
    "axes.linewidth": 1.0,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 12.0,
    "axes.unicode_minus": True,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 12.0,
    "ytick.labelsize": 12.0,
    "text.parse_math": False,
    "path.simplify": True,
    "path.simplify_threshold": 0.3,
}


def get_palette_colour(index: int) -> str:
    """Return the placeholder of the colour of the class with this index."""
    return _PALETTE[index % len(_PALETTE)]


def get_shade(index: int) -> str:
    """Return the placeholder of a shade from low (0) to high (`SHADES` - 1)."""
    return _SHADES[index]


def make_mark(index: int) -> str:
    """Return the mark to draw in place of the text with this index."""
    return f"@{index}@"


@contextmanager
def open_canvas(width: float, height: float) -> Iterator[Figure]:
    """Open an empty figure of this size in CSS pixels, independent of matplotlibrc."""
    with rc_context(_make_settings()):
        figure = Figure(figsize=(width / 72, height / 72), facecolor="none")
        FigureCanvasSVG(figure)
        yield figure


def _make_settings() -> dict[Any, Any]:
    # Changing the backend or the interactive hooks would affect open figures of the user.
    theirs = ("backend", "interactive", "toolbar", "webagg", "keymap", "timezone")
    usual = {key: rcParamsDefault[key] for key in rcParamsDefault if not key.startswith(theirs)}
    return usual | _RC


def style_axes(axes: Axes, grid: str = "both") -> None:
    """Style the axes: a light grid behind the data and no box."""
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.patch.set_visible(False)
    axes.tick_params(length=0, pad=6)
    axes.set_axisbelow(True)
    if grid in ("both", "x"):
        axes.xaxis.grid(True, color=GRID, linewidth=1)
    if grid in ("both", "y"):
        axes.yaxis.grid(True, color=GRID, linewidth=1)


def make_inline_svg(
    figure: Figure,
    name: str,
    label: str,
    texts: Sequence[str] = (),
    hints: Sequence[Hint] = (),
) -> Markup:
    """Convert the figure to an SVG element.

    Parameters
    ----------
    figure : Figure
        A figure of `open_canvas`; call this function inside its ``with`` block.
    name : str
        Prefix that makes the identifiers of this figure unique within the page.
    label : str
        Text alternative of the figure.
    texts : sequence of str
        Texts of users that replace their marks, of any length.
    hints : sequence of Hint
        Values that appear under the pointer, in the coordinates of the figure's axes.
    """
    buffer = StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    drawing = buffer.getvalue()
    body = drawing[drawing.index("<defs>", drawing.index("</metadata>")) :]
    # The style sheet of matplotlib would apply to the whole page.
    body = re.sub(r"<style[^>]*>.*?</style>", "", body, flags=re.DOTALL)
    body = _shorten(_prefix_identifiers(_replace_colours(body), name))
    body = re.sub(r"@(\d+)@", lambda result: str(escape(texts[int(result[1])])), body)
    width, height = (round(inches * 72) for inches in figure.get_size_inches())
    head = Markup(
        '<svg class="plot" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img"'
        ' aria-label="{2}"{3}>'
    )
    drawn = Markup(body.rstrip())  # every user's text in the body was escaped above
    if not hints:
        return head.format(width, height, label, "") + drawn
    description, shapes = draw_hints(figure.axes[0], hints, name)
    described = Markup(' aria-describedby="{}-values"').format(name)
    inside = drawn.removesuffix("</svg>")
    return (
        head.format(width, height, label, described)
        + description
        + Markup(inside)
        + shapes
        + Markup("</svg>")
    )


def _replace_colours(body: str) -> str:
    for colour, variable in _VARIABLES.items():
        body = body.replace(colour, f"var({variable})")
    # Keep only the size; family and style come from the page.
    body = re.sub(r"font: (?:[a-z0-9-]+ )*?([\d.]+)px [^;\"]*", r"font-size: \1px", body)
    return re.sub(r"font-(?:family|stretch|style): [^;\"]*;? ?", "", body)


def _prefix_identifiers(body: str, name: str) -> str:
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", body))
    body = re.sub(r' xlink:href="', ' href="', body)
    body = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{name}-", body)

    def keep(result: re.Match[str]) -> str:
        return f' id="{name}-{result[1]}"' if result[1] in used else ""

    return re.sub(r' id="([^"]*)"', keep, body)


def _shorten(body: str) -> str:
    """Shorten the SVG without a visible change: round to tenths of a pixel."""

    def shorten_tag(result: re.Match[str]) -> str:
        tag = re.sub(r" transform=\"rotate\(-?0 [^\"]*\"", "", result[0])
        tag = re.sub(r"-?\d+\.\d{2,}", lambda n: f"{float(n[0]):.1f}".removesuffix(".0"), tag)
        return re.sub(r"\s+", " ", tag)

    # Only within tags: axis labels are text and keep all digits.
    body = re.sub(r"<[^>]+>", shorten_tag, body)
    return re.sub(r">\s+<", "><", body).replace("<g/>", "").replace("<defs></defs>", "")


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
    ticks = [tick for tick in map(float, locator.tick_values(low, high)) if low <= tick <= high]
    texts = _format_ticks(ticks, high - low)
    axis = axes.xaxis if x else axes.yaxis
    axis.set_ticks(ticks, labels=texts)
    if x and ticks:
        _make_room_left(axes, texts[0], (ticks[0] - low) / (high - low))
        _make_room(axes, texts[-1], (high - ticks[-1]) / (high - low))


def set_logarithmic_ticks(axes: Axes) -> None:
    """Make the horizontal axis logarithmic, with ticks at powers of ten, or at 1, 2 and 5 times."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [10.0**power for power in powers if low <= 10.0**power <= high]
    if len(ticks) < 3:
        ticks = [m * 10.0**p for p in powers for m in (1, 2, 5) if low <= m * 10.0**p <= high]
    ticks = ticks[:: -(-len(ticks) // 6)]
    axes.set_xticks(ticks, labels=[plain(tick) for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlim(low, high)


def _format_ticks(ticks: Sequence[float], width: float) -> list[str]:
    """Format equidistant ticks with as many digits as tell them apart, and no more.

    Four digits have no separator, so that a year is not 2,017.
    """
    step = min(np.diff(ticks), default=width)
    largest = max(map(abs, ticks), default=0.0)
    if largest >= 1e10 or step < 1e-6:
        ratio = max(largest / step, 1.0) if step > 0 else 1.0
        significant = min(17, 2 + math.ceil(math.log10(ratio)))
        return [plain(0.0 if abs(tick) < 1e-6 * step else tick, significant) for tick in ticks]
    decimals = next(n for n in range(10) if all(_is_multiple(tick, step, n) for tick in ticks))
    return [fixed(tick, decimals, grouped=largest >= 1e4) for tick in ticks]


def _is_multiple(tick: float, step: float, decimals: int) -> bool:
    """Return whether a tick has at most this number of decimals, but for its rounding error."""
    return abs(round(tick, decimals) - tick) <= 1e-3 * step


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
