"""What each kind of model is as a graph: probabilities of classes, or values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
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
from arboleda._engine.forest import Forest, Voting
from arboleda._engine.schema import Schema
from arboleda._engine.tree import Tree
from arboleda.adaboost._boosted_classifier import BoostedClassifier
from arboleda.adaboost._boosted_regressor import BoostedRegressor
from arboleda.bagging._ensemble import MemberEnsemble
from arboleda.bagging._tree_members import TreeMembers
from arboleda.boosting._boosted_model import BoostedModel
from arboleda.boosting._losses import Loss
from arboleda.combine._share_rules import Mean
from arboleda.combine._stacking import Stacking
from arboleda.combine._voting import Voting as VotingModel
from arboleda.combine._weighted_mean import WeightedMean
from arboleda.forest._forest_model import ForestModel
from arboleda.onnx_export._adaboost import of_boosted_classifier, of_boosted_regressor
from arboleda.onnx_export._calibrated import of_calibrated
from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._inputs import GivenMatrix, Place
from arboleda.onnx_export._kernels import of_kernel_ridge, of_regressor
from arboleda.onnx_export._linear_leaves import linear_scores
from arboleda.onnx_export._machines import machine_scores
from arboleda.onnx_export._neighbours import of_neighbours
from arboleda.onnx_export._preparation import prepared
from arboleda.onnx_export._sklearn_models import SKLEARN_MODELS
from arboleda.onnx_export._stacking import of_stacking, spread
from arboleda.onnx_export._trees import TreeNodes
from arboleda.tree._decision_tree import DecisionTree

Floats = npt.NDArray[np.float64]
Add = Callable[[Any, Place], str]


def answer(model: Any, place: Place) -> str:
    """Add a fitted model to a graph; return the name of its answer.

    That is a matrix of float64: probabilities (n_rows, n_classes), or values (n_rows, n_values).

    Raises
    ------
    TypeError
        If it is no model that can be exported.
    ValueError
        If it is one, with options that ONNX has no operators for.
    """
    inner = model.estimator if isinstance(model, FrozenEstimator) else model
    if isinstance(inner, Stacking):
        return of_stacking(inner, place, answer)
    if isinstance(inner, Pipeline):
        return _of_pipeline(inner, place)
    if isinstance(inner, TransformedTargetRegressor):
        return _of_transformed_target(inner, place)
    for kind, add in (*place.more.items(), *_KINDS.items()):
        if isinstance(inner, kind):
            return add(inner, place)
    raise TypeError(
        f"{type(inner).__name__} cannot be exported to ONNX: what can are decision trees, forests, "
        "bagged trees, gradient boosting, AdaBoost of trees, linear models, Gaussian naive Bayes, "
        "nearest neighbours, support vector regression, kernel ridge regression, perceptrons, "
        "calibrated machines, and means and stacks of such"
    )


def schema_of(model: Any) -> Any:
    """Columns of a model, or of the first of its members that has some."""
    if isinstance(model, FrozenEstimator):
        model = model.estimator
    if getattr(model, "schema_", None) is not None:
        return model.schema_
    for member in getattr(model, "estimators_", ()):
        found = schema_of(member)
        if found is not None and found.n_columns == model.n_features_in_:
            return found
    return None


def columns_of(model: Any) -> Any:
    """Columns of a model; of one that does not know their kinds, columns of numbers."""
    found = schema_of(model)
    if found is not None:
        return found
    n_columns = getattr(model, "n_features_in_", None)
    if n_columns is None:
        raise TypeError(f"{type(model).__name__} does not tell its columns: fit a model that does")
    names = getattr(model, "feature_names_in_", None)
    return Schema(None if names is None else tuple(map(str, names)), (None,) * n_columns)


def has_scores_alone(model: Any) -> bool:
    """Whether it is a classifier that scores the classes and has no probabilities."""
    return (
        is_classifier(model)
        and hasattr(model, "decision_function")
        and not hasattr(model, "predict_proba")
    )


def class_scores(model: Any, place: Place) -> str:
    """Add such a classifier to a graph; return the name of its scores.

    That is a matrix of float64: of two classes one column, above 0 for the second; else one column
    for each class.

    Raises
    ------
    TypeError, ValueError
        As `answer`.
    """
    inner = model.estimator if isinstance(model, FrozenEstimator) else model
    if isinstance(inner, Pipeline):
        found = _of_pipeline(inner, place, class_scores)
    else:
        found = machine_scores(inner, place)
    if id(inner) in place.scores:
        place.scores[id(model)] = place.scores[id(inner)]
    return found


def _of_pipeline(pipeline: Pipeline, place: Place, add: Add = answer) -> str:
    """Transformers, and the model that stands after them."""
    matrix = place.inputs.numbers(place.columns)
    for _, step in pipeline.steps[:-1]:
        if type(step) in place.more:
            before = replace(place, inputs=GivenMatrix(place.graph, matrix), columns=None)
            matrix = place.more[type(step)](step, before)
        else:
            matrix = prepared(step, matrix, place.graph)
    inner = replace(place, inputs=GivenMatrix(place.graph, matrix), columns=None)
    found = add(pipeline.steps[-1][1], inner)
    last = id(pipeline.steps[-1][1])
    if last in place.scores:
        place.scores[id(pipeline)] = place.scores[last]
    return found


def _of_transformed_target(model: TransformedTargetRegressor, place: Place) -> str:
    """A regressor of a scaled target, back on its scale."""
    scaler = model.transformer_
    if not isinstance(scaler, StandardScaler):
        raise TypeError(
            f"a TransformedTargetRegressor by {type(scaler).__name__} cannot be exported to ONNX: "
            "what can is one by StandardScaler"
        )
    found = answer(model.regressor_, place)
    if scaler.with_std:
        found = place.graph.times(found, float(scaler.scale_[0]))
    if scaler.with_mean:
        found = place.graph.add("Add", found, place.graph.number(float(scaler.mean_[0])))
    return found


def _of_tree(model: DecisionTree, place: Place) -> str:
    refuse_several_targets(model)
    return _votes([model.tree_], "soft", model, place)


def _of_forest(model: ForestModel, place: Place) -> str:
    refuse_several_targets(model)
    refuse_other_than_mean(model)
    return _of_trees(model.forest_, model._voting, model, place)


def _of_trees(forest: Forest, voting: Voting, model: Any, place: Place) -> str:
    return _votes([forest.tree(i) for i in range(forest.n_trees)], voting, model, place)


def _votes(trees: list[Tree], voting: Voting, model: Any, place: Place) -> str:
    """Mean vote of trees."""
    width = trees[0].value_rows.shape[1]
    nodes = TreeNodes(width)
    for tree in trees:
        nodes.add(tree, vote_of(tree, voting) / len(trees), range(width))
    return nodes.into(place.graph, place.inputs.matrix(model.schema_, None, place.columns), 0.0)


def _weighted_votes(members: WeightedForest, model: Any, place: Place) -> str:
    """Sum of the trees' votes times their weights, which sum to 1."""
    nodes = TreeNodes(members.n_outputs)
    for i in np.flatnonzero(members.weights).tolist():
        tree = members.forest.tree(i)
        votes = np.zeros((tree.node_count, members.n_outputs))
        votes[tree.children_left < 0] = members.said(i)
        nodes.add(tree, votes, range(members.n_outputs))
    return nodes.into(place.graph, place.inputs.matrix(model.schema_, None, place.columns), 0.0)


