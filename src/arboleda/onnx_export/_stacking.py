"""Stacks in ONNX: what the members say, side by side, is what the final model is asked about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.frozen import FrozenEstimator

from arboleda.combine._stacking import Stacking
from arboleda.onnx_export._inputs import GivenMatrix, Place

Answer = Callable[[Any, Place], str]


def of_stacking(model: Stacking, place: Place, answer: Answer) -> str:
    """Probabilities or values of the final model, or the weighted mean of the members."""
    graph = place.graph
    classes = getattr(model, "classes_", None)
    asked: list[str] = []
    for name, member, method in zip(
        model._names, model.estimators_, model.stack_method_, strict=True
    ):
        if method != ("predict" if classes is None else "predict_proba"):
            raise ValueError(
                f"the member {name!r} of this {type(model).__name__} is asked for its {method}: "
                "only stacks of probabilities, or of values, can be exported"
            )
        found = answer(member, place)
        asked.append(found if classes is None else _all_classes(member, classes, found, place))
    if model.weights is not None:
        return _by_weights(model, asked, classes, place)
    if classes is not None and len(classes) == 2:
        asked = [graph.columns(found, [1]) for found in asked]
    if model.passthrough:
        asked.append(place.inputs.numbers(place.columns))
    final = model.final_estimator_
    said = answer(final, Place(graph, GivenMatrix(graph, graph.side_by_side(asked))))
    if classes is None or len(final.classes_) == len(classes):
        return said
    return spread(said, len(final.classes_), final.classes_, len(classes), place)


def _all_classes(member: Any, classes: Any, found: str, place: Place) -> str:
    known = classes if isinstance(member, FrozenEstimator) else np.arange(len(classes))
    if len(member.classes_) == len(classes):
        return found
    places = np.searchsorted(known, member.classes_)
    return spread(found, len(places), places, len(classes), place)


def spread(
    shares: str, n_known: int, places: npt.NDArray[np.intp], n_classes: int, place: Place
) -> str:
    """Probabilities of some classes among all; 0 of the others."""
    into = np.zeros((n_known, n_classes))
    into[np.arange(n_known), places] = 1.0
    return place.graph.add("MatMul", shares, place.graph.constant(into))


def _by_weights(model: Stacking, asked: list[str], classes: Any, place: Place) -> str:
    graph = place.graph
    weights = np.asarray(model.weights_, dtype=np.float64)
    total = float(weights.sum()) if classes is not None else 1.0
    if total == 0.0:  # no member helps: all classes are alike
        return graph.add("Add", graph.times(asked[0], 0.0), graph.number(1.0 / len(classes)))
    parts = [
        graph.times(found, weight / total)
        for found, weight in zip(asked, weights.tolist(), strict=True)
    ]
    return graph.sum(parts)
