"""ONNX export of scikit-learn's nearest neighbours.

The file contains all training rows, and a runtime computes the distance to each of them: its memory
is proportional to the number of predicted rows times the number of training rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from arboleda.onnx_export._distances import add_absolute_distances, add_squared_distances
from arboleda.onnx_export._inputs import ModelContext


def add_nearest_neighbours(
    model: KNeighborsClassifier | KNeighborsRegressor, context: ModelContext
) -> str:
    """Add the shares of the classes among the nearest rows, or the mean of their values."""
    _check(model)
    graph, matrix = context.graph, context.inputs.numbers(context.columns)
    known = np.asarray(model._fit_X, dtype=np.float64)
    count = graph.constant(np.array([model.n_neighbors], dtype=np.int64))
    is_absolute = model.effective_metric_ == "manhattan"
    distances = (add_absolute_distances if is_absolute else add_squared_distances)(
        matrix, known, graph
    )
    _, nearest = graph.add_both("TopK", distances, count, axis=1, largest=0, sorted=1)
    if is_classifier(model):
        table = np.eye(len(model.classes_))[model._y.ravel()]
    else:
        table = np.asarray(model._y, dtype=np.float64).reshape(len(known), -1)
    neighbour_targets = graph.add("Gather", graph.constant(table), nearest, axis=0)
    if model.weights == "uniform":
        total = graph.add_row_sums(neighbour_targets, keepdims=0)
        return graph.times(total, 1.0 / model.n_neighbors)
    near = graph.add("Gather", graph.constant(known), nearest, axis=0)
    weights = _add_inverse_distances(matrix, near, is_absolute, context)
    total = graph.add_row_sums(graph.add("Mul", neighbour_targets, weights), keepdims=0)
    return graph.add("Div", total, graph.add_row_sums(weights, keepdims=0))


def _add_inverse_distances(matrix: str, near: str, is_absolute: bool, context: ModelContext) -> str:
    """Add inverse distances; if some neighbours are at distance 0, only these have weight.

    Distances are recomputed from differences, because those from matrix products are inaccurate for
    close rows.
    """
    graph = context.graph
    middle = graph.constant(np.array([1], dtype=np.int64))
    away = graph.add("Sub", graph.add("Unsqueeze", matrix, middle), near)
    each = graph.add("Abs", away) if is_absolute else graph.add("Mul", away, away)
    distance = graph.add_row_sums(each, axis=2)
    if not is_absolute:
        distance = graph.add("Sqrt", distance)
    is_met = graph.add("Equal", distance, graph.number(0.0))
    apart = graph.add("Where", is_met, graph.number(1.0), distance)
    inverse = graph.add("Div", graph.number(1.0), apart)
    met = graph.cast(is_met, "float64")
    some = graph.add("ReduceMax", met, middle, keepdims=1)
    return graph.add("Where", graph.add("Equal", some, graph.number(1.0)), met, inverse)


def _check(model: Any) -> None:
    metrics, weights = ("euclidean", "manhattan"), ("uniform", "distance")
    if model.effective_metric_ not in metrics or model.weights not in weights:
        raise ValueError(
            f"a {type(model).__name__} with metric={model.effective_metric_!r} and "
            f"weights={model.weights!r} cannot be exported to ONNX: use the metric 'euclidean' or "
            "'manhattan', with weights 'uniform' or 'distance'"
        )
    if is_classifier(model) and model.outputs_2d_:
        raise ValueError(
            f"this {type(model).__name__} has several classification targets: fit one model for "
            "each"
        )
