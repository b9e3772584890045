"""Reliability diagrams in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from arboleda.metrics import reliability_table
from arboleda.plot._fit import drawn_axes, legend_above, settle, write_axis
from arboleda.plot._style import letters, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["reliability"]


def reliability(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    ax: Axes | None = None,
    *,
    label: str | None = None,
    **options: Any,
) -> Axes:
    """Draw how often what was said with some probability came true.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes, of rows that the model did not learn from.
    y_prob : array-like of shape (n, n_classes) or (n,)
        Probabilities; with two classes, those of the second will do.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: on axes of a new figure.
    label : str, default=None
        Name of the curve; None: the expected calibration error.
    **options
        Those of `arboleda.metrics.reliability_table`: ``labels``, ``pos_label``, ``n_bins``,
        ``strategy``, ``interval`` and ``confidence_level``.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        As `arboleda.metrics.reliability_table` does.

    Examples
    --------
    >>> from arboleda import plot
    >>> ax = plot.reliability([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.2, 0.8, 0.9, 0.9], pos_label=1)
    >>> ax.get_xlabel()
    'mean probability of 1'
    """
    table = reliability_table(y_true, y_prob, **options)
    ax = drawn_axes(ax, 4.6, 4.9)
    size = letters(ax)
    table.plot(ax, label=label)
    quiet(ax, size)
    handles, _ = ax.get_legend_handles_labels()
    below, beside = ax.get_xlabel(), ax.get_ylabel()

    def write() -> None:
        write_axis(ax, size, x=below, y=beside)
        legend_above(ax, size, handles)

    settle(ax, write)
    return ax
