"""Plots of ROC and precision-recall curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from arboleda.metrics import PrecisionRecallCurves, RocCurves, precision_recall_curves, roc_curves
from arboleda.plot._fit import fit_texts, make_axes, place_legend_above, write_labels
from arboleda.plot._style import choose_font_size, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["precision_recall", "roc"]


def roc(
    y_true: npt.ArrayLike, y_score: npt.ArrayLike, ax: Axes | None = None, **options: Any
) -> Axes:
    """Plot the ROC curve of each class against the rest, with the areas under the curves.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes of held-out rows.
    y_score : array-like of shape (n, n_classes) or (n,)
        Probabilities or other scores; with two classes, those of the second class suffice.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None: those of a new figure.
    **options
        Options of `arboleda.metrics.roc_curves`: ``labels`` and ``sample_weight``.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        As in `arboleda.metrics.roc_curves`.

    Examples
    --------
    >>> from arboleda import plot
    >>> ax = plot.roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> ax.get_ylabel()
    'true positive rate'
    """
    return _draw(roc_curves(y_true, y_score, **options), ax)


def precision_recall(
    y_true: npt.ArrayLike, y_score: npt.ArrayLike, ax: Axes | None = None, **options: Any
) -> Axes:
    """Plot the precision-recall curve of each class against the rest, with average precisions.

    Parameters
    ----------
    y_true, y_score, ax
        As in `roc`.
    **options
        Options of `arboleda.metrics.precision_recall_curves`: ``labels`` and ``sample_weight``.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        As in `arboleda.metrics.precision_recall_curves`.

    Examples
    --------
    >>> from arboleda import plot
    >>> ax = plot.precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> ax.get_xlabel()
    'recall'
    """
    return _draw(precision_recall_curves(y_true, y_score, **options), ax)


def _draw(curves: RocCurves | PrecisionRecallCurves, ax: Axes | None) -> Axes:
    ax = make_axes(ax, 4.6, 4.9)
    size = choose_font_size(ax)
    curves.plot(ax)
    style_axes(ax, size)
    handles, _ = ax.get_legend_handles_labels()
    x_label, y_label = ax.get_xlabel(), ax.get_ylabel()

    def write() -> None:
        write_labels(ax, size, x=x_label, y=y_label)
        place_legend_above(ax, size, handles)

    fit_texts(ax, write)
    return ax
