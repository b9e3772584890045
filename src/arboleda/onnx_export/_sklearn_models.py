"""Models of scikit-learn that often stand beside trees or after them, in ONNX."""

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

from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._inputs import Place

_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid"}


def weighted_columns(matrix: str, coefficients: Any, intercept: Any, graph: Graph) -> str:
    """Sums of columns by rows of coefficients, and an intercept for each row."""
    weights = np.atleast_2d(np.asarray(coefficients, dtype=np.float64)).T
    product = graph.add("MatMul", matrix, graph.constant(np.ascontiguousarray(weights)))
    return graph.add("Add", product, graph.constant(np.atleast_2d(np.asarray(intercept, float))))


def shares_of_scores(scores: str, n_classes: int, graph: Graph) -> str:
    """Softmax; of a single score the logistic function."""
    if n_classes > 2:
        return graph.add("Softmax", scores, axis=1)
    second = graph.add("Sigmoid", scores)
    return graph.side_by_side([graph.add("Sub", graph.number(1.0), second), second])


def _of_linear_classifier(model: Any, place: Place) -> str:
    # Before it was taken away, multi_class="ovr" meant one model a class.
    one_by_one = getattr(model, "multi_class", None) == "ovr" or (
        getattr(model, "solver", None) == "liblinear" and len(model.classes_) > 2
    )
    if one_by_one:
        raise ValueError(
            f"this {type(model).__name__} tells each class from the others by itself: fit one with "
            "another solver to export it"
        )
    scores = weighted_columns(
        place.inputs.numbers(place.columns), model.coef_, model.intercept_, place.graph
    )
    return shares_of_scores(scores, len(model.classes_), place.graph)


def _of_linear_regressor(model: Any, place: Place) -> str:
    if is_classifier(model):
        raise TypeError(
            f"{type(model).__name__} has no probabilities, so it cannot be exported to ONNX: use "
            "LogisticRegression"
        )
    matrix = place.inputs.numbers(place.columns)
    return weighted_columns(matrix, model.coef_, model.intercept_, place.graph)


def _of_gaussian_bayes(model: GaussianNB, place: Place) -> str:
    graph = place.graph
    matrix = place.inputs.numbers(place.columns)
    logs = []
    with np.errstate(divide="ignore"):
        priors = np.log(model.class_prior_)
    for mean, variance, prior in zip(model.theta_, model.var_, priors, strict=True):
        away = graph.add("Sub", matrix, graph.constant(mean[np.newaxis]))
        squares = graph.add("Mul", away, away)
        scaled = graph.add("Div", squares, graph.constant(variance[np.newaxis]))
        half = graph.times(graph.summed(scaled), -0.5)
        start = float(prior) - 0.5 * float(np.log(2.0 * np.pi * variance).sum())
        logs.append(graph.add("Add", half, graph.number(start)))
    return graph.add("Softmax", graph.side_by_side(logs), axis=1)


def _of_network(model: MLPClassifier | MLPRegressor, place: Place) -> str:
    graph = place.graph
    found = place.inputs.numbers(place.columns)
    last = len(model.coefs_) - 1
    for layer, (weights, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        found = weighted_columns(found, np.asarray(weights).T, bias, graph)
        if layer < last and model.activation != "identity":
            found = graph.add(_ACTIVATIONS[model.activation], found)
    if not is_classifier(model):
        return found
    if model.out_activation_ == "logistic" and len(model.classes_) > 2:
        raise ValueError("this MLPClassifier has several labels a row: fit one model for each")
    return shares_of_scores(found, len(model.classes_), graph)


def _of_constant(model: DummyClassifier | DummyRegressor, place: Place) -> str:
    graph = place.graph
    if is_classifier(model):
        if model.strategy != "prior":
            raise ValueError(f"a DummyClassifier of strategy={model.strategy!r} cannot be exported")
        said = model.class_prior_
    else:
        said = model.constant_.ravel()
    first = graph.columns(place.inputs.numbers(place.columns), [0])
    known = graph.add("Where", graph.add("IsNaN", first), graph.number(0.0), first)
    nothing = graph.add("Mul", known, graph.number(0.0))
    return graph.add("Add", nothing, graph.constant(np.atleast_2d(np.asarray(said, np.float64))))


SKLEARN_MODELS: Mapping[type, Callable[[Any, Place], str]] = {
    LogisticRegression: _of_linear_classifier,
    LinearDiscriminantAnalysis: _of_linear_classifier,
    LinearModel: _of_linear_regressor,
    GaussianNB: _of_gaussian_bayes,
    MLPClassifier: _of_network,
    MLPRegressor: _of_network,
    DummyClassifier: _of_constant,
    DummyRegressor: _of_constant,
}
