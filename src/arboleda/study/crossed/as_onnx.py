"""Columns made of numbers in ONNX."""

import numpy as np

from arboleda.onnx_export import Place
from arboleda.study.crossed.crossed_columns import CrossedColumns
from arboleda.study.crossed.ideas import ARITHMETIC

__all__ = ["of_crossed"]

_OPERATORS = dict(zip(ARITHMETIC, ("Add", "Sub", "Mul", "Div"), strict=True))


def of_crossed(preparation: CrossedColumns, place: Place) -> str:
    """The matrix, and the made columns after its own.

    Raises
    ------
    TypeError
        If a column is made of the rows of a group.
    """
    graph, matrix = place.graph, place.inputs.numbers(place.columns)
    parts = [matrix]
    for idea in preparation.ideas_:
        if idea.kind not in _OPERATORS:
            raise TypeError(
                f"the column {idea.name(preparation.names)!r} is made of groups of rows, which "
                "cannot be exported to ONNX; export another model with --model"
            )
        first, second = (graph.columns(matrix, [j]) for j in idea.numbers)
        found = graph.add(_OPERATORS[idea.kind], first, second)
        parts.append(graph.add("Where", graph.add("IsInf", found), graph.number(np.nan), found))
    return graph.side_by_side(parts)
