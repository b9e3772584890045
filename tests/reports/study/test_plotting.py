"""Ticks of figures: their labels stay within the figure."""

import re

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from arboleda.reports.figures.canvas import add_plot_axes, open_canvas, set_numeric_ticks
from arboleda.reports.figures.score_plots import draw_effect_plot


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


@pytest.mark.parametrize(
    ("limits", "labels"),
    [
        ((2007.9, 2011.1), ["2008", "2009", "2010", "2011"]),
        ((1_234_566.9, 1_234_570.1), ["1,234,567", "1,234,568", "1,234,569", "1,234,570"]),
        ((2008.0, 2008.11), ["2008.000", "2008.025", "2008.050", "2008.075", "2008.100"]),
        ((-0.05, 0.2), ["−0.05", "0.00", "0.05", "0.10", "0.15", "0.20"]),
        ((12_000, 24_000), ["12,500", "15,000", "17,500", "20,000", "22,500"]),
        ((0.0, 4e-7), ["0", "1e-7", "2e-7", "3e-7", "4e-7"]),
        ((1e12, 1e12 + 4), ["1e12", "1.000000000001e12", "1.000000000002e12",
                            "1.000000000003e12", "1.000000000004e12"]),
    ],
)  # fmt: skip
def test_ticks_are_neither_rounded_nor_lost(limits: tuple[float, float], labels: list[str]) -> None:
    with open_canvas(600, 264) as figure:
        axes = add_plot_axes(figure, 58, 14, 10, 46)
        axes.set_xlim(*limits)
        set_numeric_ticks(axes, x=True, most=5)
        assert [label.get_text() for label in axes.get_xticklabels()] == labels


def test_many_numbers_of_a_setting_get_an_axis_of_numbers() -> None:
    """Twelve values used to be named in part, at equal distances."""
    numbers = [0.001 * 1.9**k for k in range(12)]
    values = [(f"{number:.6g}", [0.5 + 0.01 * k]) for k, number in enumerate(numbers)]
    drawn = draw_effect_plot(values, ("eta", "accuracy"), numbers=numbers, name="n", title="t")
    assert [text for text in re.findall(r">([^<>]+)<", drawn) if text[0] in "01"][:4] == [
        "0.001", "0.01", "0.1", "1",
    ][:4]  # fmt: skip
    texts = [(str(2000 + k), [0.5 + 0.01 * k]) for k in range(9)]
    named = draw_effect_plot(texts, ("year", "accuracy"), numbers=range(9), name="n", title="t")
    assert [year for year, _ in texts] == re.findall(r">(20\d\d)<", named)
