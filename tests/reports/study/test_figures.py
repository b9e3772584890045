"""Figures show the numbers they are given; the drawn tree shows every node of the facts."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest

from arboleda.reports.figures.curve_plots import (
    draw_curve_plot,
    draw_histogram_plot,
    draw_scatter_plot,
)
from arboleda.reports.figures.score_plots import choose_shown_range, draw_box_plot
from arboleda.reports.tables import draw_column_bars
from arboleda.reports.tree_drawing import draw_tree, write_tree_rules

Facts = dict[str, Any]


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter("text")]


def points(svg: str, stroke: str) -> list[tuple[float, float]]:
    """Corners of all paths drawn in this colour."""
    found = [
        node.get("d", "")
        for node in ElementTree.fromstring(svg).iter("path")
        if f"stroke: var({stroke})" in node.get("style", "")
    ]
    pairs = [re.findall(r"[ML] ([\d.-]+) ([\d.-]+)", path) for path in found]
    return [(float(x), float(y)) for path in pairs for x, y in path]


@pytest.fixture
def tree() -> Facts:
    """Four leaves; the last inner node is cut off in the facts."""
    rows: list[tuple[Any, ...]] = [
        (0, None, 1, 4, 0, "age", 30.5, "left", 100, [0.5, 0.3, 0.2]),
        (1, 0, 2, 3, 1, "income", -0.25, None, 60, [0.7, 0.2, 0.1]),
        (2, 1, None, None, 2, None, None, None, 45, [1.0, 0.0, 0.0]),
        (3, 1, None, None, 2, None, None, None, 15, [0.1, 0.5, 0.4]),
        (4, 0, None, None, 1, "age", 61.0, "right", 40, [0.2, 0.45, 0.35]),
    ]
    keys = [
        "id",
        "parent",
        "left",
        "right",
        "depth",
        "feature",
        "threshold",
        "missing",
        "n",
        "value",
    ]
    nodes = [dict(zip(keys, row, strict=True)) | {"impurity": 0.5} for row in rows]
    labels = ["north", "east & west", "south"]
    shape = {"model": "cart", "n_leaves": 5, "depth": 3, "value_label": "share of rows"}
    return {**shape, "class_labels": labels, "nodes": nodes}


def test_the_tree_has_a_box_for_every_node_with_its_condition(tree: Facts) -> None:
    svg = draw_tree(tree)
    boxes = [g for g in ElementTree.fromstring(svg).iter("g") if "t-node" in g.get("class", "")]
    assert len(boxes) == 5
    shown = [["".join(text.itertext()) for text in box.findall("text")] for box in boxes]
    assert shown == [
        ["age", "≤ 30.5", "n 100"],
        ["income", "≤ −0.25", "n 60"],
        ["north", "100\N{NO-BREAK SPACE}%", "n 45"],
        ["east & west", "50.0\N{NO-BREAK SPACE}%", "n 15"],
        ["age", "≤ 61", "n 40"],
    ]


def test_branches_are_labelled_and_show_the_side_of_missing_values(tree: Facts) -> None:
    drawing = ElementTree.fromstring(draw_tree(tree))
    edges = [text for text in drawing.iter("text") if text.get("class") == "t-edge"]
    assert [edge.text for edge in edges] == ["yes", "missing", "no", "yes", "no"]
    assert edges[0].get("x") == edges[1].get("x")
    assert texts(draw_tree(tree)).count("…") == 1


def test_boxes_of_a_tree_do_not_overlap(make_facts: Callable[..., Facts]) -> None:
    facts = make_facts("multiclass")
    drawing = ElementTree.fromstring(draw_tree(facts["tree"]))
    boxes = [next(g.iter("rect")) for g in drawing.iter("g") if "t-node" in g.get("class", "")]
    places = [tuple(float(box.get(key, "")) for key in ("x", "y", "height")) for box in boxes]
    (wide,) = {float(box.get("width", "")) for box in boxes}
    assert len(places) == len(facts["tree"]["nodes"]) > 12
    width, height = (float(drawing.get(key, "")) for key in ("width", "height"))
    for i, (x, y, high) in enumerate(places):
        assert 0 <= x <= width - wide
        assert 0 <= y <= height - high
        assert all(abs(x - u) > wide or y >= v + w or v >= y + high for u, v, w in places[:i])


def test_the_bar_of_a_node_is_divided_by_its_classes(tree: Facts) -> None:
    first = next(iter(ElementTree.fromstring(draw_tree(tree)).iter("g")))
    bars = [r for r in first.findall("rect") if r.get("style", "").startswith("fill:var(--c")]
    widths = [float(bar.get("width", "")) for bar in bars]
    assert np.allclose(np.array(widths) / sum(widths), [0.5, 0.3, 0.2], atol=0.002)


def test_a_long_condition_takes_two_lines_and_an_ellipsis(tree: Facts) -> None:
    tree["nodes"][0]["feature"] = "marital-status = Married-civ-spouse"
    tree["nodes"][1]["feature"] = "w" * 90
    shown = texts(draw_tree(tree))
    assert shown[5:7] == ["marital-status =", "Married-civ-spouse"]
    assert [text for text in shown if "www" in text][1].endswith("w…")
    assert "w" * 90 in draw_tree(tree)


def test_a_condition_on_one_category_names_it(tree: Facts) -> None:
    tree["nodes"][0] |= {"feature": "status = Married & <b>", "threshold": 0.5}
    tree["nodes"][1] |= {"feature": "a = b", "threshold": 0.5}
    columns = [
        {"name": "status", "kind": "categorical"},
        {"name": "a", "kind": "categorical"},
        {"name": "a = b", "kind": "numeric"},
    ]
    shown = texts(draw_tree(tree, columns))
    first = next(index for index, text in enumerate(shown) if text.startswith("status"))
    assert " ".join(shown[first : first + 2]) == "status ≠ Married & <b>"
    assert shown.count("≤ 0.5") == 1  # a number, although its name looks like a value
    rules = write_tree_rules(tree, columns).splitlines()
    assert rules[1] == "   status ≠ Married & <b> or missing  (n 60)"
    assert rules[4].startswith("   status = Married & <b>: ")


def test_the_tree_as_text_has_a_line_for_every_node(tree: Facts) -> None:
    assert write_tree_rules(tree).replace("\N{NO-BREAK SPACE}", " ").splitlines() == [
        "all rows  (n 100)",
        "   age ≤ 30.5 or missing  (n 60)",
        "      income ≤ −0.25: north 100 %  (n 45)",
        "      income > −0.25: east & west 50.0 %  (n 15)",
        "   age > 30.5: east & west 45.0 %  (n 40) …",
    ]


def test_regression_trees_and_single_leaves_are_drawn(tree: Facts) -> None:
    tree["class_labels"] = None
    for node in tree["nodes"]:
        node["value"] = [1000.0 * node["id"]]
    assert "3000" in texts(draw_tree(tree))
    leaf = {**tree["nodes"][0], "left": None, "right": None, "feature": None, "threshold": None}
    assert texts(draw_tree({**tree, "nodes": [leaf]})) == ["0", "mean", "n 100"]


@pytest.mark.parametrize("narrow", [False, True])
def test_the_box_plot_places_every_fold(narrow: bool) -> None:
    scores = [0.90, 0.92, 0.94, 0.91, 0.93]
    svg = draw_box_plot([("first", scores), ("second", [0.80] * 5)], "Accuracy", narrow)
    assert texts(svg)[-2:] == ["first", "second"]
    assert "Accuracy" in texts(svg)
    x = np.array(sorted({point[0] for point in points(svg, "--accent")}))
    assert len(x) == 5
    assert np.allclose(np.diff(x) / np.diff(x).mean(), 1, atol=0.02)


def test_a_model_off_the_scale_is_named_with_its_mean() -> None:
    models = [("a", [0.91, 0.92]), ("b", [0.90, 0.91]), ("baseline", [0.25, 0.25])]
    assert "← 0.25" in texts(draw_box_plot(models, "Accuracy", narrow=False))
    assert choose_shown_range([scores for _, scores in models]) == (0.90, 0.92)
    worse = [("a", [10.0, 11.0]), ("b", [12.0, 12.5]), ("baseline", [900.0, 901.0])]
    assert "900.5 →" in texts(draw_box_plot(worse, "RMSE", narrow=False))


def test_equal_scores_give_the_axis_some_width() -> None:
    svg = draw_box_plot([("a", [1.0, 1.0]), ("b", [0.0, 0.0])], "R²", narrow=False)
    assert "nan" not in svg


def test_a_curve_passes_through_its_points() -> None:
    svg = draw_curve_plot(
        [([0, 0.5, 1], [0, 0.75, 1], -1)], ("x", "y"), chance=None, name="n", title="t"
    )
    (x0, y0), (x1, y1), (x2, y2) = points(svg, "--accent")
    assert (x1 - x0) / (x2 - x0) == pytest.approx(0.5, abs=0.002)
    assert (y1 - y0) / (y2 - y0) == pytest.approx(0.75, abs=0.002)


def test_a_scatter_plot_has_every_point() -> None:
    x = np.linspace(3.0, 9.0, 50)
    svg = draw_scatter_plot(x, x**2, ("x", "y"), diagonal=False, name="n", title="t")
    drawn = np.array(sorted(set(points(svg, "--accent"))))
    assert len(drawn) == 50
    assert np.corrcoef(drawn[:, 0], x)[0, 1] > 0.9999
    assert np.corrcoef(drawn[:, 1], -(x**2))[0, 1] > 0.9999


def test_a_histogram_is_as_high_as_its_counts() -> None:
    svg = draw_histogram_plot({"edges": [-1, 0, 1, 2], "counts": [10, 20, 5]}, "x", "n", "t")
    (path,) = re.findall(r'd="([^"]+)"[^>]*fill: var\(--accent\)', svg)
    heights = sorted({float(y) for _, y in re.findall(r"[ML] ([\d.-]+) ([\d.-]+)", path)})
    top, middle, low, base = heights
    assert (base - middle) / (base - top) == pytest.approx(0.5, abs=0.002)
    assert (base - low) / (base - top) == pytest.approx(0.25, abs=0.002)


def test_bars_of_a_column_match_its_counts(make_facts: Callable[..., Facts]) -> None:
    column = make_facts("binary")["data"]["columns"][3]
    svg = draw_column_bars(column | {"top": [["a", 40], ["b", 10], ["c", 0]]})
    assert re.findall(r"v-([\d.]+)h", svg) == ["22", "5.5"]
    assert draw_column_bars(column | {"top": None}) == ""
    assert draw_column_bars(column | {"top": [["a", 0]]}) == ""


def test_names_are_always_escaped() -> None:
    names = ["$x^2$", "_hidden", "<b>&", "@1@", "木" * 5, "100 % \\alpha", "w" * 90]
    svg = draw_box_plot([(name, [0.5, 0.6]) for name in names], "<i>", narrow=False)
    assert texts(svg)[-7:-1] == names[:-1]
    assert texts(svg)[-1].startswith("www")
    assert texts(svg)[-1].endswith("…")
    assert "<i>" in texts(svg)


def test_drawing_leaves_the_state_of_matplotlib_unchanged(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    with mpl.rc_context({"font.size": 40, "axes.grid": True, "text.usetex": False}):
        theirs = dict(mpl.rcParams)
        odd = draw_histogram_plot({"edges": [0, 1], "counts": [3]}, "x", "n", "t")
        assert dict(mpl.rcParams) == theirs
    assert dict(mpl.rcParams) == before
    assert draw_histogram_plot({"edges": [0, 1], "counts": [3]}, "x", "n", "t") == odd
