"""Bar plot of feature importances with standard errors."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from arboleda.plot._fit import count_fitting_rows, fit_texts, make_axes, name_rows, write_labels
from arboleda.plot._style import BAR, EDGE, INK, choose_font_size, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["importance"]

_MEANINGS = {
    "impurity": "share of the impurity decrease",
    "permutation": "decrease of {score} when the column is permuted",
    "oob_permutation": "increase of the out-of-bag error when the column is permuted",
}


def importance(importance: Any, ax: Axes | None = None, *, n_features: int | None = 20) -> Axes:
    """Plot the importances of the columns, the most important on top, with standard errors.

    Parameters
    ----------
    importance : Importance
        Result of `arboleda.explain.importance`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on, with a font size that fits; None: those of a new figure.
    n_features : int, default=20
        Largest number of columns to draw; fewer are drawn if their names do not fit, and the axis
        label then states how many. None: as many as fit.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If ``n_features`` is below 1.

    Examples
    --------
    >>> from arboleda import RandomForestClassifier, explain, plot
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = explain.importance(RandomForestClassifier(20, random_state=0).fit(X, y))
    >>> ax = plot.importance(found)
    >>> ax.get_yticklabels()[-1].get_text()
    'sepal width (cm)'
    """
    value = np.asarray(importance.value, dtype=np.float64)
    names = [str(name) for name in importance.feature_names]
    wanted = check_max_rows(n_features, len(names), "n_features")
    ax = make_axes(ax, 6.0, 1.1 + 0.28 * wanted)
    size = choose_font_size(ax)
    shown = count_fitting_rows(ax, wanted)
    order = np.argsort(-value, kind="stable")[:shown]
    error = importance.standard_error
    ax.barh(range(shown), value[order], height=0.66, color=BAR, edgecolor=EDGE, linewidth=0.5)
    if error is not None:
        reach = np.asarray(error, dtype=np.float64)[order]
        is_known = np.isfinite(reach)
        ax.errorbar(
            value[order][is_known],
            np.arange(shown)[is_known],
            xerr=reach[is_known],
            fmt="none",
            ecolor=INK,
            elinewidth=0.9,
            capsize=min(2.0, 0.25 * size),
        )
    ax.axvline(0.0, color=EDGE, lw=0.7)
    ax.set_ylim(shown - 0.4, -0.6)
    if not value[order].any():
        ax.set_xlim(-1.0, 1.0)
    style_axes(ax, size)
    ax.spines["left"].set_visible(False)
    score = getattr(importance, "scoring", None) or "the score"
    meaning = _MEANINGS.get(importance.kind, "importance").format(score=str(score))
    some = f" ({shown} of {len(names)} columns)" if shown < len(names) else ""

    def write() -> None:
        name_rows(ax, range(shown), [names[place] for place in order], size)
        write_labels(ax, size, x=meaning + some)

    fit_texts(ax, write)
    return ax


def check_max_rows(wanted: int | None, available: int, name: str) -> int:
    """Check the number of rows to draw, and limit it to those available."""
    whole = isinstance(wanted, Integral) and not isinstance(wanted, bool)
    if wanted is not None and not (whole and wanted >= 1):
        raise ValueError(
            f"{name} must be an integer of at least 1, or None for as many as fit, got {wanted!r}"
        )
    return available if wanted is None else min(wanted, available)
