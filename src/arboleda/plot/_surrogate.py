"""The small model that imitates a large one, and what its size costs."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._figures import new_figure
from arboleda.plot._fit import drawn_axes, fill_with_text, legend_above, settle, write_axis
from arboleda.plot._style import EDGE, INK, NEUTRAL, letters, quiet
from arboleda.tree import plot_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["fidelity_curve", "surrogate"]

# Errors that the curve holds, what they are called, and how their lines look.
_ERRORS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("error", "the surrogate", {"color": INK, "ls": "-", "marker": "o"}),
    ("cart_error", "a tree of this size", {"color": NEUTRAL, "ls": "--", "marker": "^"}),
    ("ensemble_error", "the ensemble", {"color": EDGE, "ls": ":", "marker": ""}),
)
_LETTERS = 22  # of a name in a line of a box
_LEAF = 0.95  # width of a new figure for each leaf, in inches


def surrogate(surrogate: Any, ax: Any = None) -> Any:
    """Draw the surrogate, its fidelity by size, and its error beside those of others.

    Parameters
    ----------
    surrogate : Surrogate
        From `arboleda.explain.surrogate_tree` or `surrogate_rules`.
    ax : Axes or array of Axes, default=None
        One Axes: where the tree or the rules are drawn. Two: also the fidelity; three: also the
        errors. None: all that is known, on a new figure, the model above the curves.

    Returns
    -------
    ax : Axes or ndarray of Axes
        What was given, or the new axes: model, fidelity and, if errors are known, errors.

    Raises
    ------
    ValueError
        If more than three axes are given, or three where no errors are known.
    """
    errors = _known_errors(surrogate)
    if ax is None:
        panels = _panels(surrogate, bool(errors))
    else:
        panels = list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
    if len(panels) > 2 + bool(errors):
        known = "model, fidelity and errors" if errors else "model and fidelity (no y was given)"
        raise ValueError(f"{len(panels)} axes are more than there are pictures: {known}")
    _model(panels[0], surrogate)
    if len(panels) > 1:
        fidelity_curve(surrogate, panels[1])
    if len(panels) > 2:
        _error_curves(panels[2], surrogate, errors)
    if ax is not None:
        return ax
    found = np.empty(len(panels), dtype=object)
    found[:] = panels
    return found


def fidelity_curve(surrogate: Any, ax: Axes | None = None) -> Axes:
    """Draw how well surrogates of each size imitate the ensemble; a ring marks the one chosen.

    Parameters
    ----------
    surrogate : Surrogate
        From `arboleda.explain.surrogate_tree` or `surrogate_rules`.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None: on axes of a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    ax = drawn_axes(ax, 4.6, 3.4)
    size = letters(ax)
    curve = surrogate.curve
    sizes, fidelity = np.asarray(curve.size), np.asarray(curve.fidelity, dtype=np.float64)
    ax.plot(sizes, fidelity, color=INK, lw=1.4, marker="o", ms=3.5, zorder=3)
    chosen = int(np.argmin(np.abs(fidelity - float(surrogate.fidelity))))
    ax.plot(sizes[chosen], fidelity[chosen], "o", ms=9.0, mfc="none", mec=INK, mew=0.9)
    _size_axis(ax, sizes)
    quiet(ax, size)
    settle(ax, lambda: write_axis(ax, size, x="size of the surrogate", y="fidelity"))
    return ax


def _panels(surrogate: Any, errors: bool) -> list[Axes]:
    model = surrogate.model
    leaves = model.get_n_leaves() if hasattr(model, "get_n_leaves") else 0
    figure = new_figure(figsize=(max(8.0, _LEAF * leaves), 8.0), layout="constrained")
    grid = figure.add_gridspec(2, 1 + errors, height_ratios=[2.0, 1.0])
    below = [figure.add_subplot(grid[1, k]) for k in range(1 + errors)]
    panels = [figure.add_subplot(grid[0, :]), *below]
    figure.draw_without_rendering()  # the axes have their sizes, by which letters are chosen
    return panels


def _model(ax: Axes, surrogate: Any) -> None:
    model = surrogate.model
    if hasattr(model, "tree_"):
        names = [str(name) for name in model.classes_] if hasattr(model, "classes_") else None
        columns = getattr(model, "feature_names_in_", None)
        drawn = plot_tree(
            model,
            feature_names=None if columns is None else [_broken(str(name)) for name in columns],
            ax=ax,
            filled=True,
            rounded=True,
            impurity=False,
            label="root",
            class_names=names,
            max_categories=3,
        )
        for text in drawn:  # on pages of other resolutions, letters are up to a tenth wider
            text.set_fontsize(0.9 * float(text.get_fontsize()))
        return
    fill_with_text(ax, [line for line in str(model).splitlines() if line.strip()])


def _broken(name: str) -> str:
    """Break a long name between its words: the boxes of a tree stand side by side."""
    return "\n".join(textwrap.wrap(name, _LETTERS, break_long_words=False)) or name


def _known_errors(surrogate: Any) -> list[tuple[str, npt.NDArray[np.float64], dict[str, Any]]]:
    curve = surrogate.curve
    found = []
    for name, title, style in _ERRORS:
        values = np.asarray(getattr(curve, name), dtype=np.float64)
        if np.isfinite(values).any():
            found.append((title, values, style))
    return found


def _error_curves(ax: Axes, surrogate: Any, errors: list[Any]) -> None:
    size = letters(ax)
    sizes = np.asarray(surrogate.curve.size)
    handles = []
    for title, values, style in errors:
        whole = np.broadcast_to(values, sizes.shape)
        handles += ax.plot(sizes, whole, lw=1.4, ms=3.5, label=title, **style)
    _size_axis(ax, sizes)
    quiet(ax, size)

    def write() -> None:
        write_axis(ax, size, x="size of the surrogate", y="test error")
        legend_above(ax, size, handles)

    settle(ax, write)


def _size_axis(ax: Axes, sizes: npt.NDArray[Any]) -> None:
    """Sizes that double stand at even steps."""
    if sizes.max() > 8 * sizes.min():
        ax.set_xscale("log", base=2)
    else:
        ax.locator_params("x", integer=True)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
