"""Conversion of each kind of model to an ONNX graph that outputs probabilities or values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from arboleda._engine.adaboost import WeightedForest
from arboleda._engine.columns import Schema
from arboleda._engine.forest import Forest, Voting
from arboleda._engine.tree import Tree
from arboleda.adaboost import BoostedClassifier, BoostedRegressor
from arboleda.bagging import MemberEnsemble, TreeMembers
from arboleda.boosting import BoostedModel, Loss
from arboleda.combine import Mean, Stacking, WeightedMean
from arboleda.combine import Voting as VotingModel
from arboleda.forest import ForestModel
from arboleda.onnx_export._ensembles import (
    add_boosted_classifier,
    add_boosted_regressor,
    add_calibrated_classifier,
    add_decision_function,
    add_stacking,
    expand_shares,
)
from arboleda.onnx_export._graph import GivenMatrix, Graph, ModelContext
from arboleda.onnx_export._preparation import add_transformer
from arboleda.onnx_export._sklearn_models import (
    SKLEARN_MODELS,
    add_kernel_ridge,
    add_nearest_neighbours,
    add_svr,
)
from arboleda.onnx_export._trees import TreeEnsembleBuilder, add_linear_leaf_scores
from arboleda.tree import DecisionTree

Floats = npt.NDArray[np.float64]
Add = Callable[[Any, ModelContext], str]


def add_model(model: Any, context: ModelContext) -> str:
    """Add a fitted model to a graph and return the name of its output.

    The output is a float64 matrix: probabilities (n_rows, n_classes), or values (n_rows, n_values).

    Raises
    ------
    TypeError
        If the model cannot be exported.
    ValueError
        If it uses options that cannot be expressed in ONNX.
    """
    inner = model.estimator if isinstance(model, FrozenEstimator) else model
    if isinstance(inner, Stacking):
        return add_stacking(inner, context, add_model)
    if isinstance(inner, Pipeline):
        return _add_pipeline(inner, context)
    if isinstance(inner, TransformedTargetRegressor):
        return _add_transformed_target(inner, context)
    for kind, add in (*context.extra_converters.items(), *_KINDS.items()):
        if isinstance(inner, kind):
            return add(inner, context)
    raise TypeError(
        f"{type(inner).__name__} cannot be exported to ONNX: supported are decision trees, "
        "forests, bagged trees, gradient boosting, AdaBoost of trees, linear models, Gaussian "
        "naive Bayes, nearest neighbours, support vector regression, kernel ridge regression, "
        "perceptrons, calibrated classifiers, and means and stacks of these"
    )


def find_schema(model: Any) -> Any:
    """Find the schema of a model, or of its first member that has one; None if there is none."""
    if isinstance(model, FrozenEstimator):
        model = model.estimator
    if getattr(model, "schema_", None) is not None:
        return model.schema_
    for member in getattr(model, "estimators_", ()):
        found = find_schema(member)
        if found is not None and found.n_columns == model.n_features_in_:
            return found
    return None


def read_schema(model: Any) -> Any:
    """Return the schema of a model; numeric columns if it does not store one."""
    found = find_schema(model)
    if found is not None:
        return found
    n_columns = getattr(model, "n_features_in_", None)
    if n_columns is None:
        raise TypeError(
            f"{type(model).__name__} has no n_features_in_ and cannot be exported to ONNX: give a "
            "model that stores its number of columns"
        )
    names = getattr(model, "feature_names_in_", None)
    return Schema(None if names is None else tuple(map(str, names)), (None,) * n_columns)


def has_scores_alone(model: Any) -> bool:
    """Return whether a model is a classifier with a decision function but no probabilities."""
    return (
        is_classifier(model)
        and hasattr(model, "decision_function")
        and not hasattr(model, "predict_proba")
    )


def add_class_scores(model: Any, context: ModelContext) -> str:
    """Add a classifier without probabilities and return the name of its scores.

    The scores are a float64 matrix: for two classes one column, positive for the second; otherwise
    one column per class.

    Raises
    ------
    TypeError, ValueError
        As in `add_model`.
    """
    inner = model.estimator if isinstance(model, FrozenEstimator) else model
    if isinstance(inner, Pipeline):
        found = _add_pipeline(inner, context, add_class_scores)
    else:
        found = add_decision_function(inner, context)
    if id(inner) in context.scores:
        context.scores[id(model)] = context.scores[id(inner)]
    return found


def _add_pipeline(pipeline: Pipeline, context: ModelContext, add: Add = add_model) -> str:
    """Add the transformers and the final model of a pipeline."""
    matrix = context.inputs.numbers(context.columns)
    for _, step in pipeline.steps[:-1]:
        if type(step) in context.extra_converters:
            before = replace(context, inputs=GivenMatrix(context.graph, matrix), columns=None)
            matrix = context.extra_converters[type(step)](step, before)
        else:
            matrix = add_transformer(step, matrix, context.graph)
    inner = replace(context, inputs=GivenMatrix(context.graph, matrix), columns=None)
    found = add(pipeline.steps[-1][1], inner)
    last = id(pipeline.steps[-1][1])
    if last in context.scores:
        context.scores[id(pipeline)] = context.scores[last]
    return found


def _add_transformed_target(model: TransformedTargetRegressor, context: ModelContext) -> str:
    """Add a regressor of a scaled target, and scale its predictions back."""
    scaler = model.transformer_
    if not isinstance(scaler, StandardScaler):
        raise TypeError(
            f"a TransformedTargetRegressor with {type(scaler).__name__} cannot be exported to "
            "ONNX: use StandardScaler"
        )
    found = add_model(model.regressor_, context)
    if scaler.with_std:
        found = context.graph.times(found, float(scaler.scale_[0]))
    if scaler.with_mean:
        found = context.graph.add("Add", found, context.graph.number(float(scaler.mean_[0])))
    return found


def _add_tree(model: DecisionTree, context: ModelContext) -> str:
    refuse_several_targets(model)
    return _add_votes([model.tree_], "soft", model, context)


def _add_forest(model: ForestModel, context: ModelContext) -> str:
    refuse_several_targets(model)
    refuse_other_than_mean(model)
    return _add_trees(model.forest_, model._voting, model, context)


def _add_trees(forest: Forest, voting: Voting, model: Any, context: ModelContext) -> str:
    return _add_votes([forest.tree(i) for i in range(forest.n_trees)], voting, model, context)


def _add_votes(trees: list[Tree], voting: Voting, model: Any, context: ModelContext) -> str:
    """Add the mean vote of trees."""
    width = trees[0].value_rows.shape[1]
    nodes = TreeEnsembleBuilder(width)
    for tree in trees:
        nodes.add(tree, compute_votes(tree, voting))
    matrix = context.inputs.matrix(model.schema_, None, context.columns)
    return nodes.into(context.graph, matrix, 0.0, divisor=float(len(trees)))


def _add_weighted_votes(members: WeightedForest, model: Any, context: ModelContext) -> str:
    """Add the weighted sum of the trees' votes, whose weights sum to 1."""
    nodes = TreeEnsembleBuilder(members.n_outputs)
    for i in np.flatnonzero(members.weights).tolist():
        tree = members.forest.tree(i)
        votes = np.zeros((tree.node_count, members.n_outputs))
        votes[tree.children_left < 0] = members.weighted_leaf_votes(i)
        nodes.add(tree, votes)
    return nodes.into(
        context.graph, context.inputs.matrix(model.schema_, None, context.columns), 0.0
    )


