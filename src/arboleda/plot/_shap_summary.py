"""SHAP values of many rows: a swarm of points for each column, or mean sizes for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda.plot._columns import as_numbers, is_missing
from arboleda.plot._fit import (
    drawn_axes,
    legend_above,
    name_rows,
    rows_that_fit,
    settle,
    write_axis,
)
from arboleda.plot._importance import wanted_rows
from arboleda.plot._outputs import mirrored, output_place, texts_of
from arboleda.plot._style import EDGE, NEUTRAL, letters, output_colours, quiet, ramp

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["shap_summary"]

Floats = npt.NDArray[np.float64]

_MOST_POINTS = 2000  # of a column
_THICKNESS = 0.8  # of a swarm at its thickest, in rows
_BINS = 120  # places side by side


def shap_summary(
    shap_values: Any,
    ax: Axes | None = None,
    *,
    output: Any = None,
    n_features: int | None = 20,
) -> Axes:
    """Draw the SHAP values of all rows, the column that moves the answers most on top.

    A point is a row of the table: to the right where the column's value raises the answer; light
    where that value is low, dark where it is high, by its rank in the column. Missing values are
    rings; categories, which have no order, are grey squares.
    After figure 1 of Lundberg et al. (2020), "From local explanations to global understanding with
    explainable AI for trees", Nature Machine Intelligence 2.

    Parameters
    ----------
    shap_values : ShapValues
        From `arboleda.explain.shap_values`.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: on axes of a new figure.
    output : str or int, default=None
        The output of several to draw, by its name or number. None: the only one; of two that
        mirror one another, as the probabilities of two classes do, the second; of others, the mean
        size of the values for each, one bar after the other.
    n_features : int, default=20
        Columns to draw at most; fewer are drawn where the axes have no room for their names, and
        the label of the axis tells of how many. None: as many as fit.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Notes
    -----
    Of more than 2,000 rows, as many are drawn at even steps of each column's values.

    Raises
    ------
    ValueError
        If there is no such output, or ``n_features`` is below 1.
    """
    values = np.asarray(shap_values.values, dtype=np.float64)
    outputs = texts_of(shap_values.output_names, values.shape[2] if values.ndim == 3 else 1)
    columns = [str(name) for name in shap_values.feature_names]
    named = ""
    if values.ndim == 3 and (output is not None or len(outputs) == 1 or mirrored(values, 2)):
        place = len(outputs) - 1 if output is None else output_place(output, outputs)
        named = f" for {outputs[place]}" if len(outputs) > 1 else ""
        values, outputs = values[:, :, place], [outputs[place]]
    elif values.ndim == 2 and output is not None:
        output_place(output, outputs)
    wanted = wanted_rows(n_features, len(columns), "n_features")
    ax = drawn_axes(ax, 6.4, 1.4 + 0.32 * wanted)
    size = letters(ax)
    shown = rows_that_fit(ax, wanted)
    sizes = np.abs(values).mean(axis=0)
    order = np.argsort(-(sizes if sizes.ndim == 1 else sizes.sum(axis=1)), kind="stable")[:shown]
    some = f" ({shown} of {len(columns)} columns)" if shown < len(columns) else ""
    ax.set_ylim(shown - 0.4, -0.6)
    if values.ndim == 2:
        data = np.asarray(shap_values.data)
        kinds = [_swarm(ax, values[:, k], data[:, k], row) for row, k in enumerate(order)]
        ax.axvline(0.0, color=EDGE, lw=0.7, zorder=0)
        handles = _key(set().union(*kinds))
        meaning = f"SHAP value{named}: lowers the answer (left), raises it (right)"
    else:
        handles = _stacked(ax, sizes[order], outputs)
        meaning = "mean size of the SHAP values"
    if not values[:, order].any():
        ax.set_xlim(-1.0, 1.0)
    quiet(ax, size)
    ax.spines["left"].set_visible(False)

    def write() -> None:
        name_rows(ax, range(shown), [columns[k] for k in order], size)
        write_axis(ax, size, x=meaning + some)
        legend_above(ax, size, handles)

    settle(ax, write)
    return ax


def _stacked(ax: Axes, sizes: Floats, outputs: list[str]) -> list[Any]:
    """Draw bars of mean sizes, one output's after the other's."""
    start = np.zeros(len(sizes))
    handles = []
    for k, colour in enumerate(output_colours(len(outputs))):
        style = {"color": colour, "ec": "white", "lw": 0.4, "hatch": "//" if k % 2 else None}
        bars = ax.barh(range(len(sizes)), sizes[:, k], left=start, height=0.66, **style)
        start = start + sizes[:, k]
        bars.set_label(outputs[k])
        handles.append(bars)
    return handles


def _swarm(ax: Axes, shap: Floats, data: npt.NDArray[Any], row: int) -> set[str]:
    """Draw the points of a column around its row; tell what kinds of values it has."""
    kept = np.argsort(shap, kind="stable")
    if len(kept) > _MOST_POINTS:
        kept = kept[np.linspace(0, len(kept) - 1, _MOST_POINTS).round().astype(int)]
    shap, data = shap[kept], data[kept]
    across = row + _THICKNESS * _offsets(shap)
    numbers, missing = as_numbers(data), is_missing(data)
    points = 7.0 if len(shap) > 300 else 12.0
    common: dict[str, Any] = {"s": points, "zorder": 3, "clip_on": False}
    kinds = set()
    if numbers is None:
        there = ~missing
        ax.scatter(shap[there], across[there], color=NEUTRAL, marker="s", lw=0, **common)
        kinds.add("category")
    else:
        there = np.isfinite(numbers)
        shades = ramp()(_ranks(numbers[there]))
        ax.scatter(shap[there], across[there], c=shades, lw=0, **common)
        kinds.add("number")
    if missing.any():
        ax.scatter(
            shap[missing], across[missing], facecolor="white", edgecolor=EDGE, lw=0.6, **common
        )
        kinds.add("missing")
    return kinds


def _offsets(values: Floats) -> Floats:
    """Places across for ascending values: side by side where they crowd, within half a row."""
    offsets = np.zeros(len(values))
    span = float(values[-1] - values[0]) if len(values) else 0.0
    if span == 0.0:
        bins = np.zeros(len(values), dtype=int)
    else:
        bins = np.minimum(((values - values[0]) / span * _BINS).astype(int), _BINS - 1)
    counts = np.bincount(bins)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    number = np.arange(len(values)) - first[bins]  # 0, 1, 2, ... within the place
    # Alternately above and below the middle: 0, 1, -1, 2, -2, ...
    offsets = np.where(number % 2 == 1, (number + 1) // 2, -(number // 2)).astype(float)
    scaled: Floats = offsets / max(12.0, float(counts.max(initial=1)))
    return scaled


def _ranks(numbers: Floats) -> Floats:
    """Shares of the distinct values below each, from 0 to 1; a constant is in the middle."""
    distinct, codes = np.unique(numbers, return_inverse=True)
    if len(distinct) < 2:
        return np.full(len(numbers), 0.5)
    counts = np.bincount(codes)
    below = np.cumsum(counts) - counts
    ranks: Floats = (below / below[-1])[codes]
    return ranks


def _key(kinds: set[str]) -> list[Any]:
    from matplotlib.lines import Line2D

    def point(label: str, **style: Any) -> Line2D:
        return Line2D([], [], ls="", ms=4.5, label=label, **{"marker": "o", **style})

    found = []
    if "number" in kinds:
        found += [
            point("low value", color=ramp()(0.0)),
            point("high value", color=ramp()(1.0)),
        ]
    if "category" in kinds:
        found.append(point("category", color=NEUTRAL, marker="s"))
    if "missing" in kinds:
        found.append(point("missing", mfc="white", mec=EDGE, mew=0.6))
    return found
