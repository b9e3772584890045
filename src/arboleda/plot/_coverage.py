"""How often intervals and sets held the truth, against what they promised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from arboleda.plot._fit import drawn_axes, legend_above, settle, write_axis
from arboleda.plot._style import EDGE, LINES, MARKERS, letters, output_colours, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["coverage"]


def coverage(curve: Any, ax: Axes | None = None, *, label: str | None = None) -> Axes:
    """Draw the share of rows covered over the share promised, with two standard errors.

    Intervals or sets that keep their promise lie on the diagonal or above it.

    Parameters
    ----------
    curve : CoverageCurve or mapping from str to CoverageCurve
        From ``coverage_curve`` of prediction intervals or sets; several by their names.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: on axes of a new figure.
    label : str, default=None
        Name of a single curve; None: its own.

    Returns
    -------
    ax : matplotlib.axes.Axes
        A curve that is drawn on axes with others is added to their legend.

    Raises
    ------
    ValueError
        If there is no curve.
    """
    if isinstance(curve, Mapping):
        curves = {str(name): one for name, one in curve.items()}
    else:
        curves = {str(curve.name) if label is None else label: curve}
    if not curves:
        raise ValueError("there is no coverage curve to draw")
    ax = drawn_axes(ax, 4.4, 4.6)
    size = letters(ax)
    n_before = len(_bars_of(ax))
    colours = output_colours(n_before + len(curves))
    for turn, (name, one) in enumerate(curves.items(), start=n_before):
        ax.errorbar(
            one.promised,
            one.covered,
            yerr=2.0 * np.asarray(one.standard_error, dtype=np.float64),
            color=colours[turn],
            ls=LINES[turn % len(LINES)],
            marker=MARKERS[turn % len(MARKERS)],
            ms=4.5,
            mec=EDGE,
            mew=0.4,
            lw=1.3,
            elinewidth=0.8,
            capsize=2.0,
            label=name,
            zorder=3,
        )
    if not n_before:
        diagonal: dict[str, Any] = {
            "color": EDGE,
            "lw": 0.8,
            "ls": (0, (2, 2)),
            "label": "promised",
        }
        ax.plot([0.0, 1.0], [0.0, 1.0], scalex=False, scaley=False, **diagonal)
    low = min(float(np.min(bars.lines[0].get_xdata())) for bars in _bars_of(ax))
    ax.set_xlim(max(0.0, low - 0.03), 1.0)
    quiet(ax, size)
    handles, _ = ax.get_legend_handles_labels()

    def write() -> None:
        write_axis(ax, size, x="promised coverage", y="share of rows covered")
        legend_above(ax, size, handles)

    settle(ax, write)
    return ax


def _bars_of(ax: Axes) -> list[Any]:
    """Curves with bars of errors that are on the axes."""
    from matplotlib.container import ErrorbarContainer

    return [one for one in ax.containers if isinstance(one, ErrorbarContainer)]
