"""ONNX export of scikit-learn's kernel machines and nearest neighbours.

The file contains all training rows, and a runtime computes the distance to each of them: its memory
is proportional to the number of predicted rows times the number of training rows.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR

from arboleda.onnx_export._graph import Graph, ModelContext
from arboleda.onnx_export._sklearn_models import add_weighted_sums

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


def add_svr(model: SVR, context: ModelContext) -> str:
    """Add the predictions of support vector regression."""
    found = _add_support_kernel(model, context)
    return add_weighted_sums(found, model.dual_coef_, model.intercept_, context.graph)


def add_kernel_ridge(model: KernelRidge, context: ModelContext) -> str:
    """Add the predictions of kernel ridge regression."""
    matrix = context.inputs.numbers(context.columns)
    found = _add_kernel(model, matrix, model.X_fit_, model.gamma, context.graph)
    coefficients = model.dual_coef_.reshape(len(model.X_fit_), -1)
    return context.graph.add("MatMul", found, context.graph.constant(coefficients))


def add_nystroem(transformer: Nystroem, matrix: str, graph: Graph) -> str:
    """Add Nystroem's kernel map of a matrix."""
    rows = transformer.components_
    found = _add_kernel(transformer, matrix, rows, transformer.gamma, graph)
    mixing = np.ascontiguousarray(transformer.normalization_.T)
    return graph.add("MatMul", found, graph.constant(mixing))


def add_svc_scores(model: SVC, context: ModelContext) -> str:
    """Add the decision function: one column for two classes, otherwise one per class.

    A binary classifier for each pair of classes votes for one of them. The sum of confidences of a
    class, scaled to less than half a vote, is added to its votes. The votes alone decide unless
    ``break_ties`` is set.
    """
    graph, found = context.graph, _add_support_kernel(model, context)
    n_classes = len(model.classes_)
    if n_classes == 2:
        return add_weighted_sums(found, model.dual_coef_, model.intercept_, graph)
    if model.decision_function_shape != "ovr":
        raise ValueError(
            f"an SVC with {n_classes} classes and decision_function_shape="
            f"{model.decision_function_shape!r} cannot be exported to ONNX: fit with 'ovr'"
        )
    pairs = list(combinations(range(n_classes), 2))
    pair_scores = add_weighted_sums(
        found, _gather_pair_coefficients(model, pairs), model.intercept_, graph
    )
    first, second = (np.eye(n_classes)[list(side)] for side in zip(*pairs, strict=True))
    for_second = graph.cast(graph.add("Less", pair_scores, graph.number(0.0)), "float64")
    for_first = graph.add("Sub", graph.number(1.0), for_second)
    votes = [
        graph.add("MatMul", side, graph.constant(classes))
        for side, classes in ((for_first, first), (for_second, second))
    ]
    total_votes = graph.sum(votes)
    if not model.break_ties:
        context.scores[id(model)] = total_votes
    confidences = graph.add("MatMul", pair_scores, graph.constant(first - second))
    size = graph.add("Add", graph.add("Abs", confidences), graph.number(1.0))
    squeezed = graph.add("Div", confidences, graph.times(size, 3.0))
    return graph.add("Add", total_votes, squeezed)


def _gather_pair_coefficients(model: SVC, pairs: list[tuple[int, int]]) -> Floats:
    """Gather the coefficients of the support vectors, ordered by class, for each class pair."""
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    vectors = [slice(start, end) for start, end in pairwise(ends.tolist())]
    found = np.zeros((len(pairs), ends[-1]))
    for k, (i, j) in enumerate(pairs):
        found[k, vectors[i]] = model.dual_coef_[j - 1, vectors[i]]
        found[k, vectors[j]] = model.dual_coef_[i, vectors[j]]
    return found


def _add_support_kernel(model: SVC | SVR, context: ModelContext) -> str:
    if issparse(model.support_vectors_):
        raise ValueError(
            f"a {type(model).__name__} fitted on sparse rows cannot be exported to ONNX: fit on a "
            "dense array"
        )
    matrix = context.inputs.numbers(context.columns)
    return _add_kernel(model, matrix, model.support_vectors_, model._gamma, context.graph)


def _add_kernel(model: Any, matrix: str, rows: Floats, gamma: float | None, graph: Graph) -> str:
    """Add the kernel values of each row with the known ones, (n_rows, n_known)."""
    if model.kernel != "rbf":
        raise ValueError(
            f"the kernel {model.kernel!r} of this {type(model).__name__} cannot be exported to "
            "ONNX: only 'rbf' is supported"
        )
    width = 1.0 / rows.shape[1] if gamma is None else float(gamma)
    return graph.add("Exp", graph.times(add_squared_distances(matrix, rows, graph), -width))


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
