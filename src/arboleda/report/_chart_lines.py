"""Scores against a quantity: a learning curve, or the effect of a setting."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from arboleda._numbers import clip
from arboleda.report._plotting import dot_patch, left_label, numeric_ticks, padded, plot_axes
from arboleda.report._svg import ACCENT, canvas, frame, inline_svg, mark

__all__ = ["effect_plot", "learning_plot"]


def learning_plot(
    points: Sequence[tuple[int, Sequence[float]]], labels: tuple[str, str], *, name: str, title: str
) -> Markup:
    """Draw the mean score on held-out rows against the rows learned from, and every fold.

    Parameters
    ----------
    points : sequence of (rows, fold scores)
        Sizes of the training set, from the smallest, each with the score of every fold.
    labels : (str, str)
        Names of the two axes.
    name, title : str
        Identifier and spoken description of the figure.
    """
    with canvas(400, 330) as figure:
        axes = plot_axes(figure, 58, 14, 8, 46)
        frame(axes)
        sizes = [n_rows for n_rows, _ in points]
        means = [float(np.mean(scores)) for _, scores in points]
        folds = np.array([(n_rows, score) for n_rows, scores in points for score in scores])
        axes.set_xlim(0, 1.03 * max(sizes))
        axes.set_ylim(*padded(folds[:, 1].min(), folds[:, 1].max()))
        axes.add_artist(dot_patch(folds, 4, 0.35, ACCENT, 3))
        axes.plot(sizes, means, color=ACCENT, linewidth=2)
        axes.add_artist(dot_patch(np.column_stack([sizes, means]), 7, 1.0, ACCENT, 4))
        numeric_ticks(axes, x=True, most=5)
        numeric_ticks(axes, x=False, most=6)
        axes.set_xlabel(mark(0))
        left_label(figure, axes, mark(1))
        return inline_svg(figure, name, title, labels)


def effect_plot(
    values: Sequence[tuple[str, Sequence[float]]], labels: tuple[str, str], *, name: str, title: str
) -> Markup:
    """Draw the mean scores of all candidates with each value of a setting, joined at the best.

    Parameters
    ----------
    values : sequence of (value, scores)
        The values in their order; the first score of each is the best one.
    labels : (str, str)
        What the setting is called, and the score.
    name, title : str
        Identifier and spoken description of the figure.
    """
    texts = [clip(value, 56 / max(4, len(values))) for value, _ in values]
    with canvas(336, 280) as figure:
        axes = plot_axes(figure, 58, 14, 8, 46)
        frame(axes, "y")
        points = np.array([(x, s) for x, (_, scores) in enumerate(values) for s in scores], float)
        axes.set_xlim(-0.5, len(values) - 0.5)
        axes.set_ylim(*padded(points[:, 1].min(), points[:, 1].max()))
        best = [scores[0] for _, scores in values]
        axes.plot(range(len(values)), best, color=ACCENT, linewidth=1.5)
        axes.add_artist(dot_patch(points, 5, 0.6, ACCENT, 4))
        step = max(1, -(-len(values) // 9))
        shown = range(0, len(values), step)
        axes.set_xticks(list(shown), labels=[mark(place) for place in shown])
        numeric_ticks(axes, x=False, most=5)
        axes.set_xlabel(mark(len(values)))
        left_label(figure, axes, mark(len(values) + 1))
        return inline_svg(figure, name, title, [*texts, clip(labels[0], 40), labels[1]])
