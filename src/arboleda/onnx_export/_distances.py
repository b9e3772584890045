"""Distances between the input rows and the rows stored in a model."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arboleda.onnx_export._graph import Graph

Floats = npt.NDArray[np.float64]


def add_absolute_distances(matrix: str, rows: Floats, graph: Graph) -> str:
    """Add the sums of absolute differences to known rows: (n_rows, n_known)."""
    parts = []
    for j in range(rows.shape[1]):
        known = graph.constant(np.ascontiguousarray(rows[np.newaxis, :, j]))
        parts.append(graph.add("Abs", graph.add("Sub", graph.columns(matrix, [j]), known)))
    found = parts[0]
    # Added one at a time, so that a runtime holds only two of them in memory.
    for part in parts[1:]:
        found = graph.add("Add", found, part)
    return found


def add_squared_distances(matrix: str, rows: Floats, graph: Graph) -> str:
    """Add the squared Euclidean distances to known rows, (n_rows, n_known), by matrix products."""
    own = graph.add_row_sums(graph.add("Mul", matrix, matrix))
    known = graph.constant((rows**2).sum(axis=1)[np.newaxis])
    products = graph.add("MatMul", matrix, graph.constant(np.ascontiguousarray(rows.T)))
    found = graph.sum([graph.add("Add", own, known), graph.times(products, -2.0)])
    return graph.add("Max", found, graph.number(0.0))
