"""Decision trees of the facts, as a drawing in the colours of the page and as text."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from arboleda._locale import word
from arboleda._tree_rendering.boxes import Box, Output, Sketch, SplitCondition
from arboleda._tree_rendering.svg import Theme
from arboleda._tree_rendering.svg import draw_tree as draw_sketch
from arboleda._utils.numbers import integer
from arboleda.reports.tables import choose_class_colours
from arboleda.reports.translation import N_

__all__ = ["draw_tree", "find_levels", "write_tree_rules"]

Levels = Mapping[str, tuple[str, str]]


def find_levels(features: Iterable[str], columns: Iterable[Mapping[str, Any]]) -> Levels:
    """Find the indicator features of single column values, named "column = value".

    Parameters
    ----------
    features : iterable of str
        Features of a tree.
    columns : iterable of mapping
        ``data.columns`` of the facts.

    Returns
    -------
    mapping
        Indicator feature -> its column and value. Numeric columns whose own names contain
        " = " are excluded.

    Examples
    --------
    >>> columns = [{"name": "colour", "kind": "categorical"}, {"name": "age", "kind": "numeric"}]
    >>> find_levels(["colour = red", "age"], columns)
    {'colour = red': ('colour', 'red')}
    """
    kinds = {column["name"]: column["kind"] for column in columns}
    coded = [name for name, kind in kinds.items() if kind != "numeric"]
    result = {}
    for feature in set(features) - kinds.keys():
        names = [name for name in coded if feature.startswith(f"{name} = ")]
        if names:
            name = max(names, key=len)
            result[feature] = (name, feature[len(name) + 3 :])
    return result


def make_question(node: Mapping[str, Any], levels: Levels) -> SplitCondition:
    """Read the split condition of a node from the facts.

    Parameters
    ----------
    node : mapping
        An inner node of ``tree.nodes`` of the facts. A categorical split lists its categories
        in ``levels``; ``levels_left`` is True if they go left.
    levels : mapping
        The result of `find_levels`. These features are 0 or 1, so "at most 0.5" means "not this
        value".

    Examples
    --------
    >>> make_question({"feature": "age", "threshold": 30.5}, {}).text()
    'age ≤ 30.5'
    >>> node = {"feature": "colour = red", "threshold": 0.5}
    >>> make_question(node, {"colour = red": ("colour", "red")}).text()
    'colour ≠ red'
    """
    feature, threshold = node["feature"], node["threshold"]
    if node.get("levels"):
        return SplitCondition(feature, levels=tuple(node["levels"]), left=node["levels_left"])
    if feature in levels and 0 <= threshold < 1:
        column, level = levels[feature]
        return SplitCondition(column, levels=(level,), left=False)
    return SplitCondition(feature, threshold)


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
    return Sketch(boxes, (Output(None if labels is None else tuple(labels), number=N_("mean")),))


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
