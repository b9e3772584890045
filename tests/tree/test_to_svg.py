"""The drawing: every node in its place, no overlaps, every text as text."""

import itertools
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from tests.property.strategies import checked
from tests.tree.handmade import Node, classifier

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor
from arboleda._tree_rendering.boxes import place_boxes
from arboleda._tree_rendering.legend import CLASS_COLOURS
from arboleda._utils.numbers import text_units

SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]


def drawing(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def rectangle(element: ElementTree.Element) -> Box:
    x, y, wide, high = (float(element.get(key, "")) for key in ("x", "y", "width", "height"))
    return x, y, x + wide, y + high


def nodes(svg: str) -> list[ElementTree.Element]:
    return [g for g in drawing(svg).iter(f"{SVG}g") if "t-node" in g.get("class", "")]


def box_of(node: ElementTree.Element) -> Box:
    return rectangle(node.findall(f"{SVG}rect")[0])


def text_rectangle(text: ElementTree.Element) -> Box:
    """Room of a text, as wide as a wide font makes it."""
    kind, words = text.get("class", ""), "".join(text.itertext())
    small = kind == "t-edge"
    wide, x, y = (
        text_units(words) * (5.5 if small else 6.6),
        float(text.get("x", "")),
        float(text.get("y", "")),
    )
    start = x - wide if kind in {"t-end", "t-edge"} else x
    return start, y - (7.5 if small else 9.0), start + wide, y + 2.0


def overlap(one: Box, other: Box) -> bool:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide > 0.05 and high > 0.05


def assert_nothing_overlaps(svg: str) -> None:
    whole = drawing(svg)
    wide, high = float(whole.get("width", "")), float(whole.get("height", ""))
    boxes = [box_of(node) for node in nodes(svg)]
    for at, one in enumerate(boxes):
        assert not any(overlap(one, other) for other in boxes[:at])
    for node, box in zip(nodes(svg), boxes, strict=True):
        for text in node.findall(f"{SVG}text"):
            left, top, right, bottom = text_rectangle(text)
            assert box[0] <= left
            assert right <= box[2] + 1
            assert box[1] <= top
            assert bottom <= box[3]
    outside = [text_rectangle(text) for text in whole.findall(f"{SVG}text")]
    for place in outside:
        assert not any(overlap(place, box) for box in boxes)
    texts = [text_rectangle(text) for text in whole.iter(f"{SVG}text")]
    for at, one in enumerate(texts):
        assert one[0] >= 0
        assert one[2] <= wide + 1
        assert one[1] >= 0
        assert one[3] <= high
        assert not any(overlap(one, other) for other in texts[:at])


def _digits(**parameters: Any) -> Any:
    table = load_digits(as_frame=True)
    return DecisionTreeClassifier(**parameters).fit(table.data, table.target)


def _iris(**parameters: Any) -> Any:
    table = load_iris(as_frame=True)
    return DecisionTreeClassifier(**parameters).fit(table.data, table.target)


def _cancer() -> str:
    table = load_breast_cancer(as_frame=True)
    model = DecisionTreeClassifier(max_depth=6).fit(table.data, table.target)
    return model.to_svg(class_names=table.target_names)


def _with_gaps() -> str:
    table = load_diabetes(as_frame=True)
    X = table.data.mask(np.random.default_rng(0).random(table.data.shape) < 0.2)
    return DecisionTreeRegressor(max_depth=6).fit(X, table.target).to_svg()


DRAWINGS = {
    "iris": lambda: _iris(max_depth=2).to_svg(),
    "thirty features, depth 6": _cancer,
    "missing values, depth 6": _with_gaps,
    "ten classes, depth 6": lambda: _digits(max_depth=6).to_svg(),
    "cut": lambda: _digits().to_svg(max_depth=3),
    "root alone": lambda: _digits().to_svg(max_depth=0),
    "long names": lambda: _iris().to_svg(
        feature_names=["n" * 200, "two words " * 20, "w" * 40, "木" * 60],
        class_names=["W" * 200, "a b " * 50, "i"],
    ),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_nothing_overlaps(name: str) -> None:
    assert_nothing_overlaps(DRAWINGS[name]())


def test_each_node_is_drawn_once_with_its_numbers() -> None:
    model = _iris(max_depth=3)
    svg = model.to_svg()
    drawn = [["".join(t.itertext()) for t in node.findall(f"{SVG}text")] for node in nodes(svg)]
    assert len(drawn) == model.tree_.node_count
    assert drawn[0] == ["petal length (cm)", "≤ 2.45", "n 150"]
    assert drawn[1] == ["0", "100\N{NO-BREAK SPACE}%", "n 50"]
    assert [texts[-1] for texts in drawn] == [f"n {n}" for n in model.tree_.n_node_samples]


def test_branch_widths_show_rows_and_the_main_path_is_marked() -> None:
    model = _iris(max_depth=2)
    paths = list(drawing(model.to_svg()).iter(f"{SVG}path"))
    widths = np.array([float(path.get("stroke-width", "")) for path in paths])
    np.testing.assert_allclose(widths / widths.max(), np.array([50, 100, 54, 46]) / 100, atol=0.01)
    marked = [path.get("class") == "t-branch t-main" for path in paths]
    assert marked == [False, True, True, False]
    ways = ["t-way" in node.get("class", "") for node in nodes(model.to_svg())]
    assert ways == [True, False, True, True, False]


def test_purer_leaves_have_stronger_colours() -> None:
    svg = _iris(max_depth=2).to_svg()
    tints = re.findall(r"fill:(#\w+);fill-opacity:([\d.]+)", svg)
    assert [colour for colour, _ in tints] == list(CLASS_COLOURS[:3])
    setosa, versicolor, virginica = (float(strength) for _, strength in tints)
    assert setosa == 0.35
    assert setosa > virginica > versicolor > 0.25


def test_deeper_nodes_are_counted() -> None:
    model = _digits()
    svg = model.to_svg(max_depth=1)
    counts = [int(n) for n in re.findall(r">(\d+) more nodes?</text>", svg.replace(",", ""))]
    assert sum(counts) + 3 == model.tree_.node_count
    assert "more node" not in model.to_svg(max_depth=None)
    assert len(nodes(model.to_svg(max_depth=None))) == model.tree_.node_count


def test_a_long_chain_is_drawn() -> None:
    chain = Node(value=(1.0, 0.0))
    for at in range(150):
        chain = Node(0, float(at), left=Node(value=(0.0, 1.0)), right=chain)
    assert "more nodes" in classifier(chain, 1, ["a", "b"]).to_svg()
    assert len(nodes(classifier(chain, 1, ["a", "b"]).to_svg(max_depth=None))) == 301


def test_the_same_tree_gives_the_same_bytes() -> None:
    assert _digits(n_jobs=1).to_svg() == _digits(n_jobs=2).to_svg()


def test_a_notebook_shows_the_picture() -> None:
    svg = _iris(max_depth=1).to_svg()
    assert isinstance(svg, str)
    assert svg._repr_html_() == svg


HOSTILE = [
    "<script>alert(1)</script>",
    "\" onload='x()' &amp; ]]> <!--",
    "\x00\x1b[31m\ud800\uffff{}%s{0}",
    "   ",
]


def test_texts_of_users_are_escaped() -> None:
    model = _iris()
    kind = [
        (g.tag, sorted(g.attrib)) for g in drawing(model.to_svg()).iter() if "text" not in g.tag
    ]
    svg = model.to_svg(feature_names=HOSTILE, class_names=HOSTILE[:3])
    whole = drawing(svg)
    assert [(g.tag, sorted(g.attrib)) for g in whole.iter() if "text" not in g.tag] == kind
    titles = ["".join(title.itertext()) for title in whole.iter(f"{SVG}title")]
    assert any("<script>alert(1)</script>" in title for title in titles)
    assert "\x00" not in svg
    assert "<script" not in svg
    assert not re.search(r"(?:href|src|url\(|@import|@font-face)", svg)


def test_surplus_classes_share_a_colour() -> None:
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 10)
    X = y[:, None] + random.normal(size=(120, 3))
    svg = DecisionTreeClassifier(max_depth=3).fit(X, y).to_svg()
    assert ">impure</text>" in svg
    assert_nothing_overlaps(svg)


def test_values_near_the_float64_limits_are_drawn() -> None:
    model = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [-1.7e308, 1.7e308, 0.0])
    svg = model.to_svg()
    assert "nan" not in svg
    assert len(nodes(svg)) == model.tree_.node_count


