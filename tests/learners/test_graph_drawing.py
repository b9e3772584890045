"""Drawings of graphs: every name in full, parents above children, arrows that end at the boxes."""

import io
from typing import Any
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from arboleda import BayesianNetworkClassifier, DirectedGraph
from arboleda._utils.text import visible


@pytest.fixture(autouse=True)
def closed_figures() -> Any:
    yield
    plt.close("all")


def boxes_of(ax: Any) -> dict[str, Any]:
    """Places of the names in pixels, as drawn."""
    ax.figure.draw_without_rendering()
    return {text.get_text(): text.get_window_extent() for text in ax.texts if text.get_text()}


@pytest.mark.parametrize("own_figure", [True, False])
def test_names_are_complete_and_do_not_overlap(own_figure: bool) -> None:
    table = load_wine(as_frame=True)
    model = BayesianNetworkClassifier().fit(table.data, table.target.rename("cultivar"))
    ax = model.plot() if own_figure else model.plot(plt.figure().add_subplot())
    boxes = boxes_of(ax)
    assert set(boxes) == {*table.data.columns, "cultivar"}
    found = list(boxes.values())
    assert not any(a.overlaps(b) for i, a in enumerate(found) for b in found[:i])
    for parent, child in model.graph_.edges:
        assert boxes[parent].y0 > boxes[child].y1
    page = ax.figure.bbox
    for box in found:
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1
    assert sum(
        text.arrow_patch is not None for text in ax.texts if hasattr(text, "arrow_patch")
    ) == len(model.graph_.edges)


@pytest.mark.parametrize("dpi", [50, 200])
def test_arrows_end_at_boxes_at_any_size(dpi: int) -> None:
    ax = DirectedGraph([("above", "below")]).plot()
    ax.figure.set_dpi(dpi)
    boxes = boxes_of(ax)
    (arrow,) = [text.arrow_patch for text in ax.texts if not text.get_text()]
    end = arrow.get_transform().transform(arrow.get_path().vertices)[:, 1]
    letter = boxes["below"].height
    assert 0 < min(abs(end - boxes["below"].y1)) < letter


def test_long_edges_avoid_names() -> None:
    """An edge over a layer has a place there of its own."""
    ax = DirectedGraph([("a", "b"), ("b", "c"), ("a", "c")]).plot()
    boxes = boxes_of(ax)
    bent = max((line.get_xydata() for line in ax.lines), key=len)
    assert len(bent) == 2  # the parent and the bend; the arrow goes on from there
    x, y = ax.transAxes.transform(bent[1])
    assert not boxes["b"].contains(x, y)
    assert boxes["a"].y0 > y > boxes["c"].y1


def test_graphs_without_edges_are_drawn() -> None:
    ax = DirectedGraph([], ["one", "two"]).plot()
    boxes = boxes_of(ax)
    assert boxes["one"].y0 == pytest.approx(boxes["two"].y0)
    assert not boxes["one"].overlaps(boxes["two"])


def test_a_graph_without_nodes_gives_empty_axes() -> None:
    ax = DirectedGraph([]).plot()
    assert not ax.texts
    assert not ax.axison


HIDDEN = "\0\x07\x1b[31m\x7f\x9b\u202e\u2066\u2028\ufffe\uffff"


def test_control_characters_of_names_are_escaped() -> None:
    """A page of SVG holds no control characters, and no half of a surrogate pair."""
    name = f"a{HIDDEN}\n"
    table = pd.DataFrame({name: list("xyxy") * 5, "b": list("xxyy") * 5})
    y = pd.Series(list("pqpq") * 5, name="target\x1b")
    graph = DirectedGraph([(name, "b"), ("c\td\ud800", name)])
    for ax in (BayesianNetworkClassifier().fit(table, y).plot(), graph.plot()):
        assert boxes_of(ax).keys() >= {visible(name), "b"}
        out = io.StringIO()
        ax.figure.savefig(out, format="svg")
        assert not set(HIDDEN).difference("[31m").intersection(out.getvalue())
        ElementTree.fromstring(out.getvalue())
        ax.figure.savefig(io.BytesIO(), format="png")
        ax.figure.savefig(io.BytesIO(), format="pdf")


def test_names_are_not_parsed_as_mathematics() -> None:
    ax = DirectedGraph([("$x_1$", 2)]).plot()
    assert set(boxes_of(ax)) == {"$x_1$", "2"}
    assert np.isfinite(boxes_of(ax)["2"].x0)
