"""Classifiers that score classes and have no probabilities, in ONNX."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.svm import SVC

from arboleda.onnx_export._inputs import Place
from arboleda.onnx_export._kernels import decisions
from arboleda.onnx_export._sklearn_models import weighted_columns


def machine_scores(model: Any, place: Place) -> str:
    """The decision function: of two classes one column, of more one for each class.

    Raises
    ------
    TypeError
        If it is no such classifier that can be exported.
    ValueError
        If it tells several labels of a row.
    """
    if isinstance(model, SVC):
        return decisions(model, place)
    labels = getattr(model, "_label_binarizer", None)
    if labels is not None and labels.y_type_.startswith("multilabel"):
        raise ValueError(
            f"this {type(model).__name__} has several labels a row: fit one model for each"
        )
    if isinstance(model, LinearClassifierMixin):
        matrix = place.inputs.numbers(place.columns)
        return weighted_columns(matrix, model.coef_, model.intercept_, place.graph)
    raise TypeError(
        f"the scores of a {type(model).__name__} cannot be exported to ONNX: what can are those of "
        "support vector machines and linear models"
    )
