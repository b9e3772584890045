"""Conversion of feature crosses to ONNX."""

import numpy as np

from arboleda.onnx_export import ModelContext
from arboleda.study.data.cross_search import CrossedColumns
from arboleda.study.data.feature_crosses import ARITHMETIC, GroupColumn, Groups

__all__ = ["convert_crosses_to_onnx"]

_OPERATORS = dict(zip(ARITHMETIC, ("Add", "Sub", "Mul", "Div"), strict=True))
# The key of an unknown level; sums with other keys stay far below 0.
_UNKNOWN = -(2.0**52)


def convert_crosses_to_onnx(preparation: CrossedColumns, place: ModelContext) -> str:
    """Add operators that append the generated columns to the matrix; return the output's name."""
    graph, matrix = place.graph, place.inputs.numbers(place.columns)
    parts = [matrix]
    for made in preparation.made_:
        numbers = [graph.columns(matrix, [j]) for j in made.idea.numbers]
        if isinstance(made, GroupColumn):
            column = _add_group_values(made, matrix, place)
            if made.idea.kind != "distance":
                parts.append(column)
                continue
            column = graph.add("Sub", numbers[0], column)
        else:
            column = graph.add(_OPERATORS[made.idea.kind], *numbers)
        parts.append(graph.add("Where", graph.add("IsInf", column), graph.number(np.nan), column))
    return graph.concat_columns(parts)


def _add_group_values(made: GroupColumn, matrix: str, place: ModelContext) -> str:
    """Add operators that compute the value of each row's group."""
    key, keys = _add_group_keys(made.groups, matrix, place), made.groups.keys.astype(np.float64)
    return place.graph.map_values(key, keys, made.table, made.otherwise)


def _add_group_keys(groups: Groups, matrix: str, place: ModelContext) -> str:
    """Add operators that compute the key of each row's group; far below 0 if a level is unknown."""
    graph = place.graph
    key: str | None = None
    for j, levels in zip(groups.columns, groups.levels, strict=True):
        column = graph.columns(matrix, [j])
        codes = graph.add("Where", graph.add("IsNaN", column), graph.number(-1.0), column)
        at = graph.map_values(codes, levels, np.arange(len(levels)), _UNKNOWN)
        key = at if key is None else graph.add("Add", graph.times(key, float(len(levels))), at)
    assert key is not None
    return key