def vote_of(tree: Tree, voting: Voting) -> Floats:
    """What each node votes, as `Forest.votes` says it."""
    shares = tree.value_rows
    if voting == "soft":
        return shares
    if voting == "hard":
        return np.asarray(np.eye(shares.shape[1])[shares.argmax(axis=1)])
    weight = tree.weighted_n_node_samples[:, np.newaxis]
    return np.asarray((weight * shares + 1.0) / (weight + shares.shape[1]))


def _of_boosted(model: BoostedModel, place: Place) -> str:
    ensemble = model.ensemble_
    refuse_initial_estimator(model)
    init = getattr(model, "init_", None)
    matrix = place.inputs.matrix(model.schema_, model.statistics_, place.columns)
    start = np.zeros(ensemble.n_outputs) if isinstance(init, str) else ensemble.start
    if ensemble.has_linear_leaves:
        raw = linear_scores(ensemble, matrix, start, place.graph)
    else:
        nodes = TreeNodes(ensemble.n_outputs)
        for number, tree in enumerate(ensemble.trees):
            nodes.add(tree, tree.value_rows, [number % ensemble.n_outputs])
        raw = nodes.into(place.graph, matrix, start)
    return _linked(raw, model.loss_, place.graph)


def refuse_initial_estimator(model: BoostedModel) -> None:
    """Refuse a model that begins from another estimator."""
    init = getattr(model, "init_", None)
    if init is not None and not isinstance(init, str):
        raise ValueError(
            f"this {type(model).__name__} begins from a {type(init).__name__} (init=), which is no "
            "tree: fit with init=None"
        )


