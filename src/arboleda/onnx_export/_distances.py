"""Distances between the rows that come and those that a model has kept."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arboleda.onnx_export._graph import Graph

Floats = npt.NDArray[np.float64]


def absolute_distances(matrix: str, rows: Floats, graph: Graph) -> str:
    """Sums of absolute differences to known rows: (n_rows, n_known), column after column."""
    parts = []
    for j in range(rows.shape[1]):
        known = graph.constant(np.ascontiguousarray(rows[np.newaxis, :, j]))
        parts.append(graph.add("Abs", graph.add("Sub", graph.columns(matrix, [j]), known)))
    found = parts[0]
    # One after the other, so that a runtime holds two of them at a time.
    for part in parts[1:]:
        found = graph.add("Add", found, part)
    return found


def squared_distances(matrix: str, rows: Floats, graph: Graph) -> str:
    """Squared Euclidean distances to known rows: (n_rows, n_known), from products of matrices."""
    own = graph.summed(graph.add("Mul", matrix, matrix))
    known = graph.constant((rows**2).sum(axis=1)[np.newaxis])
    products = graph.add("MatMul", matrix, graph.constant(np.ascontiguousarray(rows.T)))
    found = graph.sum([graph.add("Add", own, known), graph.times(products, -2.0)])
    return graph.add("Max", found, graph.number(0.0))
