"""ONNX export of scikit-learn's calibrated classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from arboleda.onnx_export._decision_functions import add_decision_function
from arboleda.onnx_export._inputs import ModelContext


def add_calibrated_classifier(model: CalibratedClassifierCV, context: ModelContext) -> str:
    """Add the mean of the calibrated probabilities of the classifiers."""
    fitted = model.calibrated_classifiers_
    parts = [_add_calibrated_member(each, context) for each in fitted]
    return context.graph.times(context.graph.sum(parts), 1.0 / len(fitted))


def _add_calibrated_member(calibrated: Any, context: ModelContext) -> str:
    """Add the logistic function of each class's score, normalized for more than two classes."""
    graph, n_classes = context.graph, len(calibrated.classes)
    estimator = calibrated.estimator
    inner = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
    if calibrated.method != "sigmoid":
        raise ValueError(
            f"a CalibratedClassifierCV with method={calibrated.method!r} cannot be exported to "
            "ONNX: fit with method='sigmoid'"
        )
    if len(inner.classes_) != n_classes:
        raise ValueError(
            "a CalibratedClassifierCV with a classifier that was fitted without some class cannot "
            "be exported to ONNX: fit with ensemble=False"
        )
    slopes = np.array([[-calibrator.a_ for calibrator in calibrated.calibrators]])
    starts = np.array([[-calibrator.b_ for calibrator in calibrated.calibrators]])
    scaled = graph.add("Mul", add_decision_function(inner, context), graph.constant(slopes))
    each = graph.add("Sigmoid", graph.add("Add", scaled, graph.constant(starts)))
    if n_classes == 2:
        return graph.concat_columns([graph.add("Sub", graph.number(1.0), each), each])
    total = graph.add_row_sums(each)
    none = graph.add("Equal", total, graph.number(0.0))
    shares = graph.add("Div", each, graph.add("Where", none, graph.number(1.0), total))
    return graph.add("Where", none, graph.number(1.0 / n_classes), shares)
