"""View of a fitted tree as lists with names, and its drawing as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from arboleda._engine.tree import Tree
from arboleda._tree_rendering.boxes import Box, Output, Sketch, SplitCondition
from arboleda._tree_rendering.svg import draw_tree
from arboleda._utils.number_types import is_integer

__all__ = ["Drawing", "TreeView", "tree_svg", "view_tree"]

Side = Literal["left", "right"]


@dataclass(frozen=True)
class TreeView:
    """A fitted tree as Python lists with one entry per node.

    ``classes`` holds the labels of each output, or None for a number; ``values`` the class shares
    (or the single number) of each output. ``levels`` holds the labels of each categorical column.
    ``names`` is None if the columns have no names.
    """

    tree: Tree
    left: list[int]
    right: list[int]
    feature: list[int]
    threshold: list[float]
    impurity: list[float]
    n: list[int]
    weight: list[float]
    missing: list[Side | None]
    names: tuple[str, ...] | None
    levels: tuple[tuple[str, ...] | None, ...]
    classes: tuple[tuple[Any, ...] | None, ...]
    values: tuple[npt.NDArray[np.float64], ...]
    criterion: str

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return len(self.values)

    def is_leaf(self, node: int) -> bool:
        """Return whether the node is a leaf."""
        return self.left[node] < 0

    def name(self, feature: int, generic: str) -> str:
        """Return the name of a column; ``generic`` is a template for columns without names."""
        return generic.format(feature) if self.names is None else self.names[feature]

    def level_labels(self, feature: int, numbers: Sequence[int]) -> tuple[str, ...]:
        """Return the labels of some categories of a column, or their codes if unknown."""
        known = self.levels[feature] or ()
        return tuple(known[k] if k < len(known) else str(k) for k in numbers)

    def split(self, node: int, generic: str = "x[{}]") -> SplitCondition | None:
        """Return the split condition of a node; None for a leaf."""
        if self.is_leaf(node):
            return None
        feature = self.feature[node]
        listed = self.tree.categories(node)
        if listed.size == 0:
            return SplitCondition(self.name(feature, generic), self.threshold[node])
        left = not self.tree.missing_go_to_left[node]
        levels = self.level_labels(feature, listed.tolist())
        return SplitCondition(self.name(feature, generic), levels=levels, left=bool(left))


def view_tree(
    estimator: Any, feature_names: Any = None, class_names: Any = None, *, caller: str
) -> TreeView:
    """Create the view of a fitted tree for a function that exports it.

    Parameters
    ----------
    estimator : object
        One of this library's fitted trees.
    feature_names, class_names : array-like of str or None
        Names to use instead of those of the estimator.
    caller : str
        Name of the function, for messages.

    Raises
    ------
    NotFittedError
        If the tree is not fitted.
    TypeError
        If the object is not a tree of this library.
    ValueError
        If the number of names is wrong.
    """
    tree = _fitted_tree(estimator, caller)
    classes = _classes(estimator, class_names)
    left, feature = tree.children_left, tree.feature
    return TreeView(
        tree=tree,
        left=left.tolist(),
        right=tree.children_right.tolist(),
        feature=feature.tolist(),
        threshold=tree.threshold.tolist(),
        impurity=tree.impurity.tolist(),
        n=tree.n_node_samples.tolist(),
        weight=tree.weighted_n_node_samples.tolist(),
        missing=_missing_sides(tree, getattr(estimator, "missing_columns_", None)),
        names=_names(estimator, feature_names, tree.n_features),
        levels=_levels(estimator, tree.n_features),
        classes=classes,
        values=_values(tree, classes),
        criterion=str(getattr(estimator, "criterion", "impurity")),
    )


def _fitted_tree(estimator: Any, caller: str) -> Tree:
    if isinstance(estimator, BaseEstimator) and not isinstance(estimator, type):
        check_is_fitted(estimator)
    tree = getattr(estimator, "tree_", None)
    if isinstance(tree, Tree):
        return tree
    kind = estimator if isinstance(estimator, type) else type(estimator)
    described = f"{kind.__module__}.{kind.__qualname__}"
    hint = ""
    if isinstance(estimator, type):
        hint = ": pass a fitted instance instead of the class"
    elif kind.__module__.startswith("sklearn.tree"):
        hint = f"; for scikit-learn's own trees use sklearn.tree.{caller}"
    elif hasattr(estimator, "estimators_"):
        hint = "; pass one of its estimators_"
    elif hasattr(estimator, "steps"):
        hint = "; pass its last step"
    raise TypeError(f"{caller} requires a fitted tree of arboleda, got {described}{hint}")


def _names(estimator: Any, given: Any, n_features: int) -> tuple[str, ...] | None:
    known = getattr(getattr(estimator, "schema_", None), "names", None)
    known = getattr(estimator, "feature_names_in_", known)
    if given is None and (known is None or tuple(known) == tuple(range(n_features))):
        return None  # pandas numbers columns without names
    names = _strings("feature_names", known if given is None else given)
    if len(names) != n_features:
        raise ValueError(
            f"Length of feature_names, {len(names)} does not match number of features, "
            f"{n_features}: feature_names must contain {n_features} elements, got {len(names)}"
        )
    return names


def _strings(parameter: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError(f"{parameter} must be a list of names, got the string {given!r}")
    return tuple(str(name) for name in given)


def _classes(estimator: Any, given: Any) -> tuple[tuple[Any, ...] | None, ...]:
    n_outputs = int(getattr(estimator, "n_outputs_", 1))
    if not is_classifier(estimator):
        return (None,) * n_outputs
    known = estimator.classes_ if n_outputs > 1 else [estimator.classes_]
    if given is None:
        return tuple(tuple(np.asarray(labels).tolist()) for labels in known)
    if n_outputs > 1:
        raise ValueError(
            "class_names requires a tree with one target; trees with several show classes_"
        )
    names = _strings("class_names", given)
    if len(names) != len(known[0]):
        raise ValueError(
            "When `class_names` is an array, it should contain as many items as "
            f"`decision_tree.classes_`. Got {len(names)} while the tree was fitted with "
            f"{len(known[0])} classes."
        )
    return (names,)


def _levels(estimator: Any, n_features: int) -> tuple[tuple[str, ...] | None, ...]:
    """Return the labels of the levels of each categorical column."""
    schema = getattr(estimator, "schema_", None)
    if schema is None:
        return (None,) * n_features
    return tuple(
        None if labels is None else tuple(str(label) for label in labels)
        for labels in schema.levels
    )


def _values(
    tree: Tree, classes: Sequence[tuple[Any, ...] | None]
) -> tuple[npt.NDArray[np.float64], ...]:
    """Split each node's values by output."""
    widths = [1 if labels is None else len(labels) for labels in classes]
    return tuple(np.split(tree.value_rows, np.cumsum(widths)[:-1], axis=1))


def _missing_sides(tree: Tree, missing_columns: npt.NDArray[np.int64] | None) -> list[Side | None]:
    """Return the side of missing values, at nodes of columns with missing values in training."""
    shown = tree.children_left >= 0
    if missing_columns is not None:
        shown &= np.isin(tree.feature, missing_columns)
    return [
        ("left" if goes else "right") if show else None
        for goes, show in zip(tree.missing_go_to_left.tolist(), shown.tolist(), strict=True)
    ]


class Drawing(str):
    """The text of an SVG file, which notebooks display as a picture."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def tree_svg(
    estimator: Any, max_depth: int | None, feature_names: Any, class_names: Any
) -> Drawing:
    """Draw an estimator's tree; see `DecisionTree.to_svg`."""
    if max_depth is not None and not (is_integer(max_depth) and max_depth >= 0):
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