def compute_votes(tree: Tree, voting: Voting) -> Floats:
    """Compute the vote of each node, like `Forest.votes`."""
    shares = tree.value_rows
    if voting == "soft":
        return shares
    if voting == "hard":
        return np.asarray(np.eye(shares.shape[1])[shares.argmax(axis=1)])
    weight = tree.weighted_n_node_samples[:, np.newaxis]
    return np.asarray((weight * shares + 1.0) / (weight + shares.shape[1]))


def _add_boosted(model: BoostedModel, context: ModelContext) -> str:
    ensemble = model.ensemble_
    refuse_several_targets(model)
    refuse_initial_estimator(model)
    init = getattr(model, "init_", None)
    matrix = context.inputs.matrix(model.schema_, model.statistics_, context.columns)
    matrix = _append_crosses(matrix, model._crossed_columns, context.graph)
    start = np.zeros(ensemble.n_outputs) if isinstance(init, str) else ensemble.start
    if ensemble.has_linear_leaves:
        raw = add_linear_leaf_scores(ensemble, matrix, start, context.graph)
    else:
        nodes = TreeEnsembleBuilder(ensemble.n_outputs)
        for number, tree in enumerate(ensemble.trees):
            nodes.add(tree, tree.value_rows, number % ensemble.n_outputs)
        raw = nodes.into(context.graph, matrix, start)
    return _add_link(raw, model.loss_, context.graph)


