"""Plots of ROC, precision-recall, reliability and coverage curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda.metrics import (
    PrecisionRecallCurves,
    RocCurves,
    precision_recall_curves,
    reliability_table,
    roc_curves,
)
from arboleda.plot._fit import fit_texts, make_axes, place_legend_above, write_labels
from arboleda.plot._style import EDGE, LINES, MARKERS, choose_font_size, output_colours, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["coverage", "precision_recall", "reliability", "roc"]


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


def coverage(curve: Any, ax: Axes | None = None, *, label: str | None = None) -> Axes:
    """Plot empirical against nominal coverage, with bars of two standard errors.

    The curves of valid intervals or sets lie on the diagonal or above it.

    Parameters
    ----------
    curve : CoverageCurve or mapping from str to CoverageCurve
        Result of ``coverage_curve`` of prediction intervals or sets; a mapping holds several by
        name.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None: those of a new figure.
    label : str, default=None
        Name of a single curve; None: its own.

    Returns
    -------
    ax : matplotlib.axes.Axes
        Axes with the curves; a curve drawn on axes with other curves is added to their legend.

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
        raise ValueError("curve is empty: give at least one coverage curve")
    ax = make_axes(ax, 4.4, 4.6)
    size = choose_font_size(ax)
    n_before = len(_find_error_bars(ax))
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
    low = min(float(np.min(bars.lines[0].get_xdata())) for bars in _find_error_bars(ax))
    ax.set_xlim(max(0.0, low - 0.03), 1.0)
    style_axes(ax, size)
    handles, _ = ax.get_legend_handles_labels()

    def write() -> None:
        write_labels(ax, size, x="promised coverage", y="share of rows covered")
        place_legend_above(ax, size, handles)

    fit_texts(ax, write)
    return ax


def _find_error_bars(ax: Axes) -> list[Any]:
    """Find the curves with error bars on the axes."""
    from matplotlib.container import ErrorbarContainer

    return [one for one in ax.containers if isinstance(one, ErrorbarContainer)]
