"""ONNX export of scikit-learn's RBF kernels and the models that use them."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

from arboleda.onnx_export._distances import add_squared_distances
from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._inputs import ModelContext
from arboleda.onnx_export._sklearn_models import add_weighted_sums

Floats = npt.NDArray[np.float64]


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
