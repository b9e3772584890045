"""Inputs of an ONNX model, and the numeric matrix that trees read.

A numeric table is one input. If a column holds texts, every column is a separate input with its
name. Categories become their codes; missing and unseen ones become NaN.
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


class ColumnSource(Protocol):
    """Input columns of a model."""

    def matrix(
        self,
        schema: Schema,
        statistics: TargetStatistics | None = None,
        columns: npt.NDArray[np.intp] | None = None,
    ) -> str:
        """Return the matrix that trees with this schema read."""

    def numbers(self, columns: npt.NDArray[np.intp] | None = None) -> str:
        """Return columns for a model that supports only numbers."""


@dataclass(frozen=True)
class ModelContext:
    """Position of a model in a graph: its inputs and its columns among them."""

    graph: Graph
    inputs: ColumnSource
    columns: npt.NDArray[np.intp] | None = None  # None: all
    # Class scores of classifiers, by id, where these and not probabilities decide.
    scores: dict[int, str] = field(default_factory=dict)
    # Functions that add further kinds of models and transformers to the graph.
    extra_converters: Mapping[type, Callable[[Any, ModelContext], str]] = field(
        default_factory=dict
    )


class _Matrix:
    """Columns in a graph: one matrix, or separate inputs if some are texts."""

    def __init__(self, graph: Graph, matrix: str | None, dtype: InputType) -> None:
        self._graph = graph
        self._dtype = dtype
        self._matrix = matrix
        self._columns: list[str] = []

    def matrix(
        self,
        schema: Schema,
        statistics: TargetStatistics | None = None,
        columns: npt.NDArray[np.intp] | None = None,
    ) -> str:
        """Return the matrix that trees with this schema read.

        ``columns``: the columns of the table to use; None: all. Target statistics replace the
        categories, with further statistics after all columns.
        """
        places = np.arange(schema.n_columns) if columns is None else columns
        replaced = statistics.columns if statistics is not None else ()
        if self._matrix is not None and not any(schema.n_levels):
            return self.numbers(columns)
        parts, extra_parts = [], []
        for j, place in enumerate(places.tolist()):
            levels = schema.levels[j]
            if levels is None:
                parts.append(self._column(place))
            elif j in replaced and statistics is not None:
                table = statistics.values[statistics.columns.index(j)]
                found = [
                    self._map_levels(place, schema, j, table[:-1, s], table[-1, s])
                    for s in range(table.shape[1])
                ]
                parts.append(found[0])
                extra_parts += found[1:]
            else:
                codes = np.arange(len(levels), dtype=np.float64)
                parts.append(self._map_levels(place, schema, j, codes, np.nan))
        return self._graph.concat_columns([*parts, *extra_parts])

    def numbers(self, columns: npt.NDArray[np.intp] | None = None) -> str:
        """Return columns as they are in the input.

        Raises
        ------
        ValueError
            If a column holds texts.
        """
        if self._matrix is None:
            raise ValueError(
                "a column holds texts, but the model or a member supports only numbers: encode the "
                "texts in the pipeline"
            )
        return self._matrix if columns is None else self._graph.columns(self._matrix, columns)

    def _column(self, place: int) -> str:
        if self._matrix is None:
            return self._columns[place]
        return self._graph.columns(self._matrix, [place])

    def _map_levels(
        self, place: int, schema: Schema, j: int, values: npt.NDArray[np.float64], default: float
    ) -> str:
        """Map each label of a column to a number, and all others to ``default``."""
        levels: Any = schema.levels[j]
        if not levels:
            zero = self._graph.constant(np.array([[0.0]]))
            nothing = self._graph.constant(np.array([[default]]))
            shape = self._graph.add("Shape", self._column(place))
            return self._graph.add("Expand", self._graph.add("Add", zero, nothing), shape)
        if _find_column_kind(schema, j) == "text":
            keys: Any = np.array(levels, dtype=object)
        else:
            keys = np.array([float(label) for label in levels])
            if self._dtype == "float32":
                keys = keys.astype(np.float32).astype(np.float64)
        return self._graph.map_values(self._column(place), keys, values, default)


class GivenMatrix(_Matrix):
    """Columns of a numeric matrix that is already in the graph; categories are numbers."""

    def __init__(self, graph: Graph, matrix: str) -> None:
        super().__init__(graph, matrix, "float64")


class Inputs(_Matrix):
    """The columns of a table as inputs of the graph.

    Parameters
    ----------
    graph : Graph
    schema : Schema
        Schema of the model, or of one of its members.
    dtype : {"float32", "float64"}
        Type of the numbers.
    """

    def __init__(self, graph: Graph, schema: Schema, dtype: InputType) -> None:
        super().__init__(graph, None, dtype)
        kinds = [_find_column_kind(schema, j) for j in range(schema.n_columns)]
        if "text" not in kinds:
            name = graph.input("X", dtype, schema.n_columns)
            self._matrix = graph.cast(name, "float64") if dtype == "float32" else name
            return
        for j, kind in enumerate(kinds):
            name = (str(schema.names[j]) if schema.names is not None else "") or f"x{j}"
            if kind == "text":
                self._columns.append(graph.input(name, "text", 1))
                continue
            value = graph.input(name, dtype, 1)
            self._columns.append(graph.cast(value, "float64") if dtype == "float32" else value)


def _find_column_kind(schema: Schema, column: int) -> Literal["number", "text"]:
    """Return whether a column holds numbers or texts.

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
