"""Drawing of fitted trees as SVG."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from arboleda._tree_rendering.boxes import Box, Output, Sketch
from arboleda._tree_rendering.svg import draw_tree
from arboleda.tree._view import TreeView, view_tree

__all__ = ["Drawing", "tree_svg"]


class Drawing(str):
    """The text of an SVG file, which notebooks display as a picture."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def tree_svg(
    estimator: Any, max_depth: int | None, feature_names: Any, class_names: Any
) -> Drawing:
    """Draw an estimator's tree; see `DecisionTree.to_svg`."""
    if max_depth is not None and not (isinstance(max_depth, Integral) and max_depth >= 0):
        raise ValueError(
            f"max_depth must be an integer >= 0, or None for the whole tree, got {max_depth!r}"
        )
    view = view_tree(estimator, feature_names, class_names, caller="to_svg")
    return Drawing(draw_tree(_sketch(view, max_depth)))


def _sketch(view: TreeView, max_depth: int | None) -> Sketch:
    depth = _depths(view)
    shown = [at for at, deep in enumerate(depth) if max_depth is None or deep <= max_depth]
    place = {node: at for at, node in enumerate(shown)}
    sizes = _subtree_sizes(view)
    return Sketch(
        [_box(view, node, depth[node], place, sizes[node]) for node in shown], _outputs(view)
    )


def _box(view: TreeView, node: int, depth: int, place: dict[int, int], size: int) -> Box:
    children = (view.left[node], view.right[node])
    ends = view.is_leaf(node) or children[0] not in place
    return Box(
        depth=depth,
        children=() if ends else tuple(place[child] for child in children),
        split=view.split(node),
        missing=view.missing[node],
        n=view.n[node],
        impurity=view.impurity[node],
        values=tuple(tuple(value[node].tolist()) for value in view.values),
        hidden=size - 1 if ends else 0,
    )


def _depths(view: TreeView) -> list[int]:
    depth = [0] * len(view.left)
    for node, (left, right) in enumerate(zip(view.left, view.right, strict=True)):
        if left >= 0:
            depth[left] = depth[right] = depth[node] + 1
    return depth


def _subtree_sizes(view: TreeView) -> list[int]:
    size = [1] * len(view.left)
    for node in reversed(range(len(size))):
        if not view.is_leaf(node):
            size[node] += size[view.left[node]] + size[view.right[node]]
    return size


def _outputs(view: TreeView) -> tuple[Output, ...]:
    number = "median" if view.criterion == "absolute_error" else "mean"
    several = view.n_outputs > 1
    return tuple(
        Output(
            labels=None if labels is None else tuple(map(str, labels)),
            name=f"y[{k}]" if several else "",
            number=number,
        )
        for k, labels in enumerate(view.classes)
    )
