"""Inputs of an ONNX model, and the matrix of numbers that trees ask.

A table of numbers is one input. Where a column holds texts, every column is an input of its own,
under its name. Categories become their codes; missing and unseen ones NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from arboleda._engine.schema import Schema
from arboleda.boosting._target_statistics import TargetStatistics
from arboleda.onnx_export._graph import Graph

InputType = Literal["float32", "float64"]


class Columns(Protocol):
    """Columns that a model asks."""

    def matrix(
        self,
        schema: Schema,
        statistics: TargetStatistics | None = None,
        columns: npt.NDArray[np.intp] | None = None,
    ) -> str:
        """Return the matrix that trees fitted on such columns ask."""

    def numbers(self, columns: npt.NDArray[np.intp] | None = None) -> str:
        """Return columns as a model takes them that knows numbers alone."""


@dataclass(frozen=True)
class Place:
    """Where a model stands in a graph: its inputs, and which of their columns are the model's."""

    graph: Graph
    inputs: Columns
    columns: npt.NDArray[np.intp] | None = None  # None: all
    # Of classifiers, by id: scores of the classes, where these and not probabilities decide.
    scores: dict[int, str] = field(default_factory=dict)
    # Further kinds of models and of steps before them, and what adds one to the graph.
    more: Mapping[type, Callable[[Any, Place], str]] = field(default_factory=dict)


class _Matrix:
    """Columns in a graph: one matrix, or each of them apart where some are texts."""

    def __init__(self, graph: Graph, matrix: str | None, dtype: InputType) -> None:
        self._graph = graph
        self._dtype = dtype
        self._matrix = matrix
        self._apart: list[str] = []

    def matrix(
        self,
        schema: Schema,
        statistics: TargetStatistics | None = None,
        columns: npt.NDArray[np.intp] | None = None,
    ) -> str:
        """Return the matrix that trees fitted on such columns ask.

        ``columns``: which of the table's columns they are; None: all. Target statistics stand where
        categories were, further ones after all columns.
        """
        places = np.arange(schema.n_columns) if columns is None else columns
        replaced = statistics.columns if statistics is not None else ()
        if self._matrix is not None and not any(schema.n_levels):
            return self.numbers(columns)
        parts, more = [], []
        for j, place in enumerate(places.tolist()):
            levels = schema.levels[j]
            if levels is None:
                parts.append(self._column(place))
            elif j in replaced and statistics is not None:
                table = statistics.values[statistics.columns.index(j)]
                found = [
                    self._looked_up(place, schema, j, table[:-1, s], table[-1, s])
                    for s in range(table.shape[1])
                ]
                parts.append(found[0])
                more += found[1:]
            else:
                codes = np.arange(len(levels), dtype=np.float64)
                parts.append(self._looked_up(place, schema, j, codes, np.nan))
        return self._graph.side_by_side([*parts, *more])

    def numbers(self, columns: npt.NDArray[np.intp] | None = None) -> str:
        """Return columns as they came in.

        Raises
        ------
        ValueError
            If a column holds texts.
        """
        if self._matrix is None:
            raise ValueError(
                "a column holds texts, and the model or a member knows numbers alone: encode the "
                "texts in the pipeline"
            )
        return self._matrix if columns is None else self._graph.columns(self._matrix, columns)

    def _column(self, place: int) -> str:
        if self._matrix is None:
            return self._apart[place]
        return self._graph.columns(self._matrix, [place])

    def _looked_up(
        self, place: int, schema: Schema, j: int, values: npt.NDArray[np.float64], default: float
    ) -> str:
        """Number of each label of a column; ``default`` of all others."""
        levels: Any = schema.levels[j]
        if not levels:
            zero = self._graph.constant(np.array([[0.0]]))
            nothing = self._graph.constant(np.array([[default]]))
            shape = self._graph.add("Shape", self._column(place))
            return self._graph.add("Expand", self._graph.add("Add", zero, nothing), shape)
        if _kind_of(schema, j) == "text":
            keys: Any = np.array(levels, dtype=object)
        else:
            keys = np.array([float(label) for label in levels])
            if self._dtype == "float32":
                keys = keys.astype(np.float32).astype(np.float64)
        return self._graph.looked_up(self._column(place), keys, values, default)


class GivenMatrix(_Matrix):
    """Columns of a matrix of numbers that stands in the graph already; categories are numbers."""

    def __init__(self, graph: Graph, matrix: str) -> None:
        super().__init__(graph, matrix, "float64")


class Inputs(_Matrix):
    """The columns of a table as the graph receives them.

    Parameters
    ----------
    graph : Graph
    schema : Schema
        Of the model, or of any member of it.
    dtype : {"float32", "float64"}
        Type of the numbers.
    """

    def __init__(self, graph: Graph, schema: Schema, dtype: InputType) -> None:
        super().__init__(graph, None, dtype)
        kinds = [_kind_of(schema, j) for j in range(schema.n_columns)]
        if "text" not in kinds:
            name = graph.input("X", dtype, schema.n_columns)
            self._matrix = graph.cast(name, "float64") if dtype == "float32" else name
            return
        for j, kind in enumerate(kinds):
            name = (str(schema.names[j]) if schema.names is not None else "") or f"x{j}"
            if kind == "text":
                self._apart.append(graph.input(name, "text", 1))
                continue
            value = graph.input(name, dtype, 1)
            self._apart.append(graph.cast(value, "float64") if dtype == "float32" else value)


def _kind_of(schema: Schema, column: int) -> Literal["number", "text"]:
    """What stands in a column.

    Raises
    ------
    ValueError
        If its categories are neither all texts nor all numbers.
    """
    levels = schema.levels[column]
    if levels is None or all(isinstance(label, bool | int | float) for label in levels):
        return "number"
    if all(isinstance(label, str) for label in levels):
        return "text"
    raise ValueError(
        f"column {schema.describe(column)} has categories that are neither all texts nor all "
        "numbers, and ONNX has no others: turn them into text and fit again"
    )
