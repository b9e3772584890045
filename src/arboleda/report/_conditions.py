"""What the nodes of a tree ask, read off the facts."""

from collections.abc import Iterable, Mapping
from typing import Any

from arboleda._tree_rendering.split_condition import SplitCondition

__all__ = ["Levels", "find_levels", "read_split_condition"]

Levels = Mapping[str, tuple[str, str]]


def find_levels(features: Iterable[str], columns: Iterable[Mapping[str, Any]]) -> Levels:
    """Find the features that say whether a column has one certain value, named "column = value".

    Parameters
    ----------
    features : iterable of str
        Features of a tree.
    columns : iterable of mapping
        ``data.columns`` of the facts.

    Returns
    -------
    mapping
        Such a feature -> its column and value. A numeric column whose own name holds " = " is
        not among them.

    Examples
    --------
    >>> columns = [{"name": "colour", "kind": "categorical"}, {"name": "age", "kind": "numeric"}]
    >>> find_levels(["colour = red", "age"], columns)
    {'colour = red': ('colour', 'red')}
    """
    kinds = {column["name"]: column["kind"] for column in columns}
    coded = [name for name, kind in kinds.items() if kind != "numeric"]
    found = {}
    for feature in set(features) - kinds.keys():
        names = [name for name in coded if feature.startswith(f"{name} = ")]
        if names:
            name = max(names, key=len)
            found[feature] = (name, feature[len(name) + 3 :])
    return found


def read_split_condition(node: Mapping[str, Any], levels: Levels) -> SplitCondition:
    """Read the split condition of a node from the facts.

    Parameters
    ----------
    node : mapping
        An inner node of ``tree.nodes`` of the facts. One that asks for categories names them in
        ``levels``, and in ``levels_left`` whether they are those that go left.
    levels : mapping
        From `find_levels`; their features are 0 or 1, so "at most a half" means "not this value".

    Examples
    --------
    >>> read_split_condition({"feature": "age", "threshold": 30.5}, {}).text()
    'age ≤ 30.5'
    >>> node = {"feature": "colour = red", "threshold": 0.5}
    >>> read_split_condition(node, {"colour = red": ("colour", "red")}).text()
    'colour ≠ red'
    """
    feature, threshold = node["feature"], node["threshold"]
    if node.get("levels"):
        return SplitCondition(feature, levels=tuple(node["levels"]), left=node["levels_left"])
    if feature in levels and 0 <= threshold < 1:
        column, level = levels[feature]
        return SplitCondition(column, levels=(level,), left=False)
    return SplitCondition(feature, threshold)
