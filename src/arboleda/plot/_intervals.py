"""Plot of prediction intervals in the order of their predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboleda.plot._fit import fit_texts, make_axes, place_legend_above, write_labels
from arboleda.plot._style import INK, PALE, choose_font_size, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["intervals"]

_MOST = 200  # more intervals would merge into an area


def intervals(intervals: Any, ax: Axes | None = None) -> Axes:
    """Plot prediction intervals as bars in the order of their predictions.

    Parameters
    ----------
    intervals : Intervals
        From `arboleda.explain.PredictionInterval.predict`. Of more than 200, evenly spaced ones are
        drawn; infinite bounds are left out.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None: those of a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> from arboleda import plot
    >>> from arboleda.explain import Intervals
    >>> ax = plot.intervals(Intervals([0.0, 1.0], [2.0, 4.0], [1.0, 2.0], 0.9))
    >>> ax.get_ylabel()
    'prediction and interval of coverage 0.9'
    """
    ax = make_axes(ax, 6.0, 3.6)
    size = choose_font_size(ax)
    prediction, lower, upper = (
        np.asarray(values, dtype=np.float64)
        for values in (intervals.prediction, intervals.lower, intervals.upper)
    )
    order = np.argsort(prediction, kind="stable")
    if len(order) > _MOST:
        order = order[np.linspace(0, len(order) - 1, _MOST).round().astype(np.intp)]
    places = np.arange(len(order))
    is_finite = np.isfinite(lower[order]) & np.isfinite(upper[order])
    bars = ax.vlines(
        places[is_finite],
        lower[order][is_finite],
        upper[order][is_finite],
        color=PALE,
        lw=max(1.0, min(6.0, 300.0 / max(len(order), 1))),
        label="interval",
    )
    dots = ax.plot(places, prediction[order], ".", ms=3.5, color=INK, label="prediction")
    ax.set_xticks([])
    style_axes(ax, size)
    some = f" ({len(order)} of {len(prediction):,})" if len(order) < len(prediction) else ""

    def write() -> None:
        write_labels(
            ax,
            size,
            x=f"rows, by prediction{some}",
            y=f"prediction and interval of coverage {intervals.coverage:g}",
        )
        place_legend_above(ax, size, [*dots, bars])

    fit_texts(ax, write)
    return ax
