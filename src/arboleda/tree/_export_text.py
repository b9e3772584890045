"""Export of trees to indented text, in scikit-learn's format."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval, validate_params

from arboleda._visible import visible
from arboleda.tree._view import TreeView, view_tree

__all__ = ["export_text"]


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
