"""ROC and precision-recall curves in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from arboleda.metrics import PrecisionRecallCurves, RocCurves, precision_recall_curves, roc_curves
from arboleda.plot._fit import drawn_axes, legend_above, settle, write_axis
from arboleda.plot._style import letters, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["precision_recall", "roc"]


def roc(
    y_true: npt.ArrayLike, y_score: npt.ArrayLike, ax: Axes | None = None, **options: Any
) -> Axes:
    """Draw the ROC curve of each class against the rest, with the areas under the curves.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes, of rows that the model did not learn from.
    y_score : array-like of shape (n, n_classes) or (n,)
        Probabilities or other scores; with two classes, those of the second will do.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: on axes of a new figure.
    **options
        Those of `arboleda.metrics.roc_curves`: ``labels`` and ``sample_weight``.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        As `arboleda.metrics.roc_curves`.

    Examples
    --------
    >>> from arboleda import plot
    >>> ax = plot.roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> ax.get_ylabel()
    'true positive rate'
    """
    return _drawn(roc_curves(y_true, y_score, **options), ax)


def precision_recall(
    y_true: npt.ArrayLike, y_score: npt.ArrayLike, ax: Axes | None = None, **options: Any
) -> Axes:
    """Draw the precision-recall curve of each class against the rest, with average precisions.

    Parameters
    ----------
    y_true, y_score, ax
        As in `roc`.
    **options
        Those of `arboleda.metrics.precision_recall_curves`: ``labels`` and ``sample_weight``.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        As `arboleda.metrics.precision_recall_curves`.

    Examples
    --------
    >>> from arboleda import plot
    >>> ax = plot.precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> ax.get_xlabel()
    'recall'
    """
    return _drawn(precision_recall_curves(y_true, y_score, **options), ax)


def _drawn(curves: RocCurves | PrecisionRecallCurves, ax: Axes | None) -> Axes:
    ax = drawn_axes(ax, 4.6, 4.9)
    size = letters(ax)
    curves.plot(ax)
    quiet(ax, size)
    handles, _ = ax.get_legend_handles_labels()
    below, beside = ax.get_xlabel(), ax.get_ylabel()

    def write() -> None:
        write_axis(ax, size, x=below, y=beside)
        legend_above(ax, size, handles)

    settle(ax, write)
    return ax