def _append_crosses(matrix: str, crossed: Sequence[int], graph: Graph) -> str:
    """Append the columns of `arboleda.boosting._cross_columns.append_crosses`."""
    if not len(crossed):
        return matrix
    pairs = np.array(list(combinations(crossed, 2)))
    first, second = (graph.add("Gather", matrix, graph.constant(part), axis=1) for part in pairs.T)
    n_pairs = len(pairs)
    both = graph.add(
        "Concat", graph.add("Sub", first, second), graph.add("Mul", first, second), axis=1
    )
    # Each difference is followed by the product of the same pair.
    order = np.arange(2 * n_pairs).reshape(2, n_pairs).T.ravel()
    appended = graph.add("Gather", both, graph.constant(order), axis=1)
    return graph.add("Concat", matrix, appended, axis=1)


def refuse_initial_estimator(model: BoostedModel) -> None:
    """Refuse a model that starts from another estimator."""
    init = getattr(model, "init_", None)
    if init is not None and not isinstance(init, str):
        raise ValueError(
            f"this {type(model).__name__} starts from a {type(init).__name__} (init=), which is "
            "not a tree: fit with init=None"
        )


def _add_link(raw: str, loss: Loss, graph: Graph) -> str:
    """Add the predictions of raw scores, like `Loss.predictions`."""
    if loss.link == "softmax":
        return graph.add("Softmax", raw, axis=1)
    if loss.link in {"logit", "half_logit"}:
        if loss.link == "half_logit":
            raw = graph.add("Mul", raw, graph.constant(np.array(2.0)))
        positive = graph.add("Sigmoid", raw)
        negative = graph.add("Sub", graph.constant(np.array(1.0)), positive)
        return graph.concat_columns([negative, positive])
    if loss.link == "log":
        return graph.add("Exp", raw)
    if loss.link == "certain":
        zero = graph.add("Mul", raw, graph.constant(np.array(0.0)))
        return graph.add("Add", zero, graph.constant(np.array(1.0)))
    if len(loss.levels) > 1:
        ranks = np.argsort(np.argsort(loss.levels, kind="stable"))
        count = graph.constant(np.array([len(ranks)], dtype=np.int64))
        ascending, _ = graph.add_both("TopK", raw, count, axis=1, largest=0, sorted=1)
        return graph.columns(ascending, ranks)
    return raw


def _add_members(model: MemberEnsemble, context: ModelContext) -> str:
    members = model._members
    if isinstance(members, TreeMembers):
        weighted = members.weighted_forest(model._predict_options())
        if weighted is not None:
            return _add_weighted_votes(weighted, model, context)
        return _add_trees(members.forest, model._predict_options().voting_of_trees, model, context)
    if getattr(model, "voting", "soft") != "soft":
        raise ValueError(
            f"the members of this {type(model).__name__} vote for one class each (voting='hard'): "
            "only means of probabilities can be exported: fit with voting='soft'"
        )
    n_members = len(members)
    shares = [1.0 / n_members] * n_members
    if members.weights is not None:
        shares = members.weights.tolist()
    known = np.arange(len(model.classes_)) if is_classifier(model) else None
    parts = [
        _add_weighted_member(
            member, share, known, replace(context, columns=_select_columns(context, columns))
        )
        for member, share, columns in zip(
            model.estimators_, shares, model.estimators_features_, strict=True
        )
        if share != 0.0
    ]
    return context.graph.sum(parts)


