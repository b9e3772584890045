"""Line charts of scores: learning curves and effects of settings."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from arboleda._numbers import clip
from arboleda.report._plotting import (
    add_plot_axes,
    make_dot_patch,
    pad_range,
    set_left_label,
    set_numeric_ticks,
)
from arboleda.report._svg import ACCENT, make_inline_svg, make_mark, open_canvas, style_axes

__all__ = ["draw_effect_plot", "draw_learning_plot"]


def draw_learning_plot(
    points: Sequence[tuple[int, Sequence[float]]], labels: tuple[str, str], *, name: str, title: str
) -> Markup:
    """Draw fold scores and their mean against the number of training rows.

    Parameters
    ----------
    points : sequence of (rows, fold scores)
        Training-set sizes in ascending order, each with its fold scores.
    labels : (str, str)
        Labels of the two axes.
    name, title : str
        Identifier and text alternative of the figure.
    """
    with open_canvas(400, 330) as figure:
        axes = add_plot_axes(figure, 58, 14, 8, 46)
        style_axes(axes)
        sizes = [n_rows for n_rows, _ in points]
        means = [float(np.mean(scores)) for _, scores in points]
        folds = np.array([(n_rows, score) for n_rows, scores in points for score in scores])
        axes.set_xlim(0, 1.03 * max(sizes))
        axes.set_ylim(*pad_range(folds[:, 1].min(), folds[:, 1].max()))
        axes.add_artist(make_dot_patch(folds, 4, 0.35, ACCENT, 3))
        axes.plot(sizes, means, color=ACCENT, linewidth=2)
        axes.add_artist(make_dot_patch(np.column_stack([sizes, means]), 7, 1.0, ACCENT, 4))
        set_numeric_ticks(axes, x=True, most=5)
        set_numeric_ticks(axes, x=False, most=6)
        axes.set_xlabel(make_mark(0))
        set_left_label(figure, axes, make_mark(1))
        return make_inline_svg(figure, name, title, labels)


def draw_effect_plot(
    values: Sequence[tuple[str, Sequence[float]]], labels: tuple[str, str], *, name: str, title: str
) -> Markup:
    """Draw the mean scores of all candidates by the value of a setting; a line joins the best.

    Parameters
    ----------
    values : sequence of (value, scores)
        The values in order; the first score of each is the best.
    labels : (str, str)
        Names of the setting and of the score.
    name, title : str
        Identifier and text alternative of the figure.
    """
    texts = [clip(value, 56 / max(4, len(values))) for value, _ in values]
    with open_canvas(336, 280) as figure:
        axes = add_plot_axes(figure, 58, 14, 8, 46)
        style_axes(axes, "y")
        points = np.array([(x, s) for x, (_, scores) in enumerate(values) for s in scores], float)
        axes.set_xlim(-0.5, len(values) - 0.5)
        axes.set_ylim(*pad_range(points[:, 1].min(), points[:, 1].max()))
        best = [scores[0] for _, scores in values]
        axes.plot(range(len(values)), best, color=ACCENT, linewidth=1.5)
        axes.add_artist(make_dot_patch(points, 5, 0.6, ACCENT, 4))
        step = max(1, -(-len(values) // 9))
        shown = range(0, len(values), step)
        axes.set_xticks(list(shown), labels=[make_mark(place) for place in shown])
        set_numeric_ticks(axes, x=False, most=5)
        axes.set_xlabel(make_mark(len(values)))
        set_left_label(figure, axes, make_mark(len(values) + 1))
        return make_inline_svg(figure, name, title, [*texts, clip(labels[0], 40), labels[1]])
