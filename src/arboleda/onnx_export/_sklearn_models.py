"""ONNX export of scikit-learn models that are often combined with trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model._base import LinearModel
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor

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
