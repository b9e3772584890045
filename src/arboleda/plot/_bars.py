"""Bar plots: importances, and the conditions for and against a prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.number_types import is_integer
from arboleda._utils.numbers import percent, plain
from arboleda.plot._fit import (
    count_fitting_rows,
    fit_texts,
    make_axes,
    name_rows,
    widen_for_texts,
    write_labels,
)
from arboleda.plot._style import (
    BAR,
    DOWN,
    EDGE,
    INK,
    NEUTRAL,
    PALE,
    UP,
    choose_font_size,
    style_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

__all__ = ["for_against", "importance"]

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
    whole = is_integer(wanted) and not isinstance(wanted, bool)
    if wanted is not None and not (whole and wanted >= 1):
        raise ValueError(
            f"{name} must be an integer of at least 1, or None for as many as fit, got {wanted!r}"
        )
    return available if wanted is None else min(wanted, available)


Floats = npt.NDArray[np.float64]

_MAX_CLASSES = 5


def for_against(explanation: Any, ax: Axes | None = None, *, n_conditions: int | None = 10) -> Axes:
    """Plot the conditions for the prediction to the right, those against it to the left.

    After figure 4 of Ribeiro, Singh and Guestrin (2016), "Why should I trust you?". Bars for the
    prediction are dark, bars against it light and hatched.

    Parameters
    ----------
    explanation : LimeExplanation
        Result of `arboleda.explain.Lime.explain`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None: those of a new figure.
    n_conditions : int, default=10
        Largest number of conditions to draw, by absolute weight; None: as many as fit.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The horizontal axis shows the weights. The probabilities of a classifier are in the rows
        above, from 0 at the left to 1: those of all classes if there are at most five, otherwise
        the four largest and the sum of the others.

    Raises
    ------
    ValueError
        If ``n_conditions`` is below 1.
    """
    weights = np.asarray(explanation.weights, dtype=np.float64)
    classes = _classes(explanation)
    wanted = check_max_rows(n_conditions, len(weights), "n_conditions")
    ax = make_axes(ax, 6.0, 1.2 + 0.3 * (wanted + _count_rows_above(classes)))
    size = choose_font_size(ax)
    shown = count_fitting_rows(ax, wanted + int(_count_rows_above(classes) + 1))
    shown = max(1, min(wanted, shown - int(_count_rows_above(classes))))
    order = np.argsort(-np.abs(weights), kind="stable")[:shown]
    weights = weights[order]
    first = _count_rows_above(classes)
    places = np.asarray(first + np.arange(shown), dtype=np.float64)
    ax.set_ylim(first + shown - 0.4, -1.1 if classes else -0.6)
    texts = _draw_bars(ax, weights, places)
    shares = _draw_probabilities(ax, classes, size)
    style_axes(ax, size)
    ax.spines["left"].set_visible(False)
    names = [name for name, _ in classes] + [str(explanation.conditions[k]) for k in order]
    some = f" ({shown} of {len(explanation.weights)} conditions)"
    meaning = _describe(explanation) + (some if shown < len(explanation.weights) else "")

    def write() -> None:
        chosen = name_rows(ax, [*range(len(classes)), *places], names, size)
        for text in [*texts, *shares]:
            text.set_fontsize(0.9 * chosen)
        widen_for_texts(ax, texts)
        write_labels(ax, size, x=meaning)

    fit_texts(ax, write)
    return ax


def _count_rows_above(classes: list[tuple[str, float]]) -> float:
    """Return the height of the probabilities, in rows."""
    return len(classes) + 0.7 if classes else 0.0


def _classes(explanation: Any) -> list[tuple[str, float]]:
    """Return classes with probabilities in descending order, the last ones combined."""
    if explanation.class_names is None or explanation.probabilities is None:
        return []
    names = [str(name) for name in explanation.class_names]
    shares = np.asarray(explanation.probabilities, dtype=np.float64).ravel()
    order = np.argsort(-shares, kind="stable").tolist()
    alone = order if len(order) <= _MAX_CLASSES else order[: _MAX_CLASSES - 1]
    found = [(names[k], float(shares[k])) for k in alone]
    others = order[len(alone) :]
    if others:
        found.append((f"{len(others)} other classes", float(shares[others].sum())))
    return found


def _describe(explanation: Any) -> str:
    name = getattr(explanation, "output_name", None)
    if explanation.class_names is None:
        target = "the prediction" if name is None else str(name)
        return f"weight: lowers {target} (left), raises it (right)"
    target = "the class" if name is None else str(name)
    return f"weight: against {target} (left), for it (right)"


def _draw_bars(ax: Axes, weights: Floats, places: Floats) -> list[Annotation]:
    """Draw the weights as bars with labels."""
    for style, side in ((UP, weights >= 0), (DOWN, weights < 0)):
        ax.barh(places[side], weights[side], height=0.66, **style)
    ax.vlines(0.0, places[0] - 0.5, places[-1] + 0.5, color=EDGE, lw=0.7)
    if not weights.any():
        ax.set_xlim(-1.0, 1.0)
    return [
        ax.annotate(
            plain(float(weight), 2),
            (float(weight), place),
            xytext=(3.0 if weight >= 0 else -3.0, 0.0),
            textcoords="offset points",
            ha="left" if weight >= 0 else "right",
            va="center",
        )
        for place, weight in zip(places, weights, strict=True)
    ]


def _draw_probabilities(
    ax: Axes, classes: list[tuple[str, float]], size: float
) -> list[Annotation]:
    """Draw the class probabilities in the first rows, from 0 at the left to 1."""
    if not classes:
        return []
    across = ax.get_yaxis_transform()
    full_width = (
        0.82  # share of the width of the axes for probability 1; percentages are written beside it
    )
    places = range(len(classes))
    shares = [share * full_width for _, share in classes]
    ax.barh(places, full_width, height=0.66, color="none", ec=PALE, lw=0.6, transform=across)
    ax.barh(places, shares, height=0.66, color=NEUTRAL, ec=EDGE, lw=0.6, transform=across)
    ax.text(0.0, -0.5, "probability", transform=across, fontsize=size, va="bottom")
    return [
        ax.annotate(
            percent(share),
            (full_width, place),
            xycoords=across,
            xytext=(3.0, 0.0),
            textcoords="offset points",
            va="center",
        )
        for place, (_, share) in enumerate(classes)
    ]
