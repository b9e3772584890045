"""Text and colour of the boxes of nodes in scikit-learn's tree exports.

The text is scikit-learn's, so scripts that parse it work unchanged. Additions are the categories of
a split and a line ``missing = True`` (or ``False``) for the branch of missing values, for columns
with missing values in training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from arboleda._tree_rendering.colours import ACCENT, blend_with_white, class_colours, purity
from arboleda._visible import visible_lines
from arboleda.tree._view import TreeView, view_tree

__all__ = ["BOX_PARAMETERS", "PLAIN", "BoxText", "TextFormat", "make_box_text"]

_STRONGEST = 0.55  # strength of a fill that keeps black text readable on the darkest colour

# Constraints of the parameters shared by `export_graphviz` and `plot_tree`.
BOX_PARAMETERS: dict[str, Any] = {
    "decision_tree": "no_validation",  # checked with a more specific message
    "max_depth": [Interval(Integral, 0, None, closed="left"), None],
    "feature_names": ["array-like", None],
    "class_names": ["array-like", "boolean", None],
    "label": [StrOptions({"all", "root", "none"})],
    "filled": ["boolean"],
    "impurity": ["boolean"],
    "node_ids": ["boolean"],
    "proportion": ["boolean"],
    "rounded": ["boolean"],
    "precision": [Interval(Integral, 0, None, closed="left")],
    "max_categories": [Interval(Integral, 1, None, closed="left"), None],
}


@dataclass(frozen=True)
class TextFormat:
    """Notation of an output format; ``escape`` makes a user's text safe."""

    number: str
    index: str  # a template
    relations: dict[str, str]
    escape: Callable[[str], str]


PLAIN = TextFormat("#", "[{}]", {"≤": "<=", "≠": "!="}, visible_lines)


@dataclass(frozen=True)
class BoxText:
    """Texts and colours of the nodes of one tree in one style."""

    view: TreeView
    text_format: TextFormat
    label: Literal["all", "root", "none"]
    impurity: bool
    node_ids: bool
    proportion: bool
    precision: int
    class_names: bool  # whether to show the class of a node
    symbolic: bool  # whether as y[k]
    max_categories: int | None

    def lines(self, node: int) -> list[str]:
        """Return the lines of a node's box."""
        view, labelled = self.view, self.label == "all" or (self.label == "root" and node == 0)

        def named(name: str, text: str) -> str:
            return f"{name} = {text}" if labelled else text

        lines = []
        if self.node_ids:
            lines.append(f"{'node ' if labelled else ''}{self.text_format.number}{node}")
        if not view.is_leaf(node):
            lines.append(self._format_split(node))
            if view.missing[node] is not None:
                lines.append(named("missing", str(view.missing[node] == "left")))
        if self.impurity:
            lines.append(named(view.criterion, self._digits(view.impurity[node])))
        samples = str(view.n[node])
        if self.proportion:
            samples = f"{round(100.0 * view.n[node] / view.n[0], 1)}%"
        lines.append(named("samples", samples))
        first, *others = self._value(node)
        lines += [named("value", first), *others]
        labels = view.classes[0]
        if self.class_names and labels is not None and view.n_outputs == 1:
            top = int(view.values[0][node].argmax())
            lines.append(named("class", self._class(top, str(labels[top]))))
        return lines

    def colour(self, node: int) -> str:
        """Return the colour of a node: its class, stronger if purer, or a tint by its value."""
        view = self.view
        shares = view.values[0][node].tolist()
        if view.n_outputs == 1 and view.classes[0] is not None:
            colour = class_colours(len(shares))[shares.index(max(shares))]
            return blend_with_white(colour, _STRONGEST * purity(shares))
        low, high = self._ends
        number = shares[0] if view.n_outputs == 1 else -view.impurity[node]
        return blend_with_white(
            ACCENT, _STRONGEST * (number - low) / (high - low) if high > low else 0.0
        )

    @cached_property
    def _ends(self) -> tuple[float, float]:
        if self.view.n_outputs == 1:
            return float(self.view.values[0].min()), float(self.view.values[0].max())
        return -max(self.view.impurity), -min(self.view.impurity)

    def _format_split(self, node: int) -> str:
        split = self.view.split(node)
        assert split is not None
        name = self.text_format.escape(split.name)
        if self.view.names is None:
            name = "x" + self.text_format.index.format(self.view.feature[node])
        relation = split.relation()
        relation = self.text_format.relations.get(relation, relation)
        number = self._digits(self.view.threshold[node])
        operand = split.operand(number, self.max_categories)
        return f"{name} {relation} {self.text_format.escape(operand)}".rstrip()

    def _class(self, top: int, label: str) -> str:
        return (
            "y" + self.text_format.index.format(top)
            if self.symbolic
            else self.text_format.escape(label)
        )

    def _value(self, node: int) -> list[str]:
        """Return one line per output: class weights, class shares, or a number."""
        view = self.view
        rows = [value[node] for value in view.values]
        if view.classes[0] is not None and not self.proportion:
            rows = [row * view.weight[node] for row in rows]
            if all(np.allclose(row, np.rint(row), rtol=1e-9, atol=1e-9) for row in rows):
                rows = [np.rint(row).astype(int) for row in rows]
        lines = [f"[{', '.join(self._digits(number) for number in row.tolist())}]" for row in rows]
        if view.n_outputs > 1:
            return [f"[{lines[0]}", *lines[1:-1], f"{lines[-1]}]"]
        return lines if view.classes[0] is not None else [lines[0][1:-1]]

    def _digits(self, number: Any) -> str:
        return str(np.round(number, self.precision))  # integers have no decimal point


def make_box_text(
    estimator: Any,
    feature_names: Any,
    class_names: Any,
    text_format: TextFormat,
    caller: str,
    **style: Any,
) -> BoxText:
    """Create the node texts of an estimator; ``style`` holds the other fields of `BoxText`."""
    symbolic = isinstance(class_names, bool | np.bool_)
    names = None if symbolic else class_names
    view = view_tree(estimator, feature_names, names, caller=caller)
    shown = bool(class_names) if symbolic else class_names is not None
    return BoxText(view, text_format, class_names=shown, symbolic=symbolic, **style)
