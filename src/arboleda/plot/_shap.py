"""Plots of SHAP values of one row or many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.numbers import plain
from arboleda.plot._bars import check_max_rows
from arboleda.plot._fit import (
    count_fitting_rows,
    fit_texts,
    make_axes,
    name_rows,
    place_legend_above,
    widen_for_texts,
    write_labels,
)
from arboleda.plot._style import (
    DOWN,
    EDGE,
    NEUTRAL,
    UP,
    as_numbers,
    choose_font_size,
    find_output,
    format_value,
    is_mirrored,
    is_missing,
    make_colormap,
    name_outputs,
    output_colours,
    style_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["shap_summary", "shap_waterfall"]

Floats = npt.NDArray[np.float64]

_MAX_POINTS = 2000  # points of a column
_THICKNESS = 0.8  # largest thickness of a swarm, in rows
_BINS = 120  # bins along a swarm
# What the values of each scale add up to.
_MEANINGS = {"margin": "raw score", "probability": "probability", "value": "prediction"}


def shap_summary(
    shap_values: Any,
    ax: Axes | None = None,
    *,
    output: Any = None,
    n_features: int | None = 20,
) -> Axes:
    """Plot the SHAP values of all rows, with the most influential column on top.

    A point is a row of the table: to the right if the column's value increases the prediction;
    light if that value is low and dark if it is high, by its rank in the column. Missing values are
    rings; categories, which have no order, are grey squares. After figure 1 of Lundberg et al.
    (2020), "From local explanations to global understanding with explainable AI for trees", Nature
    Machine Intelligence 2.

    Parameters
    ----------
    shap_values : ShapValues
        Result of `arboleda.explain.shap_values`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None: those of a new figure.
    output : str or int, default=None
        Name or index of the output to draw. None: the only one; the second one if two outputs
        mirror each other like the probabilities of two classes; otherwise stacked bars of the mean
        absolute values of all outputs.
    n_features : int, default=20
        Largest number of columns to draw; fewer are drawn if their names do not fit, and the axis
        label then states how many. None: as many as fit.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Notes
    -----
    At most 2,000 rows are drawn per column, evenly spaced by SHAP value.

    Raises
    ------
    ValueError
        If there is no such output, or ``n_features`` is below 1.
    """
    values = np.asarray(shap_values.values, dtype=np.float64)
    outputs = name_outputs(shap_values.output_names, values.shape[2] if values.ndim == 3 else 1)
    columns = [str(name) for name in shap_values.feature_names]
    named = ""
    if values.ndim == 3 and (output is not None or len(outputs) == 1 or is_mirrored(values, 2)):
        place = len(outputs) - 1 if output is None else find_output(output, outputs)
        named = f" for {outputs[place]}" if len(outputs) > 1 else ""
        values, outputs = values[:, :, place], [outputs[place]]
    elif values.ndim == 2 and output is not None:
        find_output(output, outputs)
    wanted = check_max_rows(n_features, len(columns), "n_features")
    ax = make_axes(ax, 6.4, 1.4 + 0.32 * wanted)
    size = choose_font_size(ax)
    shown = count_fitting_rows(ax, wanted)
    sizes = np.abs(values).mean(axis=0)
    order = np.argsort(-(sizes if sizes.ndim == 1 else sizes.sum(axis=1)), kind="stable")[:shown]
    some = f" ({shown} of {len(columns)} columns)" if shown < len(columns) else ""
    ax.set_ylim(shown - 0.4, -0.6)
    if values.ndim == 2:
        data = np.asarray(shap_values.data)
        kinds = [_draw_swarm(ax, values[:, k], data[:, k], row) for row, k in enumerate(order)]
        ax.axvline(0.0, color=EDGE, lw=0.7, zorder=0)
        handles = _make_legend_handles(set().union(*kinds))
        meaning = f"SHAP value{named}: lowers the prediction (left), raises it (right)"
    else:
        handles = _draw_stacked_bars(ax, sizes[order], outputs)
        meaning = "mean absolute SHAP value"
    if not values[:, order].any():
        ax.set_xlim(-1.0, 1.0)
    style_axes(ax, size)
    ax.spines["left"].set_visible(False)

    def write() -> None:
        name_rows(ax, range(shown), [columns[k] for k in order], size)
        write_labels(ax, size, x=meaning + some)
        place_legend_above(ax, size, handles)

    fit_texts(ax, write)
    return ax


def _draw_stacked_bars(ax: Axes, sizes: Floats, outputs: list[str]) -> list[Any]:
    """Draw stacked bars of the mean absolute values of the outputs."""
    start = np.zeros(len(sizes))
    handles = []
    for k, colour in enumerate(output_colours(len(outputs))):
        style = {"color": colour, "ec": "white", "lw": 0.4, "hatch": "//" if k % 2 else None}
        bars = ax.barh(range(len(sizes)), sizes[:, k], left=start, height=0.66, **style)
        start = start + sizes[:, k]
        bars.set_label(outputs[k])
        handles.append(bars)
    return handles


def _draw_swarm(ax: Axes, shap: Floats, data: npt.NDArray[Any], row: int) -> set[str]:
    """Draw the points of a column around its row; return the kinds of its values."""
    kept = np.argsort(shap, kind="stable")
    if len(kept) > _MAX_POINTS:
        kept = kept[np.linspace(0, len(kept) - 1, _MAX_POINTS).round().astype(int)]
    shap, data = shap[kept], data[kept]
    across = row + _THICKNESS * _compute_offsets(shap)
    numbers, missing = as_numbers(data), is_missing(data)
    points = 7.0 if len(shap) > 300 else 12.0
    common: dict[str, Any] = {"s": points, "zorder": 3, "clip_on": False}
    kinds = set()
    if numbers is None:
        is_known = ~missing
        ax.scatter(shap[is_known], across[is_known], color=NEUTRAL, marker="s", lw=0, **common)
        kinds.add("category")
    else:
        is_known = np.isfinite(numbers)
        shades = make_colormap()(_compute_ranks(numbers[is_known]))
        ax.scatter(shap[is_known], across[is_known], c=shades, lw=0, **common)
        kinds.add("number")
    if missing.any():
        ax.scatter(
            shap[missing], across[missing], facecolor="white", edgecolor=EDGE, lw=0.6, **common
        )
        kinds.add("missing")
    return kinds


def _compute_offsets(values: Floats) -> Floats:
    """Compute vertical offsets of ascending values that spread dense points within half a row."""
    offsets = np.zeros(len(values))
    span = float(values[-1] - values[0]) if len(values) else 0.0
    if span == 0.0:
        bins = np.zeros(len(values), dtype=int)
    else:
        bins = np.minimum(((values - values[0]) / span * _BINS).astype(int), _BINS - 1)
    counts = np.bincount(bins)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    number = np.arange(len(values)) - first[bins]  # 0, 1, 2, ... within the bin
    # Alternately above and below the middle: 0, 1, -1, 2, -2, ...
    offsets = np.where(number % 2 == 1, (number + 1) // 2, -(number // 2)).astype(float)
    scaled: Floats = offsets / max(12.0, float(counts.max(initial=1)))
    return scaled


def _compute_ranks(numbers: Floats) -> Floats:
    """Compute the rank of each value scaled to [0, 1]; 0.5 for a constant."""
    distinct, codes = np.unique(numbers, return_inverse=True)
    if len(distinct) < 2:
        return np.full(len(numbers), 0.5)
    counts = np.bincount(codes)
    below = np.cumsum(counts) - counts
    ranks: Floats = (below / below[-1])[codes]
    return ranks


def _make_legend_handles(kinds: set[str]) -> list[Any]:
    from matplotlib.lines import Line2D

    def point(label: str, **style: Any) -> Line2D:
        return Line2D([], [], ls="", ms=4.5, label=label, **{"marker": "o", **style})

    found = []
    if "number" in kinds:
        found += [
            point("low value", color=make_colormap()(0.0)),
            point("high value", color=make_colormap()(1.0)),
        ]
    if "category" in kinds:
        found.append(point("category", color=NEUTRAL, marker="s"))
    if "missing" in kinds:
        found.append(point("missing", mfc="white", mec=EDGE, mew=0.6))
    return found


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
    named = named or _name_single_output(shap_values)
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
    what = _MEANINGS[shap_values.scale]
    rows = [f"mean {what}", *texts, f"{what} of this row"]
    style_axes(ax, size)
    ax.spines["left"].set_visible(False)

    def write() -> None:
        chosen = name_rows(ax, range(len(rows)), rows, size)
        for text in written:
            text.set_fontsize(0.9 * chosen)
        widen_for_texts(ax, written)
        write_labels(ax, size, x=f"{what} of {named}" if named else what)

    fit_texts(ax, write)
    return ax


def _name_single_output(shap_values: Any) -> str:
    """Return the class of the only output; nothing for a number."""
    name = name_outputs(shap_values.output_names, 1)[0]
    return "" if shap_values.scale == "value" or name == "value" else name


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
    margin = 0.04 * float(np.ptp(ends)) or 1.0  # the first mark is not on the frame
    ax.set_xlim(ends.min() - margin, ends.max() + margin)
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