def _linked(raw: str, loss: Loss, graph: Graph) -> str:
    """Predictions of raw scores, as `Loss.predictions` makes them."""
    if loss.link == "softmax":
        return graph.add("Softmax", raw, axis=1)
    if loss.link in {"logit", "half_logit"}:
        if loss.link == "half_logit":
            raw = graph.add("Mul", raw, graph.constant(np.array(2.0)))
        positive = graph.add("Sigmoid", raw)
        negative = graph.add("Sub", graph.constant(np.array(1.0)), positive)
        return graph.side_by_side([negative, positive])
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


def _of_members(model: MemberEnsemble, place: Place) -> str:
    members = model._members
    if isinstance(members, TreeMembers):
        weighted = members.weighted_forest(model._predict_options())
        if weighted is not None:
            return _weighted_votes(weighted, model, place)
        return _of_trees(members.forest, model._predict_options().voting_of_trees, model, place)
    if getattr(model, "voting", "soft") != "soft":
        raise ValueError(
            f"the members of this {type(model).__name__} vote for one class each (voting='hard'): "
            "only means of probabilities can be exported, so fit with voting='soft'"
        )
    n_members = len(members)
    shares = [1.0 / n_members] * n_members
    if members.weights is not None:
        shares = members.weights.tolist()
    known = np.arange(len(model.classes_)) if is_classifier(model) else None
    parts = [
        _shared(member, share, known, replace(place, columns=_within(place, columns)))
        for member, share, columns in zip(
            model.estimators_, shares, model.estimators_features_, strict=True
        )
        if share != 0.0
    ]
    return place.graph.sum(parts)


def _within(place: Place, columns: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Columns of a member, as the table numbers them."""
    return np.asarray(columns if place.columns is None else place.columns[columns])


def _of_voting(model: VotingModel, place: Place) -> str:
    if not isinstance(model._rule, Mean):
        raise ValueError(  # noqa: TRY004 - it is a model, if not by this rule
            f"this {type(model).__name__} does not take the mean of its members: only means can be "
            "exported, so use voting='soft' or rule='mean', of values rule='mean' or 'weighted'"
        )
    weights = model._rule.weights
    return _mean(model, None if weights is None else np.asarray(weights, np.float64), place)


def _of_weighted_mean(model: WeightedMean, place: Place) -> str:
    return _mean(model, model.weights_, place)


def _mean(model: Any, weights: Floats | None, place: Place) -> str:
    """Mean of named members."""
    members = model._fitted_members()
    weights = np.ones(len(members)) if weights is None else weights
    classes = getattr(model, "classes_", None)
    parts = []
    for (_, member), share in zip(members, (weights / weights.sum()).tolist(), strict=True):
        if share != 0.0:
            known = None
            if classes is not None:
                known = classes if isinstance(member, FrozenEstimator) else np.arange(len(classes))
            parts.append(_shared(member, share, known, place))
    return place.graph.sum(parts)


def _shared(member: Any, share: float, known: Any, place: Place) -> str:
    """Answer of a member, times its share.

    ``known``: the classes of the mean as the member knows them; None where it predicts values.
    """
    graph = place.graph
    found = answer(member, place)
    if known is not None and len(member.classes_) != len(known):
        places = np.searchsorted(known, member.classes_)
        found = spread(found, len(places), places, len(known), place)
    return graph.times(found, share)


def refuse_several_targets(model: Any) -> None:
    """Refuse a classifier of several targets."""
    if is_classifier(model) and model.n_outputs_ > 1:
        raise ValueError(
            f"this {type(model).__name__} has {model.n_outputs_} targets of classes: fit one model "
            "for each"
        )


def refuse_other_than_mean(model: ForestModel) -> None:
    """Refuse a forest that does not predict the mean of its trees."""
    if not model._predicts_mean:
        raise ValueError(
            f"{type(model).__name__} predicts quantiles, which need its training rows: only means "
            "of trees can be exported, so fit a RandomForestRegressor"
        )


_KINDS: Mapping[type, Add] = {
    DecisionTree: _of_tree,
    ForestModel: _of_forest,
    BoostedModel: _of_boosted,
    BoostedClassifier: of_boosted_classifier,
    BoostedRegressor: of_boosted_regressor,
    MemberEnsemble: _of_members,
    VotingModel: _of_voting,
    WeightedMean: _of_weighted_mean,
    CalibratedClassifierCV: of_calibrated,
    KNeighborsClassifier: of_neighbours,
    KNeighborsRegressor: of_neighbours,
    KernelRidge: of_kernel_ridge,
    SVR: of_regressor,
    **SKLEARN_MODELS,
}
