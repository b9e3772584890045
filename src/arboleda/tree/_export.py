"""Export of trees to text and to Graphviz, in scikit-learn's formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

from sklearn.utils._param_validation import HasMethods, Interval, validate_params

from arboleda._tree_rendering.boxes import xml_text
from arboleda._tree_rendering.legend import GREY
from arboleda._utils.text import visible, visible_lines
from arboleda.tree._plot_tree import BOX_PARAMETERS, BoxText, TextFormat, make_box_text
from arboleda.tree._tree_view import TreeView, view_tree

__all__ = ["export_graphviz", "export_text"]


@validate_params(  # type: ignore[untyped-decorator]
    {
        "decision_tree": "no_validation",  # checked with a more specific message
        "feature_names": ["array-like", None],
        "class_names": ["array-like", None],
        "max_depth": [Interval(Integral, 0, None, closed="left"), None],
        "spacing": [Interval(Integral, 1, None, closed="left")],
        "decimals": [Interval(Integral, 0, None, closed="left")],
        "show_weights": ["boolean"],
        "max_categories": [Interval(Integral, 1, None, closed="left"), None],
    },
    prefer_skip_nested_validation=True,
)
def export_text(
    decision_tree: Any,
    *,
    feature_names: Any = None,
    class_names: Any = None,
    max_depth: int | None = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
    max_categories: int | None = 8,
) -> str:
    """Export a tree as indented text, one line per branch and leaf.

    The parameters and the text are scikit-learn's. Additions: the categories of a split; "or
    missing" on the branch of missing values, for columns with missing values in training; and, with
    several targets, the class of each.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree.
    feature_names : array-like of str, default=None
        Names of the columns; None: those of the table in ``fit``, else "feature_0" and so on.
    class_names : array-like of str, default=None
        Names of the classes; None: ``classes_``. Only for one target.
    max_depth : int, default=10
        Depth below which branches are truncated; None: write all.
    spacing : int, default=3
        Width of one level of indentation.
    decimals : int, default=2
        Decimals of thresholds, weights and values.
    show_weights : bool, default=False
        Show the weight of each class in a leaf.
    max_categories : int, default=8
        Maximum number of categories of a split to list; the rest is counted. None: list all.

    Returns
    -------
    report : str

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier, export_text
    >>> tree = DecisionTreeClassifier().fit([[1], [2], [4]], ["low", "low", "high"])
    >>> print(export_text(tree, feature_names=["height"]))
    |--- height <= 3.00
    |   |--- class: low
    |--- height >  3.00
    |   |--- class: high
    <BLANKLINE>
    """
    view = view_tree(decision_tree, feature_names, class_names, caller="export_text")
    below = _compute_depths_below(view)
    lines: list[str] = []
    todo: list[tuple[int, int, str]] = [(0, 1, "")]
    while todo:
        node, depth, reached_by = todo.pop()
        if reached_by:
            lines.append(f"{_indent(depth - 1, spacing)} {reached_by}")
        if view.is_leaf(node):
            lines.append(_indent(depth, spacing) + _leaf(view, node, decimals, show_weights))
        elif max_depth is not None and depth > max_depth + 1:
            words = f"truncated branch of depth {below[node] + 1}"
            lines.append(f"{_indent(depth, spacing)} {words}")
        else:
            for child, yes in ((view.right[node], False), (view.left[node], True)):
                branch = _branch(view, node, yes, decimals, max_categories)
                todo.append((child, depth + 1, branch))
    return "\n".join([*lines, ""])


def _indent(depth: int, spacing: int) -> str:
    return ("|" + " " * spacing) * (depth - 1) + "|" + "-" * spacing


def _branch(view: TreeView, node: int, yes: bool, decimals: int, max_categories: int | None) -> str:
    split = view.split(node, "feature_{}")
    assert split is not None
    relation = split.relation(yes, ascii_only=True)
    number = f"{view.threshold[node]:.{decimals}f}"
    # Pad ">" so that the thresholds of both branches are aligned.
    words = [split.name, "> " if relation == ">" else relation]
    words.append(split.operand(number, max_categories))
    if view.missing[node] == ("left" if yes else "right") and words[-1]:
        words.append("or missing")
    return visible(" ".join(words).rstrip())


def _leaf(view: TreeView, node: int, decimals: int, show_weights: bool) -> str:
    values = [value[node].tolist() for value in view.values]
    if view.classes[0] is None:
        return f" value: [{', '.join(f'{value[0]:.{decimals}f}' for value in values)}]"
    weights = [
        f"[{', '.join(f'{share * view.weight[node]:.{decimals}f}' for share in value)}]"
        for value in values
    ]
    predictions = [
        visible(str(labels[value.index(max(value))]))
        for labels, value in zip(view.classes, values, strict=True)
        if labels is not None
    ]
    shown = f" weights: {_join_texts(weights)}" if show_weights else ""
    return f"{shown} class: {_join_texts(predictions)}"


def _join_texts(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _compute_depths_below(view: TreeView) -> list[int]:
    """Return the number of edges on the longest path down from each node."""
    below = [0] * len(view.left)
    for node in reversed(range(len(below))):
        if not view.is_leaf(node):
            below[node] = 1 + max(below[view.left[node]], below[view.right[node]])
    return below


def _escape_string(text: str) -> str:
    """Escape a text for a DOT string, where a backslash begins a command."""
    return (
        visible_lines(text)
        .replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("\r", "")
        .replace("\n", "\\n")
    )


_STRINGS = TextFormat("#", "[{}]", {"≤": "<=", "≠": "!="}, _escape_string)
_HTML = TextFormat("&#35;", "<SUB>{}</SUB>", {"≤": "&le;", "≠": "&ne;", ">": "&gt;"}, xml_text)


@validate_params(  # type: ignore[untyped-decorator]
    {
        **BOX_PARAMETERS,
        "out_file": [str, None, HasMethods("write")],
        "leaves_parallel": ["boolean"],
        "rotate": ["boolean"],
        "special_characters": ["boolean"],
        "fontname": [str],
    },
    prefer_skip_nested_validation=True,
)
def export_graphviz(
    decision_tree: Any,
    out_file: Any = None,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: Literal["all", "root", "none"] = "all",
    filled: bool = False,
    leaves_parallel: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rotate: bool = False,
    rounded: bool = False,
    special_characters: bool = False,
    precision: int = 3,
    fontname: str = "helvetica",
    max_categories: int | None = 8,
) -> str | None:
    r"""Export a tree in Graphviz's DOT language.

    The parameters and the text are scikit-learn's; ``dot -Tsvg`` renders it. Additions: the
    categories of a split; a line ``missing = True`` (or ``False``) for the branch of missing
    values, for columns with missing values in training; colours that are distinguishable for
    colour-blind readers; and escaping of quotes, backslashes and ``<`` in names.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree.
    out_file : str or file-like, default=None
        File to write to; None: return the text.
    max_depth : int, default=None
        Depth below which nodes are drawn as "(...)"; None: draw all.
    feature_names : array-like of str, default=None
        Names of the columns; None: those of the table in ``fit``, else "x[0]" and so on.
    class_names : array-like of str or bool, default=None
        Names of the classes, to show the class of each node; True: "y[0]" and so on; None: do not
        show it. Only for one target.
    label : {"all", "root", "none"}, default="all"
        Nodes whose numbers are labelled: "gini = 0.5".
    filled : bool, default=False
        Colour nodes by class (stronger for purer nodes), by value, or, with several targets, by
        impurity.
    leaves_parallel : bool, default=False
        Draw all leaves at the same height.
    impurity : bool, default=True
        Show the impurity.
    node_ids : bool, default=False
        Show the index of the node in the arrays of ``tree_``.
    proportion : bool, default=False
        Show class shares instead of class weights, and percentages instead of numbers of rows.
    rotate : bool, default=False
        Draw from left to right.
    rounded : bool, default=False
        Draw boxes with round corners.
    special_characters : bool, default=False
        Write labels as HTML, with subscripts and "≤".
    precision : int, default=3
        Decimals of thresholds, impurities and values.
    fontname : str, default="helvetica"
        Font of the text.
    max_categories : int, default=8
        Maximum number of categories of a split to list; the rest is counted. None: list all.

    Returns
    -------
    dot_data : str or None
        The text, unless it was written to ``out_file``.

    Examples
    --------
    >>> from arboleda import DecisionTreeRegressor, export_graphviz
    >>> tree = DecisionTreeRegressor().fit([[1], [2], [4]], [5.0, 5.0, 8.0])
    >>> export_graphviz(tree, impurity=False).splitlines()[3]
    '0 [label="x[0] <= 3.0\\nsamples = 3\\nvalue = 6.0"] ;'
    """
    text = make_box_text(
        decision_tree,
        feature_names,
        class_names,
        _HTML if special_characters else _STRINGS,
        "export_graphviz",
        label=label,
        impurity=impurity,
        node_ids=node_ids,
        proportion=proportion,
        precision=precision,
        max_categories=max_categories,
    )
    style = _Style(filled, rounded, leaves_parallel, rotate, special_characters, fontname)
    dot = "\n".join([*_head(style), *_body(text, style, max_depth)])
    if out_file is None:
        return dot
    if isinstance(out_file, str):
        Path(out_file).write_text(dot, encoding="utf-8")
    else:
        out_file.write(dot)
    return None


@dataclass(frozen=True)
class _Style:
    filled: bool
    rounded: bool
    leaves_parallel: bool
    rotate: bool
    html: bool
    fontname: str


def _head(style: _Style) -> list[str]:
    styles = [name for name in ("filled", "rounded") if getattr(style, name)]
    box_style = f', style="{", ".join(styles)}", color="black"' if styles else ""
    font = f'fontname="{_escape_string(style.fontname)}"'
    lines = ["digraph Tree {", f"node [shape=box{box_style}, {font}] ;"]
    if style.leaves_parallel:
        lines.append("graph [ranksep=equally, splines=polyline] ;")
    lines.append(f"edge [{font}] ;")
    return [*lines, "rankdir=LR ;"] if style.rotate else lines


def _body(text: BoxText, style: _Style, max_depth: int | None) -> Iterator[str]:
    """Yield nodes in preorder, each followed by the branch that leads to it."""
    view = text.view
    ranks: dict[str, list[str]] = {"leaves": []}
    todo = [(0, -1, 0)]
    while todo:
        node, parent, depth = todo.pop()
        if max_depth is not None and depth > max_depth:
            ranks["leaves"].append(str(node))
            grey = f', fillcolor="{GREY.upper()}"' if style.filled else ""
            yield f'{node} [label="(...)"{grey}] ;'
            yield f"{parent} -> {node} ;"
            continue
        leaf = view.is_leaf(node)
        ranks.setdefault("leaves" if leaf else str(depth), []).append(str(node))
        colour = f', fillcolor="{text.colour(node)}"' if style.filled else ""
        yield f"{node} [label={_label(text.lines(node), style)}{colour}] ;"
        if parent >= 0:
            yield f"{parent} -> {node}{_branch_label(node, style) if parent == 0 else ''} ;"
        if not leaf:
            todo += [(view.right[node], node, depth + 1), (view.left[node], node, depth + 1)]
    if style.leaves_parallel:
        for rank in sorted(ranks):
            yield f"{{rank=same ; {'; '.join(ranks[rank])}}} ;"
    yield "}"


def _label(lines: list[str], style: _Style) -> str:
    return f"<{'<br/>'.join(lines)}>" if style.html else '"' + "\\n".join(lines) + '"'


def _branch_label(node: int, style: _Style) -> str:
    """Return the label of the two branches of the root; the left child is node 1."""
    angle = (45 if node == 1 else -45) * (-1 if style.rotate else 1)
    word = "True" if node == 1 else "False"
    return f' [labeldistance=2.5, labelangle={angle}, headlabel="{word}"]'
