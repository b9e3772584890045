"""Drawing of trees with matplotlib, and the text of scikit-learn's boxes.

The text is scikit-learn's, so scripts that parse it work unchanged. Additions are the categories of
a split and a line ``missing = True`` (or ``False``) for the branch of missing values, for columns
with missing values in training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from arboleda._tree_rendering.boxes import place_boxes
from arboleda._tree_rendering.legend import ACCENT, GREY, blend_with_white, class_colours, purity
from arboleda._utils.text import visible_lines
from arboleda.tree._tree_view import TreeView, view_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

__all__ = ["BOX_PARAMETERS", "PLAIN", "BoxText", "TextFormat", "make_box_text", "plot_tree"]

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


_LARGEST = 2.0  # maximum enlargement of the font for small trees
_ACROSS, _ALONG = 0.6, 1.8  # gaps between boxes, in letter heights
_CUT = "\n  (...)  \n"


@validate_params(  # type: ignore[untyped-decorator]
    {
        **BOX_PARAMETERS,
        "ax": "no_validation",
        "fontsize": [Interval(Integral, 0, None, closed="left"), None],
    },
    prefer_skip_nested_validation=True,
)
def plot_tree(
    decision_tree: Any,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: Literal["all", "root", "none"] = "all",
    filled: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = False,
    precision: int = 3,
    ax: Any = None,
    fontsize: int | None = None,
    max_categories: int | None = 8,
) -> list[Annotation]:
    r"""Draw a tree with matplotlib, from the root at the top to the leaves.

    The parameters and the text of the boxes are scikit-learn's. Additions: the categories of a
    split; a line ``missing = True`` (or ``False``) for the branch of missing values, for columns
    with missing values in training; colours that are distinguishable for colour-blind readers; and
    a layout by the size of each box, which avoids overlaps. The method ``to_svg()`` of the trees
    makes a richer drawing.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree.
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
    impurity : bool, default=True
        Show the impurity.
    node_ids : bool, default=False
        Show the index of the node in the arrays of ``tree_``.
    proportion : bool, default=False
        Show class shares instead of class weights, and percentages instead of numbers of rows.
    rounded : bool, default=False
        Draw boxes with round corners.
    precision : int, default=3
        Decimals of thresholds, impurities and values.
    ax : matplotlib Axes, default=None
        Axes to draw on, which are cleared first; None: the current axes.
    fontsize : int, default=None
        Size of the text; None: as large as fits.
    max_categories : int, default=8
        Maximum number of categories of a split to list; the rest is counted. None: list all.

    Returns
    -------
    annotations : list of Annotation
        The boxes in preorder, and the labels of the two branches of the root.

    Examples
    --------
    >>> from arboleda import DecisionTreeRegressor, plot_tree
    >>> tree = DecisionTreeRegressor().fit([[1], [2], [4]], [5.0, 5.0, 8.0])
    >>> plot_tree(tree, impurity=False)[0].get_text()
    'x[0] <= 3.0\nsamples = 3\nvalue = 6.0'
    """
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise ImportError("plot_tree needs matplotlib: pip install 'arboleda[plot]'") from error
    text = make_box_text(
        decision_tree,
        feature_names,
        class_names,
        PLAIN,
        "plot_tree",
        label=label,
        impurity=impurity,
        node_ids=node_ids,
        proportion=proportion,
        precision=precision,
        max_categories=max_categories,
    )
    axes: Axes = plt.gca() if ax is None else ax
    axes.clear()
    axes.set_axis_off()
    boxes = _boxes(text, max_depth, filled)
    size = float(plt.rcParams["font.size"]) if fontsize is None else float(fontsize)
    places, fits = _layout(axes, boxes, size)
    if fontsize is None:
        size *= min(fits, _LARGEST)
    return _draw(axes, boxes, places, size, rounded)


@dataclass(frozen=True)
class _Box:
    text: str
    colour: str | None  # None: that of the axes
    depth: int
    parent: int
    children: tuple[int, ...]


def _boxes(text: BoxText, max_depth: int | None, filled: bool) -> list[_Box]:
    """Return the nodes to draw in preorder, with parents and children as list indices."""
    view = text.view
    found: list[tuple[int, int, int]] = []
    children: list[list[int]] = []
    todo = [(0, -1, 0)]
    while todo:
        node, parent, depth = todo.pop()
        here = len(found)
        found.append((node, parent, depth))
        children.append([])
        if parent >= 0:
            children[parent].append(here)
        if not view.is_leaf(node) and (max_depth is None or depth <= max_depth):
            todo += [(view.right[node], here, depth + 1), (view.left[node], here, depth + 1)]
    boxes = []
    for (node, parent, depth), below in zip(found, children, strict=True):
        if max_depth is not None and depth > max_depth:
            boxes.append(_Box(_CUT, GREY, depth, parent, ()))
        else:
            colour = text.colour(node) if filled else None
            boxes.append(_Box("\n".join(text.lines(node)), colour, depth, parent, tuple(below)))
    return boxes


def _layout(
    axes: Axes, boxes: Sequence[_Box], size: float
) -> tuple[list[tuple[float, float]], float]:
    """Return the centres of the boxes in axes coordinates, and the largest scale that fits."""
    letter = size * axes.figure.dpi / 72
    extents = [_extent(axes, box.text, size, 0.8 * letter) for box in boxes]
    across = place_boxes(
        [box.children for box in boxes],
        [(width / 2, width / 2) for width, _ in extents],
        _ACROSS * letter,
    )
    ends = zip(across, extents, strict=True)
    whole = max(x + width / 2 for x, (width, _) in ends)
    depth = 1 + max(box.depth for box in boxes)
    row = max(height for _, height in extents) + _ALONG * letter
    places = [
        (x / whole, 1.0 - (box.depth + 0.5) / depth) for x, box in zip(across, boxes, strict=True)
    ]
    room = axes.get_window_extent()
    return places, min(room.width / whole, room.height / (row * depth))


def _extent(axes: Axes, words: str, size: float, padding: float) -> tuple[float, float]:
    """Return the width and height of a box in pixels."""
    measured = axes.text(0, 0, words, fontsize=size, parse_math=False)
    extent = measured.get_window_extent()
    measured.remove()
    return extent.width + padding, extent.height + padding


def _draw(
    axes: Axes,
    boxes: Sequence[_Box],
    places: Sequence[tuple[float, float]],
    size: float,
    rounded: bool,
) -> list[Annotation]:
    drawn = []
    for at, box in enumerate(boxes):
        style: dict[str, Any] = {
            "ha": "center",
            "va": "center",
            "fontsize": size,
            "zorder": 100 - 10 * box.depth,
            "xycoords": "axes fraction",
            "textcoords": "axes fraction",
            "parse_math": False,
        }
        frame: dict[str, Any] = {"fc": box.colour or axes.get_facecolor(), "pad": 0.4 * size}
        if rounded:
            frame |= {"boxstyle": "round", "pad": 0.4}
        if box.colour is not None:
            style["color"] = "black"  # every fill is light
        end = places[max(box.parent, 0)]
        arrow = {"arrowstyle": "<-", "edgecolor": axes.xaxis.label.get_color()}
        drawn.append(
            axes.annotate(
                box.text, end, places[at], bbox=frame, arrowprops=arrow if at else None, **style
            )
        )
        if at and box.parent == 0:
            words = "True  " if at == 1 else "  False"
            side = "right" if at == 1 else "left"
            middle = ((end[0] + places[at][0]) / 2, (end[1] + places[at][1]) / 2)
            drawn.append(axes.annotate(words, middle, **(style | {"ha": side, "zorder": 90})))
    return drawn
