"""What speaks for an answer and what against it, beside the probabilities of the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._numbers import percent, plain
from arboleda.plot._fit import (
    drawn_axes,
    name_rows,
    room_for_texts,
    rows_that_fit,
    settle,
    write_axis,
)
from arboleda.plot._importance import wanted_rows
from arboleda.plot._style import DOWN, EDGE, NEUTRAL, PALE, UP, letters, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

__all__ = ["for_against"]

Floats = npt.NDArray[np.float64]

_MOST_CLASSES = 5


def for_against(explanation: Any, ax: Axes | None = None, *, n_conditions: int | None = 10) -> Axes:
    """Draw the conditions that speak for the answer to the right, those against it to the left.

    After figure 4 of Ribeiro, Singh and Guestrin (2016), "Why should I trust you?". For dark bars,
    against light and hatched ones.

    Parameters
    ----------
    explanation : LimeExplanation
        From `arboleda.explain.lime`.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: on axes of a new figure.
    n_conditions : int, default=10
        Conditions to draw at most, those of the largest weights; None: as many as fit.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The horizontal axis is that of the weights. The probabilities of a classifier stand in
        rows above, from 0 at the left to 1: those of the five most probable classes, or of four
        and the sum of the others.

    Raises
    ------
    ValueError
        If ``n_conditions`` is below 1.
    """
    weights = np.asarray(explanation.weights, dtype=np.float64)
    classes = _classes(explanation)
    wanted = wanted_rows(n_conditions, len(weights), "n_conditions")
    ax = drawn_axes(ax, 6.0, 1.2 + 0.3 * (wanted + _rows_above(classes)))
    size = letters(ax)
    shown = rows_that_fit(ax, wanted + int(_rows_above(classes) + 1))
    shown = max(1, min(wanted, shown - int(_rows_above(classes))))
    order = np.argsort(-np.abs(weights), kind="stable")[:shown]
    weights = weights[order]
    first = _rows_above(classes)
    places = np.asarray(first + np.arange(shown), dtype=np.float64)
    ax.set_ylim(first + shown - 0.4, -1.1 if classes else -0.6)
    texts = _bars(ax, weights, places)
    shares = _probabilities(ax, classes, size)
    quiet(ax, size)
    ax.spines["left"].set_visible(False)
    names = [name for name, _ in classes] + [str(explanation.conditions[k]) for k in order]
    some = f" ({shown} of {len(explanation.weights)} conditions)"
    meaning = _meaning(explanation) + (some if shown < len(explanation.weights) else "")

    def write() -> None:
        chosen = name_rows(ax, [*range(len(classes)), *places], names, size)
        for text in [*texts, *shares]:
            text.set_fontsize(0.9 * chosen)
        room_for_texts(ax, texts)
        write_axis(ax, size, x=meaning)

    settle(ax, write)
    return ax


def _rows_above(classes: list[tuple[str, float]]) -> float:
    """Height that the probabilities take, in rows."""
    return len(classes) + 0.7 if classes else 0.0


def _classes(explanation: Any) -> list[tuple[str, float]]:
    """Classes with their probabilities, the most probable first, the last ones together."""
    if explanation.class_names is None or explanation.probabilities is None:
        return []
    names = [str(name) for name in explanation.class_names]
    shares = np.asarray(explanation.probabilities, dtype=np.float64).ravel()
    order = np.argsort(-shares, kind="stable").tolist()
    alone = order if len(order) <= _MOST_CLASSES else order[: _MOST_CLASSES - 1]
    found = [(names[k], float(shares[k])) for k in alone]
    others = order[len(alone) :]
    if others:
        found.append((f"{len(others)} other classes", float(shares[others].sum())))
    return found


def _meaning(explanation: Any) -> str:
    name = getattr(explanation, "output_name", None)
    if explanation.class_names is None:
        target = "the prediction" if name is None else str(name)
        return f"weight: lowers {target} (left), raises it (right)"
    target = "the class" if name is None else str(name)
    return f"weight: against {target} (left), for it (right)"


def _bars(ax: Axes, weights: Floats, places: Floats) -> list[Annotation]:
    """Draw the weights and write them at the bars' ends."""
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


def _probabilities(ax: Axes, classes: list[tuple[str, float]], size: float) -> list[Annotation]:
    """Draw the classes' probabilities in the first rows, from 0 at the left to 1."""
    if not classes:
        return []
    across = ax.get_yaxis_transform()
    whole = 0.82  # share of the axes' width that stands for 1; the per cent are written beside it
    places = range(len(classes))
    shares = [share * whole for _, share in classes]
    ax.barh(places, whole, height=0.66, color="none", ec=PALE, lw=0.6, transform=across)
    ax.barh(places, shares, height=0.66, color=NEUTRAL, ec=EDGE, lw=0.6, transform=across)
    ax.text(0.0, -0.5, "probability", transform=across, fontsize=size, va="bottom")
    return [
        ax.annotate(
            percent(share),
            (whole, place),
            xycoords=across,
            xytext=(3.0, 0.0),
            textcoords="offset points",
            va="center",
        )
        for place, (_, share) in enumerate(classes)
    ]
