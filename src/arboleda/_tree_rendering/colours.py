"""Colours of classes and values, distinguishable for colour-blind readers."""

from collections.abc import Sequence

__all__ = ["ACCENT", "CLASS_COLOURS", "GREY", "blend_with_white", "class_colours", "purity"]

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
