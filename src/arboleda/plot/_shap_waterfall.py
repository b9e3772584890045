"""Waterfall plot of the SHAP values of one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._numbers import plain
from arboleda.plot._columns import format_value
from arboleda.plot._fit import (
    count_fitting_rows,
    fit_texts,
    make_axes,
    name_rows,
    widen_for_texts,
    write_labels,
)
from arboleda.plot._importance import check_max_rows
from arboleda.plot._outputs import find_output, name_outputs
from arboleda.plot._style import DOWN, EDGE, UP, choose_font_size, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["shap_waterfall"]

Floats = npt.NDArray[np.float64]


def shap_waterfall(
    shap_values: Any,
    ax: Axes | None = None,
    *,
    row: int = 0,
    output: Any = None,
    n_features: int | None = 10,
) -> Axes:
    """Plot the steps from the mean prediction to the prediction of one row, the largest step first.

    Steps up are dark, steps down light and hatched.

    Parameters
    ----------
    shap_values : ShapValues
        Result of `arboleda.explain.shap_values`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None: those of a new figure.
    row : int, default=0
        Index of the row.
    output : str or int, default=None
        Name or index of the output; None: the one with the largest prediction.
    n_features : int, default=10
        Largest number of steps to draw; the other columns are combined into one step. None: as many
        as fit.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no such output, or ``n_features`` is below 1.
    IndexError
        If there is no such row.
    """
    steps, base, named = _select_row(shap_values, row, output)
    names = [
        f"{name} =\N{NO-BREAK SPACE}{format_value(value)}"
        for name, value in zip(shap_values.feature_names, shap_values.data[row], strict=True)
    ]
    wanted = check_max_rows(n_features, len(steps), "n_features")
    ax = make_axes(ax, 6.4, 1.2 + 0.32 * (wanted + 3))
    size = choose_font_size(ax)
    shown = max(1, min(wanted, count_fitting_rows(ax, wanted + 3) - 3))
    order = np.argsort(-np.abs(steps), kind="stable")
    parts, texts = steps[order[:shown]], [names[k] for k in order[:shown]]
    if shown < len(steps):
        left = len(steps) - shown
        parts = np.append(parts, steps[order[shown:]].sum())
        texts.append(f"{left} other columns" if left > 1 else "1 other column")
    ends = base + np.concatenate([[0.0], np.cumsum(parts)])
    written = _draw_steps(ax, parts, ends)
    rows = ["mean prediction", *texts, "prediction for this row"]
    style_axes(ax, size)
    ax.spines["left"].set_visible(False)

    def write() -> None:
        chosen = name_rows(ax, range(len(rows)), rows, size)
        for text in written:
            text.set_fontsize(0.9 * chosen)
        widen_for_texts(ax, written)
        write_labels(ax, size, x=f"prediction for {named}" if named else "prediction")

    fit_texts(ax, write)
    return ax


def _select_row(shap_values: Any, row: int, output: Any) -> tuple[Floats, float, str]:
    """Return a row's values, its base value and the name of the output if there are several."""
    values = np.asarray(shap_values.values, dtype=np.float64)
    bases = np.asarray(shap_values.base_values, dtype=np.float64)
    if not -len(values) <= row < len(values):
        raise IndexError(f"row={row} is out of range for {len(values)} rows")
    if values.ndim == 2:
        if output is not None:
            find_output(output, name_outputs(shap_values.output_names, 1))
        return values[row], float(np.broadcast_to(bases, len(values))[row]), ""
    bases = np.broadcast_to(bases, (len(values), values.shape[2]))
    outputs = name_outputs(shap_values.output_names, values.shape[2])
    if output is None:
        place = int(np.argmax(bases[row] + values[row].sum(axis=0)))
    else:
        place = find_output(output, outputs)
    return values[row, :, place], float(bases[row, place]), outputs[place]


def _draw_steps(ax: Axes, parts: Floats, ends: Floats) -> list[Any]:
    """Draw a bar for each step, with connecting lines and labels."""
    places = np.arange(1, len(parts) + 1)
    for style, side in ((UP, parts >= 0), (DOWN, parts < 0)):
        ax.barh(places[side], parts[side], left=ends[:-1][side], height=0.66, **style)
    last = len(parts) + 1
    for place, end in enumerate(ends):
        ax.plot([end, end], [place - 0.33, place + 1.33], color=EDGE, lw=0.7, zorder=0)
    ax.plot(ends[[0, -1]], [0, last], ls="", marker="D", ms=4.0, color=EDGE, clip_on=False)
    ax.set_ylim(last + 0.6, -0.6)
    if not np.ptp(ends):
        ax.set_xlim(ends[0] - 1.0, ends[0] + 1.0)
    signed = [("+" if part > 0 else "") + plain(float(part), 3) for part in parts]
    texts = [plain(float(ends[0])), *signed, plain(float(ends[-1]))]
    rightmost = [ends[0], *np.maximum(ends[:-1], ends[1:]), ends[-1]]
    return [
        ax.annotate(
            text,
            (float(x), place),
            xytext=(4.0, 0.0),
            textcoords="offset points",
            ha="left",
            va="center",
        )
        for place, (text, x) in enumerate(zip(texts, rightmost, strict=True))
    ]
