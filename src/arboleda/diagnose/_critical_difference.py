"""Critical-difference diagram: mean ranks, and bars over equal models (Demšar 2006, figure 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEP = 1.0  # between two lines of text, in units of the vertical axis
_BAR = 0.28  # between two bars


def draw_ranks(
    ax: Axes,
    names: Sequence[str],
    mean_rank: npt.NDArray[np.float64],
    difference: float,
    spans: Sequence[tuple[float, float]],
) -> Axes:
    """Draw an axis of ranks, with rank 1 to the right, and the names below it on both sides.

    ``spans`` are the first and the last rank of each bar. The limits leave space for the names at
    the current size of the axes.
    """
    n_models = len(names)
    order = np.argsort(mean_rank, kind="stable")
    bars, margin, widest = _BAR * (len(spans) + 1), 0.03 * (n_models - 1), 0.0
    for place, k in enumerate(order):
        # The better half of the names is to the right, the best on top; the others to the left.
        right = place < (n_models + 1) // 2
        line = place if right else n_models - 1 - place
        height = -bars - _STEP * (line + 0.5)
        end = 1 - margin if right else n_models + margin
        rank = mean_rank[k]
        ax.plot([rank, rank, end], [0, height, height], color="black", lw=0.8)
        text = ax.text(
            end, height, f" {names[k]} ({rank:.2f}) ",
            ha="left" if right else "right", va="center",
        )  # fmt: skip
        widest = max(widest, text.get_window_extent().width)
    for number, (low, high) in enumerate(spans):
        height = -_BAR * (number + 1)
        ax.plot([low - margin / 2, high + margin / 2], [height, height], color="C3", lw=4)
    _draw_scale(ax, n_models, difference)
    # The width of a name does not depend on the scale; it gets at most a third of the axes.
    share = min(widest / ax.bbox.width, 1 / 3)
    room = margin + share * (n_models - 1 + 2 * margin) / (1 - 2 * share)
    ax.set_xlim(n_models + room, 1 - room)
    ax.set_ylim(-bars - _STEP * ((n_models + 1) // 2), 1.9)
    ax.axis("off")
    return ax


def _draw_scale(ax: Axes, n_models: int, difference: float) -> None:
    """Draw the axis of ranks, and the critical difference above it."""
    ax.plot([1, n_models], [0, 0], color="black", lw=1)
    for rank in range(1, n_models + 1):
        ax.plot([rank, rank], [0, 0.15], color="black", lw=1)
        ax.text(rank, 0.25, str(rank), ha="center", va="bottom")
    start = n_models
    ax.plot([start, start - difference], [1.2, 1.2], color="black", lw=1.5)
    for end in (start, start - difference):
        ax.plot([end, end], [1.1, 1.3], color="black", lw=1.5)
    ax.text(start - difference / 2, 1.35, f"CD = {difference:.2f}", ha="center", va="bottom")
