"""ONNX export of AdaBoost, stacking and calibrated classifiers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.svm import SVC

from arboleda.adaboost import BoostedClassifier, BoostedRegressor, BoostedTreeMembers, BoostedTrees
from arboleda.combine import Stacking
from arboleda.onnx_export._graph import GivenMatrix, Graph, ModelContext
from arboleda.onnx_export._sklearn_models import add_svc_scores, add_weighted_sums
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
        nodes.add(tree, votes, i % trees_per_round)
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
            second = graph.add("Div", graph.times(second, 2.0), graph.number(model._total_weight()))
        return graph.concat_columns([graph.add("Neg", second), second])
    if name == "SAMME":
        # Votes for other classes count -1 / (K - 1) each, and all are relative to the total.
        total = graph.number(model._total_weight())
        others = graph.add("Div", graph.add("Sub", total, sums), graph.number(k - 1.0))
        return graph.add("Div", graph.add("Sub", sums, others), total)
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
        nodes.add(tree, tree.value_rows, i)
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
        final,
        replace(
            context, inputs=GivenMatrix(graph, graph.concat_columns(member_outputs)), columns=None
        ),
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