@st.composite
def shapes(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], list[tuple[float, float]]]:
    """Trees of any shape with boxes of any size; children come after their parents."""
    children: list[tuple[int, ...]] = [()]
    for _ in range(draw(st.integers(0, 12))):
        leaves = [node for node, below in enumerate(children) if not below]
        node = draw(st.sampled_from(leaves))
        children[node] = (len(children), len(children) + 1)
        children += [(), ()]
    extent = st.tuples(st.integers(1, 9).map(float), st.integers(1, 9).map(float))
    return children, draw(st.lists(extent, min_size=len(children), max_size=len(children)))


@checked
@given(shapes())
def test_boxes_do_not_overlap_and_parents_are_centred(
    shape: tuple[list[tuple[int, ...]], list[tuple[float, float]]],
) -> None:
    children, extents = shape
    place = place_boxes(children, extents, gap=2.0)
    depth = [0] * len(children)
    for node, below in enumerate(children):
        for child in below:
            depth[child] = depth[node] + 1
        if below:
            assert place[node] == pytest.approx((place[below[0]] + place[below[1]]) / 2)
            assert place[below[0]] < place[below[1]]
    tops = [at - before for at, (before, _) in zip(place, extents, strict=True)]
    assert min(tops) == pytest.approx(0.0)
    for level in range(max(depth) + 1):
        here = sorted((place[n], *extents[n]) for n in range(len(depth)) if depth[n] == level)
        for (upper, _, after), (lower, before, _) in itertools.pairwise(here):
            assert lower - before >= upper + after + 2.0 - 1e-9
