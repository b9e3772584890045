"""The plain style of the plots, and the values and outputs that they show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._tree_rendering.legend import CLASS_COLOURS, blend_with_white, class_colours
from arboleda._utils.number_types import is_integer
from arboleda._utils.numbers import plain

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
    "as_numbers",
    "choose_font_size",
    "find_output",
    "format_value",
    "is_mirrored",
    "is_missing",
    "lighten",
    "make_colormap",
    "name_outputs",
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
    from matplotlib.ticker import ScalarFormatter

    for axis in (ax.xaxis, ax.yaxis):
        if isinstance(formatter := axis.get_major_formatter(), ScalarFormatter):
            formatter.set_useOffset(False)  # labels are the values themselves
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


def is_missing(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which values are None or NaN."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.array([_is_missing_value(value) for value in values], dtype=bool)


def as_numbers(values: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Convert values to numbers, NaN where missing; None if the values are categories."""
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    if values.dtype.kind != "O":
        return None
    kinds = (int, float, np.number)
    if not all(
        _is_missing_value(v) or (isinstance(v, kinds) and not isinstance(v, bool)) for v in values
    ):
        return None
    return np.array([np.nan if _is_missing_value(v) else float(v) for v in values])


def format_value(value: Any) -> str:
    """Format a value for a label: a number with few digits, a category in full."""
    if _is_missing_value(value):
        return "missing"
    if isinstance(value, bool | np.bool_ | str):
        return str(value)
    return plain(float(value)) if isinstance(value, int | float | np.number) else str(value)


def _is_missing_value(value: Any) -> bool:
    # NaN and pandas' NaT differ from themselves; pandas' NA has no truth value.
    return value is None or type(value).__name__ == "NAType" or value != value  # noqa: PLR0124


def is_mirrored(values: npt.NDArray[np.float64], axis: int) -> bool:
    """Return whether there are two outputs along the axis, whose sum is constant.

    This holds for the probabilities of two classes: the plot of one shows the other.
    """
    both = values.sum(axis=axis)
    size = float(np.abs(values).max(initial=0.0))
    return values.shape[axis] == 2 and bool(np.ptp(both) <= 1e-9 * size)


def name_outputs(names: Any, n_outputs: int) -> list[str]:
    """Return the names of the outputs as text; their indices if there are none."""
    if names is None:
        return [str(k) for k in range(n_outputs)]
    return [str(name) for name in names]


def find_output(output: Any, names: Sequence[str]) -> int:
    """Find the index of an output by its name or index.

    Raises
    ------
    ValueError
        If there is no such output.
    """
    a_number = is_integer(output) and not isinstance(output, bool)
    if str(output) in names and not (a_number and 0 <= int(output) < len(names)):
        return list(names).index(str(output))
    if a_number:
        if -len(names) <= int(output) < len(names):
            return int(output) % len(names)
        raise ValueError(f"output must be an index from 0 to {len(names) - 1}, got {output!r}")
    raise ValueError(f"output must be one of {list(names)} or an index, got {output!r}")
