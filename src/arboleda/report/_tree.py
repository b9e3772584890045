"""The study's decision tree as a drawing and as text, from the facts."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from arboleda._numbers import integer
from arboleda._reading.boxes import Box, Output, Sketch
from arboleda._reading.question import Question
from arboleda._reading.svg import Theme
from arboleda._reading.svg import draw_tree as draw_sketch
from arboleda.report._colours import class_colours
from arboleda.report._conditions import Levels, find_levels, question

__all__ = ["draw_tree", "tree_rules"]

_UNITS = 18.0  # a tree of depth five stays within a page's width


def draw_tree(
    tree: Mapping[str, Any], columns: Sequence[Mapping[str, Any]] = (), positive: str | None = None
) -> Markup:
    """Draw the tree as one SVG element in the colours of the page.

    Parameters
    ----------
    tree : mapping
        ``tree`` of the facts.
    columns : sequence of mapping
        ``data.columns`` of the facts, which tell features of one value from numbers.
    positive : str or None
        The positive class, which takes the accent colour if there are two classes.
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
        classes=tuple(class_colours(tree["class_labels"] or (), positive)),
    )
    # The drawing escapes every text of the user.
    return Markup(draw_sketch(_sketch(tree, columns), theme, alone=False))


def tree_rules(tree: Mapping[str, Any], columns: Sequence[Mapping[str, Any]] = ()) -> str:
    """Write the same tree as indented text, one line for each node."""
    sketch = _sketch(tree, columns)
    lines: list[str] = []

    def write(box: Box, reached_by: str) -> None:
        answer = "" if box.children else f": {_answer(sketch, box)}"
        more = " …" if box.hidden is None else ""
        lines.append(f"{'   ' * box.depth}{reached_by}{answer}  (n {integer(box.n)}){more}")
        for child, side in zip(box.children, ("left", "right"), strict=False):
            assert box.question is not None
            words = box.question.text(side == "left")
            write(sketch.boxes[child], words + (" or missing" if box.missing == side else ""))

    write(sketch.boxes[0], "all rows")
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
    asked: Question | None = None if node["feature"] is None else question(node, levels)
    return Box(
        depth=node["depth"],
        children=children,
        question=asked,
        missing=node["missing"],
        n=node["n"],
        impurity=node["impurity"],
        values=(tuple(node["value"]),),
        hidden=None if asked is not None and not children else 0,
    )


def _answer(sketch: Sketch, box: Box) -> str:
    ((answer, sure),) = sketch.answers(box)
    return answer if sketch.is_one_number else f"{answer} {sure}"
