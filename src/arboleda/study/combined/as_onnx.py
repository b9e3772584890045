"""Combinations of a study's models in ONNX: what the members say, and the rule after them."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from arboleda.onnx_export import Place, answer, shares_of_scores, spread, weighted_columns
from arboleda.study.combined.estimators import CombinedClassifier, CombinedRegressor
from arboleda.study.combined.rules import LEAST, MeanRule

__all__ = ["of_combined"]


def of_combined(model: CombinedClassifier | CombinedRegressor, place: Place) -> str:
    """Probabilities or values of the rule, given what the members say."""
    graph, rule = place.graph, model.rule
    n_classes = len(model.classes_) if is_classifier(model) else 0
    said = []
    for _, bag in model.members_:
        parts = [_said(pipeline, n_classes, place) for pipeline in bag]
        said.append(graph.times(graph.sum(parts), 1.0 / len(bag)))
    if isinstance(rule, MeanRule):
        weighted = [graph.times(s, w) for s, w in zip(said, rule.weights, strict=True) if w]
        mean = graph.sum(weighted) if weighted else graph.times(said[0], 0.0)
        if not n_classes or rule.temperature == 1.0:
            return mean
        inside = graph.add("Min", graph.add("Max", mean, graph.number(LEAST)), graph.number(1.0))
        logs = graph.times(graph.add("Log", inside), 1.0 / rule.temperature)
        return graph.add("Softmax", logs, axis=1)
    if n_classes == 2:
        said = [graph.columns(s, [1]) for s in said]
    sums = weighted_columns(graph.side_by_side(said), rule.coef, rule.intercept, graph)
    if not n_classes:
        return sums
    known = shares_of_scores(sums, 2 if len(rule.coef) == 1 else len(rule.coef), graph)
    return spread(known, len(rule.classes), np.asarray(rule.classes), n_classes, place)


def _said(pipeline: Any, n_classes: int, place: Place) -> str:
    found = answer(pipeline, place)
    if not n_classes or len(pipeline.classes_) == n_classes:
        return found
    return spread(found, len(pipeline.classes_), pipeline.classes_, n_classes, place)
