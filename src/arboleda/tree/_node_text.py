"""What scikit-learn's exports write into the box of a node, line by line, and its colour.

The wording is scikit-learn's, so that what a script shows or parses stays as it was. Ours adds the
categories of a question and a line ``missing = True`` (or ``False``): the branch that missing
values take, at columns that missed some in training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from arboleda._tree_rendering.colours import ACCENT, class_colours, on_white, purity
from arboleda._visible import visible_lines
from arboleda.tree._view import TreeView, view_tree

__all__ = ["BOX_PARAMETERS", "PLAIN", "BoxText", "Signs", "box_text"]

_STRONGEST = 0.55  # of a fill, so that black text can be read on the darkest colour

# Parameters that `export_graphviz` and `plot_tree` share, and what they may be.
BOX_PARAMETERS: dict[str, Any] = {
    "decision_tree": "no_validation",  # told apart with more words
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
class Signs:
    """How a format writes what is not plain text; ``escape`` makes a user's text harmless."""

    number: str
    index: str  # a template
    relations: dict[str, str]
    escape: Callable[[str], str]


PLAIN = Signs("#", "[{}]", {"≤": "<=", "≠": "!="}, visible_lines)


@dataclass(frozen=True)
class BoxText:
    """The text of any node of one tree in one style."""

    view: TreeView
    signs: Signs
    label: Literal["all", "root", "none"]
    impurity: bool
    node_ids: bool
    proportion: bool
    precision: int
    class_names: bool  # whether to name the class of a node
    symbolic: bool  # whether by y[k]
    max_categories: int | None

    def lines(self, node: int) -> list[str]:
        """Lines of a node's box."""
        view, labelled = self.view, self.label == "all" or (self.label == "root" and node == 0)

        def named(name: str, text: str) -> str:
            return f"{name} = {text}" if labelled else text

        lines = []
        if self.node_ids:
            lines.append(f"{'node ' if labelled else ''}{self.signs.number}{node}")
        if not view.is_leaf(node):
            lines.append(self._asked(node))
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
        """Colour of a node: of its class, the stronger the purer; or stronger by its value."""
        view = self.view
        shares = view.values[0][node].tolist()
        if view.n_outputs == 1 and view.classes[0] is not None:
            colour = class_colours(len(shares))[shares.index(max(shares))]
            return on_white(colour, _STRONGEST * purity(shares))
        low, high = self._ends
        number = shares[0] if view.n_outputs == 1 else -view.impurity[node]
        return on_white(ACCENT, _STRONGEST * (number - low) / (high - low) if high > low else 0.0)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        if self.view.n_outputs == 1:
            return float(self.view.values[0].min()), float(self.view.values[0].max())
        return -max(self.view.impurity), -min(self.view.impurity)

    def _asked(self, node: int) -> str:
        question = self.view.question(node)
        assert question is not None
        name = self.signs.escape(question.name)
        if self.view.names is None:
            name = "x" + self.signs.index.format(self.view.feature[node])
        relation = question.relation()
        relation = self.signs.relations.get(relation, relation)
        number = self._digits(self.view.threshold[node])
        operand = question.operand(number, self.max_categories)
        return f"{name} {relation} {self.signs.escape(operand)}".rstrip()

    def _class(self, top: int, label: str) -> str:
        return "y" + self.signs.index.format(top) if self.symbolic else self.signs.escape(label)

    def _value(self, node: int) -> list[str]:
        """One line for each output: weights of the classes, their shares, or a number."""
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
        return str(np.round(number, self.precision))  # a whole number stays without a point


def box_text(
    estimator: Any, feature_names: Any, class_names: Any, signs: Signs, caller: str, **style: Any
) -> BoxText:
    """Prepare the text of an estimator's nodes; ``style`` are the other fields of `BoxText`."""
    symbolic = isinstance(class_names, bool | np.bool_)
    names = None if symbolic else class_names
    view = view_tree(estimator, feature_names, names, caller=caller)
    shown = bool(class_names) if symbolic else class_names is not None
    return BoxText(view, signs, class_names=shown, symbolic=symbolic, **style)
