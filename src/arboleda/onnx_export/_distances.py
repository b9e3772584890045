"""Distances between the rows that come and those that a model has kept."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arboleda.onnx_export._graph import Graph

Floats = npt.NDArray[np.float64]


def squared_distances(matrix: str, rows: Floats, graph: Graph) -> str:
    """Squared Euclidean distances to known rows: (n_rows, n_known), from products of matrices."""
    own = graph.summed(graph.add("Mul", matrix, matrix))
    known = graph.constant((rows**2).sum(axis=1)[np.newaxis])
    products = graph.add("MatMul", matrix, graph.constant(np.ascontiguousarray(rows.T)))
    found = graph.sum([graph.add("Add", own, known), graph.times(products, -2.0)])
    return graph.add("Max", found, graph.number(0.0))
