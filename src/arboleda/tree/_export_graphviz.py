"""Export of trees to Graphviz's DOT language, in scikit-learn's format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sklearn.utils._param_validation import HasMethods, validate_params

from arboleda._tree_rendering.colours import GREY
from arboleda._tree_rendering.xml_text import xml_text
from arboleda._visible import visible_lines
from arboleda.tree._node_text import BOX_PARAMETERS, BoxText, TextFormat, make_box_text

__all__ = ["export_graphviz"]


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
