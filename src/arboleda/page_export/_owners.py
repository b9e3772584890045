"""The columns of the form that each column of a graph's matrices is computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arboleda.page_export._graph import PageGraph

Owners = list[frozenset[int]]

# Operators whose output columns are computed from the same columns of the inputs.
_BY_COLUMN = """
    Abs Add Div Equal Exp Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Log Map Max Min Mul
    Neg Relu Sigmoid Sign Sqrt Sub Sum Tanh Where
"""
_COLUMNWISE = frozenset(_BY_COLUMN.split())


def find_owners(graph: PageGraph, step: int, input_owners: list[int]) -> list[int] | None:
    """Return the owner of each column of a step's matrix; None if a column has several.

    Parameters
    ----------
    graph : PageGraph
    step : int
    input_owners : list of int
        Owner of each column of the graph's input.
    """
    found = _Finder(graph, input_owners).find(step)
    if any(len(owners) > 1 for owners in found):
        return None
    # A column of constants never changes; it is counted with the first owner.
    return [min(owners, default=0) for owners in found]


class _Finder:
    def __init__(self, graph: PageGraph, input_owners: list[int]) -> None:
        self._graph = graph
        self._known: dict[int, Owners] = {0: [frozenset([owner]) for owner in input_owners]}

    def find(self, step: int) -> Owners:
        """Return the owners of the columns of a step."""
        if step not in self._known:
            self._known[step] = self._compute(self._graph.steps[step])
        return self._known[step]

    def _compute(self, step: dict[str, Any]) -> Owners:
        if step["op"] == "Constant":
            size = self._graph.tables.entries[step["table"]][1]
            return [frozenset[int]()] * (size // max(step["rows"], 1))
        inputs = [self.find(i) for i in step["of"]]
        if step["op"] == "Concat":
            return [owners for part in inputs for owners in part]
        if step["op"] == "Gather" and step.get("axis") == 1:
            places = self._graph.constant_values[step["of"][1]]
            return [inputs[0][int(place)] for place in places]
        if step["op"] in _COLUMNWISE or step["op"] == "Gather":
            width = max(map(len, inputs))
            wide = [part if len(part) > 1 else part * width for part in inputs]
            return [frozenset().union(*column) for column in zip(*wide, strict=True)]
        every = frozenset(owner for part in inputs for owners in part for owner in owners)
        n_columns = step.get("columns", max(map(len, inputs)))
        if step["op"] == "ReduceSum":
            n_columns = 1
        if step["op"] == "MatMul":
            n_columns = len(inputs[1])
        return [every] * n_columns
