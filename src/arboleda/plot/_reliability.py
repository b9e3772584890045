"""Reliability diagrams of predicted probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from arboleda.metrics import reliability_table
from arboleda.plot._fit import fit_texts, make_axes, place_legend_above, write_labels
from arboleda.plot._style import choose_font_size, style_axes

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
    """Plot the observed frequency of each class against its predicted probability.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes of held-out rows.
    y_prob : array-like of shape (n, n_classes) or (n,)
        Probabilities; with two classes, those of the second class suffice.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None: those of a new figure.
    label : str, default=None
        Name of the curve; None: the expected calibration error.
    **options
        Options of `arboleda.metrics.reliability_table`: ``labels``, ``pos_label``, ``n_bins``,
        ``strategy``, ``interval`` and ``confidence_level``.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        As in `arboleda.metrics.reliability_table`.

    Examples
    --------
    >>> from arboleda import plot
    >>> ax = plot.reliability([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.2, 0.8, 0.9, 0.9], pos_label=1)
    >>> ax.get_xlabel()
    'mean probability of 1'
    """
    table = reliability_table(y_true, y_prob, **options)
    ax = make_axes(ax, 4.6, 4.9)
    size = choose_font_size(ax)
    table.plot(ax, label=label)
    style_axes(ax, size)
    handles, _ = ax.get_legend_handles_labels()
    x_label, y_label = ax.get_xlabel(), ax.get_ylabel()

    def write() -> None:
        write_labels(ax, size, x=x_label, y=y_label)
        place_legend_above(ax, size, handles)

    fit_texts(ax, write)
    return ax
