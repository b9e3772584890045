"""ONNX export of scikit-learn's linear models, kernel machines and nearest neighbours.

The file contains all training rows, and a runtime computes the distance to each of them: its memory
is proportional to the number of predicted rows times the number of training rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model._base import LinearModel
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVC, SVR

from arboleda.onnx_export._graph import Graph, ModelContext

_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid"}


def add_weighted_sums(matrix: str, coefficients: Any, intercept: Any, graph: Graph) -> str:
    """Add weighted sums of columns, with an intercept for each row of coefficients."""
    weights = np.atleast_2d(np.asarray(coefficients, dtype=np.float64)).T
    product = graph.add("MatMul", matrix, graph.constant(np.ascontiguousarray(weights)))
    return graph.add("Add", product, graph.constant(np.atleast_2d(np.asarray(intercept, float))))


def add_probabilities(scores: str, n_classes: int, graph: Graph) -> str:
    """Add the softmax of scores, or the logistic function of a single score."""
    if n_classes > 2:
        return graph.add("Softmax", scores, axis=1)
    second = graph.add("Sigmoid", scores)
    return graph.concat_columns([graph.add("Sub", graph.number(1.0), second), second])


def _add_linear_classifier(model: Any, context: ModelContext) -> str:
    # In older versions of scikit-learn, multi_class="ovr" fits one model per class.
    one_by_one = getattr(model, "multi_class", None) == "ovr" or (
        getattr(model, "solver", None) == "liblinear" and len(model.classes_) > 2
    )
    if one_by_one:
        raise ValueError(
            f"this {type(model).__name__} is one-vs-rest and cannot be exported to ONNX: fit it "
            "with another solver"
        )
    scores = add_weighted_sums(
        context.inputs.numbers(context.columns), model.coef_, model.intercept_, context.graph
    )
    return add_probabilities(scores, len(model.classes_), context.graph)


def _add_linear_regressor(model: Any, context: ModelContext) -> str:
    if is_classifier(model):
        raise TypeError(
            f"{type(model).__name__} has no probabilities and cannot be exported to ONNX: use "
            "LogisticRegression"
        )
    matrix = context.inputs.numbers(context.columns)
    return add_weighted_sums(matrix, model.coef_, model.intercept_, context.graph)


def _add_gaussian_nb(model: GaussianNB, context: ModelContext) -> str:
    graph = context.graph
    matrix = context.inputs.numbers(context.columns)
    logs = []
    with np.errstate(divide="ignore"):
        priors = np.log(model.class_prior_)
    for mean, variance, prior in zip(model.theta_, model.var_, priors, strict=True):
        away = graph.add("Sub", matrix, graph.constant(mean[np.newaxis]))
        squares = graph.add("Mul", away, away)
        scaled = graph.add("Div", squares, graph.constant(variance[np.newaxis]))
        half = graph.times(graph.add_row_sums(scaled), -0.5)
        start = float(prior) - 0.5 * float(np.log(2.0 * np.pi * variance).sum())
        logs.append(graph.add("Add", half, graph.number(start)))
    return graph.add("Softmax", graph.concat_columns(logs), axis=1)


def _add_perceptron(model: MLPClassifier | MLPRegressor, context: ModelContext) -> str:
    graph = context.graph
    found = context.inputs.numbers(context.columns)
    last = len(model.coefs_) - 1
    for layer, (weights, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        found = add_weighted_sums(found, np.asarray(weights).T, bias, graph)
        if layer < last and model.activation != "identity":
            found = graph.add(_ACTIVATIONS[model.activation], found)
    if not is_classifier(model):
        return found
    if model.out_activation_ == "logistic" and len(model.classes_) > 2:
        raise ValueError(
            "this MLPClassifier predicts several labels per row: fit one model for each"
        )
    return add_probabilities(found, len(model.classes_), graph)


def _add_dummy(model: DummyClassifier | DummyRegressor, context: ModelContext) -> str:
    graph = context.graph
    if is_classifier(model):
        if model.strategy != "prior":
            raise ValueError(
                f"a DummyClassifier with strategy={model.strategy!r} cannot be exported to ONNX: "
                "use strategy='prior'"
            )
        values = model.class_prior_
    else:
        values = model.constant_.ravel()
    first = graph.columns(context.inputs.numbers(context.columns), [0])
    known = graph.add("Where", graph.add("IsNaN", first), graph.number(0.0), first)
    zeros = graph.add("Mul", known, graph.number(0.0))
    return graph.add("Add", zeros, graph.constant(np.atleast_2d(np.asarray(values, np.float64))))


SKLEARN_MODELS: Mapping[type, Callable[[Any, ModelContext], str]] = {
    LogisticRegression: _add_linear_classifier,
    LinearDiscriminantAnalysis: _add_linear_classifier,
    LinearModel: _add_linear_regressor,
    GaussianNB: _add_gaussian_nb,
    MLPClassifier: _add_perceptron,
    MLPRegressor: _add_perceptron,
    DummyClassifier: _add_dummy,
    DummyRegressor: _add_dummy,
}


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
    _check_rows_are_allowed(model, graph)
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
    _check_rows_are_allowed(model, graph)
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


def _check_rows_are_allowed(model: Any, graph: Graph) -> None:
    """Check that a graph may contain training rows, as models of kernels and neighbours do."""
    if not graph.may_hold_rows:
        raise TypeError(f"a {type(model).__name__} consists of training rows")


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
