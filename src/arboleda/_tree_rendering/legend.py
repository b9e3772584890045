"""Colours of classes and values, and their legend."""

from collections.abc import Sequence

from arboleda._tree_rendering.boxes import Sketch, xml_text
from arboleda._utils.numbers import clip, plain, text_units

__all__ = [
    "ACCENT",
    "CLASS_COLOURS",
    "GREY",
    "blend_with_white",
    "class_colours",
    "legend",
    "purity",
]

# The "muted" qualitative scheme of P. Tol, "Colour schemes", SRON technical note EPS/TN/09-002,
# ordered so that neighbours differ in lightness; the last is a grey for a tenth class.
CLASS_COLOURS = (
    "#332288", "#ddcc77", "#44aa99", "#882255", "#88ccee",
    "#999933", "#cc6677", "#117733", "#aa4499", "#777777",
)  # fmt: skip
ACCENT = "#117733"
GREY = "#c0c0c0"


def class_colours(n_classes: int) -> tuple[str, ...]:
    """Choose a colour for each class; more than ten classes share a single colour.

    Examples
    --------
    >>> class_colours(2), len(set(class_colours(11)))
    (('#332288', '#ddcc77'), 1)
    """
    if n_classes <= len(CLASS_COLOURS):
        return CLASS_COLOURS[:n_classes]
    return (ACCENT,) * n_classes


def purity(shares: Sequence[float]) -> float:
    """Compute the margin of the largest share over the second: 0 for a tie, 1 for a pure node.

    Examples
    --------
    >>> purity([0.5, 0.5, 0.0]), purity([1.0, 0.0]), purity([1.0])
    (0.0, 1.0, 0.0)
    """
    if len(shares) == 1:
        return 0.0
    second, first = sorted(shares)[-2:]
    return (first - second) / (1.0 - second) if second < 1.0 else 0.0


def blend_with_white(colour: str, strength: float) -> str:
    """Mix a colour ``#rrggbb`` with white; strength 1 is the colour, 0 is white.

    Examples
    --------
    >>> blend_with_white("#332288", 0.5), blend_with_white("#332288", 0.0)
    ('#9990c4', '#ffffff')
    """
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 + strength * (part - 255)):02x}" for part in parts)


_ROW, _SWATCH, _LETTER, _MARGIN = 18.0, 10.0, 6.6, 4.0
_LONGEST = 30.0
_STEPS = 5


def legend(
    sketch: Sketch, colours: tuple[str, ...], ends: tuple[float, float], width: float, accent: str
) -> tuple[float, str]:
    """Draw the legend and return its height and its elements.

    Parameters
    ----------
    sketch : Sketch
        The tree.
    colours : tuple of str
        Colour of each class of the first output.
    ends : (float, float)
        Smallest and largest value, for regression trees.
    width : float
        Maximum width of a row.
    accent : str
        Colour of values.
    """
    if sketch.is_one_number:
        low, high = (plain(end, 5) for end in ends)
        return _scale(low, high, accent)
    if len(sketch.outputs) > 1:
        return _scale("impure", "pure", accent)
    labels = sketch.outputs[0].labels or ()
    if len(set(colours)) < len(labels):
        return _scale("impure", "pure", accent)
    return _classes(labels, colours, width)


def _classes(labels: tuple[str, ...], colours: tuple[str, ...], width: float) -> tuple[float, str]:
    x, y, parts = _MARGIN, _MARGIN, []
    for label, colour in zip(labels, colours, strict=True):
        text = clip(" ".join(label.split()) or "(empty)", _LONGEST)
        step = _SWATCH + 5 + text_units(text) * _LETTER + 14
        if x > _MARGIN and x + step > width:
            x, y = _MARGIN, y + _ROW
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{_SWATCH:.0f}" height="{_SWATCH:.0f}"'
            f' style="fill:{colour}"/>'
            f'<text x="{x + _SWATCH + 5:.1f}" y="{y + 9:.1f}">{xml_text(text)}</text>'
        )
        x += step
    return y + _ROW + 4, "".join(parts)


def _scale(low: str, high: str, accent: str) -> tuple[float, str]:
    """Draw a scale of the tints of the leaves, with labels at its ends."""
    start = _MARGIN + text_units(low) * _LETTER + 6
    steps = "".join(
        f'<rect x="{start + 16 * step:.1f}" y="{_MARGIN:.1f}" width="16" height="10"'
        f' style="fill:{accent};fill-opacity:{0.05 + 0.3 * step / (_STEPS - 1):.2f}"/>'
        for step in range(_STEPS)
    )
    end = start + 16 * _STEPS + 6
    ends = (
        f'<text x="{_MARGIN:.1f}" y="{_MARGIN + 9:.1f}">{low}</text>'
        f'<text x="{end:.1f}" y="{_MARGIN + 9:.1f}">{high}</text>'
    )
    return _MARGIN + _ROW + 4, ends + steps
