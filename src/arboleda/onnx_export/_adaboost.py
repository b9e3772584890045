"""ONNX export of AdaBoost and its variants."""

from __future__ import annotations

import numpy as np

from arboleda.adaboost._boosted_classifier import BoostedClassifier
from arboleda.adaboost._boosted_regressor import BoostedRegressor
from arboleda.adaboost._boosted_trees import BoostedTrees
from arboleda.adaboost._tree_members import BoostedTreeMembers
from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._inputs import ModelContext
from arboleda.onnx_export._trees import TreeEnsembleBuilder


def add_boosted_classifier(model: BoostedClassifier, context: ModelContext) -> str:
    """Add the probabilities; the deciding scores are stored for the label."""
    members = model._members
    if not isinstance(members, BoostedTreeMembers):
        raise ValueError(_describe_missing_trees(model))  # noqa: TRY004 - a model, but not of trees
    graph, weighted = context.graph, members.weighted
    matrix = context.inputs.matrix(model.schema_, None, context.columns)
    trees_per_round, width = weighted.trees_a_member, weighted.n_outputs // weighted.trees_a_member
    nodes = TreeEnsembleBuilder(weighted.n_outputs)
    for i in range(weighted.forest.n_trees):
        tree = weighted.forest.tree(i)
        votes = np.zeros((tree.node_count, width))
        votes[tree.children_left < 0] = weighted.weighted_leaf_votes(i)
        nodes.add(tree, votes, [i % trees_per_round] if trees_per_round > 1 else range(width))
    sums = nodes.into(graph, matrix, 0.0)
    if model.n_classes_ == 1:
        return graph.add("Add", graph.times(graph.columns(sums, [0]), 0.0), graph.number(1.0))
    scores = _add_class_scores(model, sums, graph)
    context.scores[id(model)] = scores
    return _add_class_probabilities(model, sums, scores, graph)


def _add_class_scores(model: BoostedClassifier, sums: str, graph: Graph) -> str:
    """Add a score for each class, the largest of which decides."""
    k, name = model.n_classes_, model.algorithm
    if k == 2:
        if name in {"gentle", "logit"}:
            second = sums
        elif name in {"real", "MH"}:
            second = graph.columns(sums, [1])
        else:
            second = graph.add("Sub", graph.columns(sums, [1]), graph.columns(sums, [0]))
        if name == "SAMME":
            second = graph.times(second, 2.0 / model._total_weight())
        return graph.concat_columns([graph.add("Neg", second), second])
    if name == "SAMME":
        # Votes for other classes count -1 / (K - 1) each, and all are relative to the total.
        scaled = graph.times(sums, k / (k - 1.0) / model._total_weight())
        return graph.add("Sub", scaled, graph.number(1.0 / (k - 1.0)))
    if name == "logit":
        axes = graph.constant(np.array([1], dtype=np.int64))
        return graph.add("Sub", sums, graph.add("ReduceMean", sums, axes, keepdims=1))
    return sums


def _add_class_probabilities(model: BoostedClassifier, sums: str, scores: str, graph: Graph) -> str:
    """Add the probabilities, as the algorithm defines them."""
    k, name = model.n_classes_, model.algorithm
    if name == "SAMME":
        return graph.add("Softmax", graph.times(scores, 0.5 if k == 2 else 1.0 / (k - 1.0)), axis=1)
    if name in {"M1", "M2", "MR"}:
        return graph.add("Softmax", sums, axis=1)
    if name == "real":
        return graph.add("Softmax", graph.times(sums, 1.0 / (k - 1.0)), axis=1)
    if name == "logit" and k > 2:
        return graph.add("Softmax", scores, axis=1)
    single = graph.add("Sigmoid", graph.times(sums if name == "MH" else scores, 2.0))
    if name in {"discrete", "logit"} or (name == "gentle" and k == 2):
        return single
    least = graph.add("Max", single, graph.number(float(np.finfo(np.float64).tiny)))
    return graph.add("Div", least, graph.add_row_sums(least))


def add_boosted_regressor(model: BoostedRegressor, context: ModelContext) -> str:
    """Add the weighted median of the trees: the lowest value with at least half of all weights."""
    members = model._members
    if not isinstance(members, BoostedTrees):
        raise ValueError(_describe_missing_trees(model))  # noqa: TRY004 - a model, but not of trees
    graph, n = context.graph, len(members)
    nodes = TreeEnsembleBuilder(n)
    for i in range(n):
        tree = members.forest.tree(i)
        nodes.add(tree, tree.value_rows, [i])
    values = nodes.into(graph, context.inputs.matrix(model.schema_, None, context.columns), 0.0)
    count = graph.constant(np.array([n], dtype=np.int64))
    ascending, order = graph.add_both("TopK", values, count, axis=1, largest=0, sorted=1)
    weights = graph.add("Gather", graph.constant(members.weights), order, axis=0)
    sums = graph.add("CumSum", weights, graph.constant(np.array(1, dtype=np.int64)))
    half = graph.times(graph.columns(sums, [n - 1]), 0.5)
    enough = graph.cast(graph.add("GreaterOrEqual", sums, half), "int64")
    first = graph.add("ArgMax", enough, axis=1, keepdims=1)
    median = graph.add("GatherElements", ascending, first, axis=1)
    low, high = (graph.number(end) for end in model._range.tolist())
    return graph.add("Min", graph.add("Max", median, low), high)


def _describe_missing_trees(model: BoostedClassifier | BoostedRegressor) -> str:
    return (
        f"the members of this {type(model).__name__} are not trees of the engine: only boosted "
        "trees can be exported to ONNX"
    )
