"""What a node of a tree asks, in words of the table."""

from collections.abc import Iterable, Mapping
from typing import Any

from arboleda.report._numbers import plain

__all__ = ["Levels", "condition", "find_levels"]

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


def condition(node: Mapping[str, Any], levels: Levels, *, yes: bool = True) -> tuple[str, str]:
    """Write a node's question, or its opposite, as what is asked about and what is asked of it.

    Parameters
    ----------
    node : mapping
        An inner node of ``tree.nodes`` of the facts.
    levels : mapping
        From `find_levels`; their features are 0 or 1, so "at most a half" means "not this value".
    yes : bool
        Whether to write the condition of the left side, or of the right one.

    Examples
    --------
    >>> condition({"feature": "age", "threshold": 30.5}, {})
    ('age', '≤ 30.5')
    >>> node = {"feature": "colour = red", "threshold": 0.5}
    >>> condition(node, {"colour = red": ("colour", "red")})
    ('colour', '≠ red')
    """
    feature, threshold = node["feature"], node["threshold"]
    if feature in levels and 0 <= threshold < 1:
        column, level = levels[feature]
        return column, f"{'≠' if yes else '='} {level}"
    return feature, f"{'≤' if yes else '>'} {plain(threshold, 5)}"
