"""Plots of a surrogate model, its fidelity and its errors by size."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.frames import new_figure
from arboleda.plot._fit import (
    fill_with_text,
    fit_texts,
    make_axes,
    place_legend_above,
    write_labels,
)
from arboleda.plot._style import EDGE, INK, NEUTRAL, choose_font_size, style_axes
from arboleda.tree import plot_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["fidelity_curve", "rule_list", "surrogate"]

# Errors of the curve: attributes, labels and line styles.
_ERRORS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("error", "the surrogate", {"color": INK, "ls": "-", "marker": "o"}),
    ("cart_error", "a tree of this size", {"color": NEUTRAL, "ls": "--", "marker": "^"}),
    ("ensemble_error", "the ensemble", {"color": EDGE, "ls": ":", "marker": ""}),
)
_LETTERS = 22  # characters per line of a name in a box
_LEAF = 0.95  # width of a new figure per leaf, in inches


def surrogate(surrogate: Any, ax: Any = None) -> Any:
    """Plot the surrogate, its fidelity by size, and its error beside those of others.

    Parameters
    ----------
    surrogate : Surrogate
        From `arboleda.explain.surrogate_tree` or `surrogate_rules`.
    ax : Axes or array of Axes, default=None
        One Axes: the tree or the rules. Two: also the fidelity. Three: also the errors. None: all
        of them on a new figure, the model above the curves.

    Returns
    -------
    ax : Axes or ndarray of Axes
        The given axes, or the new ones: model, fidelity and, if known, errors.

    Raises
    ------
    ValueError
        If more than three axes are given, or three if no errors are known.
    """
    errors = _find_known_errors(surrogate)
    if ax is None:
        panels = _make_panels(surrogate, bool(errors))
    else:
        panels = list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
    if len(panels) > 2 + bool(errors):
        known = "model, fidelity and errors" if errors else "model and fidelity (no y was given)"
        raise ValueError(f"ax has {len(panels)} axes, more than there are plots: {known}")
    _draw_model(panels[0], surrogate)
    if len(panels) > 1:
        fidelity_curve(surrogate, panels[1])
    if len(panels) > 2:
        _draw_error_curves(panels[2], surrogate, errors)
    if ax is not None:
        return ax
    found = np.empty(len(panels), dtype=object)
    found[:] = panels
    return found


def fidelity_curve(surrogate: Any, ax: Axes | None = None) -> Axes:
    """Plot the fidelity of surrogates by size; a ring marks the selected one.

    Parameters
    ----------
    surrogate : Surrogate
        From `arboleda.explain.surrogate_tree` or `surrogate_rules`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None: those of a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    ax = make_axes(ax, 4.6, 3.4)
    size = choose_font_size(ax)
    curve = surrogate.curve
    sizes, fidelity = np.asarray(curve.size), np.asarray(curve.fidelity, dtype=np.float64)
    ax.plot(sizes, fidelity, color=INK, lw=1.4, marker="o", ms=3.5, zorder=3)
    chosen = int(np.argmin(np.abs(fidelity - float(surrogate.fidelity))))
    ax.plot(sizes[chosen], fidelity[chosen], "o", ms=9.0, mfc="none", mec=INK, mew=0.9)
    _set_size_axis(ax, sizes)
    style_axes(ax, size)
    fit_texts(ax, lambda: write_labels(ax, size, x="size of the surrogate", y="fidelity"))
    return ax


def rule_list(rules: Any, ax: Axes | None = None) -> Axes:
    """Write the rules of a list on axes, one below the other.

    Parameters
    ----------
    rules : RuleList
        The model of `arboleda.explain.surrogate_rules`.
    ax : matplotlib.axes.Axes, default=None
        Axes to write on; None: those of a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    lines = [line for line in str(rules).splitlines() if line.strip()]
    ax = make_axes(ax, 8.0, 0.6 + 0.5 * len(lines))
    fill_with_text(ax, lines)
    return ax


def _make_panels(surrogate: Any, errors: bool) -> list[Axes]:
    model = surrogate.model
    leaves = model.get_n_leaves() if hasattr(model, "get_n_leaves") else 0
    figure = new_figure(figsize=(max(8.0, _LEAF * leaves), 8.0), layout="constrained")
    grid = figure.add_gridspec(2, 1 + errors, height_ratios=[2.0, 1.0])
    below = [figure.add_subplot(grid[1, k]) for k in range(1 + errors)]
    panels = [figure.add_subplot(grid[0, :]), *below]
    figure.draw_without_rendering()  # fixes the sizes of the axes, which determine the font size
    return panels


def _draw_model(ax: Axes, surrogate: Any) -> None:
    model = surrogate.model
    if hasattr(model, "tree_"):
        names = [str(name) for name in model.classes_] if hasattr(model, "classes_") else None
        columns = getattr(model, "feature_names_in_", None)
        drawn = plot_tree(
            model,
            feature_names=None if columns is None else [_break_name(str(name)) for name in columns],
            ax=ax,
            filled=True,
            rounded=True,
            impurity=False,
            label="root",
            class_names=names,
            max_categories=3,
        )
        for text in drawn:  # text may be a tenth wider at other resolutions
            text.set_fontsize(0.9 * float(text.get_fontsize()))
        return
    rule_list(model, ax)


def _break_name(name: str) -> str:
    """Wrap a long name between words, because the boxes of a tree are side by side."""
    return "\n".join(textwrap.wrap(name, _LETTERS, break_long_words=False)) or name


def _find_known_errors(surrogate: Any) -> list[tuple[str, npt.NDArray[np.float64], dict[str, Any]]]:
    curve = surrogate.curve
    found = []
    for name, title, style in _ERRORS:
        values = np.asarray(getattr(curve, name), dtype=np.float64)
        if np.isfinite(values).any():
            found.append((title, values, style))
    return found


def _draw_error_curves(ax: Axes, surrogate: Any, errors: list[Any]) -> None:
    size = choose_font_size(ax)
    sizes = np.asarray(surrogate.curve.size)
    handles = []
    for title, values, style in errors:
        whole = np.broadcast_to(values, sizes.shape)
        handles += ax.plot(sizes, whole, lw=1.4, ms=3.5, label=title, **style)
    _set_size_axis(ax, sizes)
    style_axes(ax, size)

    def write() -> None:
        write_labels(ax, size, x="size of the surrogate", y="test error")
        place_legend_above(ax, size, handles)

    fit_texts(ax, write)


def _set_size_axis(ax: Axes, sizes: npt.NDArray[Any]) -> None:
    """Use a logarithmic axis for a wide range of sizes."""
    if sizes.max() > 8 * sizes.min():
        ax.set_xscale("log", base=2)
    else:
        ax.locator_params("x", integer=True)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
