"""Classifiers whose scores scikit-learn has made probabilities of, in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from arboleda.onnx_export._inputs import Place
from arboleda.onnx_export._machines import machine_scores


def of_calibrated(model: CalibratedClassifierCV, place: Place) -> str:
    """Mean of the calibrated probabilities of its classifiers."""
    fitted = model.calibrated_classifiers_
    parts = [_of_one(each, place) for each in fitted]
    return place.graph.times(place.graph.sum(parts), 1.0 / len(fitted))


def _of_one(calibrated: Any, place: Place) -> str:
    """The logistic function of each class's score; of more than two classes, as shares."""
    graph, n_classes = place.graph, len(calibrated.classes)
    estimator = calibrated.estimator
    inner = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
    if calibrated.method != "sigmoid":
        raise ValueError(
            f"a CalibratedClassifierCV of method={calibrated.method!r} cannot be exported to ONNX: "
            "fit with method='sigmoid'"
        )
    if len(inner.classes_) != n_classes:
        raise ValueError(
            "a CalibratedClassifierCV with a classifier that has not met all classes cannot be "
            "exported to ONNX: fit with ensemble=False"
        )
    slopes = np.array([[-calibrator.a_ for calibrator in calibrated.calibrators]])
    starts = np.array([[-calibrator.b_ for calibrator in calibrated.calibrators]])
    scaled = graph.add("Mul", machine_scores(inner, place), graph.constant(slopes))
    each = graph.add("Sigmoid", graph.add("Add", scaled, graph.constant(starts)))
    if n_classes == 2:
        return graph.side_by_side([graph.add("Sub", graph.number(1.0), each), each])
    total = graph.summed(each)
    none = graph.add("Equal", total, graph.number(0.0))
    shares = graph.add("Div", each, graph.add("Where", none, graph.number(1.0), total))
    return graph.add("Where", none, graph.number(1.0 / n_classes), shares)
