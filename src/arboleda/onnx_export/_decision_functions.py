"""ONNX export of classifiers with a decision function but no probabilities."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.svm import SVC

from arboleda.onnx_export._inputs import ModelContext
from arboleda.onnx_export._kernels import add_svc_scores
from arboleda.onnx_export._sklearn_models import add_weighted_sums


def add_decision_function(model: Any, context: ModelContext) -> str:
    """Add the decision function: one column for two classes, otherwise one per class.

    Raises
    ------
    TypeError
        If the classifier cannot be exported.
    ValueError
        If it predicts several labels per row.
    """
    if isinstance(model, SVC):
        return add_svc_scores(model, context)
    labels = getattr(model, "_label_binarizer", None)
    if labels is not None and labels.y_type_.startswith("multilabel"):
        raise ValueError(
            f"this {type(model).__name__} predicts several labels per row: fit one model for each"
        )
    if isinstance(model, LinearClassifierMixin):
        matrix = context.inputs.numbers(context.columns)
        return add_weighted_sums(matrix, model.coef_, model.intercept_, context.graph)
    raise TypeError(
        f"the scores of {type(model).__name__} cannot be exported to ONNX: only those of support "
        "vector machines and linear models are supported"
    )
