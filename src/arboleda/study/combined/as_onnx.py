"""Combinations of a study's models in ONNX: what the members say, and the rule after them."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from arboleda.onnx_export import (
    GivenMatrix,
    Graph,
    ModelContext,
    add_class_scores,
    add_model,
    add_probabilities,
    add_weighted_sums,
    expand_shares,
    has_scores_alone,
)
from arboleda.study.combined.boosted import MIN_PROBABILITY, BoostedRule
from arboleda.study.combined.estimators import CombinedClassifier, CombinedRegressor
from arboleda.study.combined.rules import LEAST, LinearRule, MeanRule
from arboleda.study.combined.textbook import TextbookRule

__all__ = ["of_combined"]


def of_combined(model: CombinedClassifier | CombinedRegressor, place: ModelContext) -> str:
    """Probabilities or values of the rule, given what the members say."""
    graph, rule = place.graph, model.rule
    n_classes = len(model.classes_) if is_classifier(model) else 0
    said = []
    for _, bag in model.members_:
        parts = [_said(pipeline, n_classes, place) for pipeline in bag]
        said.append(graph.times(graph.sum(parts), 1.0 / len(bag)))
    if isinstance(rule, MeanRule):
        return _mean(rule, said, n_classes, graph)
    if isinstance(rule, BoostedRule):
        mean = _mean(rule.mean, said, n_classes, graph)
        trees = _boosted(rule, said, mean, n_classes, place)
        return graph.add("Add", graph.times(mean, 1.0 - rule.share), graph.times(trees, rule.share))
    if isinstance(rule, TextbookRule):
        raise ValueError(f"the rule {rule.name!r} has no operators here")  # noqa: TRY004 - a rule
    assert isinstance(rule, LinearRule)
    if n_classes == 2:
        said = [graph.columns(s, [1]) for s in said]
    sums = add_weighted_sums(graph.concat_columns(said), rule.coef, rule.intercept, graph)
    if not n_classes:
        return sums
    known = add_probabilities(sums, 2 if len(rule.coef) == 1 else len(rule.coef), graph)
    return expand_shares(known, len(rule.classes), np.asarray(rule.classes), n_classes, place)


def _mean(rule: MeanRule, said: list[str], n_classes: int, graph: Graph) -> str:
    weighted = [graph.times(s, w) for s, w in zip(said, rule.weights, strict=True) if w]
    mean = graph.sum(weighted) if weighted else graph.times(said[0], 0.0)
    if not n_classes or rule.temperature == 1.0:
        return mean
    logs = graph.times(_logarithm(mean, LEAST, graph), 1.0 / rule.temperature)
    return graph.add("Softmax", logs, axis=1)


def _boosted(
    rule: BoostedRule, said: list[str], mean: str, n_classes: int, place: ModelContext
) -> str:
    """What the trees say, of columns as `columns_of` makes them."""
    graph = place.graph
    if not n_classes:
        columns = [*(graph.add("Sub", s, mean) for s in said), mean]
    else:
        columns = [_logarithm(s, MIN_PROBABILITY, graph) for s in said]
    if n_classes == 2:
        columns = [graph.add("Sub", *(graph.columns(c, [k]) for k in (1, 0))) for c in columns]
    matrix = GivenMatrix(graph, graph.concat_columns(columns))
    inner = replace(place, inputs=matrix, columns=None)
    found = add_model(rule.model, inner)
    if not n_classes:
        return graph.add("Add", found, mean)
    known = rule.model.classes_
    return (
        found
        if len(known) == n_classes
        else expand_shares(found, len(known), known, n_classes, place)
    )


def _logarithm(said: str, least: float, graph: Graph) -> str:
    inside = graph.add("Min", graph.add("Max", said, graph.number(least)), graph.number(1.0))
    return graph.add("Log", inside)


def _said(pipeline: Any, n_classes: int, place: ModelContext) -> str:
    if not n_classes:
        return add_model(pipeline, place)
    n_known = len(pipeline.classes_)
    if has_scores_alone(pipeline):
        # As `Predictions.probabilities` makes some of scores.
        found = add_probabilities(add_class_scores(pipeline, place), n_known, place.graph)
    else:
        found = add_model(pipeline, place)
    if n_known == n_classes:
        return found
    return expand_shares(found, n_known, pipeline.classes_, n_classes, place)
