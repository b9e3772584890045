"""Split conditions of tree nodes, read from the facts."""

from collections.abc import Iterable, Mapping
from typing import Any

from arboleda._tree_rendering.split_condition import SplitCondition

__all__ = ["Levels", "find_levels", "make_question"]

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
