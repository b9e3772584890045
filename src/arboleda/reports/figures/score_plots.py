"""Plots of scores: box plots of folds, bars, learning curves, effects of settings."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from arboleda._utils.numbers import clip, plain, text_units
from arboleda.reports.figures.canvas import (
    ACCENT,
    INK,
    MUTED,
    PAPER,
    add_plot_axes,
    make_dot_patch,
    make_inline_svg,
    make_mark,
    open_canvas,
    pad_range,
    set_left_label,
    set_logarithmic_ticks,
    set_numeric_ticks,
    style_axes,
)
from arboleda.reports.figures.hints import Hint, pair_values
from arboleda.reports.translation import gettext as _

__all__ = [
    "choose_shown_range",
    "draw_bar_plot",
    "draw_box_plot",
    "draw_effect_plot",
    "draw_learning_plot",
]

_MOST_NAMED = 9  # values of a setting with names; more would overlap


def choose_shown_range(scores: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Choose the range of the score axis so that the best models stay readable.

    A baseline far from the other models would compress them. The better half of the models
    defines the initial range; each further model is included as long as the axis is at most four
    times as long.

    Examples
    --------
    >>> choose_shown_range([[0.97, 0.95], [0.96, 0.94], [0.93, 0.91], [0.2, 0.2]])
    (0.91, 0.97)
    """
    core = scores[: max(2, (len(scores) + 1) // 2)]
    low, high = min(map(min, core)), max(map(max, core))
    limit = 4 * (high - low)
    for fold_scores in scores[len(core) :]:
        wider = min(low, *fold_scores), max(high, *fold_scores)
        if wider[1] - wider[0] <= limit:
            low, high = wider
    return low, high


def draw_box_plot(models: Sequence[tuple[str, Sequence[float]]], axis: str, narrow: bool) -> Markup:
    """Draw the fold scores of the models: every score, their quartiles and the median.

    Parameters
    ----------
    models : sequence of (name, fold scores)
        In the order to draw them, from the top.
    axis : str
        Name of the score.
    narrow : bool
        Draw for a phone, with names above the boxes instead of to their left.
    """
    low, high = choose_shown_range([scores for _, scores in models])
    pad = 0.06 * (high - low) or 0.01 * abs(high) or 0.01
    names = [clip(name, 52) for name, _ in models]
    width, row = (352.0, 46.0) if narrow else (1112.0, 32.0)
    left = 8.0 if narrow else 34.0 + 6.8 * max(map(text_units, names))
    right, bottom, top = 8.0, 44.0, 4.0
    with open_canvas(width, top + bottom + row * len(models)) as figure:
        axes = add_plot_axes(figure, left, right, top, bottom)
        style_axes(axes, "x")
        axes.set_xlim(low - pad, high + pad)
        axes.set_ylim(len(models) - 0.5, -0.5)
        axes.set_yticks([])
        set_numeric_ticks(axes, x=True, most=4 if narrow else 8)
        axes.set_xlabel(make_mark(len(models)))
        for rank, (_name, scores) in enumerate(models):
            y = rank + (0.2 if narrow else 0.0)
            _draw_box(axes, y, np.asarray(scores, float), 0.17, ACCENT if rank == 0 else MUTED)
            at = (0.0, rank - 0.24) if narrow else (-(left - 2) / (width - left - right), y)
            axes.text(
                *at,
                make_mark(rank),
                color=INK,
                fontweight="bold" if rank == 0 else "normal",
                va="center",
                transform=axes.get_yaxis_transform(),
            )
        hints = [
            hint
            for rank, (_name, scores) in enumerate(models)
            for hint in _describe_box(names[rank], scores, rank + (0.2 if narrow else 0.0), axes)
        ]
        figure_name = "box-narrow" if narrow else "box-wide"
        title = _("Box plot of fold scores: {metric}", metric=axis)
        return make_inline_svg(figure, figure_name, title, [*names, axis], hints)


def _describe_box(name: str, scores: Sequence[float], y: float, axes: Axes) -> list[Hint]:
    """Return hints for the box of a model and, above it, for each of its folds."""
    low, high = axes.get_xlim()
    median = _("median {median} of the folds", median=plain(float(np.median(scores))))
    if not low <= float(np.mean(scores)) <= high:
        return [Hint(f"{name}: {median}", low, y - 0.2, (high, y + 0.2))]
    ends = max(low, min(scores)), min(high, max(scores))
    return [
        Hint(f"{name}: {median}", ends[0], y - 0.25, (ends[1], y + 0.25)),
        *(
            Hint(_("{name}, fold {fold}: {score}", name=name, fold=k, score=plain(score)), score, y)
            for k, score in enumerate(scores, 1)
            if low <= score <= high
        ),
    ]


def _draw_box(axes: Axes, y: float, scores: np.ndarray, half: float, colour: str) -> None:
    low, high = axes.get_xlim()
    mean = float(scores.mean())
    if not low <= mean <= high:
        left = mean < low
        arrow = "\N{LEFTWARDS ARROW}" if left else "\N{RIGHTWARDS ARROW}"
        label = f"{arrow} {plain(mean)}" if left else f"{plain(mean)} {arrow}"
        axes.text(0.004 if left else 0.996, y, label, color=MUTED, va="center",
                  ha="left" if left else "right", transform=axes.get_yaxis_transform())  # fmt: skip
        return
    q1, median, q3 = np.percentile(scores, [25, 50, 75])
    axes.plot([scores.min(), scores.max()], [y, y], color=colour, linewidth=1)
    axes.add_patch(
        Rectangle((q1, y - half), q3 - q1, 2 * half, facecolor=PAPER, edgecolor=colour, linewidth=1)
    )
    axes.plot([median, median], [y - half, y + half], color=colour, linewidth=2)
    points = np.column_stack([scores, np.full(len(scores), y)])
    axes.add_artist(make_dot_patch(points, 4.5, 0.75, colour, 5))


def draw_bar_plot(
    bars: Sequence[tuple[str, float, float | None]],
    axis: str,
    *,
    name: str,
    title: str,
    narrow: bool,
) -> Markup:
    """Draw a bar from zero to each value, with one standard error on either side.

    Parameters
    ----------
    bars : sequence of (name, value, standard error or None)
        The bars, from top to bottom.
    axis : str
        Label of the value axis.
    name, title : str
        Identifier and text alternative of the figure.
    narrow : bool
        Draw for a phone, with names above the bars instead of to their left.
    """
    names = [clip(label, 42 if narrow else 40) for label, _, _ in bars]
    width, row = (352.0, 40.0) if narrow else (760.0, 26.0)
    left = 8.0 if narrow else 20.0 + 7.5 * max(map(text_units, names))
    right, bottom, top = 12.0, 44.0, 2.0
    ends = [(value - (error or 0), value + (error or 0)) for _, value, error in bars]
    low, high = min(0.0, *(a for a, _ in ends)), max(0.0, *(b for _, b in ends))
    pad = 0.03 * (high - low) or 1.0
    with open_canvas(width, top + bottom + row * len(bars)) as figure:
        axes = add_plot_axes(figure, left, right, top, bottom)
        style_axes(axes, "x")
        axes.set_xlim(low - (pad if low < 0 else 0), high + pad)
        axes.set_ylim(len(bars) - 0.5, -0.5)
        axes.set_yticks([])
        set_numeric_ticks(axes, x=True, most=4 if narrow else 7)
        axes.set_xlabel(make_mark(len(bars)))
        axes.axvline(0, color=MUTED, linewidth=1)
        for place, (_, value, error) in enumerate(bars):
            y = place + (0.22 if narrow else 0.0)
            half = 0.16 if narrow else 0.28
            axes.add_patch(
                Rectangle((0, y - half), value, 2 * half, facecolor=ACCENT, alpha=0.8, linewidth=0)
            )
            if error:
                axes.plot([value - error, value + error], [y, y], color=INK, linewidth=1.25)
            at = (0.0, place - 0.2) if narrow else (-(left - 2) / (width - left - right), y)
            transform = axes.get_yaxis_transform()
            axes.text(*at, make_mark(place), color=INK, va="center", transform=transform)
        hints = [
            Hint(
                f"{bar}: {plain(value)}" + (f" ± {plain(error)}" if error else ""),
                min(0.0, value - (error or 0)),
                place + (-0.4 if narrow else -0.45),
                (max(0.0, value + (error or 0)), place + 0.45),
            )
            for place, (bar, value, error) in enumerate(bars)
        ]
        return make_inline_svg(figure, name, title, [*names, axis], hints)


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
        hints = [
            Hint(pair_values(labels, size, mean), size, mean)
            for size, mean in zip(sizes, means, strict=True)
        ]
        return make_inline_svg(figure, name, title, labels, hints)


def draw_effect_plot(
    values: Sequence[tuple[str, Sequence[float]]],
    labels: tuple[str, str],
    *,
    numbers: Sequence[float] | None = None,
    name: str,
    title: str,
) -> Markup:
    """Draw the mean scores of all candidates by the value of a setting; a line joins the best.

    Up to nine values stand side by side with their names, and more numbers on an axis of numbers.

    Parameters
    ----------
    values : sequence of (value, scores)
        The values in order; the first score of each is the best.
    labels : (str, str)
        Names of the setting and of the score.
    numbers : sequence of float, optional
        The values as numbers, ascending.
    name, title : str
        Identifier and text alternative of the figure.
    """
    texts = [clip(value, 56 / max(4, len(values))) for value, _ in values]
    with open_canvas(336, 280) as figure:
        axes = add_plot_axes(figure, 58, 14, 8, 46)
        style_axes(axes, "y")
        places: Sequence[float] = range(len(values))
        if numbers is not None and len(numbers) > _MOST_NAMED:
            places = numbers
        points = np.array(
            [(x, s) for x, (_, scores) in zip(places, values, strict=True) for s in scores], float
        )
        axes.set_ylim(*pad_range(points[:, 1].min(), points[:, 1].max()))
        best = [scores[0] for _, scores in values]
        axes.plot(places, best, color=ACCENT, linewidth=1.5)
        axes.add_artist(make_dot_patch(points, 5, 0.6, ACCENT, 4))
        if places is numbers:
            _set_number_axis(axes, places)
        else:
            axes.set_xlim(-0.5, len(values) - 0.5)
            shown = range(0, len(values), -(-len(values) // _MOST_NAMED))
            axes.set_xticks(list(shown), labels=[make_mark(place) for place in shown])
        set_numeric_ticks(axes, x=False, most=5)
        axes.set_xlabel(make_mark(len(values)))
        set_left_label(figure, axes, make_mark(len(values) + 1))
        hints = [
            Hint(f"{labels[0]} {text}, {labels[1]} {plain(score)}", float(place), score)
            for place, (text, scores) in zip(places, values, strict=True)
            for score in scores
        ]
        return make_inline_svg(figure, name, title, [*texts, clip(labels[0], 40), labels[1]], hints)


def _set_number_axis(axes: Axes, numbers: Sequence[float]) -> None:
    """Set limits and ticks for ascending numbers, on a logarithmic axis if they spread widely."""
    low, high = numbers[0], numbers[-1]
    if low > 0 and high / low > 30:
        axes.set_xlim(low / (high / low) ** 0.03, high * (high / low) ** 0.03)
        set_logarithmic_ticks(axes)
    else:
        axes.set_xlim(*pad_range(low, high))
        set_numeric_ticks(axes, x=True, most=5)
