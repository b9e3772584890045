"""Feature crosses in ONNX."""

import numpy as np

from arboleda.onnx_export import ModelContext
from arboleda.study.data.cross_search import CrossedColumns
from arboleda.study.data.feature_crosses import ARITHMETIC, GroupColumn, Groups

__all__ = ["of_crossed"]

_OPERATORS = dict(zip(ARITHMETIC, ("Add", "Sub", "Mul", "Div"), strict=True))
# Far below any number of a pair, whatever is added to it.
_UNKNOWN = -(2.0**52)


def of_crossed(preparation: CrossedColumns, place: ModelContext) -> str:
    """The matrix, and the made columns after its own."""
    graph, matrix = place.graph, place.inputs.numbers(place.columns)
    parts = [matrix]
    for made in preparation.made_:
        numbers = [graph.columns(matrix, [j]) for j in made.idea.numbers]
        if isinstance(made, GroupColumn):
            found = _of_groups(made, matrix, place)
            if made.idea.kind != "distance":
                parts.append(found)
                continue
            found = graph.add("Sub", numbers[0], found)
        else:
            found = graph.add(_OPERATORS[made.idea.kind], *numbers)
        parts.append(graph.add("Where", graph.add("IsInf", found), graph.number(np.nan), found))
    return graph.concat_columns(parts)


def _of_groups(made: GroupColumn, matrix: str, place: ModelContext) -> str:
    """The number of each row's group."""
    key, keys = _keys(made.groups, matrix, place), made.groups.keys.astype(np.float64)
    return place.graph.map_values(key, keys, made.table, made.otherwise)


def _keys(groups: Groups, matrix: str, place: ModelContext) -> str:
    """Of each row's levels, as `Groups` numbers them; far below 0 where one is not known."""
    graph = place.graph
    key: str | None = None
    for j, levels in zip(groups.columns, groups.levels, strict=True):
        column = graph.columns(matrix, [j])
        codes = graph.add("Where", graph.add("IsNaN", column), graph.number(-1.0), column)
        at = graph.map_values(codes, levels, np.arange(len(levels)), _UNKNOWN)
        key = at if key is None else graph.add("Add", graph.times(key, float(len(levels))), at)
    assert key is not None
    return key
