"""ONNX export of stacking: the members' outputs are the columns of the final model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.frozen import FrozenEstimator

from arboleda.combine._stacking import Stacking
from arboleda.onnx_export._inputs import GivenMatrix, ModelContext

AddModel = Callable[[Any, ModelContext], str]


def add_stacking(model: Stacking, context: ModelContext, add_model: AddModel) -> str:
    """Add the outputs of the final model, or the weighted mean of the members."""
    graph = context.graph
    classes = getattr(model, "classes_", None)
    member_outputs: list[str] = []
    for name, member, method in zip(
        model._names, model.estimators_, model.stack_method_, strict=True
    ):
        if method != ("predict" if classes is None else "predict_proba"):
            raise ValueError(
                f"the member {name!r} of this {type(model).__name__} has stack method {method}: "
                "only stacks of probabilities or values can be exported to ONNX"
            )
        found = add_model(member, context)
        member_outputs.append(
            found if classes is None else _expand_member_shares(member, classes, found, context)
        )
    if model.weights is not None:
        return _add_weighted_members(model, member_outputs, classes, context)
    if classes is not None and len(classes) == 2:
        member_outputs = [graph.columns(found, [1]) for found in member_outputs]
    if model.passthrough:
        member_outputs.append(context.inputs.numbers(context.columns))
    final = model.final_estimator_
    final_output = add_model(
        final, ModelContext(graph, GivenMatrix(graph, graph.concat_columns(member_outputs)))
    )
    if classes is None or len(final.classes_) == len(classes):
        return final_output
    return expand_shares(final_output, len(final.classes_), final.classes_, len(classes), context)


def _expand_member_shares(member: Any, classes: Any, found: str, context: ModelContext) -> str:
    known = classes if isinstance(member, FrozenEstimator) else np.arange(len(classes))
    if len(member.classes_) == len(classes):
        return found
    places = np.searchsorted(known, member.classes_)
    return expand_shares(found, len(places), places, len(classes), context)


def expand_shares(
    shares: str, n_known: int, places: npt.NDArray[np.intp], n_classes: int, context: ModelContext
) -> str:
    """Expand probabilities of some classes to all classes, with 0 for the others."""
    into = np.zeros((n_known, n_classes))
    into[np.arange(n_known), places] = 1.0
    return context.graph.add("MatMul", shares, context.graph.constant(into))


def _add_weighted_members(
    model: Stacking, member_outputs: list[str], classes: Any, context: ModelContext
) -> str:
    graph = context.graph
    weights = np.asarray(model.weights_, dtype=np.float64)
    total = float(weights.sum()) if classes is not None else 1.0
    if total == 0.0:  # no member has weight: all classes are equally probable
        return graph.add(
            "Add", graph.times(member_outputs[0], 0.0), graph.number(1.0 / len(classes))
        )
    parts = [
        graph.times(found, weight / total)
        for found, weight in zip(member_outputs, weights.tolist(), strict=True)
    ]
    return graph.sum(parts)
