"""AdaBoost and its family in ONNX."""

from __future__ import annotations

import numpy as np

from arboleda.adaboost._boosted_classifier import BoostedClassifier
from arboleda.adaboost._boosted_regressor import BoostedRegressor
from arboleda.adaboost._boosted_trees import BoostedTrees
from arboleda.adaboost._tree_members import BoostedTreeMembers
from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._inputs import Place
from arboleda.onnx_export._trees import TreeNodes


def of_boosted_classifier(model: BoostedClassifier, place: Place) -> str:
    """Probabilities; the scores that decide are kept for the label."""
    members = model._members
    if not isinstance(members, BoostedTreeMembers):
        raise ValueError(_no_trees(model))  # noqa: TRY004 - it is a model, if not of trees
    graph, weighted = place.graph, members.weighted
    matrix = place.inputs.matrix(model.schema_, None, place.columns)
    a_round, width = weighted.trees_a_member, weighted.n_outputs // weighted.trees_a_member
    nodes = TreeNodes(weighted.n_outputs)
    for i in range(weighted.forest.n_trees):
        tree = weighted.forest.tree(i)
        said = np.zeros((tree.node_count, width))
        said[tree.children_left < 0] = weighted.said(i)
        nodes.add(tree, said, [i % a_round] if a_round > 1 else range(width))
    sums = nodes.into(graph, matrix, 0.0)
    if model.n_classes_ == 1:
        return graph.add("Add", graph.times(graph.columns(sums, [0]), 0.0), graph.number(1.0))
    scores = _scores(model, sums, graph)
    place.scores[id(model)] = scores
    return _shares(model, sums, scores, graph)


def _scores(model: BoostedClassifier, sums: str, graph: Graph) -> str:
    """A score of each class, of which the largest decides."""
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
        return graph.side_by_side([graph.add("Neg", second), second])
    if name == "SAMME":
        # The votes of the others count -1 / (K - 1) each, and all are shares of the total.
        scaled = graph.times(sums, k / (k - 1.0) / model._total_weight())
        return graph.add("Sub", scaled, graph.number(1.0 / (k - 1.0)))
    if name == "logit":
        axes = graph.constant(np.array([1], dtype=np.int64))
        return graph.add("Sub", sums, graph.add("ReduceMean", sums, axes, keepdims=1))
    return sums


def _shares(model: BoostedClassifier, sums: str, scores: str, graph: Graph) -> str:
    """Probabilities, as the algorithm reads them."""
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
    return graph.add("Div", least, graph.summed(least))


def of_boosted_regressor(model: BoostedRegressor, place: Place) -> str:
    """Weighted median of the trees' values: the first, from below, with half of all weights."""
    members = model._members
    if not isinstance(members, BoostedTrees):
        raise ValueError(_no_trees(model))  # noqa: TRY004 - it is a model, if not of trees
    graph, n = place.graph, len(members)
    nodes = TreeNodes(n)
    for i in range(n):
        tree = members.forest.tree(i)
        nodes.add(tree, tree.value_rows, [i])
    values = nodes.into(graph, place.inputs.matrix(model.schema_, None, place.columns), 0.0)
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


def _no_trees(model: BoostedClassifier | BoostedRegressor) -> str:
    return (
        f"the members of this {type(model).__name__} are no trees of the engine: only boosted "
        "trees can be exported to ONNX"
    )
