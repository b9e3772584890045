"""Ticks of figures: their labels stay within the figure."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from arboleda.reports.figures.canvas import add_plot_axes, open_canvas, set_numeric_ticks


@pytest.mark.parametrize("limits", [(18_260, 18_320.5), (0, 1), (-5e-9, 1e-8), (0, 2.5e12)])
def test_the_last_label_is_not_cut(limits: tuple[float, float]) -> None:
    with open_canvas(336, 264) as figure:
        axes = add_plot_axes(figure, 58, 14, 10, 46)
        axes.set_xlim(*limits)
        set_numeric_ticks(axes, x=True, most=5)
        drawn = FigureCanvasAgg(figure)
        drawn.draw()
        for label in axes.get_xticklabels():
            assert label.get_window_extent(drawn.get_renderer()).x1 <= figure.bbox.x1 + 1
        assert axes.get_position().x1 * 336 > 300


@pytest.mark.parametrize("limits", [(-0.0529, 0.13), (-0.05, 0.1), (0, 1), (100_000, 100_003)])
def test_the_first_label_is_not_cut_where_the_margin_is_small(
    limits: tuple[float, float],
) -> None:
    with open_canvas(352, 264) as figure:
        axes = add_plot_axes(figure, 8, 12, 10, 46)
        axes.set_xlim(*limits)
        set_numeric_ticks(axes, x=True, most=4)
        drawn = FigureCanvasAgg(figure)
        drawn.draw()
        for label in axes.get_xticklabels():
            assert label.get_window_extent(drawn.get_renderer()).x0 >= figure.bbox.x0 - 1
        assert axes.get_position().x0 * 352 < 40


def test_axes_with_enough_space_are_unchanged() -> None:
    with open_canvas(336, 264) as figure:
        axes = add_plot_axes(figure, 58, 14, 10, 46)
        axes.set_xlim(0, 1.3)
        set_numeric_ticks(axes, x=True, most=5)
        assert axes.get_position().x1 == pytest.approx(1 - 14 / 336)
