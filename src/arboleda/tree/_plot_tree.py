"""Drawing of trees with matplotlib, with the text of scikit-learn's boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils._param_validation import Interval, validate_params

from arboleda._tree_rendering.colours import GREY
from arboleda._tree_rendering.layout import place_boxes
from arboleda.tree._node_text import BOX_PARAMETERS, PLAIN, BoxText, make_box_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

__all__ = ["plot_tree"]

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
