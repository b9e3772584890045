"""Conversion of matplotlib figures to small inline SVG that follows the theme of the page.

Two things are added after drawing. Colours: a figure is drawn in placeholder colours that are
replaced by CSS variables of the page, so one drawing serves the light and the dark theme. Text of
users: a figure is drawn with numbered marks that are replaced by the escaped text, so ``$`` starts
no formula, a missing glyph raises no warning, and ``<`` opens no element.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any

from markupsafe import Markup, escape
from matplotlib import rc_context, rcParamsDefault
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

__all__ = [
    "ACCENT",
    "GRID",
    "INK",
    "MUTED",
    "NEUTRAL",
    "PAPER",
    "SHADES",
    "get_palette_colour",
    "get_shade",
    "make_inline_svg",
    "make_mark",
    "open_canvas",
]  # fmt: skip

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


def make_inline_svg(figure: Figure, name: str, label: str, texts: Sequence[str] = ()) -> Markup:
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
        ' aria-label="{2}">'
    ).format(width, height, label)
    return head + Markup(body.rstrip())  # every user's text in the body was escaped above


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
