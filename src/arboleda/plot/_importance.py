"""Importances as bars, with how sure they are."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from arboleda.plot._fit import drawn_axes, name_rows, rows_that_fit, settle, write_axis
from arboleda.plot._style import BAR, EDGE, INK, letters, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["importance"]

_MEANINGS = {
    "impurity": "share of the decrease of impurity",
    "permutation": "decrease of {score} when the column is permuted",
    "oob_permutation": "increase of the error on left-out rows when the column is permuted",
}


def importance(importance: Any, ax: Axes | None = None, *, n_features: int | None = 20) -> Axes:
    """Draw what each column is worth, the most important on top, with standard errors.

    Parameters
    ----------
    importance : Importance
        From `arboleda.explain.importance`.
    ax : matplotlib.axes.Axes, default=None
        Where to draw, with letters that fit; None: on axes of a new figure.
    n_features : int, default=20
        Columns to draw at most; fewer are drawn where the axes have no room for their names, and
        the label of the axis tells of how many. None: as many as fit.

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
    wanted = wanted_rows(n_features, len(names), "n_features")
    ax = drawn_axes(ax, 6.0, 1.1 + 0.28 * wanted)
    size = letters(ax)
    shown = rows_that_fit(ax, wanted)
    order = np.argsort(-value, kind="stable")[:shown]
    error = importance.standard_error
    ax.barh(range(shown), value[order], height=0.66, color=BAR, edgecolor=EDGE, linewidth=0.5)
    if error is not None:
        reach = np.asarray(error, dtype=np.float64)[order]
        sure = np.isfinite(reach)
        ax.errorbar(
            value[order][sure],
            np.arange(shown)[sure],
            xerr=reach[sure],
            fmt="none",
            ecolor=INK,
            elinewidth=0.9,
            capsize=min(2.0, 0.25 * size),
        )
    ax.axvline(0.0, color=EDGE, lw=0.7)
    ax.set_ylim(shown - 0.4, -0.6)
    if not value[order].any():
        ax.set_xlim(-1.0, 1.0)
    quiet(ax, size)
    ax.spines["left"].set_visible(False)
    score = getattr(importance, "scoring", None) or "the score"
    meaning = _MEANINGS.get(importance.kind, "importance").format(score=str(score))
    some = f" ({shown} of {len(names)} columns)" if shown < len(names) else ""

    def write() -> None:
        name_rows(ax, range(shown), [names[place] for place in order], size)
        write_axis(ax, size, x=meaning + some)

    settle(ax, write)
    return ax


def wanted_rows(wanted: int | None, available: int, name: str) -> int:
    """Count the rows to draw at most."""
    whole = isinstance(wanted, Integral) and not isinstance(wanted, bool)
    if wanted is not None and not (whole and wanted >= 1):
        raise ValueError(
            f"{name}={wanted!r} must be a whole number of at least 1, or None for as many as fit"
        )
    return available if wanted is None else min(wanted, available)
