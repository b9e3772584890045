"""The operators of a model, as the walk of `arboleda.onnx_export` adds them, for a page.

A page computes the operators in float64 and in the engine's order, trees included, so that scores
have the model's bits. Its input is one matrix of numbers: categories are codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Schema
from arboleda._engine.ensemble import Ensemble
from arboleda.boosting import TargetStatistics
from arboleda.onnx_export import Graph, LeafSums, TreeSums
from arboleda.page_export._tables import Tables
from arboleda.page_export._trees import write_linear_leaves, write_trees

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

# Operators of ONNX that the page's script computes on matrices.
_OPERATORS = """
    Abs Add ArgMax Cast Concat CumSum Div Equal Exp Gather GatherElements Greater GreaterOrEqual
    IsInf IsNaN Less LessOrEqual Log MatMul Max Min Mul Neg ReduceMax ReduceMean ReduceSum Relu
    Sigmoid Sign Softmax Sqrt Sub Sum Tanh TopK Where
"""
OPERATORS = frozenset(_OPERATORS.split())


class PageGraph(Graph):
    """A recorded list of operators, with their constants in tables."""

    may_hold_rows = False  # a page is given to others

    def __init__(self, tables: Tables) -> None:
        # The base class imports the package onnx, which a page does not need.
        self.tables = tables
        self.steps: list[dict[str, Any]] = [{"op": "Input"}]
        self.tree_steps: list[int] = []
        self.constant_values: dict[int, Floats] = {}
        self._input_names = set()
        self._count = 0

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator with one output and return its name.

        Raises
        ------
        TypeError
            If the page's script has no such operator.
        """
        del domain
        if operator not in OPERATORS:
            raise TypeError(f"its operator {operator} is none of those that a page computes")
        step: dict[str, Any] = {"op": operator, "of": [int(name) for name in inputs]}
        if "axis" in attributes:
            step["axis"] = attributes["axis"]
        return self._append(step)

    def add_both(self, operator: str, *inputs: str, **attributes: Any) -> tuple[str, str]:
        """Add an operator with two outputs: sorted values, and where they stood."""
        del attributes  # the only one is TopK of all columns, ascending
        values = self.add(operator, *inputs)
        return values, self._append({"op": "Order", "of": [int(inputs[0])]})

    def constant(self, values: npt.ArrayLike) -> str:
        """Add an array of numbers; a vector is one row."""
        array = np.asarray(values, dtype=np.float64)
        n_rows = array.shape[0] if array.ndim == 2 else 1
        name = self._append(
            {"op": "Constant", "rows": n_rows, "table": self.tables.add_floats(array)}
        )
        self.constant_values[int(name)] = array.ravel()
        return name

    def cast(self, value: str, dtype: str) -> str:
        """Return the value: all numbers are float64."""
        del dtype
        return value

    def map_values(
        self, values: str, keys: npt.ArrayLike, values_of_keys: npt.ArrayLike, otherwise: float
    ) -> str:
        """Map keys to numbers, and all other values to ``otherwise``."""
        return self._append(
            {
                "op": "Map",
                "of": [int(values)],
                "keys": self.tables.add_floats(keys),
                "values": self.tables.add_floats(values_of_keys),
                "otherwise": self.tables.add_floats([otherwise]),
            }
        )

    def add_tree_sums(self, trees: TreeSums, matrix: str) -> str:
        """Add sums of trees and return the name of their scores."""
        written = write_trees(trees, self.tables)
        return self._append_trees(matrix, trees, **written)

    def add_linear_trees(self, ensemble: Ensemble, start: Floats, matrix: str) -> str:
        """Add an ensemble with linear leaves and return the name of its scores."""
        k = ensemble.n_outputs
        trees = [
            LeafSums(tree, tree.value_rows[tree.children_left < 0], number % k)
            for number, tree in enumerate(ensemble.trees)
        ]
        sums = TreeSums(trees, start, 1.0)
        linear = write_linear_leaves(ensemble, self.tables)
        return self._append_trees(matrix, sums, **write_trees(sums, self.tables), linear=linear)

    def _append_trees(self, matrix: str, sums: TreeSums, **written: Any) -> str:
        self.tree_steps.append(len(self.steps))
        step = {"op": "Trees", "of": [int(matrix)], "columns": len(sums.start), **written}
        return self._append(step)

    def _append(self, step: dict[str, Any]) -> str:
        self.steps.append(step)
        return str(len(self.steps) - 1)


class PageColumns:
    """The page's input matrix as the columns of models: numbers, and codes of categories.

    Parameters
    ----------
    graph : PageGraph
    levels : sequence of (tuple or None)
        Categories of each column; None: a column of numbers. Codes are indices; NaN is a missing or
        unknown category.
    """

    def __init__(self, graph: PageGraph, levels: Sequence[tuple[Any, ...] | None]) -> None:
        self._graph = graph
        self._levels = levels

    def matrix(
        self,
        schema: Schema,
        statistics: TargetStatistics | None = None,
        columns: Places | None = None,
    ) -> str:
        """Return the matrix that trees with this schema read."""
        places = np.arange(schema.n_columns) if columns is None else columns
        replaced = statistics.columns if statistics is not None else ()
        parts, extra_parts = [], []
        for j, place in enumerate(places.tolist()):
            levels = schema.levels[j]
            if levels is None:
                parts.append(self._graph.columns("0", [place]))
            elif j in replaced and statistics is not None:
                table = statistics.values[statistics.columns.index(j)]
                found = [
                    self._map_codes(place, levels, table[:-1, s], table[-1, s])
                    for s in range(table.shape[1])
                ]
                parts.append(found[0])
                extra_parts += found[1:]
            elif levels == self._levels[place]:
                parts.append(self._graph.columns("0", [place]))
            else:
                codes = np.arange(len(levels), dtype=np.float64)
                parts.append(self._map_codes(place, levels, codes, np.nan))
        if columns is None and not replaced and len(parts) == len(self._levels):
            return "0" if self._has_same_levels(schema) else self._graph.concat_columns(parts)
        return self._graph.concat_columns([*parts, *extra_parts])

    def numbers(self, columns: Places | None = None) -> str:
        """Return columns for a model that supports only numbers.

        Raises
        ------
        ValueError
            If a column holds categories.
        """
        places = range(len(self._levels)) if columns is None else columns.tolist()
        if any(self._levels[place] is not None for place in places):
            raise ValueError(
                "a column holds categories, but the model or a member supports only numbers: "
                "encode the categories in a study"
            )
        return "0" if columns is None else self._graph.columns("0", columns)

    def _has_same_levels(self, schema: Schema) -> bool:
        return tuple(schema.levels) == tuple(self._levels)

    def _map_codes(self, place: int, levels: Any, values: Floats, otherwise: float) -> str:
        """Map the page's codes of a column to numbers of a model's levels."""
        known = self._levels[place] or ()
        order = {label: code for code, label in enumerate(levels)}
        at = [order.get(label, -1) for label in known]
        table = [otherwise if code < 0 else float(values[code]) for code in at]
        column = self._graph.columns("0", [place])
        return self._graph.map_values(column, np.arange(len(known)), table, otherwise)
