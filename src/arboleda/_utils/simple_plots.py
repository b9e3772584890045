"""Plots of a few named numbers: bars, and points with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arboleda._utils.frames import axes_or_new
from arboleda._utils.numbers import clip
from arboleda._utils.text import plot_escaped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_bars", "draw_intervals", "set_names"]

_MOST = 20  # names on an axis
_LETTERS = 30  # width of a name

Numbers = Sequence[float | None]


def draw_bars(
    ax: Axes | None, names: Sequence[str], values: Numbers, errors: Numbers | None, label: str
) -> Axes:
    """Draw horizontal bars with error bars, the first on top; at most 20, and ``label`` says so."""
    ax = axes_or_new(ax)
    lengths = _to_floats(values[:_MOST])
    reach = None if errors is None else np.nan_to_num(_to_floats(errors[:_MOST]))
    ax.barh(np.arange(len(lengths)), lengths, 0.66, xerr=reach, error_kw={"lw": 1, "capsize": 2})
    if np.nanmin(lengths, initial=0.0) < 0:
        ax.axvline(0, color="grey", lw=0.8)
    set_names(ax, names, label)
    return ax


def draw_intervals(
    ax: Axes | None, names: Sequence[str], values: Numbers, ends: Sequence[Numbers], label: str
) -> Axes:
    """Draw points with intervals, the first on top; ``ends`` has the lower and the upper ends."""
    ax = axes_or_new(ax)
    low, middle, high = (_to_floats(part[:_MOST]) for part in (ends[0], values, ends[1]))
    places = np.arange(len(middle))
    ax.hlines(places, low, high, lw=1)
    ax.plot(middle, places, "o", ms=5)
    set_names(ax, names, label)
    return ax


def set_names(ax: Axes, names: Sequence[str], label: str) -> None:
    """Write the names on the vertical axis, the first on top, and the label of the other axis."""
    shown = [plot_escaped(clip(name, _LETTERS)) for name in names[:_MOST]]
    ax.set_yticks(np.arange(len(shown)), shown)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    rest = f" ({_MOST} of {len(names)})" if len(names) > _MOST else ""
    ax.set_xlabel(plot_escaped(f"{label}{rest}"))


def _to_floats(values: Numbers) -> Any:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
