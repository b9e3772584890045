"""Radial kernels of scikit-learn in ONNX, and the machines that stand on them."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

from arboleda.onnx_export._distances import squared_distances
from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._inputs import Place
from arboleda.onnx_export._sklearn_models import weighted_columns

Floats = npt.NDArray[np.float64]


def of_regressor(model: SVR, place: Place) -> str:
    """Values of a support vector machine."""
    found = _of_vectors(model, place)
    return weighted_columns(found, model.dual_coef_, model.intercept_, place.graph)


def of_kernel_ridge(model: KernelRidge, place: Place) -> str:
    """Values of kernel ridge regression."""
    matrix = place.inputs.numbers(place.columns)
    found = _kernel(model, matrix, model.X_fit_, model.gamma, place.graph)
    coefficients = model.dual_coef_.reshape(len(model.X_fit_), -1)
    return place.graph.add("MatMul", found, place.graph.constant(coefficients))


def of_nystroem(transformer: Nystroem, matrix: str, graph: Graph) -> str:
    """The map of a matrix to the kernels of a few rows."""
    rows = transformer.components_
    found = _kernel(transformer, matrix, rows, transformer.gamma, graph)
    mixing = np.ascontiguousarray(transformer.normalization_.T)
    return graph.add("MatMul", found, graph.constant(mixing))


def decisions(model: SVC, place: Place) -> str:
    """The decision function: of two classes one column, of more one for each class.

    A machine for each pair of classes votes for one of them. What all say of a class, squeezed into
    less than half a vote, is added to its votes. The votes alone decide,
    unless the machine breaks ties.
    """
    graph, found = place.graph, _of_vectors(model, place)
    n_classes = len(model.classes_)
    if n_classes == 2:
        return weighted_columns(found, model.dual_coef_, model.intercept_, graph)
    if model.decision_function_shape != "ovr":
        raise ValueError(
            f"an SVC of {n_classes} classes with decision_function_shape="
            f"{model.decision_function_shape!r} cannot be exported: fit with 'ovr'"
        )
    pairs = list(combinations(range(n_classes), 2))
    said = weighted_columns(found, _of_pairs(model, pairs), model.intercept_, graph)
    first, second = (np.eye(n_classes)[list(side)] for side in zip(*pairs, strict=True))
    for_second = graph.cast(graph.add("Less", said, graph.number(0.0)), "float64")
    for_first = graph.add("Sub", graph.number(1.0), for_second)
    votes = [
        graph.add("MatMul", side, graph.constant(classes))
        for side, classes in ((for_first, first), (for_second, second))
    ]
    voted = graph.sum(votes)
    if not model.break_ties:
        place.scores[id(model)] = voted
    sure = graph.add("MatMul", said, graph.constant(first - second))
    size = graph.add("Add", graph.add("Abs", sure), graph.number(1.0))
    squeezed = graph.add("Div", sure, graph.times(size, 3.0))
    return graph.add("Add", voted, squeezed)


def _of_pairs(model: SVC, pairs: list[tuple[int, int]]) -> Floats:
    """Coefficients of the support vectors, which stand class by class, for each pair of classes."""
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    vectors = [slice(start, end) for start, end in pairwise(ends.tolist())]
    found = np.zeros((len(pairs), ends[-1]))
    for k, (i, j) in enumerate(pairs):
        found[k, vectors[i]] = model.dual_coef_[j - 1, vectors[i]]
        found[k, vectors[j]] = model.dual_coef_[i, vectors[j]]
    return found


def _of_vectors(model: SVC | SVR, place: Place) -> str:
    if issparse(model.support_vectors_):
        raise ValueError(f"a {type(model).__name__} of sparse rows cannot be exported to ONNX")
    matrix = place.inputs.numbers(place.columns)
    return _kernel(model, matrix, model.support_vectors_, model._gamma, place.graph)


def _kernel(model: Any, matrix: str, rows: Floats, gamma: float | None, graph: Graph) -> str:
    """Kernel of each row with the known ones, (n_rows, n_known)."""
    if model.kernel != "rbf":
        raise ValueError(
            f"the kernel {model.kernel!r} of this {type(model).__name__} cannot be exported to "
            "ONNX: what can is 'rbf'"
        )
    width = 1.0 / rows.shape[1] if gamma is None else float(gamma)
    return graph.add("Exp", graph.times(squared_distances(matrix, rows, graph), -width))
