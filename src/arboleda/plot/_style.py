"""The plain style of the plots: few lines, and lightness, hatching or markers besides colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arboleda._tree_rendering.colours import CLASS_COLOURS, blend_with_white, class_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

__all__ = [
    "BAR",
    "DOWN",
    "EDGE",
    "INK",
    "LINES",
    "MARKERS",
    "NEUTRAL",
    "PALE",
    "UP",
    "choose_font_size",
    "lighten",
    "make_colormap",
    "output_colours",
    "style_axes",
]

INK = "0.15"  # main lines
EDGE = "0.35"  # edges of bars
NEUTRAL = "0.55"  # neither high nor low
PALE = "0.82"  # background
BAR = blend_with_white(CLASS_COLOURS[0], 0.45)
# Upward is dark and plain, downward light and hatched: distinguishable in greyscale.
UP: dict[str, Any] = {"facecolor": CLASS_COLOURS[0], "edgecolor": EDGE, "linewidth": 0.6}
DOWN: dict[str, Any] = {
    "facecolor": blend_with_white(CLASS_COLOURS[1], 0.7),
    "edgecolor": EDGE,
    "linewidth": 0.6,
    "hatch": "////",
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))

_LARGEST, _SMALLEST = 9.0, 5.5  # font sizes of axes and legends, in points
_EASY = 4.0, 3.0  # width and height in inches of axes that suit the largest font size


def choose_font_size(ax: Axes) -> float:
    """Choose the font size, in points, that suits the current size of the axes."""
    extent, dpi = ax.get_window_extent(), ax.figure.dpi
    share = min(extent.width / dpi / _EASY[0], extent.height / dpi / _EASY[1])
    return max(_SMALLEST, min(_LARGEST, _LARGEST * share))


def style_axes(ax: Axes, size: float, *, frame: bool = False) -> None:
    """Remove two sides of the frame, shorten the ticks and set font sizes."""
    if not frame:
        ax.spines[["top", "right"]].set_visible(False)
    for spine in ax.spines.values():
        spine.set(color="0.6", linewidth=0.7)
    ax.tick_params(labelsize=size, length=2.5, width=0.7, color="0.6")
    ax.xaxis.label.set_fontsize(size)
    ax.yaxis.label.set_fontsize(size)
    ax.title.set_fontsize(size + 1)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_offset_text().set_fontsize(size)


def make_colormap(*, pale: bool = False) -> Colormap:
    """Make a colour map from low (light) to high (dark), with evenly decreasing lightness."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = ["#f6efd2", "#88ccbb", "#332288"] if pale else ["#e0cb66", "#3d9a8b", "#231560"]
    return LinearSegmentedColormap.from_list("low_to_high", ends)


def output_colours(n_outputs: int) -> list[Any]:
    """Choose a colour for each output; many outputs differ in lightness."""
    if n_outputs <= len(CLASS_COLOURS):
        return list(class_colours(n_outputs))
    import matplotlib as mpl

    colours = mpl.colormaps["cividis"]
    return [colours(k / (n_outputs - 1)) for k in range(n_outputs)]


def lighten(colour: Any) -> Any:
    """Mix a colour with white, for the background of marks of this colour."""
    from matplotlib.colors import to_rgb

    return tuple(1.0 - 0.45 * (1.0 - part) for part in to_rgb(colour))
