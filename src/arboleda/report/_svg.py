"""Figures drawn by matplotlib become small SVG that lives inside a page and follows its theme.

Two things are kept out of matplotlib on purpose. Colours: a figure is drawn in stand-in colours
that are replaced by the page's CSS variables, so one drawing serves the light and the dark theme.
Users' text: a figure is drawn with numbered marks that are replaced by the escaped text, so a
``$`` starts no formula, a missing glyph raises no warning and ``<`` opens no element.
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
    "ACCENT", "GRID", "INK", "MUTED", "NEUTRAL", "PAPER", "SHADES",
    "canvas", "inline_svg", "mark", "palette", "shade",
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


def palette(index: int) -> str:
    """Name the stand-in for the page's colour of the class with this index."""
    return _PALETTE[index % len(_PALETTE)]


def shade(index: int) -> str:
    """Name the stand-in for a step from low (0) to high (`SHADES` - 1)."""
    return _SHADES[index]


def mark(index: int) -> str:
    """Name the text to draw where the user's text with this index shall stand."""
    return f"@{index}@"


@contextmanager
def canvas(width: float, height: float) -> Iterator[Figure]:
    """Open an empty figure of this size in CSS pixels, whatever the user's matplotlibrc says."""
    with rc_context(_settings()):
        figure = Figure(figsize=(width / 72, height / 72), facecolor="none")
        FigureCanvasSVG(figure)
        yield figure


def _settings() -> dict[Any, Any]:
    # Setting the backend or the interactive hooks would touch what the user has open.
    theirs = ("backend", "interactive", "toolbar", "webagg", "keymap", "timezone")
    usual = {key: rcParamsDefault[key] for key in rcParamsDefault if not key.startswith(theirs)}
    return usual | _RC


def frame(axes: Axes, grid: str = "both") -> None:
    """Make the axes quiet: a light grid behind the data and no box around it."""
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.patch.set_visible(False)
    axes.tick_params(length=0, pad=6)
    axes.set_axisbelow(True)
    if grid in ("both", "x"):
        axes.xaxis.grid(True, color=GRID, linewidth=1)
    if grid in ("both", "y"):
        axes.yaxis.grid(True, color=GRID, linewidth=1)


def inline_svg(figure: Figure, name: str, label: str, texts: Sequence[str] = ()) -> Markup:
    """Turn the figure into an SVG element.

    Parameters
    ----------
    figure : Figure
        Drawn inside `canvas`; still inside its ``with`` block when this is called.
    name : str
        Prefix that keeps the identifiers of this figure apart from those of the others.
    label : str
        What the figure shows, for those who cannot see it.
    texts : sequence of str
        Users' texts that take the places of their marks; each may be as long as it likes to be.
    """
    buffer = StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    drawing = buffer.getvalue()
    body = drawing[drawing.index("<defs>", drawing.index("</metadata>")) :]
    # The style sheet matplotlib puts in would hold for the whole page.
    body = re.sub(r"<style[^>]*>.*?</style>", "", body, flags=re.DOTALL)
    body = _lean(_own_identifiers(_themed(body), name))
    body = re.sub(r"@(\d+)@", lambda found: str(escape(texts[int(found[1])])), body)
    width, height = (round(inches * 72) for inches in figure.get_size_inches())
    head = Markup(
        '<svg class="plot" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img"'
        ' aria-label="{2}">'
    ).format(width, height, label)
    return head + Markup(body.rstrip())  # every user's text in the body was escaped above


def _themed(body: str) -> str:
    for colour, variable in _VARIABLES.items():
        body = body.replace(colour, f"var({variable})")
    # Family and style come from the page; only the size stays.
    body = re.sub(r"font: (?:[a-z0-9-]+ )*?([\d.]+)px [^;\"]*", r"font-size: \1px", body)
    return re.sub(r"font-(?:family|stretch|style): [^;\"]*;? ?", "", body)


def _own_identifiers(body: str, name: str) -> str:
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", body))
    body = re.sub(r' xlink:href="', ' href="', body)
    body = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{name}-", body)

    def keep(found: re.Match[str]) -> str:
        return f' id="{name}-{found[1]}"' if found[1] in used else ""

    return re.sub(r' id="([^"]*)"', keep, body)


def _lean(body: str) -> str:
    """Drop what no eye can see; a tenth of a pixel is as fine as a page shows."""

    def lean_tag(found: re.Match[str]) -> str:
        tag = re.sub(r" transform=\"rotate\(-?0 [^\"]*\"", "", found[0])
        tag = re.sub(r"-?\d+\.\d{2,}", lambda n: f"{float(n[0]):.1f}".removesuffix(".0"), tag)
        return re.sub(r"\s+", " ", tag)

    # Only within tags: the labels of an axis are text and keep every digit.
    body = re.sub(r"<[^>]+>", lean_tag, body)
    return re.sub(r">\s+<", "><", body).replace("<g/>", "").replace("<defs></defs>", "")