def _select_columns(context: ModelContext, columns: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return the columns of a member as indices into the table."""
    return np.asarray(columns if context.columns is None else context.columns[columns])


def _add_voting(model: VotingModel, context: ModelContext) -> str:
    if not isinstance(model._rule, Mean):
        raise ValueError(  # noqa: TRY004 - a model, but not with this rule
            f"this {type(model).__name__} does not take the mean of its members: only means can be "
            "exported: use voting='soft' or rule='mean' in classification, rule='mean' or "
            "'weighted' in regression"
        )
    weights = model._rule._kept_weights()
    kept = model._rule._kept(len(model._fitted_members()))
    shares = np.zeros(len(model._fitted_members()))
    shares[kept] = 1.0 if weights is None else weights
    return _add_mean(model, shares, float(np.add.accumulate(shares)[-1]), context)


def _add_weighted_mean(model: WeightedMean, context: ModelContext) -> str:
    return _add_mean(model, model.weights_, 1.0, context)


def _add_mean(model: Any, weights: Floats, total: float, context: ModelContext) -> str:
    """Add the weighted sum of named members, divided by a total, in the engine's order."""
    classes = getattr(model, "classes_", None)
    parts = []
    for (_, member), share in zip(model._fitted_members(), weights.tolist(), strict=True):
        if share != 0.0:
            known = None
            if classes is not None:
                known = classes if isinstance(member, FrozenEstimator) else np.arange(len(classes))
            parts.append(_add_weighted_member(member, share, known, context))
    weighted = context.graph.sum(parts)
    if total == 1.0:
        return weighted
    return context.graph.add("Div", weighted, context.graph.number(total))


def _add_weighted_member(member: Any, share: float, known: Any, context: ModelContext) -> str:
    """Add the output of a member times its weight.

    ``known``: the classes of the mean as the member encodes them; None if it predicts values.
    """
    graph = context.graph
    found = add_model(member, context)
    if known is not None and len(member.classes_) != len(known):
        places = np.searchsorted(known, member.classes_)
        found = expand_shares(found, len(places), places, len(known), context)
    return graph.times(found, share)


def refuse_several_targets(model: Any) -> None:
    """Refuse a multi-target classifier, and several parameters of a distribution."""
    if isinstance(model, BoostedModel) and model.loss_.link == "distribution":
        raise ValueError(
            f"this {type(model).__name__} predicts distributions, which cannot be exported: save "
            "it as a model file, or fit HistGradientBoostingRegressor and export its means"
        )
    if is_classifier(model) and model.n_outputs_ > 1:
        raise ValueError(
            f"this {type(model).__name__} has {model.n_outputs_} classification targets: fit one "
            "model for each"
        )


def refuse_other_than_mean(model: ForestModel) -> None:
    """Refuse a forest that does not predict the mean of its trees."""
    if not model._predicts_mean:
        raise ValueError(
            f"{type(model).__name__} predicts quantiles, which need its training rows: only means "
            "of trees can be exported: fit a RandomForestRegressor"
        )


_KINDS: Mapping[type, Add] = {
    DecisionTree: _add_tree,
    ForestModel: _add_forest,
    BoostedModel: _add_boosted,
    BoostedClassifier: add_boosted_classifier,
    BoostedRegressor: add_boosted_regressor,
    MemberEnsemble: _add_members,
    VotingModel: _add_voting,
    WeightedMean: _add_weighted_mean,
    CalibratedClassifierCV: add_calibrated_classifier,
    KNeighborsClassifier: add_nearest_neighbours,
    KNeighborsRegressor: add_nearest_neighbours,
    KernelRidge: add_kernel_ridge,
    SVR: add_svr,
    **SKLEARN_MODELS,
}
