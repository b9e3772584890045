"""Combinations of a study's models in ONNX: the members' outputs and the rule on top."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from arboleda.onnx_export import (
    GivenMatrix,
    Graph,
    Place,
    add_probabilities,
    add_weighted_sums,
    answer,
    class_scores,
    has_scores_alone,
    spread,
)
from arboleda.study.combined.boosted import MIN_PROBABILITY, BoostedRule
from arboleda.study.combined.estimators import CombinedClassifier, CombinedRegressor
from arboleda.study.combined.rules import LEAST, LinearRule, MeanRule
from arboleda.study.combined.textbook import TextbookRule

__all__ = ["of_combined"]


def of_combined(model: CombinedClassifier | CombinedRegressor, place: Place) -> str:
    """Add the rule's probabilities or values, given the members' outputs."""
    graph, rule = place.graph, model.rule
    n_classes = len(model.classes_) if is_classifier(model) else 0
    predictions = []
    for _, bag in model.members_:
        parts = [_member_output(pipeline, n_classes, place) for pipeline in bag]
        predictions.append(graph.times(graph.sum(parts), 1.0 / len(bag)))
    if isinstance(rule, MeanRule):
        return _mean(rule, predictions, n_classes, graph)
    if isinstance(rule, BoostedRule):
        mean = _mean(rule.mean, predictions, n_classes, graph)
        trees = _boosted(rule, predictions, mean, n_classes, place)
        return graph.add("Add", graph.times(mean, 1.0 - rule.share), graph.times(trees, rule.share))
    if isinstance(rule, TextbookRule):
        raise ValueError(f"the rule {rule.name!r} has no operators here")  # noqa: TRY004 - a rule
    assert isinstance(rule, LinearRule)
    if n_classes == 2:
        predictions = [graph.columns(s, [1]) for s in predictions]
    sums = add_weighted_sums(graph.concat_columns(predictions), rule.coef, rule.intercept, graph)
    if not n_classes:
        return sums
    known = add_probabilities(sums, 2 if len(rule.coef) == 1 else len(rule.coef), graph)
    return spread(known, len(rule.classes), np.asarray(rule.classes), n_classes, place)


def _mean(rule: MeanRule, predictions: list[str], n_classes: int, graph: Graph) -> str:
    weighted = [graph.times(s, w) for s, w in zip(predictions, rule.weights, strict=True) if w]
    mean = graph.sum(weighted) if weighted else graph.times(predictions[0], 0.0)
    if not n_classes or rule.temperature == 1.0:
        return mean
    logs = graph.times(_logarithm(mean, LEAST, graph), 1.0 / rule.temperature)
    return graph.add("Softmax", logs, axis=1)


def _boosted(
    rule: BoostedRule, predictions: list[str], mean: str, n_classes: int, place: Place
) -> str:
    """Add the trees' outputs for columns as `columns_of` makes them."""
    graph = place.graph
    if not n_classes:
        columns = [*(graph.add("Sub", s, mean) for s in predictions), mean]
    else:
        columns = [_logarithm(s, MIN_PROBABILITY, graph) for s in predictions]
    if n_classes == 2:
        columns = [graph.add("Sub", *(graph.columns(c, [k]) for k in (1, 0))) for c in columns]
    matrix = GivenMatrix(graph, graph.concat_columns(columns))
    inner = replace(place, inputs=matrix, columns=None)
    trees = answer(rule.model, inner)
    if not n_classes:
        return graph.add("Add", trees, mean)
    known = rule.model.classes_
    return trees if len(known) == n_classes else spread(trees, len(known), known, n_classes, place)


def _logarithm(predictions: str, least: float, graph: Graph) -> str:
    inside = graph.add("Min", graph.add("Max", predictions, graph.number(least)), graph.number(1.0))
    return graph.add("Log", inside)


def _member_output(pipeline: Any, n_classes: int, place: Place) -> str:
    if not n_classes:
        return answer(pipeline, place)
    n_known = len(pipeline.classes_)
    if has_scores_alone(pipeline):
        # As `Predictions.probabilities` converts scores.
        found = add_probabilities(class_scores(pipeline, place), n_known, place.graph)
    else:
        found = answer(pipeline, place)
    if n_known == n_classes:
        return found
    return spread(found, n_known, pipeline.classes_, n_classes, place)
