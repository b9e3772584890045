"""The decision tree of the study as a drawing and as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from arboleda._locale import word
from arboleda._numbers import integer
from arboleda._tree_rendering.boxes import Box, Output, Sketch
from arboleda._tree_rendering.split_condition import SplitCondition
from arboleda._tree_rendering.svg import Theme
from arboleda._tree_rendering.svg import draw_tree as draw_sketch
from arboleda.report._colours import SWATCHES, choose_class_colours
from arboleda.report._conditions import Levels, find_levels, make_question
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text, translate

__all__ = ["draw_tree", "make_tree_part", "make_tree_view", "write_tree_rules"]

_UNITS = 18.0  # a tree of depth five stays within a page's width


def make_tree_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section on the decision tree of the study; None if there is none."""
    tree = report.facts["tree"]
    if tree is None or not tree["nodes"]:
        return None
    drawn = max(node["depth"] for node in tree["nodes"])
    numbers = {"leaves": integer(tree["n_leaves"]), "depth": integer(tree["depth"])}
    cut = text("tree.cut", drawn=drawn) if drawn != tree["depth"] else ""
    return {
        "name": report.get_name(tree["model"]),
        "size": text("tree.size", **numbers, cut=cut),
        **make_tree_part(report, tree, "tree"),
    }


def make_tree_part(report: ReportData, tree: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Collect the drawing, the rules and the legend of a tree."""
    positive = report.study["positive_class"]
    labels, columns = tree["class_labels"] or [], report.facts["data"]["columns"]
    few = 2 <= len(labels) <= SWATCHES
    bar = "few" if few else "many" if labels else "value"
    return {
        "svg": draw_tree(tree, columns, positive),
        "title": text(f"figure.{kind}"),
        "rules": write_tree_rules(tree, columns),
        "legend": list(zip(choose_class_colours(labels, positive), labels, strict=True))
        if few
        else [],
        "caption": text(f"tree.bar.{bar}", label=translate(tree["value_label"])),
    }


def draw_tree(
    tree: Mapping[str, Any], columns: Sequence[Mapping[str, Any]] = (), positive: str | None = None
) -> Markup:
    """Draw the tree as one SVG element in the colours of the page.

    Parameters
    ----------
    tree : mapping
        ``tree`` of the facts.
    columns : sequence of mapping
        ``data.columns`` of the facts, which distinguish indicators from numeric features.
    positive : str or None
        The positive class; takes the accent colour if there are two classes.
    """
    theme = Theme(
        ink="var(--ink)",
        muted="var(--muted)",
        line="var(--line)",
        branch="var(--neutral)",
        paper="var(--paper)",
        accent="var(--accent)",
        font="inherit",
        units=_UNITS,
        classes=tuple(choose_class_colours(tree["class_labels"] or (), positive)),
    )
    # The drawing escapes all text of the user.
    return Markup(draw_sketch(_sketch(tree, columns), theme, alone=False))


def write_tree_rules(tree: Mapping[str, Any], columns: Sequence[Mapping[str, Any]] = ()) -> str:
    """Write the tree as indented text, one line per node."""
    sketch = _sketch(tree, columns)
    lines: list[str] = []
    missing = word(" or missing")

    def write(box: Box, reached_by: str) -> None:
        leaf_text = "" if box.children else f": {_leaf_text(sketch, box)}"
        more = " …" if box.hidden is None else ""
        lines.append(f"{'   ' * box.depth}{reached_by}{leaf_text}  (n {integer(box.n)}){more}")
        for child, side in zip(box.children, ("left", "right"), strict=False):
            assert box.split is not None
            words = box.split.text(side == "left")
            write(sketch.boxes[child], words + (missing if box.missing == side else ""))

    write(sketch.boxes[0], word("all rows"))
    return "\n".join(lines)


def _sketch(tree: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> Sketch:
    nodes, labels = tree["nodes"], tree["class_labels"]
    levels = find_levels((n["feature"] for n in nodes if n["feature"] is not None), columns)
    place = {node["id"]: at for at, node in enumerate(nodes)}
    boxes = [_box(node, place, levels) for node in nodes]
    return Sketch(boxes, (Output(None if labels is None else tuple(labels)),))


def _box(node: Mapping[str, Any], place: Mapping[int, int], levels: Levels) -> Box:
    ids = (node["left"], node["right"])
    children = tuple(place[child] for child in ids) if all(i in place for i in ids) else ()
    split: SplitCondition | None = None if node["feature"] is None else make_question(node, levels)
    return Box(
        depth=node["depth"],
        children=children,
        split=split,
        missing=node["missing"],
        n=node["n"],
        impurity=node["impurity"],
        values=(tuple(node["value"]),),
        hidden=None if split is not None and not children else 0,
    )


def _leaf_text(sketch: Sketch, box: Box) -> str:
    ((leaf_text, confidence),) = sketch.predictions(box)
    return leaf_text if sketch.is_one_number else f"{leaf_text} {confidence}"
